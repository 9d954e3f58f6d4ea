from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import LEVELS, Level, SummaryDocument
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.query import parse_query
from codesum_pipeline.search.retrieval.searching import search_indexes
from codesum_pipeline.search.retrieval.shelf import (
    ANYTHING,
    Filters,
    Shelf,
    WhichTests,
    allowed_rows,
    check_filters,
    parse_filters,
)
from codesum_pipeline.search.retrieval.weights import DEFAULT_WEIGHTS, Signal
from codesum_pipeline_tests.search.retrieval.rankings import rank_documents
from codesum_pipeline_tests.support.synthetic_indexes import Definition, make_index_workspace, publish


def passing(index: PublishedIndex, filters: Filters) -> set[str]:
    """The ids of what a filter lets through."""
    mask = allowed_rows(index, filters)
    return set(index.ids) if mask is None else {index.ids[row] for row in mask.nonzero()[0].tolist()}


def in_files(index: PublishedIndex, *files: str) -> set[str]:
    """The ids of all documents that stand in some files, and these themselves."""
    return {id_ for id_ in index.ids if id_.partition("::")[0] in files}


@pytest.fixture(scope="module")
def polyglot(tmp_path_factory: pytest.TempPathFactory) -> PublishedIndex:
    """The shop with documents of a second language, and a script that only its document knows the language of."""
    files = {
        "src/cart.py": (Definition("add", "Add an article.", "def add(): ..."),),
        "src/cart.go": (Definition("Put", "Add an article.", "func Put() {}"),),
        "bin/run": (Definition("main", "Start the shop.", "def main(): ..."),),
        "docs/guide.md": (),
    }
    workspace = make_index_workspace(tmp_path_factory.mktemp("polyglot"), files)
    languages = {"src/cart.go": "go", "docs/guide.md": "markdown", "docs": "markdown"}
    documents = [
        replace(row, language=languages.get(row.file_path, "python"))
        for row in workspace.tables.read_rows("documents", workspace.key, SummaryDocument)
    ]
    workspace.tables.write_rows("documents", workspace.key, documents, SummaryDocument)
    publish(workspace)
    return PublishedIndex.open(workspace.layout.published("shop"))


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        pytest.param(["src/"], {"src", "src/cart.py", "src/cart.go"}, id="a folder and all below it"),
        pytest.param(["src"], {"src", "src/cart.py", "src/cart.go"}, id="a name, of a file or of a folder"),
        pytest.param(["./src/cart.py"], {"src/cart.py"}, id="one file"),
        pytest.param(["*.go"], {"src/cart.go"}, id="a pattern at any depth"),
        pytest.param(["/*.go"], set(), id="a pattern at the root"),
        pytest.param(["src/**"], {"src", "src/cart.py", "src/cart.go"}, id="everything below a folder"),
        pytest.param(["*.go", "bin/"], {"src/cart.go", "bin", "bin/run"}, id="any of several"),
        pytest.param(["src/", "!*.go"], {"src", "src/cart.py"}, id="but not"),
        pytest.param(["!*.go", "src/"], {"src", "src/cart.py"}, id="in any order"),
        pytest.param(["!src/"], {".", "bin", "bin/run", "docs", "docs/guide.md"}, id="all but"),
        pytest.param(["#x"], set(), id="a name that would be a comment"),
    ],
)
def test_paths_are_patterns_as_in_gitignore(polyglot: PublishedIndex, paths: Sequence[str], expected: set[str]) -> None:
    found = passing(polyglot, parse_filters(paths=paths))

    assert found == expected | in_files(polyglot, *expected)


def test_a_language_is_that_of_the_documents_whatever_their_names_say(polyglot: PublishedIndex) -> None:
    assert passing(polyglot, parse_filters(languages=["go"])) == in_files(polyglot, "src/cart.go")
    assert passing(polyglot, parse_filters(languages=["markdown"])) == {"docs", "docs/guide.md"}
    assert "bin/run::main" in passing(polyglot, parse_filters(languages=["Python"]))
    assert passing(polyglot, parse_filters(languages=["go", "md"])) == {
        "docs",
        *in_files(polyglot, "src/cart.go", "docs/guide.md"),
    }


def test_test_code_is_in_or_out_or_all_there_is(shop: PublishedIndex) -> None:
    tests = {"tests", *in_files(shop, "tests/test_cart.py")}

    assert passing(shop, parse_filters(tests=WhichTests.ONLY)) == tests
    assert passing(shop, parse_filters(tests=WhichTests.OUT)) == set(shop.ids) - tests
    assert passing(shop, parse_filters(tests=WhichTests.IN)) == set(shop.ids)


def test_all_filters_have_to_let_a_document_pass(polyglot: PublishedIndex) -> None:
    assert passing(polyglot, parse_filters(languages=["py"], paths=["*.go", "bin/"])) == {
        "bin",
        *in_files(polyglot, "bin/run"),
    }


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("pages/[id].tsx", {"pages/[id].tsx"}),
        ("/pages/[id].tsx", {"pages/[id].tsx"}),
        ("[id].tsx", {"pages/[id].tsx"}),
        ("pages/[slug]/", {"pages/[slug]", "pages/[slug]/a.tsx"}),
        ("pages/[slug]", {"pages/[slug]", "pages/[slug]/a.tsx"}),
        ("[slug]", {"pages/[slug]", "pages/[slug]/a.tsx"}),
        ("pages/[di].tsx", {"pages/i.tsx"}),
        ("pages/[slug]/*.tsx", {"pages/[slug]/a.tsx"}),
        ("**/[slug]/*.tsx", {"pages/[slug]/a.tsx"}),
        ("**/[id].tsx", {"pages/[id].tsx"}),
        ("*/[sl]ug]/a.tsx", set()),
        ("[slug]/*.ts", set()),
        (r"pages/\[id\].tsx", {"pages/[id].tsx"}),
        ("[id].ts", set()),
        ("ages/[id].tsx", set()),
    ],
)
def test_brackets_are_a_class_of_characters_or_part_of_a_name(tmp_path: Path, path: str, expected: set[str]) -> None:
    files = {
        name: (Definition("f", "Show it.", "def f(): ..."),)
        for name in ("pages/[id].tsx", "pages/[slug]/a.tsx", "pages/i.tsx")
    }
    workspace = make_index_workspace(tmp_path, files)
    publish(workspace)
    index = PublishedIndex.open(workspace.layout.published("shop"))

    found = {id_ for id_ in passing(index, parse_filters(paths=[path])) if "::" not in id_}

    assert found == expected | ({"pages/i.tsx"} if path.strip("/").endswith("[id].tsx") and expected else set())


@pytest.mark.parametrize("signal", Signal, ids=str)
def test_a_signal_ranks_what_passes_as_it_ranks_all(shop: PublishedIndex, embedder: Embedder, signal: Signal) -> None:
    filters = parse_filters(paths=["shop/", "!auth.py"], tests=WhichTests.OUT)
    query = parse_query("cart", embedder=embedder)

    def ids(chosen: Filters) -> list[str]:
        ranking = rank_documents(Shelf([shop], chosen), query, signal, LEVELS, limit=50)
        return [shop.ids[row] for row in ranking.numbers.tolist()]

    assert ids(filters) == [id_ for id_ in ids(ANYTHING) if id_ in passing(shop, filters)]


@pytest.mark.parametrize("query", ["read a price", "price"], ids=["words", "a name that many begin with"])
def test_where_ten_pass_ten_are_found_however_many_are_better(tmp_path: Path, embedder: Embedder, query: str) -> None:
    files = {
        "a.py": tuple(Definition(f"price_{n}", "Read a price.", "def f(): return price") for n in range(40)),
        "b.py": tuple(
            Definition(f"price_of_many_{n}", "Read a price out of a long list.", "def f(): ...") for n in range(10)
        ),
    }
    workspace = make_index_workspace(tmp_path, files)
    publish(workspace)
    index = PublishedIndex.open(workspace.layout.published("shop"))

    hits = search_indexes(
        [index],
        query,
        embedder=embedder,
        levels=[Level.FUNCTION],
        filters=parse_filters(paths=["b.py"]),
        weights=replace(DEFAULT_WEIGHTS, depth=10),
    )

    assert {hit.id for hit in hits} == {f"b.py::price_of_many_{n}" for n in range(10)}


def test_every_level_honours_the_filters(shop: PublishedIndex, embedder: Embedder) -> None:
    for filters in (parse_filters(paths=["!shop/"]), parse_filters(tests=WhichTests.ONLY)):
        hits = search_indexes([shop], "total price of a cart", embedder=embedder, top=50, filters=filters)
        assert hits
        assert {hit.id for hit in hits} <= passing(shop, filters)


def test_test_code_is_not_lowered_where_it_is_all_there_is(shop: PublishedIndex, embedder: Embedder) -> None:
    hits = search_indexes([shop], "sum of prices", embedder=embedder, filters=parse_filters(tests=WhichTests.ONLY))

    assert hits
    assert [hit.why for hit in hits if "lowered" in hit.why] == []


def test_filters_that_let_nothing_through_find_nothing(shop: PublishedIndex, embedder: Embedder) -> None:
    assert search_indexes([shop], "cart", embedder=embedder, filters=parse_filters(languages=["go"])) == []


def test_the_same_filters_are_worked_out_once(shop: PublishedIndex) -> None:
    filters = parse_filters(paths=["shop/", "!auth.py"])

    assert allowed_rows(shop, filters) is allowed_rows(shop, parse_filters(paths=["shop/", "!auth.py", "shop/"]))


def test_an_index_remembers_the_masks_of_a_few_filters_only(shop: PublishedIndex) -> None:
    for number in range(100):
        allowed_rows(shop, Filters(paths=(f"{number}/",)))

    assert len(shop.masks) < 20


@pytest.mark.parametrize(
    ("languages", "message"),
    [
        (["pyhton"], "unknown language 'pyhton'; the nearest is 'python'"),
        (["zzz"], "unknown language 'zzz'; the nearest is "),
        (["go"], "nothing in shop is in 'go'; languages are: python"),
    ],
    ids=["typing error", "nothing like it", "none here"],
)
def test_a_language_that_is_not_there_is_named_with_what_is(
    shop: PublishedIndex, languages: list[str], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        check_filters([shop], parse_filters(languages=languages))


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("shpo/", "path 'shpo/' matches nothing in shop; nearest: shop/"),
        ("shop/carts/*.py", "path 'shop/carts/\\*.py' matches nothing in shop; nearest: shop/cart.py"),
        ("card.py", "path 'card.py' matches nothing in shop; nearest: shop/cart.py"),
        ("*.qqq", "path '\\*.qqq' matches nothing in shop$"),
        ("", "path '' is empty: give a folder as src/ or a pattern as \\*.py"),
        ("!", "path '!' is empty"),
        ("src/\\", "is no pattern as in .gitignore"),
    ],
    ids=["a folder", "below a folder", "a name", "nothing like it", "empty", "only a sign", "no pattern"],
)
def test_a_path_that_matches_nothing_is_named_with_the_nearest(shop: PublishedIndex, path: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        check_filters([shop], parse_filters(paths=[path]))


def test_what_one_index_has_may_be_asked_of_all(shop: PublishedIndex, polyglot: PublishedIndex) -> None:
    check_filters([shop, polyglot], parse_filters(languages=["go"], paths=["bin/", "!nowhere/"]))
