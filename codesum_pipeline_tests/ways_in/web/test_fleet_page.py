"""The page of the fleet: what the planner knows of each repository, sorted, filtered and bounded."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesum_pipeline.builds.reports.planner_record import PlannedBuild, keep_planned
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.ways_in.web.reading import Shown, get, page
from codesum_pipeline_tests.ways_in.web.serving import serving

COUNT = 250


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of a home with many repositories, of which a daemon knows something."""
    folder = tmp_path_factory.mktemp("fleet")
    home, now = open_home(folder / "home"), time.time()
    keys = [f"repo-{number:03}" for number in range(COUNT)]
    for key in (*keys, "broken", "gone"):
        home.registry.add(RepositoryEntry(key=key, location=f"https://code.example/{key}.git"))
    builds = {key: PlannedBuild(decision="to build", at=now, head="1" * 40) for key in keys}
    builds["broken"] = PlannedBuild(
        decision="failed too often",
        at=now,
        head="2" * 40,
        behind_since="2026-01-31T09:30:00.120Z",
        failures=3,
        failure="<b>no room</b> left",
    )
    builds["gone"] = PlannedBuild(decision="unreadable", at=now, complaint="gone: nobody answers", next_poll_at=now)
    keep_planned(home.layout, builds, registered=builds, every_s=3600, version="")
    with serving(folder / "home", folder) as address:
        yield address


def names(found: Shown) -> list[str]:
    return [link.partition("repo=")[2] for link in found.links if link.startswith("/repository?")]


def test_what_needs_somebody_comes_first_and_says_why(fleet: str) -> None:
    found = page(fleet, "/fleet")

    text = " ".join(found.text.split())
    assert names(found)[:3] == ["broken", "gone", "repo-000"]
    assert "failed 3 times, last: <b>no room</b> left; next try: after a new commit" in text
    assert "gone: nobody answers; next try: the next look is at" in text
    assert "252 repositories" in text


def test_who_is_behind_for_longer_than_its_target_is_marked(fleet: str) -> None:
    code = get(fleet, "/fleet?q=broken").text

    assert code.count('class="num late" title="longer than its target allows"') == 1
    assert 'class="num late"' not in get(fleet, "/fleet?q=repo-000").text


def test_a_page_is_bounded_and_the_next_one_goes_on(fleet: str) -> None:
    first = page(fleet, "/fleet", sort="repository")
    onward = next(link for link in first.links if "from=200" in link)
    second = page(fleet, onward)

    assert len(names(first)) == 200
    assert len(names(second)) == COUNT + 2 - 200
    assert not {*names(first)} & {*names(second)}


def test_rows_are_filtered_by_state_and_name_and_sorted_by_a_column(fleet: str) -> None:
    assert names(page(fleet, "/fleet", state="failed too often")) == ["broken"]
    assert names(page(fleet, "/fleet", q="EPO-01", sort="repository")) == [f"repo-01{digit}" for digit in range(10)]
    assert names(page(fleet, "/fleet", sort="behind"))[0] == "broken"


@pytest.mark.parametrize("query", [{"sort": "size"}, {"from": "-1"}, {"from": "9" * 30}], ids=str)
def test_what_the_page_does_not_know_is_named(fleet: str, query: dict[str, str]) -> None:
    answer = get(fleet, "/fleet", **query)

    assert answer.status_code == 400
    assert next(iter(query.values())) in answer.text


def test_repositories_without_a_daemon_are_looked_at(site: str, web_home: Path) -> None:
    assert not HomeLayout(web_home).planned.exists()
    text = " ".join(page(site, "/fleet").text.split())

    assert "zoo behind" in text
    assert "evil up to date" in text
