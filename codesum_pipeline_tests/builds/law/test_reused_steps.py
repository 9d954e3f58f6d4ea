"""Which steps a change makes run, on a real repository; what the others answer with is what they would report."""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from codesum_pipeline.builds.steps.reuse import carry_out
from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.foundation.data_model.progress import no_progress
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.builds.law.test_law import must_equal_a_clean_build, workspace_at
from codesum_pipeline_tests.support.comparing import first_difference, table_rows
from codesum_pipeline_tests.support.edits import swap
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP

# They look for themselves, each time.
ALWAYS = {"repo_snapshot", "retrieval_evaluation", "published_index"}
TEXTS = {"file_summaries", "module_summaries", "summary_documents", "dense_index", "sparse_index"}
ALL = {step.name for step in STEPS}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the shop, the home in which it was built, and a copy of that."""
    folder = tmp_path_factory.mktemp("template")
    build(workspace_at(folder / "home", GitRepo.create(folder / "shop", SHOP)))
    shutil.copytree(folder / "home", folder / "home as it was", symlinks=True, copy_function=os.link)
    return folder


@pytest.fixture
def repo(template: Path, tmp_path: Path) -> GitRepo:
    """The shop, for a home that is built from it alone."""
    return GitRepo(Path(shutil.copytree(template / "shop", tmp_path / "shop")))


@pytest.fixture
def built(template: Path) -> Workspace:
    """The home as it was after the build: the very files that memos know, which are replaced and never written to."""
    shutil.rmtree(template / "home")
    shutil.copytree(template / "home as it was", template / "home", symlinks=True, copy_function=os.link)
    return workspace_at(template / "home", GitRepo(template / "shop"))


@pytest.fixture
def own(tmp_path: Path, repo: GitRepo) -> Workspace:
    """What was built from this test's shop."""
    workspace = workspace_at(tmp_path / "home", repo)
    build(workspace)
    return workspace


def run_steps(workspace: Workspace) -> tuple[set[str], Mapping[str, Any]]:
    """The names of the steps that ran, and all reports."""
    done = {step.name: carry_out(step, workspace) for step in STEPS}
    return {name for name, found in done.items() if not found.is_reused}, {n: f.report for n, f in done.items()}


def test_nothing_runs_where_nothing_changed_and_every_report_is_that_of_a_run(built: Workspace) -> None:
    ran, reports = run_steps(built)
    again, _ = run_steps(built)

    assert (ran, again) == (ALWAYS, ALWAYS)
    assert reports == {step.name: step.run(built, progress=no_progress) for step in STEPS}


def test_the_plan_of_a_finished_build_is_the_one_that_would_be_made(built: Workspace) -> None:
    run_steps(built)
    settled = built.tables.read("plan", built.key).to_pylist()
    (plan,) = (step for step in STEPS if step.name == "summary_plan")
    plan.run(built, progress=no_progress)

    assert built.tables.read("plan", built.key).to_pylist() == settled


def test_a_commit_without_a_change_makes_a_new_version_and_nothing_else(own: Workspace, repo: GitRepo) -> None:
    repo.commit({}, "nothing")

    ran, _ = run_steps(own)

    assert ran == {*ALWAYS, "index_candidate", "repo_overview"}


def test_a_changed_readme_leaves_symbols_graph_functions_and_classes_alone(
    own: Workspace, repo: GitRepo, tmp_path: Path
) -> None:
    repo.commit_exactly(swap("README.md", "A small shop", "A big shop")(SHOP))

    ran, _ = run_steps(own)

    assert ran == {*ALWAYS, *TEXTS, "symbols", "summary_plan", "index_candidate", "repo_overview"}
    must_equal_a_clean_build(own, repo, tmp_path / "clean")


def test_a_changed_setting_runs_every_step(built: Workspace, template: Path) -> None:
    ran, _ = run_steps(workspace_at(template / "home", GitRepo(template / "shop"), top_k_callers=1))

    assert ran == ALL


@pytest.mark.parametrize(("table", "column"), [("vectors", "vector"), ("terms", "tokens")])
def test_rows_that_say_something_else_make_another_candidate(built: Workspace, table: str, column: str) -> None:
    (step,) = (step for step in STEPS if step.name == "index_candidate")
    before = carry_out(step, built)
    rows = built.tables.read(table, built.key)
    reversed_column = rows.column(column).take(pa.array(range(rows.num_rows - 1, -1, -1)))
    built.tables.write(table, built.key, rows.set_column(rows.schema.get_field_index(column), column, reversed_column))

    done = carry_out(step, built)

    assert (before.is_reused, done.is_reused) == (True, False)
    assert done.report.digest != before.report.digest


@pytest.mark.parametrize(
    ("gone", "made_by"),
    [
        ("symbols", "symbols"),
        ("edges", "call_graph"),
        ("texts_function", "function_summaries"),
        ("documents", "summary_documents"),
        ("vectors", "dense_index"),
        pytest.param("file_facts", "symbols", marks=pytest.mark.slow),
        pytest.param("contexts", "call_graph", marks=pytest.mark.slow),
        pytest.param("plan", "summary_plan", marks=pytest.mark.slow),
        pytest.param("texts_class", "class_summaries", marks=pytest.mark.slow),
        pytest.param("texts_file", "file_summaries", marks=pytest.mark.slow),
        pytest.param("texts_module", "module_summaries", marks=pytest.mark.slow),
        pytest.param("document_history", "summary_documents", marks=pytest.mark.slow),
        pytest.param("terms", "sparse_index", marks=pytest.mark.slow),
        pytest.param("candidate", "index_candidate", marks=pytest.mark.slow),
        ("overviews", "repo_overview"),
    ],
)
def test_a_table_that_was_deleted_is_made_again_by_its_step(built: Workspace, gone: str, made_by: str) -> None:
    before = table_rows(built)
    built.tables.path(gone, built.key).unlink()

    ran, _ = run_steps(built)

    assert made_by in ran
    assert first_difference(table_rows(built), before) is None


def _first_file(folder: Path) -> Path:
    return min(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("file", "made_by"),
    [
        pytest.param(lambda ws: ws.layout.graph_index(ws.key) / "stats.json", {"call_graph"}, id="stats.json"),
        pytest.param(
            # The page looks whether the version that was made whole says anything else.
            lambda ws: _first_file(ws.layout.published(ws.key).resolve()),
            {"index_candidate", "repo_overview"},
            id="a published file",
        ),
    ],
)
def test_a_file_that_was_deleted_is_made_again_by_its_step(
    built: Workspace, file: Callable[[Workspace], Path], made_by: set[str]
) -> None:
    path = file(built)
    content = path.read_bytes()
    path.unlink()

    ran, _ = run_steps(built)

    assert ran == {*ALWAYS, *made_by}
    assert path.read_bytes() == content


def test_a_step_whose_kept_report_has_other_fields_runs_again(built: Workspace) -> None:
    path = built.layout.memos(built.key) / "symbols.json"
    memo = json.loads(path.read_text(encoding="utf-8"))
    path.unlink()
    path.write_text(json.dumps({**memo, "report": '{"of_an_earlier_version": 1}'}), encoding="utf-8")

    ran, _ = run_steps(built)

    assert ran == {*ALWAYS, "symbols"}
