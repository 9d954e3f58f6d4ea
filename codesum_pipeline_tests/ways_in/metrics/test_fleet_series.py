"""The state of a fleet as series: age, lag against its target, state, cost; and a bound on how many have any."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.reports.planner_record import PlannedBuild, keep_planned
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.ways_in.metrics import fleet_series
from codesum_pipeline.ways_in.metrics.server_metrics import ServerMetrics
from codesum_pipeline_tests.support.collected_metrics import exposed, labelled, started
from codesum_pipeline_tests.support.homes import build, built_once, open_home
from codesum_pipeline_tests.support.model_builds import KEY_ENV, shop

KEYS = ("cart", "payments-api", "shop", "till")


@pytest.fixture
def fleet(tmp_path: Path) -> Home:
    """A home of four repositories, which a daemon saw to be two hours behind, but for `cart`."""
    targets = {"payments-*": 1.0, "acme/*": 72.0}
    home, now = open_home(tmp_path / "home", checks={"behind_hours_of": targets}), time.time()
    for key in KEYS:
        home.registry.add(RepositoryEntry(key=key, location=f"https://code.example/{key}.git"))
    since = iso_moment(datetime.now(UTC) - timedelta(hours=2))
    builds = {key: PlannedBuild(decision="to build", at=now, head="1" * 40, behind_since=since) for key in KEYS}
    builds["cart"] = PlannedBuild(decision="unreadable", at=now, failures=2, complaint="nobody answers")
    keep_planned(home.layout, builds, registered=builds, every_s=3600, version="")
    return home


def measured(home: Home, **settings: int) -> ServerMetrics:
    metrics = started(**settings)
    metrics.measure_fleet(IndexCatalogue.of(home.settings))
    return metrics


def test_lag_is_measured_against_the_target_of_each_repository(fleet: Home) -> None:
    found = exposed(measured(fleet))

    lags = labelled(found["codesum_index_lag_seconds"], "repository")
    assert {*lags} == {"payments-api", "shop", "till"} and all(7100 < lag < 7300 for lag in lags.values())
    assert labelled(found["codesum_index_lag_target_seconds"], "repository") == {
        "cart": 86_400.0,
        "payments-api": 3_600.0,
        "shop": 86_400.0,
        "till": 86_400.0,
    }
    assert found["codesum_repositories_late"][frozenset()] == 1.0
    assert labelled(found["codesum_build_failed_attempts"], "repository")["cart"] == 2.0
    assert labelled(found["codesum_repositories"], "state") == {"cannot be read": 1.0, "never indexed": 3.0}


def test_of_many_repositories_those_that_are_late_keep_their_series_and_the_rest_is_told(fleet: Home) -> None:
    found = exposed(measured(fleet, max_repositories=2))

    assert {*labelled(found["codesum_index_lag_target_seconds"], "repository")} == {"cart", "payments-api"}
    assert found["codesum_repositories_unlabelled"][frozenset()] == 2.0
    # What is counted over all is of all.
    assert sum(found["codesum_repositories"].values()) == 4.0


def test_books_that_cannot_be_read_stop_no_other_series(fleet: Home) -> None:
    books = fleet.tables.path("ledger", "shop")
    books.parent.mkdir(parents=True)
    books.write_bytes(b"half a file")

    found = exposed(measured(fleet))

    assert len(found["codesum_index_state"]) == len(KEYS)
    assert "codesum_llm_cost_usd_total" not in found


def test_who_may_read_some_repositories_gets_their_series_alone(fleet: Home) -> None:
    found = exposed(measured(fleet), {"shop"})

    assert {dict(labels).get("repository") for series in found.values() for labels in series} == {"shop"}


def test_age_and_state_of_what_is_published(tmp_path: Path) -> None:
    built_once(tmp_path, {"shop.py": "def charge():\n    return 1\n"})

    found = exposed(measured(open_home(tmp_path / "home")))

    assert labelled(found["codesum_index_age_seconds"], "repository")["shop"] >= 0
    assert labelled(found["codesum_index_lag_seconds"], "repository") == {"shop": 0.0}
    assert [dict(labels) for labels in found["codesum_index_state"]] == [{"repository": "shop", "state": "up to date"}]


def test_what_models_cost_is_measured_by_repository_model_and_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_ENV, "a key")
    monkeypatch.setattr(fleet_series, "FRESH_S", 0.0)
    with shop(tmp_path, {"shop.py": "def charge(card):\n    total = card + 1\n    return total\n"}) as made:
        build(made.workspace())
        metrics = measured(open_home(tmp_path / "home"))
        found = exposed(metrics)
        # A level that is paid for later: its series begins at 0, in which Prometheus sees the rise.
        made.repo.commit({"stock.py": "class Stock:\n    def count(self, items):\n        return len(items) + 1\n"})
        before = {*found["codesum_llm_cost_usd_total"]}
        build(made.workspace())
        later, last = (exposed(metrics)["codesum_llm_cost_usd_total"] for _ in range(2))

    new = {*later} - before
    assert {dict(each)["level"] for each in new} == {"class"}
    assert all(later[each] == 0 < last[each] for each in new)
    assert all(last[each] >= found["codesum_llm_cost_usd_total"][each] for each in before)
    dollars, seconds = found["codesum_llm_cost_usd_total"], found["codesum_llm_time_seconds_total"]
    assert {dict(labels)["repository"] for labels in dollars} == {"shop"}
    assert {dict(labels)["model"] for labels in dollars} == {"openai/gpt-4o-mini"}
    assert "function" in {dict(labels)["level"] for labels in dollars}
    assert sum(dollars.values()) > 0 and sum(seconds.values()) > 0
