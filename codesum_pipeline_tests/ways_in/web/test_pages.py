"""`codesum web`: a real process, asked as a browser asks."""

import re
import shutil
import socket
from urllib.parse import urljoin

import httpx
import pytest

from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline_tests.ways_in.web.hostile import NAME
from codesum_pipeline_tests.ways_in.web.reading import get, hits, page, shown
from codesum_pipeline_tests.ways_in.web.serving import serving

CLASSES = ["./", "zoo/", "zoo/animals.py:14-19", "zoo/animals.py:22-23", "zoo/animals.py:6-11"]


def test_the_start_lists_every_repository_with_what_it_has_and_how_fresh_it_is(site):
    found = page(site, "/")

    assert {"/repository?repo=evil", "/repository?repo=zoo"} <= set(found.links)
    assert "2 functions, 2 files, 1 module" in found.text
    assert "1 commit behind HEAD" in found.text and "at HEAD" in found.text


def test_a_hit_has_its_path_summary_excerpt_and_why(site):
    found = page(site, "/", q="turn food into energy")

    assert found.links[3] == "/document?repo=zoo&id=zoo%2Fanimals.py%3A%3Adigest"
    for text in ("zoo/animals.py:", "Turn food into energy.", "energy = len(food)", "summary", "zoo @ "):
        assert text in found.text, text
    assert "/document?repo=zoo&id=zoo%2Fanimals.py%3A%3Adigest#L28" in found.links


def test_a_long_hit_names_the_lines_that_fit_and_leads_to_them(site):
    found = page(site, "/", q="LINE_321", level="file")

    first, last = re.search(r"zoo/long\.py:(\d+)-(\d+) in zoo/long\.py", found.text).groups()
    assert int(first) <= 321 <= int(last)
    link = next(link for link in found.links if link.endswith(f"#L{first}"))
    assert "LINE_321 = 321" in page(site, link.partition("#")[0]).text


def test_a_hit_and_its_page_say_what_the_graph_adds(site):
    found = page(site, "/", q="turn food into energy")
    shown_alone = page(site, "/document", repo="zoo", id="zoo/animals.py::digest")

    assert "Used by feed: Give food to an animal" in found.text
    assert "Used by feed: Give food to an animal; Animal.eat: Take food and digest it" in shown_alone.text


def test_what_is_typed_gets_the_hits_of_the_page_without_its_frame(site):
    whole, part = (get(site, path, q="ticket price").text for path in ("/", "/hits"))

    assert "<html" in whole and "<html" not in part
    assert part.strip() in whole


@pytest.mark.parametrize(
    ("filters", "passes"),
    [
        ({"level": "class"}, ["zoo/animals.py:14-19", "zoo/animals.py:22-23", "zoo/animals.py:6-11"]),
        ({"level": ["class", "module"], "repo": "zoo"}, CLASSES),
        ({"language": "markdown", "level": "file"}, ["evil README.md:1", "zoo README.md:1"]),
        ({"repo": "evil", "level": "function"}, [f"{NAME}:10-12", f"{NAME}:4-7"]),
        ({"path": "zoo/keeper.py, zoo/tickets.py", "level": "file"}, ["zoo/keeper.py:1", "zoo/tickets.py:1"]),
        ({"path": "!zoo/", "level": "file", "repo": "zoo"}, ["README.md:1", "pyproject.toml:1"]),
    ],
    ids=["level", "two levels", "language", "repository", "two paths", "all but a path"],
)
def test_each_filter_leaves_only_what_passes_it(site, filters, passes):
    assert sorted(hits(site, q="feed animals or a victim", **filters)) == passes


def test_the_filter_of_tests_reaches_the_search(site):
    assert hits(site, q="feed animals", tests="out")
    assert not hits(site, q="feed animals", tests="only", path="zoo/keeper.py")


def test_a_filter_that_nothing_passes_is_named(site):
    assert "filter left out: " in get(site, "/hits", q="feed", language="fortran").text


def test_the_form_keeps_what_was_asked(site):
    fields = {
        (attributes.get("name"), attributes.get("value"))
        for tag, attributes in page(site, "/", q="a <b> c", level="class", path="zoo/", tests="out").elements
        if (tag == "input" and attributes.get("type") != "checkbox") or "checked" in attributes
    }
    assert {("q", "a <b> c"), ("level", "class"), ("path", "zoo/")} <= fields


def test_lines_that_match_are_shown_below_what_holds_them(site):
    found = page(site, "/", q="len(food)", mode="text")

    assert "1 line in 1 place: 1 in code" in found.text
    assert "/document?repo=zoo&id=zoo%2Fanimals.py%3A%3Adigest#L28" in found.links
    html = get(site, "/hits", q=r"len\(\w+\)", mode="pattern", repo="zoo", tests="out").text
    assert "energy = <mark>len(food)</mark>" in html
    assert "<b>zoo</b>" not in html and "Ask this as a question" not in html
    assert "<b>zoo</b>" in get(site, "/hits", q=r"len\(\w+\)", mode="pattern").text
    onward = [link for link in page(site, "/", q="e", mode="pattern").links if "cursor=" in link]
    assert len(onward) == 1 and "mode=pattern" in onward[0]
    assert "places: " in page(site, onward[0]).text


def test_a_pattern_that_is_none_is_named_where_the_hits_would_be(site):
    answer = get(site, "/hits", q="len(", mode="pattern")

    said = shown(answer.text).text
    assert answer.status_code == 400 and "unclosed group; to find it as it stands" in said
    assert "on the page by `lines with this text`" in said
    assert get(site, "/hits", q="len(", mode="text").status_code == 200


def test_more_hits_are_others_of_the_same_question(site):
    first = page(site, "/", q="food", level=["function", "class", "file"])
    (more,) = [link for link in first.links if "cursor=" in link]
    second = page(site, more)

    documents = [{link for link in each.links if link.startswith("/document")} for each in (first, second)]
    assert documents[1] and not documents[0] & documents[1]
    assert "level=function&level=class&level=file" in more


def test_a_document_has_its_place_its_callers_and_callees_and_its_lines(site):
    found = page(site, "/document", repo="zoo", id="zoo/keeper.py::feed")

    for text in ("Give food to an animal.", "Called by", "feed_all", "Calls", "digest", "return digest(food)"):
        assert text in found.text, text
    assert found.links[3:6] == [
        "/repository?repo=zoo",
        "/document?repo=zoo&id=zoo",
        "/document?repo=zoo&id=zoo%2Fkeeper.py",
    ]
    assert next(attributes["data-n"] for _, attributes in found.elements if "data-n" in attributes) == "6"


def test_a_long_file_goes_on_where_its_page_ends(site):
    first = page(site, "/document", repo="zoo", id="zoo/long.py")
    (more,) = [link for link in first.links if "cursor=" in link or "long.py%3A" in link]
    numbers = [
        [int(attributes["data-n"]) for _, attributes in each.elements if "data-n" in attributes]
        for each in (first, page(site, more))
    ]
    assert numbers == [list(range(1, 201)), list(range(201, 401))]


def test_a_place_is_a_document_too(site):
    assert "feed" in page(site, "/document", repo="zoo", id="zoo/keeper.py:7").text


def test_all_of_a_relation_is_a_page_away(site):
    found = page(site, "/related", repo="zoo", id="zoo/animals.py::digest", relation="callers")

    assert "Called by" in found.text
    assert "/document?repo=zoo&id=zoo%2Fkeeper.py%3A%3Afeed" in found.links


def test_a_repository_has_its_overview_its_folders_and_how_fresh_it_is(site):
    found = page(site, "/repository", repo="zoo")

    for text in ("keeper.py → animals.py", "Entry points", "open-zoo", "Folders", "1 commit behind HEAD", "3 classes"):
        assert text in found.text, text
    assert "/document?repo=zoo&id=zoo" in found.links
    assert "/document?repo=zoo&id=pyproject.toml%3A8" in found.links


def test_every_link_leads_to_a_page(site):
    seen, waiting = set(), ["/", "/?q=feed", "/?q=trap"]
    while waiting and len(seen) < 30:
        link = waiting.pop(0)
        if link in seen:
            continue
        seen.add(link)
        answer = httpx.get(urljoin(site, link), timeout=60)
        assert answer.status_code == 200, (link, answer.text)
        waiting += shown(answer.text).links
    assert len(seen) == 30


@pytest.mark.parametrize(
    ("path", "query", "status", "message"),
    [
        ("/document", {"repo": "zoo", "id": "zoo/keper.py"}, 404, "nearest: zoo/keeper.py"),
        ("/document", {"repo": "zoo"}, 404, "the id is empty"),
        ("/document", {"repo": "moo", "id": "x"}, 404, "moo"),
        ("/document", {"repo": "zoo", "id": "zoo/long.py", "cursor": "x"}, 404, "cursor 'x' is damaged"),
        ("/repository", {"repo": "moo"}, 404, "moo"),
        ("/repository", {}, 404, "no repository ''"),
        ("/related", {"repo": "zoo", "id": "zoo", "relation": "eats"}, 404, "relation 'eats' is unknown"),
        ("/hits", {"q": "x", "level": "galaxy"}, 400, "level 'galaxy' is unknown"),
        ("/", {"q": "x", "tests": "perhaps"}, 400, "tests = 'perhaps'"),
        ("/", {"q": "x", "repo": "moo"}, 404, "moo"),
        ("/hits", {"q": "x" * 8001}, 400, "query has 8,001 characters"),
        ("/elsewhere", {}, 404, "There is no such page."),
        ("/static/../app.py", {}, 404, "There is no such page."),
        ("/static/%2e%2e/app.py", {}, 404, "There is no such page."),
    ],
)
def test_what_is_wrong_is_named(site, path, query, status, message):
    answer = get(site, path, **query)

    assert answer.status_code == status, answer.text
    assert message in shown(answer.text).text
    assert len(answer.text) < 3000


def test_what_no_browser_sends_does_not_stop_the_server(site):
    with socket.create_connection(("127.0.0.1", int(site.rpartition(":")[2])), timeout=60) as raw:
        raw.sendall(b"GET /hits?q=" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 4")
    assert get(site, "/hits?q=%ff%fe%00").status_code in (200, 400)
    assert get(site, "/document", repo="zoo", id="\x00\u202e\n").status_code == 404
    assert get(site, "/").status_code == 200


def test_a_home_without_an_index_says_what_to_run(tmp_path):
    with serving(tmp_path / "home", tmp_path) as address:
        start, search = get(address, "/"), get(address, "/hits", q="x")

    assert (start.status_code, search.status_code) == (200, 404)
    assert "No repository is indexed yet: run codesum index PATH" in shown(start.text).text
    assert "run `codesum index PATH|URL`" in search.text


def test_a_damaged_index_is_named_and_the_others_answer(web_home, tmp_path):
    home = tmp_path / "home"
    shutil.copytree(web_home, home, symlinks=True)
    published = HomeLayout(home).published("evil")
    (published.parent / published.readlink() / "manifest.json").write_text("{")
    with serving(home, tmp_path) as address:
        start, search = page(address, "/"), page(address, "/", q="feed animals")
        broken = page(address, "/repository", repo="evil")

    assert "broken: " in start.text and "broken: " in broken.text
    assert "left out: " in search.text and "zoo/keeper.py" in search.text


def test_where_one_repository_is_served_there_are_no_others_and_the_browser_is_opened(web_home, tmp_path):
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o755)
    with serving(web_home, tmp_path, "--repo", "zoo", "--open", env={"BROWSER": f"{browser} %s"}) as address:
        start = page(address, "/")
        status = get(address, "/repository", repo="evil").status_code

    assert [link for link in start.links if link.startswith("/repository")] == ["/repository?repo=zoo"]
    assert status == 404
    assert opened.read_text() == f"{address}\n"


def test_a_hostile_file_has_a_page_like_any_other(site):
    assert NAME in page(site, "/document", repo="evil", id=f"{NAME}::trap").text
