"""What each level writes, keeps and explains, on a real repository."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from codesum_pipeline.builds.codesum_home.wiring import preview_of
from codesum_pipeline.foundation.data_model.document import (
    Cause,
    HistoryEvent,
    HistoryRow,
    Level,
    PlanAction,
    PlanRow,
    SummaryDocument,
    WrittenBy,
)
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.summaries.level_step import write_level
from codesum_pipeline.texts.summaries.rewrite_plan import preview_plan
from codesum_pipeline.texts.summaries.text_history import explain_text
from codesum_pipeline_tests.support.edits import append, delete, swap
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP

Make = Callable[..., Any]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the shop and with the home in which it was built."""
    folder = tmp_path_factory.mktemp("template")
    repo = GitRepo.create(folder / "shop", SHOP)
    build(workspace_of(open_home(folder / "home"), RepositoryEntry("shop", str(repo.path))), serving_file=True)
    return folder


@pytest.fixture
def shop(template: Path, tmp_path: Path) -> GitRepo:
    """The shop, of this test alone."""
    return GitRepo(Path(shutil.copytree(template / "shop", tmp_path / "shop")))


@pytest.fixture
def at(shop: GitRepo, make_workspace: Make) -> Callable[..., Workspace]:
    """`at(**entry_fields)`: the shop's workspace in a home of this test."""
    return lambda **fields: make_workspace(shop.path, key="shop", **fields)


@pytest.fixture
def built(template: Path, at: Make, tmp_path: Path) -> Workspace:
    """The shop's workspace in a home in which it was built."""
    shutil.copytree(template / "home", tmp_path / "home", symlinks=True)
    registry = tmp_path / "home" / "repos.yaml"
    registry.write_text(registry.read_text().replace(str(template), str(tmp_path)))
    workspace: Workspace = at()
    return workspace


def documents(workspace: Workspace) -> dict[str, SummaryDocument]:
    rows = workspace.tables.read_rows("documents", workspace.key, SummaryDocument)
    return {row.id: row for row in rows}


def plan_of(workspace: Workspace) -> dict[str, tuple[PlanAction, Cause | None]]:
    rows = workspace.tables.read_rows("plan", workspace.key, PlanRow)
    return {row.id: (row.action, row.cause) for row in rows if row.action is not PlanAction.KEEP}


def tree_of(folder: Path) -> Mapping[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_every_function_class_file_and_folder_has_one_document(built: Workspace) -> None:
    found = documents(built)

    files = set(SHOP)
    folders = {".", "docs", "shop", "shop/orders", "shop/payment", "tests", "scripts"}
    assert {id_ for id_, row in found.items() if row.type is Level.FILE} == files
    assert {id_ for id_, row in found.items() if row.type is Level.MODULE} == folders
    assert found["shop/orders/order.py::Order::State::is_final"].parent_id == "shop/orders/order.py::Order::State"
    assert found["shop/cli.py::main::farewell"].parent_id == "shop/cli.py::main"
    assert found["shop/orders/order.py::Order::amount#b81d61"].qualified_name == "Order.amount"
    assert found["shop"].parent_id == "."
    assert found["."].parent_id is None


def test_a_document_has_the_fields_that_its_type_requires(built: Workspace) -> None:
    for row in documents(built).values():
        assert row.summary and row.business_intent and row.keywords, row.id
        assert (row.qualified_name is not None) == (row.type in (Level.FUNCTION, Level.CLASS))
        assert (row.start_line is not None) == (row.type in (Level.FUNCTION, Level.CLASS))
        assert row.module_path == (row.id if row.type is Level.MODULE else row.file_path.rpartition("/")[0] or ".")
        assert all(
            row.start_line <= c.start_line <= c.end_line <= row.end_line for c in row.citations if row.start_line
        )


def test_lines_follow_a_function_that_only_moved(built: Workspace, shop: GitRepo) -> None:
    before = documents(built)["shop/money.py::format_amount"]
    shop.commit_exactly(swap("shop/money.py", 'CURRENCY = "EUR"', '\n\n# Money.\nCURRENCY = "EUR"')(SHOP))

    reports = build(built)

    after = documents(built)["shop/money.py::format_amount"]
    assert after.start_line == before.start_line + 3
    assert [c.start_line - 3 for c in after.citations] == [c.start_line for c in before.citations]
    assert reports["function_summaries"].written == 0
    assert reports["dense_index"].embedded == 0


def test_a_subdir_is_the_root_module_and_paths_stay_relative_to_the_git_root(at: Make) -> None:
    build(workspace := at(subdir="shop/orders"))
    found = documents(workspace)

    assert {row.id for row in found.values() if row.type is Level.MODULE} == {"shop/orders"}
    assert found["shop/orders"].parent_id is None
    assert "shop/orders/order.py::Order::send" in found


def test_an_unchanged_repository_writes_nothing_and_publishes_nothing(at: Make) -> None:
    first = build(workspace := at())
    second = build(workspace)

    assert second["symbols"].parsed == 0
    assert [second[f"{level}_summaries"].written for level in Level] == [0, 0, 0, 0]
    assert second["dense_index"].embedded == 0
    assert not second["published_index"].published
    assert {name: report.table_hash for name, report in second.items() if name != "summary_plan"} == {
        name: report.table_hash for name, report in first.items() if name != "summary_plan"
    }


def test_a_forced_build_writes_every_text_and_changes_none(built: Workspace, make_workspace: Make) -> None:
    before = documents(built)

    reports = build(Workspace(**{**{name: getattr(built, name) for name in built.__struct_fields__}, "force": True}))

    assert {rewrite.cause for rewrite in reports["function_summaries"].rewrites} == {Cause.FORCED}
    assert sum(reports[f"{level}_summaries"].written for level in Level) == len(before)
    assert reports["summary_documents"].texts_changed == 0
    assert documents(built) == before


def test_the_plan_names_what_will_be_written_and_what_may_be(built: Workspace, shop: GitRepo) -> None:
    shop.commit_exactly(swap("shop/cart.py", "Put a product into", "Lay a product in")(SHOP))

    build(built, until="summary_plan")

    assert plan_of(built) == {
        "shop/cart.py::Cart::add": (PlanAction.WRITE, Cause.CONTENT),
        "shop/cart.py::Cart": (PlanAction.MAYBE, Cause.CHILD),
        "shop/cart.py": (PlanAction.MAYBE, Cause.CHILD),
        "shop": (PlanAction.MAYBE, Cause.CHILD),
        ".": (PlanAction.MAYBE, Cause.CHILD),
    }


def test_a_build_never_writes_more_than_its_plan_said(built: Workspace, shop: GitRepo) -> None:
    shop.commit_exactly(append("shop/base.py", "\n\ndef more(a):\n    if a:\n        return Named(a)\n")(SHOP))

    reports = build(built)

    planned = set(plan_of(built))
    written = {rewrite.id for level in Level for rewrite in reports[f"{level}_summaries"].rewrites}
    assert written <= planned
    assert "shop/base.py::more" in written


def test_a_preview_changes_nothing_in_the_home(built: Workspace, shop: GitRepo, tmp_path: Path) -> None:
    shop.commit_exactly(delete("docs/notes.rst")(SHOP))
    before = tree_of(tmp_path / "home")

    preview = preview_plan(built, preview_of(built, tmp_path / "scratch"))

    assert tree_of(tmp_path / "home") == before
    actions = {row.id: row.action for row in preview.rows if row.action is not PlanAction.KEEP}
    assert actions == {"docs/notes.rst": PlanAction.REMOVE, "docs": PlanAction.WRITE, ".": PlanAction.MAYBE}


def test_a_preview_of_a_repository_that_was_never_built_plans_every_document(at: Make, tmp_path: Path) -> None:
    workspace = at()
    preview = preview_plan(workspace, preview_of(workspace, tmp_path / "scratch"))

    assert {(row.action, row.cause) for row in preview.rows} == {(PlanAction.WRITE, Cause.NEW)}
    assert not workspace.layout.warehouse.exists()


def test_functions_are_written_as_they_are_whatever_was_planned(built: Workspace, shop: GitRepo) -> None:
    shop.commit_exactly(swap("shop/cart.py", "Put a product into", "Lay a product in")(SHOP))
    build(built, until="symbols")

    report = write_level(built, Level.FUNCTION)

    assert [(one.id, one.cause) for one in report.rewrites] == [("shop/cart.py::Cart::add", Cause.CONTENT)]


def test_explain_follows_the_causes_down_to_the_edit(built: Workspace, shop: GitRepo) -> None:
    commit = shop.commit_exactly(swap("shop/cart.py", "Put a product into", "Lay a product in")(SHOP))
    build(built)

    steps = explain_text(built, "shop/cart.py")

    assert [(step.depth, step.row.id, step.row.cause) for step in steps] == [
        (0, "shop/cart.py", Cause.CHILD),
        (1, "shop/cart.py::Cart", Cause.CHILD),
        (2, "shop/cart.py::Cart::add", Cause.CONTENT),
    ]
    assert {step.row.commit for step in steps} == {commit}


def test_explain_shows_five_of_many_causes_each_with_the_commit_that_brought_it(
    built: Workspace, shop: GitRepo
) -> None:
    new = {
        f"many/part_{number}.py": f"def part_{number}():\n    return open('{number}').read()\n" for number in range(8)
    }
    first = shop.commit({**new, "many/README.md": "# Many\n"})
    build(built)
    changed = {
        name: text.replace("return open", "print(1)\n    raise OSError('no'); open") for name, text in new.items()
    }
    shop.commit(changed)
    build(built)

    top, *causes = explain_text(built, "many")

    direct = [step for step in causes if step.depth == 1]
    assert [step.row.id for step in direct] == [f"many/part_{number}.py" for number in range(5)]
    assert top.more_causes == 3
    assert len({step.row.commit for step in causes} | {top.row.commit}) == 1
    assert top.row.commit != first


def _written(number: int, id_: str, *causes: str, cause: Cause | None = None) -> HistoryRow:
    return HistoryRow(
        sequence=number,
        id=id_,
        level=Level.FUNCTION,
        event=HistoryEvent.WRITTEN,
        cause=cause,
        cause_ids=causes,
        writer="llm/1",
        written_by=WrittenBy.LLM,
        summary_hash=f"{number}",
        text_hash=f"{number}",
        run_id=f"run {number}",
        commit=f"commit {number}",
        written_at="2027-01-31T09:30:00Z",
        cost_usd=0.0,
    )


def test_explain_names_the_edges_that_made_a_context_another_one_with_the_commit_of_the_edges(built: Workspace) -> None:
    rows = [
        _written(1, "a.py::old", cause=Cause.NEW),
        _written(2, "a.py::f", "a.py::old", "b.py::gone", cause=Cause.GRAPH),
        _written(3, "a.py::g", "b.py::gone", cause=Cause.CHILD),
    ]
    built.tables.write_rows("document_history", "shop", rows, HistoryRow)

    (_, *edges), (_, unwritten) = explain_text(built, "a.py::f"), explain_text(built, "a.py::g")

    assert [(step.row.id, step.is_edge, step.row.commit, step.row.run_id) for step in edges] == [
        ("a.py::old", True, "commit 2", "run 2"),
        ("b.py::gone", True, "commit 2", "run 2"),
    ]
    assert (unwritten.row.id, unwritten.is_unwritten, unwritten.row.commit) == ("b.py::gone", True, "commit 3")


def test_explain_names_the_child_that_went(built: Workspace, shop: GitRepo) -> None:
    shop.commit_exactly(delete("docs/notes.rst")(SHOP))
    build(built)

    steps = explain_text(built, "docs")

    assert [(step.row.id, step.row.event, step.row.cause) for step in steps] == [
        ("docs", HistoryEvent.WRITTEN, Cause.CHILD),
        ("docs/notes.rst", HistoryEvent.REMOVED, None),
    ]


def test_explain_of_an_unknown_document_names_near_ones(built: Workspace) -> None:
    with pytest.raises(ConfigurationError, match="no document 'shop/cart.py::Cart::ad'; near: shop/cart.py::Cart::add"):
        explain_text(built, "shop/cart.py::Cart::ad")


def test_history_grows_only_where_a_text_changed(built: Workspace, shop: GitRepo) -> None:
    first = built.tables.read_rows("document_history", "shop", HistoryRow)
    shop.commit_exactly(swap("shop/money.py", "0.5)", "0.49)")(SHOP))
    build(built)
    second = built.tables.read_rows("document_history", "shop", HistoryRow)

    assert second[: len(first)] == first
    assert [row.sequence for row in second] == list(range(1, len(second) + 1))
    written = [row for row in second[len(first) :] if row.event is HistoryEvent.WRITTEN]
    changed = {row.id for row in written}
    texts_before = {row.id: row.text_hash for row in first}
    assert all(row.text_hash != texts_before[row.id] for row in written)
    assert changed <= {"shop/money.py::round_cents", "shop/money.py", "shop", "."}


def test_a_rewrite_to_the_same_words_is_told_once_with_its_cause_and_the_rewrite_that_gave_them(
    built: Workspace, shop: GitRepo
) -> None:
    before = documents(built)["shop/money.py::round_cents"]
    (first,) = explain_text(built, "shop/money.py::round_cents")
    shop.commit_exactly(swap("shop/money.py", "0.5)", "0.49)")(SHOP))
    build(built)
    build(built)

    assert documents(built)["shop/money.py::round_cents"].summary == before.summary
    looked_at, written = explain_text(built, "shop/money.py::round_cents")
    assert (looked_at.row.event, looked_at.row.cause, looked_at.row.cost_usd) == (
        HistoryEvent.SAME_TEXT,
        Cause.CONTENT,
        0.0,
    )
    assert (written.row.event, written.row.cause, written.depth) == (HistoryEvent.WRITTEN, Cause.NEW, first.depth + 1)
    history = built.tables.read_rows("document_history", "shop", HistoryRow)
    again = [row.id for row in history if row.event is HistoryEvent.SAME_TEXT]
    assert sorted(again) == sorted(set(again))


def test_a_text_that_comes_back_is_restored(built: Workspace, shop: GitRepo) -> None:
    shop.commit_exactly(delete("shop/cli.py")(SHOP))
    build(built)
    shop.commit_exactly(SHOP)

    reports = build(built)

    causes = {rewrite.id: rewrite.cause for rewrite in reports["function_summaries"].rewrites}
    assert causes == {"shop/cli.py::main": Cause.RESTORED, "shop/cli.py::main::farewell": Cause.RESTORED}


def test_a_caller_changes_a_context_and_no_text(built: Workspace, shop: GitRepo) -> None:
    before = documents(built)["shop/money.py::convert"]
    shop.commit_exactly(
        append("shop/cli.py", "\n\ndef price(amount):\n    if amount:\n        return shop_money.convert(amount, 2)\n")(
            swap("shop/cli.py", "import sys\n", "import sys\n\nimport shop.money as shop_money\n")(SHOP)
        )
    )

    reports = build(built)

    after = documents(built)["shop/money.py::convert"]
    assert set(after.called_by) - set(before.called_by) == {"shop/cli.py::price"}
    assert after.graph_hash != before.graph_hash
    assert (after.text_hash, after.summary_hash) == (before.text_hash, before.summary_hash)
    assert {rewrite.id for rewrite in reports["function_summaries"].rewrites} == {"shop/cli.py::price"}
    assert reports["summary_plan"].contexts_changed >= 1


def test_published_documents_say_when_and_why_they_were_written(built: Workspace, shop: GitRepo) -> None:
    commit = shop.commit_exactly(swap("shop/cart.py", "Put a product into", "Lay a product in")(SHOP))
    build(built)

    lines = (built.layout.published("shop") / "summary.jsonl").read_text(encoding="utf-8").splitlines()
    found = {document["id"]: document for document in map(json.loads, lines)}
    assert (found["shop/cart.py::Cart::add"]["cause"], found["shop/cart.py::Cart::add"]["commit"]) == (
        "content",
        commit,
    )
    assert found["shop/cart.py::Cart::total"]["cause"] == "new"
    assert found["shop/cart.py::Cart::total"]["last_updated"] == "2026-01-01T00:00:00Z"


def test_any_duckdb_client_can_read_the_tables_of_all_repositories(built: Workspace, tmp_path: Path) -> None:

    with duckdb.connect(str(tmp_path / "home" / "codesum.duckdb"), read_only=True) as connection:
        found = connection.execute("SELECT repo, type, count(*) FROM documents GROUP BY ALL ORDER BY ALL").fetchall()

    counted = Counter(row.type.value for row in documents(built).values())
    assert found == [("shop", level, number) for level, number in sorted(counted.items())]
