"""Nobody else's page, name or text gets more out of `codesum web` than a look."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

import codesum_pipeline.ways_in.web
from codesum_pipeline.ways_in.web.rendering import as_html, draw_diagram
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.ways_in.web.hostile import NAME
from codesum_pipeline_tests.ways_in.web.reading import get, shown
from codesum_pipeline_tests.ways_in.web.serving import serving

TOKEN = "a-token-that-nobody-guesses"
EVERY_PAGE = [
    ("/", {}),
    ("/", {"q": "<script>alert(1)</script> trap", "path": '"><img src=x onerror=alert(1)>', "repo": "evil"}),
    ("/hits", {"q": "trap victim", "repo": "evil"}),
    ("/document", {"repo": "evil", "id": f"{NAME}::trap"}),
    ("/document", {"repo": "evil", "id": NAME}),
    ("/document", {"repo": "evil", "id": "README.md"}),
    ("/document", {"repo": "evil", "id": "<script>alert(1)</script>"}),
    ("/related", {"repo": "evil", "id": NAME, "relation": "members"}),
    ("/repository", {"repo": "evil"}),
    ("/repository", {"repo": "<img src=x onerror=alert(1)>"}),
    ("/<script>alert(1)</script>", {}),
]
_OUR_SCRIPT = {"src": "/static/page.js", "defer": ""}


@pytest.mark.parametrize(("path", "query"), EVERY_PAGE)
def test_hostile_names_and_texts_are_letters_and_no_markup(site, path, query):
    answer = get(site, path, **query)
    found = shown(answer.text)

    assert [each for tag, each in found.elements if tag == "script"] in ([_OUR_SCRIPT], [])
    assert {tag for tag, _ in found.elements} & {"img", "iframe", "object", "base", "style"} == set()
    assert {each["class"] for tag, each in found.elements if tag == "svg"} <= {"diagram", "chart"}
    assert [name for _, each in found.elements for name in each if name.startswith("on") or name == "style"] == []
    assert [link for link in found.links if not link.startswith(("/", "#L"))] == []
    assert "\u202e" not in answer.text and "54439" not in found.text


@pytest.mark.parametrize("path", ["/", "/hits?q=x", "/nowhere", "/static/page.js", "/repository?repo=moo"])
def test_every_answer_forbids_the_browser_whatever_does_not_come_from_here(site, path):
    headers = get(site, path).headers
    policy = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))

    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert set(policy.values()) == {"'none'", "'self'"}
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"


def test_nothing_is_loaded_from_elsewhere():
    folder = Path(codesum_pipeline.ways_in.web.__file__).parent
    texts = [each.read_text() for kind in ("static", "templates") for each in (folder / kind).iterdir()]

    assert len(texts) >= 10
    addresses = {found for text in texts for found in re.findall(r"""(?:https?:)?//[\w.-]+\.\w+[^\s"')]*""", text)}
    assert addresses == {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "127.0.0.1.evil.example:{port}", ""]
)
def test_another_host_name_is_refused(site, host):
    port = site.rpartition(":")[2]

    assert httpx.get(site, headers={"Host": host.format(port=port)}).status_code in (400, 421)
    assert httpx.get(site, headers={"Host": f"localhost:{port}"}, timeout=60).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    ],
    ids=["origin", "no origin", "other port", "script", "same site", "frame"],
)
def test_a_page_of_somebody_else_gets_nothing(site, headers):
    assert httpx.get(site, headers=headers).status_code == 403


def test_a_link_of_another_page_leads_here(site):
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}

    assert httpx.get(site, headers=headers, timeout=60).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_it_only_reads(site, method):
    assert httpx.request(method, site).status_code == 405


def test_a_token_is_the_password_that_a_browser_asks_for(web_home, tmp_path):
    with serving(web_home, tmp_path, "--host", "0.0.0.0", env={"CODESUM_WEB_TOKEN": TOKEN}) as address:
        local = f"http://127.0.0.1:{address.rpartition(':')[2]}"
        named = {"Host": address.removeprefix("http://")}
        refused = httpx.get(local, headers=named)
        answers = [
            httpx.get(local, headers=named, auth=("anybody", password), timeout=60).status_code
            for password in (TOKEN, f"{TOKEN}x", "")
        ]
        bearer = httpx.get(local, headers={**named, "Authorization": f"Bearer {TOKEN}"}, timeout=60)

    assert (refused.status_code, refused.headers["www-authenticate"].split()[0]) == (401, "Basic")
    assert "zoo" not in refused.text
    assert (answers, bearer.status_code) == ([200, 401, 401], 200)


def test_a_token_shows_the_repositories_that_it_names_alone(web_home, tmp_path):
    file = tmp_path / "tokens"
    file.write_text(f"[reader]\ntoken = '{TOKEN}'\nrepos = ['evil']\n")
    file.chmod(0o600)
    with serving(web_home, tmp_path, "--token-file", str(file)) as address:
        asking = {"headers": {"Authorization": f"Bearer {TOKEN}"}, "timeout": 60}
        start, hits = httpx.get(address, **asking), httpx.get(f"{address}/hits?q=feed+the+lion", **asking)
        named = httpx.get(f"{address}/repository?repo=zoo", **asking)

    assert (start.status_code, hits.status_code, named.status_code) == (200, 200, 404)
    assert "evil" in start.text
    assert "zoo" not in start.text + hits.text
    assert "no repository &#39;zoo&#39; is served here; those are: evil" in named.text


def test_no_other_machine_is_served_without_a_token(web_home, tmp_path):
    result = fork_codesum("--home", web_home, "web", "--host", "0.0.0.0", "--port", "0", cwd=tmp_path)

    assert result.returncode == 2
    assert "--host 0.0.0.0 --port 0 can be reached from other machines: give a token with" in result.stderr


def test_a_taken_port_is_named(web_home, site, tmp_path):
    port = site.rpartition(":")[2]
    result = fork_codesum("--home", web_home, "web", "--port", port, cwd=tmp_path)

    assert result.returncode == 2
    assert f"--host 127.0.0.1 --port {port}: Address already in use: choose another address" in result.stderr


def test_markdown_makes_no_markup_of_what_others_wrote():
    text = (
        '<b>x</b> [l](javascript:alert(1)) ![i](https://evil.example/x.png) `zoo/a.py:3` `"><img src=x>`\n\n'
        '```mermaid\ngraph LR\n  p0["a#60;b#62;"]\n  p1["c"]\n  p0 --> p1\n```\n'
    )
    html = as_html(text, lambda path, place: f"/document?id={place}" if path == "zoo/a.py" else None, draw_diagram)
    found = shown(html)

    drawn = {"figure", "div", "svg", "title", "desc", "defs", "marker", "path", "g", "rect", "text"}
    drawn |= {"details", "summary", "ul", "li", "b"}
    assert {tag for tag, _ in found.elements} == {"p", "a", "code", *drawn}
    assert found.links == ["/document?id=zoo/a.py:3"]
    assert "a<b> → c" in found.text and "i (https://evil.example/x.png)" in found.text


@pytest.mark.parametrize("pattern", ["*?*?*?*?*?*?*?*?*?*z9", "*?" * 240 + "z9", "**/a*/" * 80 + "z", "[z-a]"])
def test_a_link_with_a_pattern_that_was_made_to_freeze_the_server_is_answered(site, pattern):
    answer = get(site, "/", q="x", path=pattern)

    assert answer.status_code == 200
    assert "filter left out: path" in shown(answer.text).text


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"q": "x", "path": "*?" * 300}, "paths.0 has 600 characters: String should have at most 500 characters"),
        ({"q": "x", "path": ",".join(["*?z"] * 100)}, "should have at most 20 items"),
        ({"q": "x" * 9000}, "query has 9,000 characters: String should have at most 8000 characters"),
        ({"q": "x " * 4500}, "query has 8,999 characters: String should have at most 8000 characters"),
        ({"q": "x", "cursor": "1." * 2500}, "is damaged"),
    ],
    ids=["a pattern", "many patterns", "a word", "many words", "a cursor"],
)
def test_what_is_longer_than_a_request_may_hold_is_refused_with_the_limit(site, query, message):
    answer = get(site, "/", **query)

    assert answer.status_code == 400
    assert message in shown(answer.text).text


def test_a_light_page_is_answered_while_heavy_ones_are_made(site):
    words = " ".join(f"word{number}" for number in range(300))
    heavy = {"q": words, "path": ",".join(f"{'*?' * 50}z{number}" for number in range(20))}
    with ThreadPoolExecutor(9) as asking:
        slow = [asking.submit(get, site, "/", **heavy) for _ in range(8)]
        light = asking.submit(get, site, "/")

        assert light.result().status_code == 200
        assert [each.result().status_code for each in slow] == [200] * 8
