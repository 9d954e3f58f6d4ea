"""Checks against thresholds: they can fail, say when they have nothing to look at, and stop nothing."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from codesum_pipeline.builds.alerts.alert_book import ConditionKind, open_book
from codesum_pipeline.builds.checks.health_checks import find_health
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.alerting import look_for_conditions as look_for_alerts
from codesum_pipeline.builds.dagster.alerting import take_due
from codesum_pipeline.builds.dagster.asset_steps import last_materialization
from codesum_pipeline.builds.reports.build_values import BuildOptions
from codesum_pipeline.builds.steps.one_build import Build
from codesum_pipeline.builds.steps.shows import show_run
from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.graph.graph_step import GraphReport
from codesum_pipeline.graph.resolution import Coverage
from codesum_pipeline.notifications.delivery.outbox import open_outbox
from codesum_pipeline_tests.builds.dagster.test_ticks import requested
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo

QUICK = "[checks]\nbehind_hours = 0.00001\n[alerts]\nsettle_minutes = 0\nfailed_builds = 2\nchannels = ['ops']\n"
ODD = (
    '"""Odd."""\n\n\ndef odd(thing):\n    """Turn it."""\n    thing.spin()\n    return thing.whirl()\n'
    "\n\ndef get_odd():\n    return 1\n"
)
OPS = "[delivery.channels.ops]\nkind = 'webhook'\nurl = 'https://ops.example/hook'\n"


def found(instance: dg.DagsterInstance, asset: str, check: str) -> list[tuple[str, str, str]]:
    """Status, state and description of each evaluation for `shop`, newest first."""
    key = dg.AssetCheckKey(dg.AssetKey(asset), check)
    records = instance.event_log_storage.get_asset_check_execution_history(key, limit=10)
    lines = []
    for record in records:
        if record.event and record.partition == "shop":
            event = record.event.dagster_event
            assert event
            data = event.asset_check_evaluation_data
            state = data.metadata.get("state")
            lines.append((record.status.value, str(state.value) if state else "", data.description or ""))
    return lines


def build(home: Home, instance: dg.DagsterInstance, job: str = "index_repository", **settings: Any) -> bool:
    definitions = build_defs({"home": home.settings.home, "lease_wait_s": 0, **settings})
    instance.add_dynamic_partitions("codesum_repos", ["shop"])
    resolved = definitions.resolve_job_def(job)
    return resolved.execute_in_process(partition_key="shop", instance=instance, raise_on_error=False).success


def alerted(home: Home) -> list[str]:
    with open_outbox(home.settings.home, now=utc_now) as outbox:
        return sorted(outbox.post(each.post_id).subject for each in outbox.deliveries())


def settle(home: Home, instance: dg.DagsterInstance) -> None:
    look_for_alerts(open_home(home.settings.home, offline=True), instance, dg.get_dagster_logger())


def report_of(coverage: Coverage) -> GraphReport:
    return GraphReport("", 1, 1, 1, 1, 0, 0, 0, 0, 1, coverage, 0, ())


@pytest.fixture
def begin_with(job_template: Path) -> Path:
    return job_template


@pytest.fixture
def quick(home: Home) -> Home:
    """A home whose owner wants to know at once."""
    home.settings.home.mkdir(parents=True, exist_ok=True)
    (home.settings.home / "codesum.toml").write_text(QUICK + OPS)
    return open_home(home.settings.home, lease_wait_s=0)


@pytest.mark.slow
def test_figures_out_of_their_band_are_found_and_stop_nothing(
    built_shop: GitRepo, home: Home, instance: dg.DagsterInstance
) -> None:
    built_shop.commit({"shop/odd.py": ODD})

    assert build(home, instance, checks={"resolved_calls_least": 1.0, "placeholders_most": 0.0, "cost_usd_most": 0.0})

    [(status, state, description), *_] = found(instance, "call_graph", "calls_are_resolved")
    assert (status, state) == ("FAILED", "out of the band") and "at least 1 is expected" in description
    [(status, state, description), *_] = found(instance, "summary_documents", "placeholders_in_band")
    assert (status, state) == ("FAILED", "out of the band") and "at most 0 is expected" in description
    [(status, state, _), *_] = found(instance, "published_index", "cost_of_day_in_band")
    assert (status, state) == ("SUCCEEDED", "in the band")
    [(status, state, _), *_] = found(instance, "summary_documents", "model_texts_in_band")
    assert (status, state) == ("SUCCEEDED", "switched off")


def test_a_share_of_calls_far_below_the_past_is_out_of_the_band(built_shop: GitRepo, home: Home) -> None:
    past = home.layout.memos("shop") / "coverage.json"
    past.write_text(json.dumps({"a": 0.9, "b": 0.92, "c": 0.91}))
    ws, report = home.workspace("shop", run_id="test"), report_of(Coverage(100, 40, 39, 0, 0, 21))

    [finding] = find_health("call_graph", ws, home.settings.checks, report)

    assert not finding.passed and finding.is_warning
    assert finding.description == "share of calls whose target is known: 0.79, at least 0.81 is expected"


@pytest.mark.slow
def test_a_check_without_data_does_not_pass_and_alarms_nobody(
    built_shop: GitRepo, quick: Home, instance: dg.DagsterInstance
) -> None:
    built_shop.git("rm", "-q", "-r", "shop")
    built_shop.commit({"README.md": "# Shop\n\nClosed.\n"})

    assert build(quick, instance)

    [(status, state, description), *_] = found(instance, "call_graph", "calls_are_resolved")
    assert (status, state, description) == ("FAILED", "no data", "no data: no indexed file calls anything")
    settle(quick, instance)
    with open_book(quick.settings.home, now=utc_now) as book:
        assert book.conditions("is_bad") == []


def test_lateness_is_seen_and_told_while_nothing_is_built(
    built_shop: GitRepo, quick: Home, instance: dg.DagsterInstance, look: Callable[..., dg.SensorResult]
) -> None:
    for _ in range(2):
        look()
    assert found(instance, "published_index", "index_is_fresh") == [
        ("SUCCEEDED", "", "at the repository's newest commit")
    ]

    built_shop.commit({"shop/prices.py": ODD})
    for _ in range(4):
        look()
    [(status, _, description), *_] = found(instance, "published_index", "index_is_fresh")
    assert status == "FAILED" and description.startswith("behind its repository since")
    settle(quick, instance)
    assert alerted(quick) == ["codesum: Failing: shop: check index_is_fresh"]

    built_shop.git("reset", "-q", "--hard", "HEAD~1")
    look()
    [(status, _, _), *_] = found(instance, "published_index", "index_is_fresh")
    assert status == "SUCCEEDED"


@pytest.mark.slow
def test_builds_that_fail_again_and_again_are_told_once_and_so_is_their_end(
    built_shop: GitRepo, quick: Home, instance: dg.DagsterInstance
) -> None:
    settle(quick, instance)
    for _ in range(3):
        assert not build(quick, instance, embedder="/nowhere")
        settle(quick, instance)
    assert alerted(quick) == ["codesum: Failing: shop: runs"]

    assert build(quick, instance)
    settle(quick, instance)
    assert alerted(quick) == ["codesum: Failing: shop: runs", "codesum: Recovered: shop: runs"]


def test_an_index_that_was_changed_behind_our_back_fails_its_verification(
    built_shop: GitRepo, home: Home, instance: dg.DagsterInstance
) -> None:
    assert build(home, instance, job="verify_indexes")
    version = home.layout.published("shop").resolve()
    file = next(path for path in sorted(version.rglob("*")) if path.is_file() and path.name != "manifest.json")
    data = file.read_bytes()
    file.unlink()
    file.write_bytes(data[:-1])

    assert build(home, instance, job="verify_indexes")

    history = found(instance, "published_index", "published_index_equals_tables")
    assert [status for status, _, _ in history] == ["FAILED", "SUCCEEDED"]
    assert "differs from the manifest" in history[0][2]


def test_verifications_are_spread_over_the_time_and_each_comes_once(home: Home) -> None:
    entries = [RepositoryEntry(key=f"repo-{number:03}", location="/nowhere") for number in range(60)]
    daily = open_home(home.settings.home, checks={"verify_days": 1})

    hours = [take_due(daily, entries) for _ in range(24)]

    assert max(map(len, hours)) == 3
    assert sorted(key for keys in hours for key in keys) == [entry.key for entry in entries]


def test_a_repository_that_cannot_be_read_is_told_of(
    built_shop: GitRepo, quick: Home, instance: dg.DagsterInstance, look: Callable[..., dg.SensorResult]
) -> None:
    away = built_shop.path.rename(built_shop.path.with_name("away"))
    look()
    away.rename(built_shop.path)
    settle(quick, instance)

    with open_book(quick.settings.home, now=utc_now) as book:
        assert [(each.kind, each.subject) for each in book.conditions("is_bad")] == [(ConditionKind.REMOTE, "shop")]
    assert alerted(quick) == ["codesum: Failing: shop: reading the repository"]


@pytest.mark.slow
def test_a_runs_page_says_what_changed_why_at_what_cost_and_how_good_it_is(
    built_shop: GitRepo, home: Home, instance: dg.DagsterInstance
) -> None:
    before = built_shop.git("rev-parse", "HEAD").strip()[:10]
    built_shop.commit({"shop/odd.py": ODD})
    now = built_shop.git("rev-parse", "HEAD").strip()[:10]

    assert build(home, instance)

    found = last_materialization(instance, dg.AssetKey("published_index"), "shop")
    assert found
    text = str(found.metadata["what_this_run_did"].value)
    assert f"`{before}` → `{now}`" in text and "1 files added, 0 changed, 0 removed" in text
    assert "| function | written | new | 2 |" in text
    assert "no model was asked" in text and "Retrieval was not measured" in text
    assert re.search(r"\*\*What it avoided.\*\* [1-9]\d* of \d+ texts stayed as they were.", text)
    assert len(text) < 4_000
    (record,) = instance.get_run_records(limit=1)
    tags = record.dagster_run.tags
    assert (tags["codesum/commit"], tags["codesum/files_changed"]) == (now, "1")


def test_a_run_whose_process_is_gone_counts_as_failed(
    built_shop: GitRepo, quick: Home, instance: dg.DagsterInstance
) -> None:
    for fingerprint in ("one", "two"):
        requested(instance, quick, fingerprint=fingerprint, status=dg.DagsterRunStatus.STARTED)
        (run,) = instance.get_runs(limit=1)
        instance.report_run_failed(run, "process 4711 ended without a word")

    settle(quick, instance)

    with open_book(quick.settings.home, now=utc_now) as book:
        (condition,) = book.conditions("is_bad")
    assert condition.detail == "2 runs in a row failed; the last one: process 4711 ended without a word"


def test_runs_that_end_after_the_clock_was_set_back_are_counted_and_once_each(
    built_shop: GitRepo, quick: Home, instance: dg.DagsterInstance
) -> None:
    with open_book(quick.settings.home, now=utc_now) as book:
        book.set_marks({"runs": (utc_now() + timedelta(hours=1)).isoformat()})
    for fingerprint in ("one", "two"):
        requested(instance, quick, fingerprint=fingerprint, status=dg.DagsterRunStatus.STARTED)
        (run,) = instance.get_runs(limit=1)
        instance.report_run_failed(run, "process 4711 ended without a word")

    for _ in range(2):
        settle(quick, instance)

    with open_book(quick.settings.home, now=utc_now) as book:
        (condition,) = book.conditions("is_bad")
    assert condition.detail == "2 runs in a row failed; the last one: process 4711 ended without a word"


def test_the_summary_of_a_run_is_made_of_what_the_home_has(built_shop: GitRepo, home: Home) -> None:
    shown = show_run(home.workspace("shop", run_id="a run that did nothing"))
    text, written = shown["what_this_run_did"], shown["texts_rewritten"]

    headings = [
        "**What changed.**",
        "**Why.** No text was written again.",
        "**What it cost.**",
        "**How good it is now.**",
    ]
    assert [each for each in headings if each not in str(text)] == [] and written == 0


def test_a_run_that_publishes_what_an_interrupted_one_wrote_tells_the_change_since_the_published_version(
    built_shop: GitRepo, home: Home
) -> None:
    before = built_shop.git("rev-parse", "HEAD").strip()[:10]
    built_shop.commit({"shop/odd.py": ODD})
    now = built_shop.git("rev-parse", "HEAD").strip()[:10]
    names = [step.name for step in STEPS]
    interrupted, second = (Build(home, "shop", run_id, BuildOptions()) for run_id in ("interrupted", "second"))
    for name in names[: names.index("dense_index")]:
        interrupted.perform(name)

    outcomes = {name: second.perform(name) for name in names[: names.index("published_index") + 1]}

    text = str(outcomes["published_index"].values["what_this_run_did"])
    assert f"`{before}` → `{now}`" in text
    assert "1 files added, 0 changed, 0 removed, also by 1 interrupted run" in text
    assert "| function | written | new | 2 |" in text
