"""What Dagster loads, and that loading needs nothing."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import dagster as dg
import pytest
import yaml

import codesum_pipeline
from codesum_pipeline.builds.dagster.runs import MODULE
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.notifications.digests.sql_tables import SQL_TABLES

# The boxes of the design. Which assets a box waits for is proved by what its step reads: see test_lineage.py.
ASSETS = {
    *("repo_snapshot", "symbols", "call_graph", "summary_plan"),
    *("function_summaries", "class_summaries", "file_summaries", "module_summaries", "summary_documents"),
    *("dense_index", "sparse_index", "index_candidate", "retrieval_evaluation", "published_index", "repo_overview"),
    *("intent_matches", "intent_digests", "scheduled_digests", "digest_rollups"),
}
# One digest may be about several repositories.
OF_THE_HOME = ("scheduled_digests", "digest_rollups")

SCHEMAS = {name: table.schema for name, table in TABLES.items()} | {
    name: schema for name, (schema, _) in SQL_TABLES.items()
}
CHECKS = {
    ("summary_documents", "ids_are_unique"): True,
    ("summary_documents", "no_orphans"): True,
    ("summary_documents", "every_source_has_its_document"): True,
    ("summary_documents", "citations_hold"): True,
    ("summary_documents", "no_names_leak"): True,
    ("dense_index", "vectors_are_whole"): True,
    ("retrieval_evaluation", "candidate_is_not_worse"): True,
    ("published_index", "index_is_at_head"): False,
    ("published_index", "every_level_was_answered"): True,
    ("call_graph", "calls_are_resolved"): False,
    ("summary_documents", "placeholders_in_band"): False,
    ("summary_documents", "model_texts_in_band"): False,
    ("summary_documents", "failures_in_band"): False,
    ("published_index", "cost_of_day_in_band"): False,
    ("published_index", "index_is_fresh"): False,
    ("published_index", "published_index_equals_tables"): False,
}


@pytest.fixture(scope="module")
def definitions(tmp_path_factory: pytest.TempPathFactory) -> dg.Definitions:
    return build_defs({"home": tmp_path_factory.mktemp("nothing")})


def test_the_assets_are_the_boxes_of_the_design(definitions: dg.Definitions) -> None:
    keys = definitions.resolve_asset_graph().materializable_asset_keys

    assert {key.to_user_string() for key in keys} == ASSETS


def test_every_asset_says_what_it_is(definitions: dg.Definitions) -> None:
    for spec in definitions.resolve_all_asset_specs():
        schema = spec.metadata["dagster/column_schema"]
        is_described = {
            "group": spec.group_name in ("source", "graph", "summaries", "indexes", "publishing", "digests"),
            "owner": list(spec.owners) == ["team:codesum"],
            "partition": spec.partitions_def
            == (None if spec.key.path[-1] in OF_THE_HOME else dg.DynamicPartitionsDefinition(name="codesum_repos")),
            "kinds": bool(spec.kinds),
            "version": bool(spec.code_version),
            "description": "ne row is" in (spec.description or "") or spec.key.path[-1] in NOT_ROWS,
            "columns": [column.name for column in schema.columns] == SCHEMAS[spec.metadata["codesum/table"]].names,
        }
        assert is_described == dict.fromkeys(is_described, True), spec.key


NOT_ROWS = ("index_candidate", "published_index")


def test_checks_are_per_partition_and_only_what_would_do_harm_blocks(definitions: dg.Definitions) -> None:
    graph = definitions.resolve_asset_graph()
    specs = [graph.get_check_spec(key) for key in graph.asset_check_keys]

    assert {(spec.asset_key.to_user_string(), spec.name): spec.blocking for spec in specs} == CHECKS
    assert {spec.partitions_def for spec in specs} == {dg.DynamicPartitionsDefinition(name="codesum_repos")}


def test_definitions_are_loadable(definitions: dg.Definitions) -> None:
    dg.Definitions.validate_loadable(definitions)


def test_runs_start_within_one_process(definitions: dg.Definitions) -> None:
    assert definitions.executor == dg.in_process_executor
    for job in ("index_repository", "send_digests", "roll_up_digests", "verify_indexes"):
        assert definitions.resolve_job_def(job).executor_def == dg.in_process_executor


def test_sensor_and_schedules_are_on_unless_somebody_stops_them(definitions: dg.Definitions) -> None:
    repository = definitions.get_repository_def()

    for sensor in ("repository_changes", "alerts"):
        assert repository.get_sensor_def(sensor).default_status == dg.DefaultSensorStatus.RUNNING
    for schedule in ("nightly", "digests", "digest_rollup", "verification"):
        assert repository.get_schedule_def(schedule).default_status == dg.DefaultScheduleStatus.RUNNING


def test_jobs_schedules_sensors_and_checks_say_what_they_are_and_whose(definitions: dg.Definitions) -> None:
    repository, graph = definitions.get_repository_def(), definitions.resolve_asset_graph()
    jobs = [job for job in repository.get_all_jobs() if not job.name.startswith("__")]
    found = [*jobs, *repository.schedule_defs, *repository.sensor_defs]

    assert {each.name: (bool(each.description), list(each.owners or ())) for each in found} == {
        each.name: (True, ["team:codesum"]) for each in found
    }
    assert all(graph.get_check_spec(key).description for key in graph.asset_check_keys)


def test_dg_dagster_and_codesum_load_the_same_location() -> None:
    root = Path(codesum_pipeline.__file__).parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["dg"]["project"]
    workspace = yaml.safe_load((root / "workspace.yaml").read_text())

    assert workspace == {"load_from": [{"python_module": MODULE}]}
    assert (project["code_location_target_module"], project["code_location_name"]) == (MODULE, MODULE)


@pytest.mark.slow
def test_dg_checks_and_lists_the_definitions(tmp_path: Path) -> None:
    root, dg_command = Path(codesum_pipeline.__file__).parent.parent, Path(sys.executable).with_name("dg")
    environment = {**os.environ, "CODESUM_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}

    checked, listed = (
        subprocess.run(
            [str(dg_command), *words], cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        for words in (["check", "defs"], ["list", "defs", "--json"])
    )

    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert '"published_index"' in listed.stdout


def test_settings_say_when_the_planner_looks(tmp_path: Path) -> None:
    settings = {
        "home": tmp_path,
        "planner": {"nightly_cron": "30 4 * * *", "digests_cron": "* * * * *", "sensor_interval_s": 300},
    }

    repository = build_defs(settings).get_repository_def()

    assert repository.get_schedule_def("nightly").cron_schedule == "30 4 * * *"
    assert repository.get_schedule_def("digests").cron_schedule == "* * * * *"
    assert repository.get_sensor_def("repository_changes").minimum_interval_seconds == 300


ALONE = """
import socket, sys, warnings
def refuse(*_): raise AssertionError("the network was asked for something")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
import dagster as dg
from codesum_pipeline.definitions import defs
with warnings.catch_warnings():
    warnings.simplefilter("error", dg.PreviewWarning)
    dg.Definitions.validate_loadable(defs())
"""


def test_definitions_load_without_network_data_or_repository(tmp_path: Path) -> None:
    home = tmp_path / "home"
    environment = {
        "CODESUM_HOME": str(home),
        "PATH": "/nowhere",
        "PYTHONPATH": str(Path(codesum_pipeline.__file__).parent.parent),
    }

    done = subprocess.run([sys.executable, "-c", ALONE], env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert not home.exists()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_dagsters_own_command_line_lists_and_checks_the_definitions_of_a_checkout(tmp_path: Path) -> None:
    project = Path(codesum_pipeline.__file__).parent.parent
    environment = {**os.environ, "DAGSTER_HOME": str(tmp_path), "CODESUM_HOME": str(tmp_path / "home")}
    dg_command = [str(Path(sys.executable).parent / "dg")]

    listed = subprocess.run(
        [*dg_command, "list", "defs", "--json"], cwd=project, env=environment, capture_output=True, text=True
    )
    checked = subprocess.run(
        [*dg_command, "check", "defs"], cwd=project, env=environment, capture_output=True, text=True
    )

    assert {asset["asset_key"] for asset in json.loads(listed.stdout)["assets"]} >= ASSETS, listed.stderr
    assert checked.returncode == 0, checked.stdout + checked.stderr
