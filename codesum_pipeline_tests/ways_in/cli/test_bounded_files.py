"""A file that is too much work is named with its reason wherever a person or a program looks."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.symbols.parsing.test_bounded import ENDLESS
from codesum_pipeline_tests.ways_in.cli.terminal import on_a_terminal

GOOD = "def price_of(item):\n    '''The price of an item.'''\n    return item.price\n"
MANY = {f"endless{number}.kt": ENDLESS for number in range(5)}
REASON = "too much work: more than"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return GitRepo.create(tmp_path / "project", {"good.py": GOOD, **MANY}).path


def metadata_of(home: Path, run_id: str, asset: str) -> dict[str, Any]:
    """What Dagster shows of what a run made of an asset."""
    with open_instance(HomeLayout(home)) as instance:
        made = [
            entry.dagster_event.step_materialization_data.materialization
            for entry in instance.all_logs(run_id)
            if entry.dagster_event and entry.dagster_event.is_step_materialization
        ]
    (found,) = [one.metadata for one in made if one.asset_key.to_user_string() == asset]
    return dict(found)


def test_index_status_and_the_asset_name_each_with_its_reason(codesum: Callable[..., Any], project: Path) -> None:
    home = project.parent / "home"

    built = codesum(home, "index", project, "--json")
    again = codesum(home, "index", project, "--json")
    status = codesum(home, "status", "project", "--json")

    assert (built.exit_code, again.exit_code) == (0, 0)
    report = json.loads(built.stdout)
    assert report["steps"]["symbols"]["failed"] == len(MANY)
    assert [(one["step"], one["item"]) for one in report["failures"]] == [("symbols", name) for name in MANY]
    assert all(one["reason"].startswith(REASON) and "max_steps_per_byte" in one["reason"] for one in report["failures"])
    assert json.loads(again.stdout)["up_to_date"]
    assert json.loads(again.stdout)["failures"] == json.loads(status.stdout)["failures"] == report["failures"]

    shown = metadata_of(home, report["run_id"], "symbols")
    assert shown["failed"].value == len(MANY)
    rows = [record.data for record in shown["failures"].value.records]
    assert [(row["item"], row["reason"]) for row in rows] == [
        (one["item"], one["reason"]) for one in report["failures"]
    ]


@pytest.mark.slow
def test_a_terminal_names_the_first_of_them_and_counts_the_rest(project: Path) -> None:
    home = project.parent / "home"
    index, status = ("--home", home, "index", project), ("--home", home, "status", "project")

    for words in (index, index, status):
        shown = " ".join(" ".join(on_a_terminal(*words, cwd=project.parent, width=100)).split())
        assert f"5 files could not be parsed, indexed as plain text where possible: endless0.kt ({REASON}" in shown
        assert "and 2 more: `codesum status project --json`" in shown
