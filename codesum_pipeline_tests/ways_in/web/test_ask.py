"""`ask` on the page, as a browser sends its form: with its script, and without."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest

from codesum_pipeline_tests.support.llm_requests import MODEL
from codesum_pipeline_tests.support.llm_server import Fails
from codesum_pipeline_tests.support.llm_server.streaming import Streams
from codesum_pipeline_tests.ways_in.web.asking import ANSWER, STREAM, AskSite, looks_first, serve_ask_site
from codesum_pipeline_tests.ways_in.web.hostile import IMAGE, SCRIPT
from codesum_pipeline_tests.ways_in.web.reading import get, page, shown

README = "/document?repo=zoo&id=README.md%3A3#L3"
ANIMALS = "/document?repo=zoo&id=zoo%2Fanimals.py%3A26#L26"
KEEPER = "/document?repo=zoo&id=zoo%2Fkeeper.py%3A6-8#L6"
HOSTILE = (
    f"{SCRIPT} {IMAGE} <b>bold</b> [script](javascript:alert(1)) [data](data:text/html,x) <javascript:alert(1)>\n\n"
    "[out](https://evil.example/?q=secret) ![leak](https://evil.example/leak.png) <https://evil.example/auto>\n\n"
    "[ref]: https://evil.example/ref\n\n[ref]\n\n"
    '| a |\n|--:|\n| `"><img src=x onerror=alert(1)>` |\n\n'
    '```"><script>alert(1)</script>\nx\n```\n\n```mermaid\ngraph LR\nclick a "javascript:alert(1)"\n```\n\n\u202e'
)


@pytest.fixture(scope="module")
def ask_site(web_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskSite]:
    with serve_ask_site(web_home, tmp_path_factory.mktemp("asked")) as found:
        yield found


def test_an_answer_comes_while_it_is_written_with_what_is_looked_at_and_last_whole(ask_site):
    ask_site.model.script = looks_first(Streams(ANSWER))
    lines = ask_site.stream("who feeds the lion?")
    kinds = [each["kind"] for each in lines]
    steps = {each["at"]: each["said"] for each in lines if each["kind"] == "step"}
    end = shown(lines[-1]["said"])

    happened = [kind for at, kind in enumerate(kinds) if kind != kinds[at - 1]]
    assert happened == ["text", "block", "aside", "step", "text", "block", "text", "block", "end"]
    assert steps["0"].startswith("search who feeds, zoo → ") and steps["0"].endswith(" characters")
    assert steps["1"] == "read zoo/nowhere.py → an error"
    assert end.links[:3] == [KEEPER, README, ANIMALS]
    took = (f"{MODEL}: $0.00", "1 step", "3 citations found", "1 citation taken out", "zoo @ ")
    for text in ("how it was looked up: 2 steps", steps["0"], *took):
        assert text in end.text, text
    assert "999" not in end.text
    assert ask_site.end_of("who feeds the lion?") == ("complete", None)


def test_without_scripts_the_whole_answer_is_a_page(ask_site):
    ask_site.model.script = looks_first(Streams(ANSWER))
    found = ask_site.page("who feeds the cub?")

    assert KEEPER in found.links
    assert "Animals are fed in zoo/keeper.py:6-8" in found.text
    assert "how it was looked up: 2 steps" in found.text


LIMIT = "an answer has at most ask.max_tokens = 4096 tokens"


def test_a_cut_answer_says_so_at_its_end_while_it_comes_and_as_a_page(ask_site):
    ask_site.model.script = lambda _: Streams("They are fed in `zoo/keeper.py:6-8`, and then", ends="length")
    lines = ask_site.stream("who is cut?")
    found = ask_site.page("who is cut again?")

    *_, block, end = [each["said"] for each in lines]
    assert f"(The answer was cut here: {LIMIT}" in shown(block).text
    for text in (shown(end).text, found.text):
        assert f"(The answer was cut here: {LIMIT}" in text
        assert "1 citation found in the sources" in text


@pytest.mark.parametrize(
    ("behaviour", "reason", "said"),
    [
        (Streams("They are fed, and", ends="length"), "length", LIMIT),
        (Streams(reasoning="Hm", ends="length"), "length", LIMIT),
        (Streams("They", ends="content_filter"), "content-filter", "a content filter of the provider ended the answer"),
        (Streams(refusal="I <b>will</b> not."), "refusal", "it wrote: I <b>will</b> not."),
    ],
    ids=["cut without a citation", "nothing but reasoning", "a filter", "a refusal"],
)
def test_an_answer_that_ended_too_early_is_none_and_the_page_says_why(ask_site, behaviour, reason, said):
    ask_site.model.script = lambda _: behaviour
    question = f"who feeds the lion, {reason} {said[-5:]}?"

    found = ask_site.page(question)

    assert "no answer by a model: " in found.text and said in found.text
    assert "zoo/keeper.py" in found.text
    assert ask_site.end_of(question) == ("failed", reason)


def test_a_citation_leads_to_its_lines(ask_site):
    lines = {link: page(ask_site.site, link) for link in (KEEPER, README, ANIMALS)}
    ids = {link: [each["id"] for _, each in found.elements if "id" in each] for link, found in lines.items()}

    assert ids == {KEEPER: ["L6", "L7", "L8"], README: ["L1", "L2", "L3"], ANIMALS: ["L26", "L27", "L28", "L29"]}
    assert "/document?repo=zoo&id=zoo%2Fkeeper.py%3A%3Afeed#L6" in lines[KEEPER].links


def test_what_it_may_cost_is_said_before(ask_site):
    text = " ".join(page(ask_site.site, "/ask").text.split())

    assert f"{MODEL} is asked, and shown what it looks up" in text
    assert "A question costs at most $0.50, all questions of a day $5.00; today they cost $0" in text


@pytest.mark.parametrize("token", ["x", "é"], ids=["wrong", "no ASCII"])
def test_a_form_of_another_server_asks_nothing_and_keeps_the_question(ask_site, token):
    before = len(ask_site.model.seen)
    answers = [ask_site.post("who feeds whom?", headers, token=token) for headers in (None, {"Accept": STREAM})]

    assert [answer.status_code for answer in answers] == [403, 403]
    assert all("This form is not of the server that runs now" in answer.text for answer in answers)
    assert all("who feeds whom?" in answer.text for answer in answers)
    assert len(ask_site.model.seen) == before


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
        {"Host": "evil.example"},
    ],
    ids=["origin", "no origin", "form of another page", "same site", "rebound name"],
)
def test_a_page_of_somebody_else_asks_nothing_even_with_the_token(ask_site, headers):
    before = len(ask_site.model.seen)

    assert ask_site.post("who feeds whom?", headers, token=ask_site.token()).status_code in (403, 421)
    assert len(ask_site.model.seen) == before


def test_a_link_fills_the_form_and_asks_nothing(ask_site):
    before = len(ask_site.model.seen)
    found = page(ask_site.site, "/ask", q="</textarea><script>alert(1)</script>", repo="zoo", token=ask_site.token())

    assert "</textarea><script>alert(1)</script>" in found.text
    assert len(ask_site.model.seen) == before


@pytest.mark.parametrize("accept", [STREAM, "text/html"], ids=["stream", "page"])
def test_whoever_stops_waiting_cancels_the_question(ask_site, accept):
    question = f"who waits for {accept}?"
    ask_site.model.script = lambda _: Streams("Wait " * 50, hangs_after=20)
    body = urlencode({"question": question, "repo": "zoo", "token": ask_site.token()})
    host = ask_site.site.removeprefix("http://")
    head = f"POST /ask HTTP/1.1\r\nHost: {host}\r\nAccept: {accept}\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", int(host.rpartition(":")[2])), timeout=60) as raw:
        raw.sendall(f"{head}{body}".encode())
        ask_site.state_of(question)

    assert ask_site.end_of(question) == ("failed", "cancelled")
    assert get(ask_site.site, "/").status_code == 200


@pytest.mark.slow
def test_others_are_served_while_a_question_waits_and_the_end_of_the_server_cancels_it(web_home, tmp_path):
    with serve_ask_site(web_home, tmp_path) as ask_site:
        ask_site.model.script = lambda _: Streams("Wait " * 50, hangs_after=20)
        data = {"question": "who waits?", "repo": "zoo", "token": ask_site.token()}
        with httpx.stream("POST", f"{ask_site.site}/ask", data=data, headers={"Accept": STREAM}, timeout=60) as answer:
            lines = answer.iter_lines()
            next(lines)
            assert "zoo/keeper.py" in get(ask_site.site, "/hits", q="feed").text
            assert "being answered" in page(ask_site.site, "/ask").text
    assert ask_site.end_of("who waits?") == ("failed", "cancelled")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("offline = true", "codesum is offline"),
        ("[ask]\nmax_cost_usd_per_question = 0.0000001", "ask.max_cost_usd_per_question = 1e-07"),
    ],
    ids=["no model", "cap"],
)
def test_without_an_answer_by_a_model_the_reason_and_the_hits_are_shown(web_home, tmp_path, settings, message):
    with serve_ask_site(web_home, tmp_path, settings=settings) as ask_site:
        before, found = page(ask_site.site, "/ask"), ask_site.page("give food to an animal")
        stream = ask_site.stream("give food to an animal")

    assert f"no answer by a model: {message}" in " ".join(found.text.split())
    assert "/document?repo=zoo&id=zoo%2Fkeeper.py%3A6-8#L6" in found.links
    assert message in shown(stream[-1]["said"]).text
    assert ("No model is asked: codesum is offline" in before.text) is (settings == "offline = true")
    assert ask_site.model.seen == []


def test_a_provider_that_fails_is_named_and_the_hits_are_shown(ask_site):
    ask_site.model.script = lambda _: Fails(503)
    found = ask_site.page("give food to an animal")

    assert "no answer by a model" in found.text and "503" in found.text
    assert KEEPER in found.links


def test_what_breaks_off_is_void_and_the_answer_is_not_empty(ask_site):
    ask_site.model.script = lambda _: Streams("Half of it.\n\nThe other", breaks_after=3)
    lines = ask_site.stream("give food to an animal")

    assert "void" in [each["kind"] for each in lines]
    assert "Half of it" not in lines[-1]["said"] and "zoo/keeper.py" in lines[-1]["said"]


def test_what_a_model_writes_is_no_markup_and_leads_nowhere_else(ask_site):
    ask_site.model.script = lambda _: Streams(HOSTILE)
    lines = ask_site.stream("is it safe?")
    for html in [each["said"] for each in lines if each["kind"] in ("block", "end")]:
        found = shown(html)
        assert [link for link in found.links if not link.startswith("/")] == []
        assert {tag for tag, _ in found.elements} & {"script", "img", "svg", "iframe", "b"} == set()
        assert {name for tag, each in found.elements for name in each if tag != "input"} <= {"href", "class", "role"}
        assert {each["name"] for tag, each in found.elements if tag == "input"} <= {"conversation"}
    text = shown(lines[-1]["said"]).text
    assert "out (https://evil.example/?q=secret)" in text and "leak (https://evil.example/leak.png)" in text
    assert "\u202e" not in json.dumps(lines, ensure_ascii=False)


def test_what_was_asked_before_is_listed_with_its_end_and_cost(ask_site):
    ask_site.model.script = looks_first(Streams(ANSWER))
    ask_site.stream("who was fed before?")
    ask_site.model.script = lambda _: Fails(503)
    ask_site.stream("who was not?")
    start = page(ask_site.site, "/ask")
    text = " ".join(start.text.split())
    links = [link for link in start.links if link.startswith("/earlier")]
    failed, answered = (page(ask_site.site, link) for link in links[:2])

    assert "who was not?" in text.partition("who was fed before?")[0]
    assert "no answer by a model: server, $0.00" in text and "answered, $0.00" in text
    assert KEEPER in answered.links and "search who feeds, zoo" in answered.text
    assert "no answer by a model: server" in failed.text and "zoo/" in failed.text
    assert "/ask?q=who+was+not%3F&repo=zoo" in failed.links


@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        ({"question": ""}, 400, "the query is empty"),
        ({"question": "?!"}, 400, "has no word"),
        ({"question": "word " * 20_000}, 400, "the question has 99,999 characters, at most 16,000 are taken"),
        ({"question": "word " * 400_000}, 413, "at most 16,000 characters are taken"),
        ({"question": "who?", "repo": "moo"}, 404, "moo"),
    ],
    ids=["empty", "no word", "100 kB", "2 MB", "unknown repository"],
)
def test_a_question_that_is_none_is_refused(ask_site, fields, status, message):
    before = len(ask_site.model.seen)
    answer = ask_site.post(**fields)
    stream = ask_site.post(**fields, headers={"Accept": STREAM})

    assert answer.status_code == status
    assert message in shown(answer.text).text
    assert message in stream.text
    assert len(ask_site.model.seen) == before


@pytest.mark.parametrize("path", ["/earlier", "/earlier?id=x", "/earlier?id=%3Cscript%3E"])
def test_a_question_that_is_not_there_is_named(ask_site, path):
    answer = get(ask_site.site, path)

    assert answer.status_code == 404
    assert "There is no question" in answer.text


def test_the_next_question_may_go_on_from_an_answer(ask_site):
    ask_site.model.script = looks_first(Streams(ANSWER))
    first = ask_site.page("who feeds the old lion?")
    boxes = [each for tag, each in first.elements if tag == "input" and each.get("type") == "checkbox"]
    ask_site.page("and who the cub?", conversation=boxes[0]["value"])
    sent = [message["content"] for message in ask_site.model.seen[-1].body["messages"] if message["role"] == "user"]
    kept = page(ask_site.site, next(link for link in page(ask_site.site, "/ask").links if link.startswith("/earlier")))
    (on,) = [link for link in kept.links if "conversation=" in link]

    assert (boxes[0]["form"], boxes[0]["name"]) == ("ask", "conversation")
    assert "who feeds the old lion?" in sent[0] and "and who the cub?" in sent[-1]
    box = next(each for _, each in page(ask_site.site, on).elements if each.get("name") == "conversation")
    assert (box["value"], "checked" in box) == (boxes[0]["value"], True)


def test_a_conversation_that_is_not_there_is_named(ask_site):
    answer = ask_site.post("and then?", conversation="nothing")

    assert answer.status_code == 400
    assert "no conversation 'nothing'" in shown(answer.text).text


@pytest.mark.slow
def test_a_damaged_store_is_named_and_nothing_else_stops(web_home, tmp_path):
    with serve_ask_site(web_home, tmp_path) as ask_site:
        (ask_site.home / "ask.sqlite").write_bytes(b"no database" * 1000)
        start, search = page(ask_site.site, "/ask"), get(ask_site.site, "/hits", q="feed")
        answer = ask_site.post("who feeds whom?")

    assert "ask.sqlite cannot be read" in start.text
    assert search.status_code == 200
    assert answer.status_code == 503 and "ask.sqlite" in shown(answer.text).text


def test_what_no_form_sends_is_refused(ask_site):
    for content in (b"\xff\xfe", b"a=1&" * 50, b"", b"{}"):
        answer = httpx.post(f"{ask_site.site}/ask", content=content, timeout=60)
        assert answer.status_code in (400, 403), content
    assert httpx.post(f"{ask_site.site}/ask", files={"question": b"x"}, timeout=60).status_code == 403
