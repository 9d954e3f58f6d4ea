"""The step that evaluates a candidate: what it writes, and when it has nothing to do."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from codesum_pipeline.builds.steps.freshness import is_complete
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.search.evaluation.evaluate import SETUPS
from codesum_pipeline.search.evaluation.evaluation_step import EvaluationReport
from codesum_pipeline.search.evaluation.records import last_lift
from codesum_pipeline_tests.builds.law.test_law import workspace_at
from codesum_pipeline_tests.support.comparing import published_files, table_rows
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP
from codesum_pipeline_tests.support.shop_questions import FILES_OF_QUESTIONS, write_shop_questions


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, EvaluationReport]:
    """A folder with the shop and with the home in which it was built and evaluated; what that reported."""
    folder = tmp_path_factory.mktemp("template")
    repo = GitRepo.create(folder / "shop", SHOP)
    return folder, evaluate_at(workspace_at(folder / "home", repo, evaluation={"enabled": True}))


@pytest.fixture
def repo(template: tuple[Path, EvaluationReport], tmp_path: Path) -> GitRepo:
    return GitRepo(Path(shutil.copytree(template[0] / "shop", tmp_path / "shop")))


@pytest.fixture
def evaluated(template: tuple[Path, EvaluationReport], tmp_path: Path) -> EvaluationReport:
    """What was reported as the home of this test was built, and evaluated for the first time."""
    shutil.copytree(template[0] / "home", tmp_path / "home", symlinks=True)
    registry = tmp_path / "home" / "repos.yaml"
    registry.write_text(registry.read_text().replace(str(template[0]), str(tmp_path)))
    return template[1]


@pytest.fixture
def at(tmp_path: Path, repo: GitRepo) -> Callable[..., Workspace]:
    """`at(enabled=True, …)`: the shop's workspace under settings of the evaluation."""

    def open_at(*, force: bool = False, **chosen: Any) -> Workspace:
        return replace(workspace_at(tmp_path / "home", repo, evaluation=chosen), force=force)

    return open_at


def evaluate_at(ws: Workspace) -> EvaluationReport:
    report: EvaluationReport = build(ws)["retrieval_evaluation"]
    return report


def rows(ws: Workspace) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ws.tables.read("evaluations", ws.key).to_pylist()
    return found


@pytest.mark.slow
def test_nothing_is_asked_unless_it_is_wanted(at: Callable[..., Workspace]) -> None:
    report = evaluate_at(at())

    assert (report.enabled, report.questions, report.asked, report.ndcg_at_10) == (False, 0, 0, None)
    assert rows(at()) == []


def test_own_questions_give_figures_for_each_setup_and_category(
    at: Callable[..., Workspace], evaluated: EvaluationReport
) -> None:
    ws, report = at(enabled=True), evaluated

    assert report.asked == report.questions > 5
    assert report.function_mrr_at_10 is not None and 0 < report.function_mrr_at_10 <= 1
    found = rows(ws)
    assert {row["setup"] for row in found} <= {setup.name for setup in SETUPS}
    assert {row["category"] for row in found} == {"all", "docstring"}
    assert {(row["sequence"], row["run_id"], row["evaluated_at"]) for row in found} == {
        (1, "run", "2026-01-01T00:00:00Z")
    }
    assert all(row["low"] <= row["mean"] <= row["high"] for row in found)


@pytest.mark.slow
def test_each_evaluation_leaves_its_lift_ledger(at: Callable[..., Workspace], evaluated: EvaluationReport) -> None:
    report = evaluated
    first = last_lift(at())
    evaluate_at(at(enabled=True, force=True))

    assert [(row.level, row.texts, row.gain is None) for row in first.rows] == [
        (level, texts, texts == "code only")
        for level in ("all", "function", "class")
        for texts in ("code only", "extractive texts")
    ]
    assert last_lift(at()) == first
    kept = at().tables.read("evaluation_lift", "shop", columns=["sequence", "line"]).to_pylist()
    assert kept == [{"sequence": sequence, "line": line} for sequence in (1, 2) for line in range(1, 7)]
    assert report.code_only_ndcg_at_10 is not None and 0 < report.code_only_ndcg_at_10 <= 1
    assert (report.model_texts_gain, report.model_texts_cost_usd) == (None, None)


@pytest.mark.slow
@pytest.mark.usefixtures("evaluated")
def test_a_ledger_without_its_evaluation_is_written_anew(at: Callable[..., Workspace]) -> None:
    first = at().tables.read("evaluation_lift", "shop")
    # What a build leaves that was killed between both tables.
    at().tables.write("evaluations", "shop", at().tables.read("evaluations", "shop").slice(0, 0))

    evaluate_at(at(enabled=True))

    assert at().tables.read("evaluation_lift", "shop").equals(first)


def test_what_was_evaluated_is_not_asked_again_unless_forced(
    at: Callable[..., Workspace], evaluated: EvaluationReport
) -> None:
    first = evaluated

    again = evaluate_at(at(enabled=True))
    forced = evaluate_at(at(enabled=True, force=True))

    assert (again.asked, again.table_hash) == (0, first.table_hash)
    assert (forced.asked, forced.ndcg_at_10) == (first.asked, first.ndcg_at_10)
    assert {row["sequence"] for row in rows(at())} == {1, 2}


def test_a_file_of_questions_is_asked_and_when_it_changes_asked_again(
    at: Callable[..., Workspace], tmp_path: Path
) -> None:
    file = write_shop_questions(tmp_path / "questions.jsonl")
    ws = at(enabled=True, questions=file)
    report = evaluate_at(ws)
    assert is_complete(ws)
    file.write_text("\n".join(file.read_text().splitlines()[:5]) + "\n")
    was_standing = is_complete(ws)

    shorter = evaluate_at(ws)

    assert (report.questions, shorter.questions, was_standing) == (len(FILES_OF_QUESTIONS), 5, False)
    assert {row["question"] for row in ws.tables.read("evaluation_answers", "shop").to_pylist()} == {
        f"q{number:02}" for number in range(5)
    }


def test_questions_about_other_repositories_are_left_out_and_none_is_an_answer_too(
    at: Callable[..., Workspace], tmp_path: Path
) -> None:
    ws = at(enabled=True, questions=write_shop_questions(tmp_path / "questions.jsonl", repo="acme/other"))

    first, second = evaluate_at(ws), evaluate_at(ws)

    assert (first.questions, first.asked, first.ndcg_at_10) == (0, 0, None)
    assert (second, is_complete(ws)) == (first, True)


def test_a_file_of_questions_that_is_not_there_is_named(at: Callable[..., Workspace]) -> None:
    with pytest.raises(ConfigurationError, match=r"evaluation.questions: .*nowhere.jsonl cannot be read"):
        build(at(enabled=True, questions="nowhere.jsonl"))


def test_evaluating_changes_nothing_of_the_index_and_no_step_runs_again_for_it(at: Callable[..., Workspace]) -> None:
    build(at())
    build(at())
    before = (table_rows(at()), published_files(at()))
    memos = {path: path.stat().st_mtime_ns for path in at().layout.memos("shop").iterdir()}

    evaluate_at(at(enabled=True))

    assert (table_rows(at()), published_files(at())) == before
    assert {path: path.stat().st_mtime_ns for path in at().layout.memos("shop").iterdir()} == memos
