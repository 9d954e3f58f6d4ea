"""One bad file, symbol or document stops nobody: a fault is injected wherever a step works on one item.

No input is known that fails at these places, so a function there is replaced by
one that raises for one item, as a bug would; all else is a real build.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.builds.reports.kept_failures import read_failures
from codesum_pipeline.foundation.data_model import scopes
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.foundation.language_facts.file_languages import TEXT
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.graph.resolvers import families
from codesum_pipeline.graph.resolvers.rule_based_languages.declared_resolver import DeclaredResolver
from codesum_pipeline.indexes.embedders.static import StaticEmbedder
from codesum_pipeline.indexes.lanes import lane_texts, sparse
from codesum_pipeline.languages.declarations.elixir import ElixirRules
from codesum_pipeline.languages.declarations.name_tree import NameTree
from codesum_pipeline.search.evaluation import evaluate
from codesum_pipeline.source.files import snapshot
from codesum_pipeline.source.files.path_rules import PathRules
from codesum_pipeline.symbols.parsing import batches, text
from codesum_pipeline.texts.summaries import wanted_texts, writers
from codesum_pipeline.texts.summaries.wanted_texts import FAILED
from codesum_pipeline_tests.builds.law.test_law import differences, workspace_at
from codesum_pipeline_tests.support.comparing import table_rows
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.repositories import GitRepo

FILES = {
    "README.md": "# Shop\n\nSells things.\n",
    "package.json": '{"name": "shop"}\n',
    "shop/bad.py": '"""Carts."""\n\n\nclass Cart:\n    """What is bought."""\n\n    def total(self, items):\n'
    '        """Sum the prices."""\n        return sum(price_of(item) for item in items)\n\n\n'
    "def price_of(item):\n    if item is None:\n        raise ValueError(item)\n    return item.price * 2\n",
    "shop/good.py": "from shop.bad import price_of\n\n\ndef dear(item):\n    if price_of(item) > 9:\n"
    "        return item\n    return None\n",
    "shop/broken.py": "def half(a):\n    b = a * * 2\n    if b:\n        return save(b)\n    return a\n",
    "lib/bad.ex": "defmodule Shop.Bad do\n  alias Shop.Good\n\n"
    "  def add(a, b) do\n    c = a + b\n    c * 2\n  end\nend\n",
    "lib/good.ex": "defmodule Shop.Good do\n  def twice(a) do\n    b = Shop.Bad.add(a, a)\n    b + 1\n  end\nend\n",
}
EDIT = {"shop/good.py": FILES["shop/good.py"].replace("> 9", "> 10")}


@dataclass(frozen=True)
class Fault:
    """A function that fails for one item: where it is found, the item, how to tell that a call is about it."""

    step: str
    item: str
    owner: Any
    name: str
    is_about: Callable[..., bool]
    # Documents whose text may be another one because of it.
    reported: frozenset[str] = frozenset()


def id_is(item: str) -> Callable[..., bool]:
    return lambda shown, *_: shown.id == item


UP = {"shop/bad.py", "shop", "."}
BAD_FILE = frozenset(
    {
        *UP,
        "shop/bad.py::Cart",
        "shop/bad.py::Cart::total",
        "shop/bad.py::price_of",
        "shop/good.py",
        "shop/good.py::dear",
    }
)
FAULTS = {
    "judging a file by its name": Fault(
        "repo_snapshot", "shop/bad.py", PathRules, "why_skipped", lambda _, path, **__: path == "shop/bad.py", BAD_FILE
    ),
    "judging a file by its content": Fault(
        "repo_snapshot",
        "shop/bad.py",
        snapshot,
        "judge_content",
        lambda path, *_, **__: path == "shop/bad.py",
        BAD_FILE,
    ),
    "parsing a file": Fault(
        "symbols",
        "shop/bad.py",
        batches,
        "parse_file",
        lambda path, language, *_, **__: path == "shop/bad.py" and language != TEXT,
        frozenset(
            {*UP, "shop/bad.py::Cart", "shop/bad.py::Cart::total", "shop/bad.py::price_of", "shop/good.py::dear"}
        ),
    ),
    "storing what was read of a file": Fault(
        "symbols",
        "shop/bad.py",
        batches.ParsedRows,
        "of_values",
        lambda parsed: any(file.parsed.symbols and file.parsed.facts.file_path == "shop/bad.py" for file in parsed),
        BAD_FILE - {"shop/good.py"},
    ),
    "reading a project file": Fault(
        "symbols", "package.json", text, "project_references", lambda _: True, frozenset({"package.json", "."})
    ),
    "reading what a Python file says to the graph": Fault(
        "call_graph", "shop/bad.py", scopes, "load_python", lambda path, *_: path == "shop/bad.py"
    ),
    "resolving a Python file": Fault(
        "call_graph", "shop/bad.py", families, "edges_of_file", lambda _, file: file.path == "shop/bad.py"
    ),
    "reading what an Elixir file says to the graph": Fault(
        "call_graph", "lib/bad.ex", scopes, "load_declared", lambda path, *_: path == "lib/bad.ex"
    ),
    "naming the definitions of an Elixir file": Fault(
        "call_graph", "lib/bad.ex", NameTree, "_add", lambda _, file: file.path == "lib/bad.ex"
    ),
    "resolving the imports of an Elixir file": Fault(
        "call_graph", "lib/bad.ex", ElixirRules, "resolve_import", lambda _, file, *__: file.path == "lib/bad.ex"
    ),
    "resolving an Elixir file": Fault(
        "call_graph", "lib/bad.ex", DeclaredResolver, "bases", lambda _, file: file.path == "lib/bad.ex"
    ),
    "writing a function": Fault(
        "function_summaries",
        "shop/bad.py::price_of",
        writers,
        "write_text",
        id_is("shop/bad.py::price_of"),
        frozenset({"shop/bad.py::price_of", *UP}),
    ),
    "reading what a function with syntax errors says": Fault(
        "function_summaries",
        "shop/broken.py::half",
        wanted_texts,
        "to_builtins",
        # No other function has syntax errors.
        lambda _: True,
        frozenset({"shop/broken.py::half", "shop/broken.py", "shop", "."}),
    ),
    "storing a function's text": Fault(
        "function_summaries",
        "shop/bad.py::price_of",
        writers,
        "_table",
        lambda rows: any(row.id == "shop/bad.py::price_of" and row.writer != FAILED for row in rows),
        frozenset({"shop/bad.py::price_of", *UP}),
    ),
    "storing a folder's text": Fault(
        "module_summaries",
        "shop",
        writers,
        "_table",
        lambda rows: any(row.id == "shop" and row.writer != FAILED for row in rows),
        frozenset({"shop", "."}),
    ),
    "writing a class": Fault(
        "class_summaries",
        "shop/bad.py::Cart",
        writers,
        "write_text",
        id_is("shop/bad.py::Cart"),
        frozenset({"shop/bad.py::Cart", *UP}),
    ),
    "deciding about a class": Fault(
        "class_summaries",
        "shop/bad.py::Cart",
        wanted_texts,
        "want_upper",
        id_is("shop/bad.py::Cart"),
        frozenset({"shop/bad.py::Cart", *UP}),
    ),
    "writing a file": Fault(
        "file_summaries", "README.md", writers, "write_text", id_is("README.md"), frozenset({"README.md", "."})
    ),
    "deciding about a plain text": Fault(
        "file_summaries", "README.md", wanted_texts, "want_upper", id_is("README.md"), frozenset({"README.md", "."})
    ),
    "writing a folder": Fault(
        "module_summaries", "shop", writers, "write_text", id_is("shop"), frozenset({"shop", "."})
    ),
    "embedding a document": Fault(
        "dense_index",
        "README.md",
        StaticEmbedder,
        "embed",
        lambda _, texts, **__: any(one.startswith("README.md\n") for one in texts),
    ),
    "splitting a document into words": Fault(
        "sparse_index",
        "README.md",
        sparse,
        "join_tokens",
        lambda texts: any("# Shop" in one for one in texts.to_pylist()),
    ),
    "cutting a file into passages": Fault(
        "sparse_index", "README.md", lane_texts, "cut_passages", lambda body: "# Shop" in body
    ),
}
# One of each step, and of the graph one of each way.
QUICK = {
    "judging a file by its content",
    "parsing a file",
    "resolving a Python file",
    "naming the definitions of an Elixir file",
    "writing a function",
    "writing a class",
    "deciding about a plain text",
    "storing a folder's text",
    "embedding a document",
    "splitting a document into words",
}
EVERY = pytest.mark.parametrize(
    "fault",
    [pytest.param(fault, id=name, marks=[] if name in QUICK else pytest.mark.slow) for name, fault in FAULTS.items()],
)


def inject(fault: Fault, patch: pytest.MonkeyPatch) -> None:
    works = getattr(fault.owner, fault.name)

    def fails(*arguments: Any, **named: Any) -> Any:
        if fault.is_about(*arguments, **named):
            raise KeyError(f"injected into {fault.item}")
        return works(*arguments, **named)

    patch.setattr(fault.owner, fault.name, fails)


def texts_of(workspace: Workspace) -> dict[str, str]:
    names = ["id", "text_hash"]
    rows = workspace.tables.read("documents", workspace.key, columns=names)
    return dict(zip(*(rows.column(name).to_pylist() for name in names), strict=True))


def failed_items(workspace: Workspace) -> dict[str, list[tuple[str, bool]]]:
    """The failures that the last build left, each with whether its traceback names the line."""
    found = read_failures(workspace.layout.memos(workspace.key))
    return {step: [(failure.item, "in fails" in failure.traceback) for failure in some] for step, some in found.items()}


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A build in which nothing failed."""
    folder = tmp_path_factory.mktemp("clean")
    repo = GitRepo.create(folder / "shop")
    repo.commit(FILES)
    workspace = workspace_at(folder / "home", repo)
    build(workspace)
    return workspace


@EVERY
def test_all_but_the_item_is_published_and_the_next_build_heals_it(
    fault: Fault, clean: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = workspace_at(tmp_path / "home", GitRepo(Path(clean.entry.location)))

    with monkeypatch.context() as patch:
        inject(fault, patch)
        reports = build(workspace, may_fail=True)

    assert {name: report.failed for name, report in reports.items() if getattr(report, "failed", 0)} == {fault.step: 1}
    assert failed_items(workspace) == {fault.step: [(fault.item, True)]}
    assert reports["published_index"].published
    broken = texts_of(workspace)

    build(workspace)

    assert failed_items(workspace) == {}
    whole = texts_of(workspace)
    assert {id_ for id_ in {*whole, *broken} if whole.get(id_) != broken.get(id_)} <= fault.reported
    assert differences(workspace, clean) == (None, None)


@EVERY
@pytest.mark.slow
def test_a_build_with_a_failing_item_equals_a_clean_one_with_it(
    fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = GitRepo.create(tmp_path / "shop")
    repo.commit(FILES)
    workspace = workspace_at(tmp_path / "home", repo)
    inject(fault, monkeypatch)
    build(workspace, may_fail=True)
    repo.commit(EDIT)

    build(workspace, may_fail=True)

    clean = workspace_at(tmp_path / "clean", repo)
    build(clean, may_fail=True)
    assert failed_items(workspace) == failed_items(clean)
    assert differences(workspace, clean) == (None, None)


@pytest.fixture
def shop_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Workspace]:
    """`shop_with(fault)`: what a build leaves in which one item fails."""

    def built(fault: str) -> Workspace:
        repo = GitRepo.create(tmp_path / "shop")
        repo.commit(FILES)
        workspace = workspace_at(tmp_path / "home", repo)
        inject(FAULTS[fault], monkeypatch)
        build(workspace, may_fail=True)
        return workspace

    return built


def test_a_file_that_no_parser_survives_is_indexed_as_a_plain_text(shop_with: Callable[[str], Workspace]) -> None:
    rows = table_rows(shop_with("parsing a file"))

    (facts,) = [row for row in rows["file_facts"] if row["file_path"] == "shop/bad.py"]
    (document,) = [row for row in rows["documents"] if row["id"] == "shop/bad.py"]
    assert (facts["language"], facts["source"]) == (TEXT, FILES["shop/bad.py"])
    assert not document["is_placeholder"]
    assert [row["id"] for row in rows["symbols"] if row["file_path"] == "shop/bad.py"] == []


@pytest.mark.parametrize("fault", ["judging a file by its name", "judging a file by its content"])
def test_a_file_that_cannot_be_judged_is_skipped_for_that_reason(
    fault: str, shop_with: Callable[[str], Workspace]
) -> None:
    workspace = shop_with(fault)

    skipped = [row for row in table_rows(workspace)["files"] if row["status"] == "skipped"]
    assert [(row["path"], row["reason"]) for row in skipped] == [("shop/bad.py", "failed")]


def test_a_text_that_cannot_be_written_is_a_placeholder_that_says_why(shop_with: Callable[[str], Workspace]) -> None:
    workspace = shop_with("writing a function")

    texts = workspace.tables.read("texts_function", workspace.key).to_pylist()
    (found,) = [row for row in texts if row["id"] == "shop/bad.py::price_of"]
    assert found["written_by"] == "placeholder"
    assert found["failure"] == "KeyError: 'injected into shop/bad.py::price_of'"


@pytest.mark.parametrize("error", [OSError(28, "no space"), MemoryError(), ConfigurationError("wrong"), SystemError()])
def test_what_the_next_item_would_fail_on_too_ends_the_step(error: Exception) -> None:
    guard = FailureGuard()

    with pytest.raises(type(error)), guard.item("a.py"):
        raise error

    assert guard.failures == ()


def test_a_question_that_cannot_be_asked_is_asked_again_by_the_next_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docstring = "Give the prices of all things together."
    repo = GitRepo.create(tmp_path / "shop")
    repo.commit(FILES | {"shop/sum.py": FILES["shop/bad.py"].replace("Sum the prices.", docstring)})
    chosen = {"evaluation": {"enabled": True}}
    workspace = workspace_at(tmp_path / "home", repo, **chosen)

    with monkeypatch.context() as patch:
        inject(Fault("", "a question", evaluate, "_ask", lambda question, *_: question.query == docstring), patch)
        report = build(workspace, may_fail=True)["retrieval_evaluation"]
    again = build(workspace)["retrieval_evaluation"]

    assert report.failed == 1
    assert (report.asked, again.asked) == (again.questions - 1, again.questions)
    assert build(workspace)["retrieval_evaluation"].asked == 0
