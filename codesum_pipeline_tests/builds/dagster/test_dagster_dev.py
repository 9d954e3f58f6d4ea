"""End to end: a real `dagster dev`, a commit, and a backfill."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster import assets
from codesum_pipeline.foundation.data_model.moments import iso_moment, utc_now
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline_tests.builds.dagster.digest_home import FILES as DIGESTED
from codesum_pipeline_tests.builds.dagster.digest_home import SHORTER, SIGN_IN, DigestHome
from codesum_pipeline_tests.support.dagster_dev import (
    BACKFILL,
    BACKFILL_STATUS,
    REPOSITORY,
    RUN_TAGS,
    SENSORS,
    TICKS,
    DagsterDev,
    dagster_dev,
    wait_for,
)
from codesum_pipeline_tests.support.receivers import webhook_receiver
from codesum_pipeline_tests.support.repositories import GitRepo

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

RUN_S = 180.0
ASSETS = [asset.key.to_graphql_input() for asset in assets.ASSETS]
REFUND = 'def refund(order):\n    """Give a customer the money back."""\n    order.pay(-order.sum)\n'


@pytest.fixture
def dev(home: Home, tmp_path: Path, interruptible: None) -> Iterator[DagsterDev]:
    (home.layout.home).mkdir(exist_ok=True)
    (home.layout.home / "codesum.toml").write_text("[planner]\nsensor_interval_s = 5\n")
    with dagster_dev(home, tmp_path / "dagster.log") as running:
        yield running


def found_by_search(home: Home, query: str, *options: str) -> list[str]:
    command = [sys.executable, "-m", "codesum_pipeline.cli", "--home", str(home.layout.home), "search", query, "--json"]
    done = subprocess.run([*command, *options], check=True, capture_output=True, text=True)
    return [hit["id"] for hit in json.loads(done.stdout)["hits"]]


def index(home: Home, key: str) -> None:
    command = [sys.executable, "-m", "codesum_pipeline.cli", "--home", str(home.layout.home), "index", key, "--force"]
    subprocess.run(command, check=True, capture_output=True)


def test_a_commit_is_noticed_and_published_and_a_backfill_stops_at_no_broken_repository(
    home: Home, register: Callable[[str], GitRepo], dev: DagsterDev
) -> None:
    states = {each["name"]: each["sensorState"]["status"] for each in dev.ask(SENSORS, selector=REPOSITORY)["results"]}
    assert states["repository_changes"] == "RUNNING"

    repo = register("shop")
    (first,) = dev.finished(1, timeout_s=RUN_S, dagster__partition="shop")
    assert first["status"] == "SUCCESS", dev.tail()

    repo.commit({"shop/refunds.py": REFUND})
    second, _ = dev.finished(2, timeout_s=RUN_S, dagster__partition="shop")
    assert second["status"] == "SUCCESS", dev.tail()
    assert "shop/refunds.py::refund" in found_by_search(home, "give a customer the money back")

    index(home, "shop")
    (by_hand,) = dev.finished(1, timeout_s=RUN_S, codesum__started_by="command line")
    assert (by_hand["repositoryOrigin"], by_hand["status"]) == (REPOSITORY, "SUCCESS"), (
        "else the timeline leaves it out"
    )

    keys = ["broken", "other", "shop"]
    for key in ("broken", "other"):
        register(key)
        dev.finished(1, timeout_s=RUN_S, dagster__partition=key)
    shutil.rmtree(home.registry.get("broken").location)
    launched = dev.ask(
        BACKFILL,
        params={
            "partitionNames": keys,
            "assetSelection": ASSETS,
            "title": "all of them",
        },
    )
    assert launched["__typename"] == "LaunchBackfillSuccess", launched
    runs = dev.finished(3, timeout_s=2 * RUN_S, dagster__backfill=launched["backfillId"])

    partition = {run["runId"]: {tag["key"]: tag["value"] for tag in run["tags"]}["dagster/partition"] for run in runs}
    assert sorted((partition[run["runId"]], run["status"]) for run in runs) == [
        ("broken", "FAILURE"),
        ("other", "SUCCESS"),
        ("shop", "SUCCESS"),
    ]
    wait_for(
        lambda: dev.ask(BACKFILL_STATUS, id=launched["backfillId"])["status"] == "COMPLETED_FAILED",
        timeout_s=60,
        what="the backfill to end",
    )


def test_the_pages_name_the_repository_that_a_tick_cannot_read_and_no_process_of_a_run(
    home: Home, register: Callable[[str], GitRepo], dev: DagsterDev
) -> None:
    shutil.rmtree(register("gone").path)
    register("shop")
    dev.finished(1, timeout_s=RUN_S, dagster__partition="shop")

    ticks = wait_for(
        lambda: [tick for tick in ticks_of(dev) if (tick["skipReason"] or "").startswith("1 up to date, ")],
        timeout_s=RUN_S,
        what="a tick after the run",
    )
    in_logs = [
        [event["message"] for event in tick["logEvents"]["events"] if "unreadable" in event["message"]]
        for tick in ticks_of(dev)
        if tick["status"] == "SUCCESS"
    ]

    why = f"repos.yaml: 'gone': path {home.registry.get('gone').location} does not exist"
    assert ticks[0]["skipReason"].startswith(f"1 up to date, 1 unreadable: {why}")
    assert [len(messages) for messages in in_logs] == [1]
    assert why in in_logs[0][0]
    assert not [key for key in dev.ask(RUN_TAGS)["keys"] if "pid" in key or "host" in key or "boot" in key]


def ticks_of(dev: DagsterDev, name: str = "repository_changes") -> list[dict[str, Any]]:
    """Every tick of the sensor or a schedule, newest first."""
    selector = {**REPOSITORY, "name": name}
    return list(dev.ask(TICKS, selector=selector)["ticks"])


def test_the_daemon_sends_a_daily_digest_once_when_it_is_due(home: Home, git_repo: Any, tmp_path: Path) -> None:
    with webhook_receiver() as receiver:
        shop = DigestHome.at(home, git_repo(DIGESTED, name="shop"), hook=receiver.url)
        shop.ask(auth={**SIGN_IN, "schedule": {"every": "daily", "at": "00:00"}})
        index(home, "shop")
        shop.repo.commit(SHORTER)
        index(home, "shop")
        with open_digests(home.layout.digests, now=utc_now) as store:
            store.mark_served("auth", iso_moment(utc_now() - timedelta(days=3)))
        shop.configure('[planner]\ndigests_cron = "* * * * *"\n')
        with dagster_dev(home, tmp_path / "dagster.log") as dev:
            wait_for(lambda: receiver.received, timeout_s=RUN_S, what=f"the digest; the log ends\n{dev.tail()}")
            ticks = wait_for(
                lambda: [tick for tick in ticks_of(dev, "digests") if tick["skipReason"] == "no digest is due"],
                timeout_s=RUN_S,
                what="the look after the digest",
            )
            runs = [run for run in dev.runs(dagster__schedule_name="digests") if run["status"] == "SUCCESS"]

        assert [each.json["intent"] for each in receiver.received] == ["auth"]
        assert (len(runs), bool(ticks)) == (1, True)
