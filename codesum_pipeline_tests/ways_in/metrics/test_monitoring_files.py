"""The dashboard and the rules ask for series and labels that a real home exports, and the docs name each of them."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.companion import index_repositories
from codesum_pipeline.builds.reports.planner_record import PlannedBuild, keep_planned
from codesum_pipeline.builds.steps.freshness import IndexState
from codesum_pipeline.ways_in.http_serving.audit_log import AuditedRequest
from codesum_pipeline.ways_in.metrics import fleet_series
from codesum_pipeline_tests.support.collected_metrics import exposed, started
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.model_builds import KEY_ENV, model_settings, shop

TOP = Path(__file__).parents[3]
FOLDER = TOP / "deploy" / "monitoring"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, set[str]]:
    """The labels of each series that a home with a model, a daemon, a bad worker and some requests exports."""
    folder = tmp_path_factory.mktemp("exported")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_ENV, "a key")
        # A worker of Celery whose machine fails: `builds/fleet/test_faults_of_machines.py` has a real one.
        patch.setattr(fleet_series, "_paused", lambda *_: Counter({"worker-1": 1}))
        with shop(folder, {"shop.py": "def charge(card):\n    total = card + 1\n    return total\n"}) as made:
            made.workspace()
            home = open_home(folder / "home", llm=model_settings(made.server))
            metrics = started()
            metrics.measure_fleet(IndexCatalogue.of(home.settings))
            (outcome,) = index_repositories(home, ["shop"])
        assert outcome.succeeded, outcome.message
        _tick(home)
        request = AuditedRequest("search", outcome="answered", fits=False, tokens=7)
        metrics.requests.measure(request, 0.2)
        found = exposed(metrics)
    return {name: {label for labels in series for label, _ in labels} for name, series in found.items()}


def _tick(home: Home) -> None:
    builds = {"shop": PlannedBuild(decision="up to date", at=0.0)}
    keep_planned(home.layout, builds, registered=builds, every_s=3600, version="")


def dashboard_queries() -> Iterator[str]:
    for panel in json.loads((FOLDER / "dashboard.json").read_text())["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


QUERIES = [*dashboard_queries(), *(rule["expr"] for rule in rules())]


def selectors_of(query: str) -> list[str]:
    """What a query selects, as `name{label="value"}`; raises for one that is none."""
    promql_parser.parse(query)
    return re.findall(r"codesum_\w+(?:\{[^}]*\})?", query)


def test_there_are_queries() -> None:
    assert len(QUERIES) > 25


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_asks_for_what_is_exported(exported: Mapping[str, set[str]], query: str) -> None:
    asked = set()
    for selector in selectors_of(query):
        name, _, matchers = selector.partition("{")
        assert name in exported, name
        assert {*re.findall(r"(\w+)=", matchers)} <= exported[name], selector
        asked |= exported[name]
    grouped = {label.strip() for labels in re.findall(r"by \(([^)]*)\)", query) for label in labels.split(",")}
    assert grouped <= asked


def test_states_of_rules_are_states_of_an_index() -> None:
    named = {
        state
        for rule in rules()
        for text in re.findall(r'state=~?"([^"]+)"', rule["expr"])
        for state in text.split("|")
    }

    assert named and named <= {state.value for state in IndexState}


def test_what_a_rule_says_names_labels_that_its_query_has(exported: Mapping[str, set[str]]) -> None:
    for rule in rules():
        says = "".join(rule["annotations"].values())
        grouped = {
            label.strip() for labels in re.findall(r"by \(([^)]*)\)", rule["expr"]) for label in labels.split(",")
        }
        assert {*re.findall(r"\$labels\.(\w+)", says)} <= grouped, rule["alert"]
        assert {"summary", "description"} == {*rule["annotations"]}


def test_the_docs_name_each_series_with_its_labels(exported: Mapping[str, set[str]]) -> None:
    rows = re.findall(r"^\| `(codesum_\w+)` \|([\w, ]*)\|", (TOP / "docs" / "metrics.md").read_text(), re.MULTILINE)
    told = {name: {label.strip() for label in labels.split(",") if label.strip()} for name, labels in rows}

    ours = {name.removesuffix("_count"): labels for name, labels in exported.items()
            if name.startswith("codesum_") and not name.endswith(("_bucket", "_sum"))}  # fmt: skip
    assert told == ours
