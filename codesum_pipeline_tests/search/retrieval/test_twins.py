"""What stands in a repository twice is one hit, which says where the others are."""

from pathlib import Path

import pytest

from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.file_formats.version_folder import Lane
from codesum_pipeline.search.retrieval.hits import Hit
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import search_indexes
from codesum_pipeline_tests.support.synthetic_indexes import Definition, Files, make_index_workspace, publish

QUERY = "strip sensitive headers of a redirect"


def redirect(pagerank: float = 0.0) -> Definition:
    source = "def redirect(response, headers):\n    return strip_sensitive(headers, response.location)"
    return Definition("redirect", "Strip sensitive headers of a redirect.", source, pagerank=pagerank)


def of_same_name(number: int) -> Definition:
    return Definition("redirect", f"Draw circle {number}.", f"def redirect(circle): return circle.paint({number})")


FILES: Files = {
    "net/waiting/client.py": [redirect()],
    "net/asking/client.py": [redirect(pagerank=0.3)],
    "net/browser/client.py": [redirect()],
    "paint/client.py": [of_same_name(1)],
    "net/other.py": [
        Definition("location", "Where a redirect goes.", "def location(response): return response.location"),
        Definition("strip", "Strip headers.", "def strip(headers): return {}"),
    ],
}


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> PublishedIndex:
    return published(tmp_path_factory.mktemp("home"), FILES)


def published(home: Path, files: Files) -> PublishedIndex:
    workspace = make_index_workspace(home, files, key="net")
    publish(workspace)
    return PublishedIndex.open(workspace.layout.published("net"))


def redirects(hits: list[Hit]) -> list[str]:
    return [hit.file_path for hit in hits if hit.qualified_name == "redirect"]


def test_of_twins_the_one_that_is_used_most_is_shown_and_names_the_others(
    net: PublishedIndex, embedder: Embedder
) -> None:
    hits = search_indexes([net], QUERY, embedder=embedder)

    assert redirects(hits[:1]) == ["net/asking/client.py"]
    assert "nearly the same in net/browser/client.py, net/waiting/client.py" in hits[0].why
    assert redirects(hits) == ["net/asking/client.py", "paint/client.py"]


def test_of_twins_that_are_used_alike_the_one_that_a_line_points_to_is_shown(
    tmp_path: Path, embedder: Embedder
) -> None:
    index = published(tmp_path, {f"part{number}/client.py": [redirect()] for number in range(6)})

    hits = search_indexes([index], f"{QUERY} at part4/client.py:1", embedder=embedder)

    assert redirects(hits) == ["part4/client.py"]


def test_the_places_of_twins_are_filled_by_what_comes_next(net: PublishedIndex, embedder: Embedder) -> None:
    few, many = (search_indexes([net], QUERY, embedder=embedder, top=top) for top in (3, 10))

    assert len(few) == 3
    assert few == many[:3]


def test_one_lane_alone_shows_its_own_order_with_all_twins(net: PublishedIndex, embedder: Embedder) -> None:
    hits = search_indexes([net], QUERY, embedder=embedder, lanes=[Lane.SUMMARY])

    assert len(redirects(hits)) == 4


def test_a_name_that_many_have_makes_no_twins(tmp_path: Path, embedder: Embedder) -> None:
    index = published(tmp_path, {f"part{number}/client.py": [redirect()] for number in range(40)})

    assert len(redirects(search_indexes([index], QUERY, embedder=embedder))) == 10


def test_of_many_twins_three_are_named(tmp_path: Path, embedder: Embedder) -> None:
    index = published(tmp_path, {f"part{number}/client.py": [redirect()] for number in range(6)})

    (hit,) = [hit for hit in search_indexes([index], QUERY, embedder=embedder) if hit.qualified_name == "redirect"]
    others = [path for number in range(6) if (path := f"part{number}/client.py") != hit.file_path]
    assert f"nearly the same in {', '.join(others[:3])} and 2 more" in hit.why
