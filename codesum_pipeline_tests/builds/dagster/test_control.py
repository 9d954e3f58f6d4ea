"""The command line's door to Dagster, as far as no run is needed."""

import os
from pathlib import Path

import dagster as dg
import yaml

import codesum_pipeline
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.control import forget_partition, register_partitions
from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline.builds.dagster.instance_file import ensure_dagster_home
from codesum_pipeline.foundation.settings.operation_settings import StorageSettings
from codesum_pipeline.foundation.store.layout import BucketPlace, HomeLayout
from codesum_pipeline.ways_in.dagster_ui.guarded_ui import UiOptions
from codesum_pipeline.ways_in.dagster_ui.starting import ui_command, ui_environment

PROJECT = Path(codesum_pipeline.__file__).parent.parent


def test_the_instances_settings_are_copied_once_and_then_belong_to_the_user(home: Home) -> None:
    file = ensure_dagster_home(home.layout) / "dagster.yaml"
    assert file.read_bytes() == (PROJECT / "dagster.yaml").read_bytes()
    file.write_text("telemetry:\n  enabled: false\n")

    ensure_dagster_home(home.layout)

    assert file.read_text() == "telemetry:\n  enabled: false\n"


def test_the_instance_sends_nothing_and_runs_one_build_per_repository(home: Home) -> None:
    with open_instance(home.layout) as instance:
        assert not instance.telemetry_enabled
        assert instance.run_monitoring_enabled
        queue = instance.get_concurrency_config().run_queue_config
        assert queue is not None
        assert [dict(limit) for limit in queue.tag_concurrency_limits] == [
            {"key": "dagster/partition", "limit": 1, "value": {"applyLimitPerUniqueValue": True}}
        ]


def test_partitions_can_be_registered_twice_and_forgotten_twice(home: Home) -> None:
    for _ in range(2):
        register_partitions(home, ["shop"])
    with open_instance(home.layout) as instance:
        assert instance.get_dynamic_partitions("codesum_repos") == ["shop"]

    for _ in range(2):
        forget_partition(home, "shop")
    with open_instance(home.layout) as instance:
        assert instance.get_dynamic_partitions("codesum_repos") == []


def test_the_ui_and_the_workspace_file_name_the_same_module() -> None:
    command = ui_command(Path("/somewhere"), UiOptions(["localhost"]), host="127.0.0.1", port=3000)
    (location,) = yaml.safe_load((PROJECT / "workspace.yaml").read_text())["load_from"]

    assert command[command.index("--") + 1 :][:2] == ["-m", location["python_module"]]


def test_the_uis_processes_find_the_home_and_the_package_from_any_folder(home: Home) -> None:
    environment = ui_environment(home.layout, {"PYTHONPATH": "/other", "PATH": "/bin"})

    assert environment["CODESUM_HOME"] == str(home.layout.home)
    assert environment["DAGSTER_HOME"] == str(home.layout.dagster_home)
    assert environment["PYTHONPATH"].split(os.pathsep) == [str(PROJECT), "/other"]


def test_the_uis_processes_open_the_bucket_and_not_this_workers_copy_of_it(tmp_path: Path) -> None:
    layout = HomeLayout(tmp_path / "copy", bucket=BucketPlace("s3://team/codesum", StorageSettings()))

    environment = ui_environment(layout, {})

    assert environment["CODESUM_HOME"] == "s3://team/codesum"
    assert environment["DAGSTER_HOME"] == str(layout.dagster_home)


def test_dagster_knows_every_setting_of_the_packaged_file(home: Home) -> None:
    folder = ensure_dagster_home(home.layout)

    with dg.DagsterInstance.from_config(str(folder)) as instance:
        assert instance.run_retries_enabled
