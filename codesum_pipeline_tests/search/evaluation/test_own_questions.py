"""A repository's own questions: what they ask, what answers them, and that the answer is nowhere written."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.progress import no_progress
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.search.evaluation.evaluate import ALL
from codesum_pipeline.search.evaluation.own_questions import (
    ask_own_questions,
    clean_subject,
    commit_questions,
    hold_out_docstrings,
    sample_documented,
)
from codesum_pipeline.search.evaluation.questions import AnswerPlace
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.homes import build, built_once, copy_built
from codesum_pipeline_tests.support.repositories import GitRepo

CART = '''"""Carts."""


class Cart:
    """Holds the wishes of one visitor until they are bought."""

    def __init__(self):
        self.lines = []

    def add(self, product):
        """Remember yet another article for the visitor.

        Twice is fine.
        """
        self.lines.append(product)
        return len(self.lines)

    def drop(self, product):
        """Drop product."""
        self.lines.remove(product)
        return len(self.lines)


def total(cart):
    """Reckon how much money the visitor owes us."""
    result = 0
    for line in cart.lines:
        result += line.price
    return result
'''
TESTS = 'def test_cart():\n    """See whether a cart keeps what it gets."""\n    assert Cart().add(1) == 1\n'
FIRST_SENTENCES = {
    "Cart": "Holds the wishes of one visitor until they are bought.",
    "Cart.add": "Remember yet another article for the visitor.",
    "total": "Reckon how much money the visitor owes us.",
}


FILES = {"shop/cart.py": CART, "tests/test_cart.py": TESTS, "README.md": "# Shop\n"}


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_once(tmp_path_factory.mktemp("once"), FILES, key="project")


@pytest.fixture
def repo(git_repo: Callable[..., GitRepo]) -> GitRepo:
    return git_repo(FILES)


@pytest.fixture
def built(once: Path, tmp_path: Path, make_workspace: Callable[..., Workspace]) -> Workspace:
    return make_workspace(copy_built(once, tmp_path).path)


def published(workspace: Workspace) -> PublishedIndex:
    return PublishedIndex.open(workspace.layout.published(workspace.key))


def test_a_docstrings_first_sentence_asks_for_its_symbol_unless_it_is_short_or_of_a_test(built: Workspace) -> None:
    with hold_out_docstrings(built, sample_documented(built, 10), progress=no_progress) as (_, questions):
        answers_by_query = {question.query: (question.relevant, question.level) for question in questions}

    assert answers_by_query == {
        FIRST_SENTENCES["Cart"]: ((AnswerPlace("shop/cart.py", 4, 21, "Cart", "class"),), Level.CLASS),
        FIRST_SENTENCES["Cart.add"]: ((AnswerPlace("shop/cart.py", 10, 16, "Cart.add", "function"),), Level.FUNCTION),
        FIRST_SENTENCES["total"]: ((AnswerPlace("shop/cart.py", 24, 29, "total", "function"),), Level.FUNCTION),
    }


def words_of(index: PublishedIndex) -> str:
    """Everything that the index says of any document."""
    return " ".join(str(index.document(row)) for row in range(len(index)))


def test_what_a_held_out_docstring_said_is_in_no_table_and_no_document_of_its_index(built: Workspace) -> None:
    telling = ("wishes", "visitor", "article", "reckon", "owes", "money")
    assert all(word in words_of(published(built)).lower() for word in telling)

    with hold_out_docstrings(built, sample_documented(built, 10), progress=no_progress) as (index, _):
        scratch = index.version.folder.parents[4]
        terms = " ".join(_column(scratch, "terms", "tokens"))
        sources = " ".join(
            [*_column(scratch, "symbols", "canonical_source"), *_column(scratch, "file_facts", "source")]
        )
        texts = words_of(index)
        ids = [index.ids[row] for row in range(len(index))]

    assert [word for word in telling if word in f"{terms} {sources} {texts}".lower()] == []
    assert ids == [published(built).ids[row] for row in range(len(ids))]


def test_definitions_of_one_name_keep_their_ids_without_their_docstrings(
    git_repo: Callable[..., GitRepo], make_workspace: Callable[..., Workspace]
) -> None:
    docstring = '"""Reckon how much money the visitor owes us."""\n    '
    totals = (CART.partition("\n\n\ndef")[2].replace("result", name) for name in ("money", "amount", "total"))
    several = "\n\n".join(f"def{total}" for total in totals)
    source = f"{several}\n\n{several.replace(docstring, '').replace('money', 'amount_due')}"
    workspace = make_workspace(git_repo({"shop/total.py": source}).path)
    build(workspace)

    with hold_out_docstrings(workspace, sample_documented(workspace, 10), progress=no_progress) as (index, questions):
        ids = set(index.ids)

    assert len(ids) == 9
    assert ids == set(published(workspace).ids)
    assert len(questions) == 3


def _column(home: Path, table: str, column: str) -> list[str]:
    values: list[str] = pq.read_table(home / "warehouse" / table / "repo=project" / "part-0.parquet")[
        column
    ].to_pylist()
    return values


def _state(folder: Path) -> dict[str, Any]:
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in sorted(folder.rglob("*"))}


def test_asking_ones_own_questions_fetches_history_and_leaves_the_rest_of_the_home_as_it_was(built: Workspace) -> None:
    at_first = _state(built.layout.home / "warehouse"), _state(built.layout.index_root)
    commit_questions(built, commits=300)
    assert (_state(built.layout.home / "warehouse"), _state(built.layout.index_root)) == at_first
    before = _state(built.layout.home)

    answers = ask_own_questions(built, published(built), setups=[ALL])

    assert len(answers) == 3
    assert _state(built.layout.home) == before


def test_the_same_repository_asks_the_same_and_a_smaller_sample_is_part_of_a_larger_one(built: Workspace) -> None:
    largest = [symbol.id for symbol, _ in sample_documented(built, 10)]

    assert largest == [symbol.id for symbol, _ in sample_documented(built, 10)]
    assert [symbol.id for symbol, _ in sample_documented(built, 1)] == [
        next(id_ for id_ in largest if id_ != "shop/cart.py::Cart"),
        "shop/cart.py::Cart",
    ]


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        ("fix(cart): refuse products without a price (#12)", "refuse products without a price"),
        ("[shop] Count each line once, closes #7", "Count each line once"),
        ("GH-12: keep the order of lines", "keep the order of lines"),
        ("Keep the order of all lines.", "Keep the order of all lines"),
        ("Fix the cart", ""),
        ("Bump actions/checkout from 3 to 4", ""),
        ("Revert count each line just once", ""),
        ("Merge branch 'main' into other things", ""),
        ("Fix a typo in the cart", ""),
        ("Apply black to all of our files", ""),
    ],
)
def test_a_subject_is_reduced_to_its_words_and_chores_are_left_out(subject: str, words: str) -> None:
    assert clean_subject(subject) == words


@pytest.fixture
def history(repo: GitRepo) -> Iterator[GitRepo]:
    """Commits after the first, each a case of its own."""
    counted = CART.replace("result += line.price", "result += line.price * line.count")
    repo.commit({"shop/cart.py": counted}, "fix: multiply every price by its count (#3)")
    commented = counted.replace("    result = 0\n", "    # Begin with nothing.\n    result = 0\n")
    repo.commit({"shop/cart.py": commented}, "Say in words what the sum begins with")
    many = "".join(f"def f{number}(a):\n    if a:\n        return {number}\n\n\n" for number in range(6))
    repo.commit({"shop/many.py": many}, "Add six different ways of doing it")
    repo.commit(
        {f"shop/part{number}.py": "def go(a):\n    return a\n" for number in range(6)}, "Take the shop apart into files"
    )
    repo.commit({"shop/gone.py": "def gone(a):\n    return a\n"}, "Add something that will not stay")
    repo.commit({"tests/test_cart.py": TESTS + "\n"}, "Test the cart with one more line")
    repo.git("rm", "-q", "shop/gone.py")
    repo.commit(
        {"shop/cart.py": commented.replace(".remove(product)", ".pop(product)")}, "Take the line out by its place"
    )
    yield repo


def test_a_commits_words_ask_for_the_functions_that_it_changed(
    history: GitRepo, make_workspace: Callable[..., Workspace]
) -> None:
    workspace = make_workspace(history.path)
    build(workspace, until="symbols")

    questions = commit_questions(workspace, commits=300)

    cart = (AnswerPlace("shop/cart.py"),)
    assert [(found.query, found.relevant, found.cited_symbols) for found in questions] == [
        ("Take the line out by its place", cart, (AnswerPlace("shop/cart.py", 18, 21, "Cart.drop", "function"),)),
        ("Say in words what the sum begins with", cart, ()),
        ("multiply every price by its count", cart, (AnswerPlace("shop/cart.py", 24, 30, "total", "function"),)),
    ]
    assert [found.query for found in commit_questions(workspace, commits=1)] == ["Take the line out by its place"]


def test_a_plain_folder_has_no_history_to_ask_about(tmp_path: Path, make_workspace: Callable[..., Workspace]) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "cart.py").write_text(CART)
    workspace = make_workspace(tmp_path / "folder")
    build(workspace, until="symbols")

    assert commit_questions(workspace, commits=300) == []
