"""What a model did, or would do, as the Dagster UI shows it."""

from codesum_pipeline.builds.dagster.asset_steps import metadata_of
from codesum_pipeline.builds.reports.report_values import report_values
from codesum_pipeline.foundation.data_model.document import Cause, Gate, Level
from codesum_pipeline.foundation.data_model.model_call import AvoidanceReason, CallTotals
from codesum_pipeline.texts.summaries.by_model.plan_prices import NextBuild, PlannedCalls, PlanPrice
from codesum_pipeline.texts.summaries.by_model.predicted_prices import CostHistory, LevelCalls
from codesum_pipeline.texts.summaries.level_build import LevelReport
from codesum_pipeline.texts.summaries.rewrite_plan import PlanReport

ASKED = LevelCalls(
    texts=3, found=1, pending=2, attempts=4, input_tokens=1000, output_tokens=50, cached_tokens=800, cost_usd=0.5,
    predicted_usd=0.9, predicted_usd_with_cache=0.4, latency_p50_s=1.0, latency_p95_s=2.0,
    secrets_masked={"aws-key": 1}, failures={"timeout": 1},
    gates={Gate.CAP: 2, Gate.NO_CREDENTIALS: 1},
    avoided={
        AvoidanceReason.NOT_AVOIDED: CallTotals(3, 900, 60, 0.4), AvoidanceReason.CACHE: CallTotals(1, 300, 20, 0.1),
    },
)  # fmt: skip


def level_report(calls: LevelCalls | None) -> LevelReport:
    return LevelReport(
        level=Level.FUNCTION, rows=6, written=4, kept=2, removed=0, placeholders=0, by_cause={Cause.NEW: 4},
        rewrites=(), table_hash="", asked=calls,
    )  # fmt: skip


def test_what_a_level_asked_for_becomes_numbers_over_time_and_tables_of_counts() -> None:
    shown = {
        name: getattr(value, "value", value) for name, value in metadata_of(report_values(level_report(ASKED))).items()
    }

    assert {name: value for name, value in shown.items() if name.startswith("model_")} == {
        "model_texts": 3, "model_found": 1, "model_pending": 2, "model_attempts": 4, "model_input_tokens": 1000,
        "model_output_tokens": 50, "model_cost_usd": 0.5, "model_predicted_usd": 0.9,
        "model_predicted_usd_with_cache": 0.4, "model_latency_p50_s": 1.0,
        "model_latency_p95_s": 2.0, "model_cached_share": 0.8, "model_prediction_error": 0.25,
        "model_avoided_calls": 1, "model_avoided_input_tokens": 300, "model_avoided_output_tokens": 20,
        "model_avoided_usd": 0.1, "model_no_credentials": 1,
        "model_failures": "| what | count |\n| --- | --- |\n| timeout | 1 |",
        "model_gates": "| what | count |\n| --- | --- |\n| cap | 2 |\n| no\\-credentials | 1 |",
        "model_secrets_masked": "| what | count |\n| --- | --- |\n| aws\\-key | 1 |",
        "model_avoided": "| cause | calls | tokens | US dollars |\n| --- | --- | --- | --- |\n"
        "| asked | 3 | 960 | 0\\.4000 |\n| cache | 1 | 320 | 0\\.1000 |",
    }  # fmt: skip
    assert shown["skipped_reason"] == "no-credentials"


def test_without_a_model_nothing_is_said_of_one() -> None:
    shown = report_values(level_report(None)) | report_values(PlanReport(1, {}, {}, 0, "", {}))

    assert not [name for name in shown if name.startswith(("model_", "predicted_", "would_", "forecast", "asked"))]


def test_a_plan_shows_what_a_model_would_do_with_its_price() -> None:
    asked, capped = PlannedCalls(2, 200, 16, 0.2, 0.25, 2.0), PlannedCalls(3, 300, 24, 0.3, 0.35, 3.0)
    forecast = PlanPrice(asked, stopped={Gate.CAP: capped}, kept=1)
    following = NextBuild(2, 0.25, 1.5, "llm.max_cost_usd_per_run = 1.5")
    plan = PlanReport(6, {}, {}, 0, "", {Level.FUNCTION: forecast}, 0.1, following, CostHistory())

    shown = metadata_of(report_values(plan))
    values = {name: getattr(value, "value", value) for name, value in shown.items()}

    assert {name: value for name, value in values.items() if name not in ("rows", "contexts_changed")} == {
        "forecast": "| level | calls (above functions perhaps fewer) | texts there already | tokens read | "
        "tokens written | expected US dollars | at most US dollars | would summarize | expected US dollars | "
        "at most US dollars | stopped by |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        "| function | 2 | 1 | 500 | 40 | 0\\.2500 | 2\\.0000 | 3 | 0\\.3500 | 3\\.0000 | 3 cap |",
        "predicted_calls": 2,
        "predicted_usd": 0.2,
        "predicted_usd_with_cache": 0.1,
        "expected_usd": 0.25,
        "at_most_usd": 1.5,
        "at_most_by": "llm.max_cost_usd_per_run = 1.5",
        "expected_from": CostHistory().describe(),
        "would_summarize": 3,
        "would_expected_usd": 0.35,
        "would_at_most_usd": 3.0,
    }
