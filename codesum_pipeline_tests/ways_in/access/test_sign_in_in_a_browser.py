"""Signing in and out in a real Chromium, at a provider of another project. With PICTURES=FOLDER it leaves pictures."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from oidc_provider_mock import User

from codesum_pipeline_tests.support.browsing import PHONE, take_picture
from codesum_pipeline_tests.support.chromium import launch
from codesum_pipeline_tests.ways_in.access.homes import KEY_OF_B, Homes
from codesum_pipeline_tests.ways_in.access.test_sign_in_by_others import page_at_other_provider

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

USERS = (
    User(sub="alice", claims={"name": "Alice Example", "groups": ["tills"]}),
    User(sub="mallory", claims={"name": "Mallory Example", "groups": ["others"]}),
)


@pytest.fixture
def page(playwright_driver: Any) -> Iterator[Any]:
    browser = launch(playwright_driver)
    yield browser.new_page()
    browser.close()


def test_a_person_signs_in_reads_and_signs_out(homes: Homes, tmp_path: Path, page: Any) -> None:
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if "Content Security" in message.text else None)
    with page_at_other_provider(homes, tmp_path, *USERS) as site:
        page.goto(f"{site}/?q=charge+a+card")
        page.get_by_role("button", name="alice").click()
        page.wait_for_url(f"{site}/?q=charge+a+card")
        page.get_by_text("Alice Example").wait_for()
        assert page.locator(".hits li").count() and KEY_OF_B not in page.content()
        assert page.evaluate("document.cookie") == ""
        take_picture(page, "signed in")
        page.set_viewport_size(PHONE)
        take_picture(page, "signed in on a phone")
        # A search while somebody types is asked with the session, too.
        page.get_by_role("searchbox").fill("check a card")
        page.wait_for_url(f"{site}/?q=check+a+card")
        page.get_by_role("button", name="Sign out").click()
        page.get_by_text("You are signed out of this page.").wait_for()
        take_picture(page, "signed out")
        page.goto(f"{site}/")
        assert re.search(r"/oauth2/authorize\?", page.url)

    assert problems == []


def test_who_may_read_nothing_is_told_so(homes: Homes, tmp_path: Path, page: Any) -> None:
    with page_at_other_provider(homes, tmp_path, *USERS) as site:
        page.goto(site)
        page.get_by_role("button", name="mallory").click()
        page.get_by_text("none of their 1 group opens anything here").wait_for()
        take_picture(page, "may read nothing")

        assert page.get_by_role("link", name="Sign in").get_attribute("href") == "/sign-in?to=%2F"
