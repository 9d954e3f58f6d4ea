"""Questions in a real Chromium: the stream, the keyboard, what a hostile model writes. Run by `make test-browser`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline_tests.support.browsing import CONTRAST, PHONE, focused, wait_for_end_of_answer
from codesum_pipeline_tests.support.llm_server.streaming import Streams
from codesum_pipeline_tests.ways_in.web.asking import ANSWER, AskSite, looks_first, serve_ask_site
from codesum_pipeline_tests.ways_in.web.figures import write_evaluations, write_ledger
from codesum_pipeline_tests.ways_in.web.serving import serving
from codesum_pipeline_tests.ways_in.web.test_ask import HOSTILE

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

ENDLESS = Streams("The lion waits. " * 50, hangs_after=20)


@pytest.fixture(scope="module")
def ask_site(web_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskSite]:
    """With figures of `zoo`, too."""
    with serve_ask_site(web_home, tmp_path_factory.mktemp("asked")) as found:
        write_evaluations(found.home, "zoo", [(0.5 + day / 50, 0.4) for day in range(20)])
        spent = [(f"2026-01-{day:02}", level, 0.001) for day in range(1, 29) for level in Level]
        write_ledger(found.home, "zoo", spent)
        yield found


def ask(page: Any, ask_site: AskSite, question: str) -> None:
    """Type a question, and send it with Enter."""
    page.goto(f"{ask_site.site}/ask")
    page.get_by_label("Repository").select_option("zoo")
    page.get_by_label("Question", exact=True).click()
    page.keyboard.type(question)
    page.keyboard.press("Enter")


def test_an_answer_appears_while_it_is_written_and_its_citations_lead_to_the_lines(page, ask_site):
    rest = Streams(ANSWER, hangs_after=15)
    ask_site.model.script = looks_first(rest)
    ask(page, ask_site, "who feeds the lion?")
    page.locator(".steps-now li", has_text="read zoo/nowhere.py → an error").wait_for()
    page.locator("article.answer", has_text="as README.md:3 says").wait_for()
    assert page.get_by_role("button", name="Cancel").is_visible()
    rest.goes_on.set()
    page.locator(".as-of").wait_for()
    wait_for_end_of_answer(page)

    assert page.locator(".steps summary").text_content() == "how it was looked up: 2 steps"
    page.get_by_role("link", name="zoo/keeper.py:6-8").click()
    page.wait_for_url("**/document?repo=zoo&id=zoo%2Fkeeper.py%3A6-8#L6")
    assert "def feed(animal, food):" in page.locator(".line:target").text_content()


def test_asking_reading_and_going_on_need_no_mouse(page, ask_site):
    ask_site.model.script = looks_first(Streams(ANSWER))
    page.goto(f"{ask_site.site}/?q=feed")
    page.get_by_role("link", name="Ask this as a question").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/ask?q=feed")
    page.locator("textarea:focus").wait_for()
    assert page.get_by_label("Question", exact=True).input_value() == "feed"
    page.keyboard.press("Control+End")
    page.keyboard.type(" the")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("lion?")
    page.keyboard.press("Enter")
    page.locator(".as-of").wait_for()
    wait_for_end_of_answer(page)
    assert ask_site.end_of("feed the\nlion?") == ("complete", None)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert focused(page) == "Ask"
    page.keyboard.press("Tab")
    assert focused(page) == "zoo/keeper.py:6-8"
    page.get_by_label("Question", exact=True).focus()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    assert focused(page) == "q"


@pytest.mark.parametrize("by", ["button", "Escape"])
def test_a_question_can_be_cancelled_and_is_closed_as_that(page, ask_site, by):
    ask_site.model.script = lambda _: ENDLESS
    ask(page, ask_site, f"cancelled by {by}?")
    page.get_by_text("The lion waits.").first.wait_for()
    if by == "button":
        page.get_by_role("button", name="Cancel").click()
    else:
        page.keyboard.press("Escape")
    page.get_by_text("Cancelled. What was asked of the model until then is paid.").wait_for()
    wait_for_end_of_answer(page)

    assert ask_site.end_of(f"cancelled by {by}?") == ("failed", "cancelled")
    assert page.get_by_role("button", name="Ask").is_enabled()


def test_whoever_goes_to_another_page_cancels_the_question(page, ask_site):
    ask_site.model.script = lambda _: ENDLESS
    ask(page, ask_site, "who goes away?")
    page.get_by_text("The lion waits.").first.wait_for()
    page.goto(ask_site.site)

    assert ask_site.end_of("who goes away?") == ("failed", "cancelled")


def test_one_question_at_a_time_is_asked(page, ask_site):
    ask_site.model.script = lambda _: ENDLESS
    ask(page, ask_site, "asked once?")
    for _ in range(5):
        page.keyboard.press("Enter")
    page.get_by_text("The lion waits.").first.wait_for()
    assert page.get_by_role("button", name="Ask").is_disabled()
    page.keyboard.press("Escape")
    ask_site.end_of("asked once?")

    assert [turn[0] for turn in ask_site.turns()].count("asked once?") == 1


def test_a_hostile_model_runs_nothing_and_reaches_nobody(page, ask_site):
    reached: list[str] = []
    page.on("request", lambda request: reached.append(request.url))
    page.on("dialog", lambda dialog: reached.append(dialog.message))
    ask_site.model.script = lambda _: Streams(HOSTILE)
    ask(page, ask_site, "is it safe?")
    page.locator(".as-of").wait_for()
    page.get_by_role("link", name="a link to this answer").click()
    page.get_by_role("link", name="Ask it again").wait_for()

    assert [url for url in reached if not url.startswith(f"{ask_site.site}/")] == []
    assert page.title() == "is it safe? · codesum"
    assert page.locator("main :is(img, script, b, svg, iframe, [onerror], [style])").count() == 0
    hrefs = page.locator("main a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert all(href.startswith("/") for href in hrefs)


def test_a_form_of_a_server_that_was_started_anew_asks_at_the_second_try(page, ask_site):
    ask_site.model.script = looks_first(Streams(ANSWER))
    page.goto(f"{ask_site.site}/ask?q=who+feeds+anew&repo=zoo")
    page.evaluate("document.querySelector('[name=token]').value = 'of the server before'")
    page.get_by_role("button", name="Ask").click()
    page.get_by_text("This form is not of the server that runs now").wait_for()
    page.get_by_role("button", name="Ask").click()
    page.locator(".as-of").wait_for()

    assert page.get_by_role("link", name="zoo/keeper.py:6-8").is_visible()


@pytest.mark.parametrize("page", [{"java_script_enabled": False}], indirect=True, ids=["without scripts"])
def test_without_scripts_the_form_gives_the_answer(page, ask_site):
    ask_site.model.script = looks_first(Streams(ANSWER))
    page.goto(f"{ask_site.site}/ask")
    page.get_by_label("Question", exact=True).fill("who feeds the cub?")
    page.get_by_role("button", name="Ask").click()

    page.get_by_role("link", name="zoo/keeper.py:6-8").wait_for()
    assert "who feeds the cub?" in page.get_by_label("Question", exact=True).input_value()


def test_a_server_that_goes_away_meanwhile_is_said(page, web_home, tmp_path):
    with serve_ask_site(web_home, tmp_path) as ask_site:
        ask_site.model.script = lambda _: ENDLESS
        ask(page, ask_site, "who goes?")
        page.get_by_text("The lion waits.").first.wait_for()
    page.get_by_text(re.compile("broke off")).wait_for()
    wait_for_end_of_answer(page)

    assert page.get_by_role("button", name="Ask").is_enabled()


@pytest.mark.parametrize(
    "page",
    [{"viewport": PHONE, "color_scheme": scheme} for scheme in ("light", "dark")],
    indirect=True,
    ids=["light", "dark"],
)
def test_an_answer_and_the_charts_are_readable_on_a_phone(page, ask_site):
    ask_site.model.script = looks_first(Streams(ANSWER + "| a | b |\n|---|---|\n| " + "wide_name" * 9 + " | x |\n"))
    ask(page, ask_site, "what fits on a phone?")
    page.locator(".as-of").wait_for()
    kept = page.get_by_role("link", name="a link to this answer").get_attribute("href")
    for path in (None, kept, "/repository?repo=zoo", "/document?repo=zoo&id=zoo"):
        if path:
            page.goto(f"{ask_site.site}{path}")
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        assert page.evaluate(CONTRAST) >= 4.5, path


def test_charts_have_names_and_tables(page, ask_site):
    page.goto(f"{ask_site.site}/repository?repo=zoo")
    for name in (
        "How well its own questions are answered",
        "What its texts cost by day",
        "What its texts cost by level",
    ):
        assert page.get_by_role("img", name=name).is_visible()
    assert page.get_by_role("img", name="What uses what").is_visible()
    page.get_by_text("as a table").first.click()
    assert page.get_by_role("columnheader", name="95 % interval").is_visible()


def test_an_empty_home_is_not_an_error(page, tmp_path):
    with serving(tmp_path / "home", tmp_path) as site:
        page.goto(site)
        assert page.get_by_text("No repository is indexed yet").is_visible()
        page.get_by_role("link", name="Ask").click()
        page.wait_for_url("**/ask")
        page.get_by_text("No model is asked: no model is set up (llm.enabled is false).").wait_for()
        page.get_by_label("Question", exact=True).fill("anything?")
        page.keyboard.press("Enter")
        page.get_by_text("holds no index yet: run `codesum index PATH|URL`").wait_for()
