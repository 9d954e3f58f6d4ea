"""The passage of a long function that fits a query, and finding such a function by it."""

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import LONG_LINES, is_long
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.publishing.verify import check_lanes, read_content
from codesum_pipeline.search.retrieval.passages import Passage, find_passage
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import answer_query
from codesum_pipeline.search.retrieval.shelf import parse_filters
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.long_function import FILES, LINES, LOOP
from codesum_pipeline_tests.support.repositories import GitRepo


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> PublishedIndex:
    folder: Path = tmp_path_factory.mktemp("long")
    repo = GitRepo.create(folder / "repository", FILES)
    home = open_home(folder / "home")
    build(workspace_of(home, RepositoryEntry("long", str(repo.path))))
    return PublishedIndex.open(home.layout.published("long"))


@pytest.mark.parametrize(
    ("query", "branch"),
    [
        ("what happens when somebody breaks in through a window", "burglary"),
        ("label of the courier", "parcel"),
        ("give money back to the customer", "refund"),
        ("tax of an invoice", "invoice"),
    ],
)
def test_the_passage_is_in_the_branch_that_the_query_is_about(query: str, branch: str) -> None:
    found = find_passage(LOOP, query)

    assert found is not None
    assert found.start_line <= LINES[branch] + 2 and found.end_line >= LINES[branch] + 1
    assert found.end_line - found.start_line < 12


@pytest.mark.parametrize(("lines", "has_one"), [(LONG_LINES, False), (LONG_LINES + 1, True)])
def test_only_what_is_long_has_a_passage(lines: int, has_one: bool) -> None:
    assert (find_passage("word = 1\n" * lines, "word") is not None) is has_one
    assert (find_passage("word = 1\n" * 200, "word", start_line=5, end_line=4 + lines) is not None) is has_one
    assert is_long(1, lines) is has_one


def test_the_passage_is_around_the_line_of_a_literal() -> None:
    found = find_passage(LOOP, "label of the courier", line=LINES["holiday"])

    assert found is not None
    assert found.start_line <= LINES["holiday"] <= found.end_line


# Of windows with equal shares of the query's words the first sixteen are compared: the last of them ends with line 57.
@pytest.mark.parametrize(("line", "is_found"), [(57, True), (58, False)])
def test_so_many_windows_are_compared_by_meaning(line: int, is_found: bool) -> None:
    lines = ["value = 1"] * 120
    lines[line - 1] = "raise the alarm: a thief broke the window"
    found = find_passage("\n".join(lines), "burglary police")

    assert found is not None
    assert (found.start_line <= line <= found.end_line) is is_found


@pytest.mark.parametrize(
    "source",
    ["\n" * 500, "}\n" * 100, "x" * 100_000 + "\n" * 80, "word\n" * 30_000],
    ids=["empty", "signs", "wide", "long"],
)
def test_a_source_that_says_nothing_has_a_passage_all_the_same(source: str) -> None:
    found = find_passage(source, "word")

    assert isinstance(found, Passage)
    assert 1 <= found.start_line <= found.end_line


@pytest.mark.parametrize("line", [1, 3, 4_000, 9_000, 10_000, 20_000])
def test_a_line_anywhere_in_a_long_source_is_in_its_passage(line: int) -> None:
    found = find_passage("word = 1\n" * 10_000, "other", line=line)

    assert found is not None
    assert line > 10_000 or found.start_line <= line <= found.end_line
    assert found.end_line - found.start_line < 12


def test_lines_that_a_file_no_longer_has_have_no_passage() -> None:
    assert find_passage("one\n", "one", start_line=70, end_line=200) is None


def test_of_a_file_the_long_function_with_the_best_passage_is_shown(index: PublishedIndex, embedder: Embedder) -> None:
    query = "ring the police about a window and start the siren"
    before = replace(index, owners=np.empty((0, 3), dtype=np.int32))

    assert answer_query([index], query, embedder=embedder).hits[0].id == "station.py::dispatch"
    assert answer_query([before], query, embedder=embedder).hits[0].id == "station.py::start_siren"


def test_a_long_function_that_the_filters_leave_out_is_no_hit(index: PublishedIndex, embedder: Embedder) -> None:
    query, filters = "ring the police about a window", parse_filters(paths=["!station.py"])

    hits = answer_query([index], query, embedder=embedder, filters=filters).hits

    assert hits and "station.py" not in {hit.file_path for hit in hits}


def test_an_index_knows_which_passages_are_in_long_functions(index: PublishedIndex) -> None:
    passages, functions = index.owned_passages

    assert {index.ids[row] for row in functions.tolist()} == {
        "loop.py::run",
        "station.py::dispatch",
        "worker.py::work",
    }
    assert [index.ids[index.arrays["file_row"][row]] for row in functions.tolist()] == [
        index.ids[file] for file in index.passage_files[passages].tolist()
    ]
    assert not [*check_lanes(read_content(index.version))]
