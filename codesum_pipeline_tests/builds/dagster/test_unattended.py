"""A real `dagster dev` that nobody watches: broken repositories, a cancelled backfill, a lost day, a wrong clock."""

import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster import assets
from codesum_pipeline.builds.dagster.asset_steps import JOB
from codesum_pipeline.builds.dagster.control import register_partitions
from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline.foundation.store.lease import current_holder
from codesum_pipeline.indexes.publishing.verify import verify_index
from codesum_pipeline_tests.builds.dagster.test_dagster_dev import REFUND, RUN_S, found_by_search, ticks_of
from codesum_pipeline_tests.support.dagster_dev import (
    BACKFILL,
    BACKFILL_STATUS,
    CANCEL_BACKFILL,
    REPEAT_BACKFILL,
    DagsterDev,
    dagster_dev,
    wait_for,
)
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

ASSETS = [asset.key.to_graphql_input() for asset in assets.ASSETS]
TEN = [f"shop{number}" for number in range(10)]
GONE, CORRUPT = TEN[2], TEN[6]
HOUR_S, DAY_S = 3_600, 86_400
# In Dagster's records: when something was, in Unix seconds.
MOMENTS = {
    "history/runs.db": [("runs", ["start_time", "end_time"])],
    "../polls.sqlite": [("polls", ["polled_at", "due_at"]), ("requests", ["at"])],
}


@pytest.fixture
def configured(home: Home, interruptible: None) -> Callable[[str], Home]:
    """The home, with these settings."""

    def configure(settings: str) -> Home:
        home.layout.home.mkdir(exist_ok=True)
        (home.layout.home / "codesum.toml").write_text(settings)
        return open_home(home.layout.home)

    return configure


def break_object(repo: GitRepo) -> str:
    """What a commit holds is half written, as when the power goes; the id of its object."""
    tree = repo.git("rev-parse", "HEAD^{tree}").strip()
    path = repo.path / ".git" / "objects" / tree[:2] / tree[2:]
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:20])
    return tree


def backfill(dev: DagsterDev, keys: list[str]) -> str:
    params = {"partitionNames": keys, "assetSelection": ASSETS, "title": "all of them"}
    launched = dev.ask(BACKFILL, params=params)
    assert launched["__typename"] == "LaunchBackfillSuccess", launched
    return str(launched["backfillId"])


def ended(dev: DagsterDev, backfill_id: str) -> str:
    """How a backfill ends."""
    over = ("COMPLETED_SUCCESS", "COMPLETED_FAILED", "CANCELED", "FAILED")
    return wait_for(
        lambda: next((s for s in [dev.ask(BACKFILL_STATUS, id=backfill_id)["status"]] if s in over), None),
        timeout_s=3 * RUN_S,
        what=f"the backfill to end; the log ends\n{dev.tail()}",
    )


def outcomes(dev: DagsterDev, **tags: str) -> dict[str, str]:
    """How the run of each repository ended."""
    return {
        {tag["key"]: tag["value"] for tag in run["tags"]}["dagster/partition"]: run["status"]
        for run in dev.runs(**tags)
    }


def reasons(home: Home) -> dict[str, str]:
    """Why the runs failed that did, by repository."""
    found = {}
    with open_instance(home.layout) as instance:
        for run in instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE])):
            for entry in instance.all_logs(run.run_id, of_type=dg.DagsterEventType.STEP_FAILURE):
                found[run.tags["dagster/partition"]] = entry.get_dagster_event().step_failure_data.error_display_string
    return found


def published(home: Home) -> dict[str, str]:
    """The version that readers see of each repository, and that every one is whole."""
    links = {key: home.layout.published(key) for key in TEN if home.layout.published(key).is_symlink()}
    assert not [finding for key in links for finding in verify_index(home.layout, key, tables=home.tables)]
    return {key: link.readlink().name for key, link in links.items()}


def move_records(home: Home, seconds: float) -> None:
    """As if all that is noted had been so much later."""
    dagster = home.layout.dagster_home
    for name, tables in MOMENTS.items():
        with closing(sqlite3.connect(dagster / name)) as connection, connection:
            for table, columns in tables:
                moved = ", ".join(f"{column} = {column} + {seconds}" for column in columns)
                connection.execute(f"UPDATE {table} SET {moved}")
    with closing(sqlite3.connect(dagster / "schedules" / "schedules.db")) as connection, connection:
        connection.execute(f"UPDATE job_ticks SET timestamp = datetime(timestamp, '{seconds} seconds')")
        for table, column in (("job_ticks", "tick_body"), ("instigators", "instigator_body")):
            for number, body in connection.execute(f"SELECT id, {column} FROM {table}").fetchall():
                moved = json.dumps(moved_moments(json.loads(body), seconds))
                connection.execute(f"UPDATE {table} SET {column} = ? WHERE id = ?", (moved, number))


def moved_moments(value: Any, seconds: float) -> Any:
    if isinstance(value, list):
        return [moved_moments(each, seconds) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: each + seconds
        if name.endswith(("timestamp", "_time")) and isinstance(each, float | int)
        else moved_moments(each, seconds)
        for name, each in value.items()
    }


def test_a_backfill_of_ten_builds_all_but_the_two_broken_ones_though_it_was_cancelled_in_mid_run(
    configured: Callable[[str], Home], register: Callable[[str], GitRepo], tmp_path: Path
) -> None:
    home = configured("[planner]\nsensor_interval_s = 86400\n")
    with dagster_dev(home, tmp_path / "dagster.log") as dev:
        wait_for(lambda: ticks_of(dev), timeout_s=RUN_S, what="the only tick of the sensor")
        repos = {key: register(key) for key in TEN}
        register_partitions(home, TEN)
        shutil.rmtree(repos[GONE].path)
        broken = break_object(repos[CORRUPT])

        first = backfill(dev, TEN)
        dev.finished(3, timeout_s=2 * RUN_S, dagster__backfill=first)
        assert dev.ask(CANCEL_BACKFILL, id=first)["__typename"] == "CancelBackfillSuccess"
        assert ended(dev, first) == "CANCELED"

        built_before = outcomes(dev, dagster__backfill=first)
        versions_before = published(home)
        assert {key for key, status in built_before.items() if status == "SUCCESS"} <= set(versions_before)
        assert not {"STARTED", "STARTING", "QUEUED", "CANCELING"} & set(built_before.values())
        assert [current_holder(home.layout.state(key)) for key in TEN] == [None] * len(TEN)

        again = dev.ask(REPEAT_BACKFILL, params={"parentRunId": first, "strategy": "FROM_FAILURE"})
        assert again["__typename"] == "LaunchBackfillSuccess", again
        assert ended(dev, again["backfillId"]) == "COMPLETED_FAILED"
        built_after = outcomes(dev, dagster__backfill=again["backfillId"])

    done = {key for key, status in built_before.items() if status == "SUCCESS"}
    assert built_after == {key: "FAILURE" if key in (GONE, CORRUPT) else "SUCCESS" for key in TEN if key not in done}
    versions = published(home)
    assert sorted(versions) == [key for key in TEN if key not in (GONE, CORRUPT)]
    assert {key: versions[key] for key in versions_before} == versions_before
    for key in versions:
        assert "shop/cart.py::Cart" in found_by_search(home, "what a customer wants to buy", "--repo", key)
    why = reasons(home)
    assert f"path {repos[GONE].path} does not exist" in why[GONE]
    assert f"'{CORRUPT}': path {repos[CORRUPT].path} cannot be fetched" in why[CORRUPT]
    assert f"needs object {broken}, which it does not have" in why[CORRUPT]


@pytest.fixture
def three(configured: Callable[[str], Home], register: Callable[[str], GitRepo], tmp_path: Path) -> Home:
    """Three repositories that the sensor built, every schedule having ticked; the daemon is stopped."""
    every_minute = "* * * * *"
    home = configured(
        f'[planner]\nsensor_interval_s = 5\nnightly_cron = "{every_minute}"\ndigests_cron = "{every_minute}"\n'
    )
    for key in TEN[:3]:
        register(key)
    with dagster_dev(home, tmp_path / "first.log") as dev:
        for key in TEN[:3]:
            dev.finished(1, timeout_s=2 * RUN_S, dagster__partition=key)
        wait_for(lambda: ticks_of(dev, "nightly"), timeout_s=RUN_S, what="a tick of the nightly schedule")
        wait_for(lambda: ticks_of(dev, "digests"), timeout_s=RUN_S, what="a tick of the schedule for digests")
    return home


def ticks(dev: DagsterDev) -> dict[str, int]:
    """How many ticks there were of each schedule."""
    names = ("nightly", "digests", "maintenance", "verification", "digest_rollup")
    return {name: len(ticks_of(dev, name)) for name in names}


def builds(home: Home) -> Counter[tuple[str, str]]:
    """How many builds of each repository ended how."""
    with open_instance(home.layout) as instance:
        runs = instance.get_runs(dg.RunsFilter(job_name=JOB))
    return Counter((run.tags["dagster/partition"], run.status.value) for run in runs)


def tick_twice(dev: DagsterDev) -> None:
    """Give the sensor the time to ask for what it should not."""
    before = len(ticks_of(dev))
    wait_for(lambda: len(ticks_of(dev)) >= before + 2, timeout_s=RUN_S, what="two ticks")


def test_after_a_day_without_the_daemon_what_changed_is_built_and_missed_ticks_are_not_made_up_for(
    three: Home, tmp_path: Path
) -> None:
    move_records(three, -DAY_S)
    changed = GitRepo(Path(three.registry.get(TEN[1]).location))
    changed.commit({"shop/refunds.py": REFUND})

    with dagster_dev(three, tmp_path / "second.log") as dev:
        wait_for(
            lambda: builds(three)[TEN[1], "SUCCESS"] == 2, timeout_s=2 * RUN_S, what=f"the build; the log: {dev.log}"
        )
        tick_twice(dev)
        ticked = ticks(dev)

    assert builds(three) == {(TEN[0], "SUCCESS"): 1, (TEN[1], "SUCCESS"): 2, (TEN[2], "SUCCESS"): 1}
    assert "shop/refunds.py::refund" in found_by_search(three, "give a customer the money back", "--repo", TEN[1])
    # A day has 1,440 minutes, as many as times at which the first two were due, and 24 for the verification.
    assert max(ticked["nightly"], ticked["digests"]) < 30, ticked
    assert max(ticked["maintenance"], ticked["verification"], ticked["digest_rollup"]) < 4, ticked


def test_with_the_clock_set_back_by_an_hour_a_commit_is_built_at_once_and_nothing_twice(
    three: Home, tmp_path: Path
) -> None:
    move_records(three, HOUR_S)
    changed = GitRepo(Path(three.registry.get(TEN[1]).location))
    changed.commit({"shop/refunds.py": REFUND})

    with dagster_dev(three, tmp_path / "second.log") as dev:
        wait_for(
            lambda: builds(three)[TEN[1], "SUCCESS"] == 2, timeout_s=2 * RUN_S, what=f"the build; the log: {dev.log}"
        )
        tick_twice(dev)
        ticked = ticks(dev)

    assert builds(three) == {(TEN[0], "SUCCESS"): 1, (TEN[1], "SUCCESS"): 2, (TEN[2], "SUCCESS"): 1}
    assert "shop/refunds.py::refund" in found_by_search(three, "give a customer the money back", "--repo", TEN[1])
    assert max(ticked.values()) < 30, ticked
