"""The search page in a real Chromium. Run by `make test-browser`; with PICTURES=FOLDER it leaves pictures."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest

from codesum_pipeline_tests.support.browsing import CONTRAST, PHONE, focused, take_picture, typed
from codesum_pipeline_tests.ways_in.web.hostile import NAME
from codesum_pipeline_tests.ways_in.web.reading import get
from codesum_pipeline_tests.ways_in.web.serving import serving

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

EVERY_PAGE = [
    "/",
    "/?q=feed+animals",
    "/?q=feed&path=zoo%2F",
    "/document?repo=zoo&id=zoo/keeper.py::feed",
    "/document?repo=zoo&id=zoo/long.py",
    "/document?repo=zoo&id=nothing",
    "/repository?repo=zoo",
    "/repository?repo=evil",
    "/related?repo=zoo&id=zoo&relation=members",
    "/ask",
    "/document?repo=zoo&id=zoo/keeper.py:6-8",
]


def test_hits_come_while_somebody_types(page, site):
    page.goto(site)
    typed(page, "turn food into energy", "digest")

    # The hit may come before the last letter.
    page.wait_for_url(f"{site}/?q=turn+food+into+energy")
    assert page.title() == "turn food into energy · codesum"
    page.reload()
    assert page.locator(".hits h2 a").first.text_content() == "digest"


def test_the_field_has_the_focus_before_the_page_is_drawn(page, site):
    page.add_init_script(
        "addEventListener('DOMContentLoaded', () => { window.focusedAtOnce = document.activeElement.name; })"
    )
    page.goto(site)

    assert page.evaluate("window.focusedAtOnce") == "q"


def test_an_emptied_field_shows_the_repositories_again(page, site):
    page.goto(f"{site}/?q=feed")
    page.keyboard.press("Escape")
    page.locator(".repositories").wait_for()

    assert page.url == f"{site}/"


def test_a_filter_works_at_once_and_stays_in_the_address(page, site):
    page.goto(f"{site}/?q=animal")
    page.get_by_role("search").get_by_text("class", exact=True).click()
    page.wait_for_url("**/?q=animal&level=class")
    page.wait_for_function("document.querySelectorAll('.hits li').length === 3")
    page.get_by_label("Repository").select_option("evil")
    page.get_by_text("Nothing found with these filters.").wait_for()
    page.get_by_text("more filters").click()
    page.get_by_label("Path").fill("docs/")
    page.get_by_text("filter left out").wait_for()

    assert page.url == f"{site}/?q=animal&level=class&repo=evil&path=docs%2F"


def test_everything_can_be_done_without_a_mouse(page, site):
    page.goto(site)
    typed(page, "give food to an animal", "feed")
    page.keyboard.press("ArrowDown")
    assert focused(page) == "feed"
    page.keyboard.press("ArrowDown")
    assert focused(page) == page.locator(".hits h2 a").nth(1).text_content()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert focused(page) == "q"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_text("Called by").wait_for()
    # The keys are the page's own once its script is loaded.
    page.wait_for_load_state()
    page.keyboard.press("ArrowDown")
    assert focused(page) == "feed_all"
    page.keyboard.press("Escape")
    page.wait_for_url("**/?q=*")
    page.locator("body").press("/")
    assert focused(page) == "q"


def test_a_slash_is_typed_where_somebody_types(page, site):
    page.goto(site)
    page.keyboard.type("zoo/keeper")

    assert page.get_by_role("searchbox").input_value() == "zoo/keeper"


def test_only_the_last_question_is_answered(page, site):
    page.goto(site)

    def slow_first(route: Any) -> None:
        if "ticket&" in f"{route.request.url}&":
            page.wait_for_timeout(1500)
        route.continue_()

    page.route("**/hits?*", slow_first)
    page.keyboard.type("ticket")
    page.wait_for_timeout(400)
    page.get_by_role("searchbox").fill("turn food into energy")
    page.locator(".hits h2 a", has_text="digest").first.wait_for()
    page.wait_for_timeout(1500)

    assert page.locator(".hits h2 a").first.text_content() == "digest"


def test_a_server_that_has_gone_is_said(page, web_home, tmp_path):
    with serving(web_home, tmp_path) as address:
        page.goto(address)
    page.keyboard.type("feed")

    page.get_by_text("The server does not answer").wait_for()


def test_names_and_texts_run_nothing(page, site):
    for path in ("/?q=trap", f"/document?{urlencode({'repo': 'evil', 'id': NAME})}", "/repository?repo=evil"):
        page.goto(site + path)
        page.wait_for_timeout(200)
        assert page.title() != "owned"
        assert page.locator("img").count() == 0
    page.goto(site)
    typed(page, "victim trap", "trap")
    assert page.title() == "victim trap · codesum"


@pytest.mark.parametrize("page", [{"java_script_enabled": False}], indirect=True, ids=["without scripts"])
def test_without_scripts_the_form_works(page, site):
    page.goto(site)
    page.get_by_role("searchbox").fill("turn food into energy")
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**/?q=*")

    assert page.locator(".hits h2 a").first.text_content() == "digest"


@pytest.mark.parametrize(
    "page",
    [{"viewport": PHONE, "color_scheme": scheme} for scheme in ("light", "dark")],
    indirect=True,
    ids=["light", "dark"],
)
def test_every_page_is_readable_on_a_phone(page, site, request):
    for path in EVERY_PAGE:
        page.goto(site + path)
        take_picture(page, f"{request.node.name} {path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        assert page.evaluate(CONTRAST) >= 4.5, path


@pytest.mark.parametrize(
    ("page", "is_dark"), [({"color_scheme": "light"}, False), ({"color_scheme": "dark"}, True)], indirect=["page"]
)
def test_it_is_as_light_or_dark_as_the_system(page, site, is_dark):
    page.goto(site)
    red = int(re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))[0])

    assert (red < 64) is is_dark


def test_nothing_is_asked_of_another_server(page, site):
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    for path in EVERY_PAGE:
        page.goto(site + path)

    assert len(requested) > len(EVERY_PAGE)
    assert [url for url in requested if not url.startswith(f"{site}/")] == []
    assert get(site, "/static/page.js").headers["content-type"].startswith("text/javascript")
