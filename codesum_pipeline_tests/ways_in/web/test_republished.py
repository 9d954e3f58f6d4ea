"""Pages that are open, and pages that are asked for, while an index is published anew."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.ways_in.web.reading import get, page
from codesum_pipeline_tests.ways_in.web.serving import serving

pytestmark = pytest.mark.slow

WORDS = ("apple", "banana")
READERS, PAGES = 8, 12


def files(word: str) -> dict[str, str]:
    body = f'    """Count the {word} of a box."""\n    total = 1\n    return total\n'
    return {f"box_{part}.py": f"def box_{part}():\n{body}" for part in range(30)}


@pytest.fixture
def versions(tmp_path: Path) -> tuple[Path, list[Path]]:
    """The published name, and the version of each word that it may lead to; it leads to the last."""
    home, repository = open_home(tmp_path / "home"), GitRepo.create(tmp_path / "boxes")
    found = []
    for word in WORDS:
        repository.commit(files(word))
        workspace = workspace_of(home, RepositoryEntry(key="boxes", location=str(repository.path)), run_id=word)
        build(workspace)
        link = workspace.layout.published("boxes")
        found.append(link.readlink())
    return link, found


def publish(link: Path, version: Path) -> None:
    aside = link.with_name(".turning")
    aside.symlink_to(version)
    os.replace(aside, link)


def test_a_list_goes_on_where_it_was_and_says_that_the_index_is_another(versions, tmp_path):
    link, (older, _) = versions
    with serving(tmp_path / "home", tmp_path) as site:
        first = page(site, "/", q="count fruit", level="function")
        publish(link, older)
        (more,) = [address for address in first.links if "cursor=" in address]
        second = page(site, more)

    assert "banana" in first.text
    assert (
        "boxes was published anew, or its work tree changed, since the last part" in second.text
        and "apple" in second.text
    )


def test_each_page_is_of_one_whole_version_while_it_is_published_again_and_again(versions, tmp_path):
    link, places = versions
    stop = threading.Event()

    def go_on() -> None:
        turn = 0
        while not stop.is_set():
            publish(link, places[turn % 2])
            turn += 1

    def read(site: str) -> set[tuple[int, int]]:
        """For each page its status, and how many of the words are in it."""
        requests = [("/hits", {"q": "count fruit"}), ("/document", {"repo": "boxes", "id": "box_1.py::box_1"})]
        answers = [get(site, path, **query) for _ in range(PAGES) for path, query in requests]
        return {(answer.status_code, sum(word in answer.text for word in WORDS)) for answer in answers}

    publisher = threading.Thread(target=go_on)
    with serving(tmp_path / "home", tmp_path) as site, ThreadPoolExecutor(READERS) as pool:
        publisher.start()
        try:
            found = set().union(*pool.map(read, [site] * READERS))
        finally:
            stop.set()
            publisher.join()

    assert found == {(200, 1)}


def test_two_hundred_searches_at_once_are_all_answered(web_home, tmp_path):
    with serving(web_home, tmp_path) as site, ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(lambda number: get(site, "/hits", q=f"feed animal {number}").status_code, range(200)))

    assert answers == [200] * 200
