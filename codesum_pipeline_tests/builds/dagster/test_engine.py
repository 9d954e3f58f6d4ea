"""The engine of a home: what its settings write, and what they refuse."""

import re
from pathlib import Path

import pytest
import yaml

from codesum_pipeline.builds.dagster.instance_file import apply_engine, ensure_dagster_home
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.ways_in.dagster_ui.guarded_ui import UiOptions
from codesum_pipeline.ways_in.dagster_ui.starting import ui_command
from codesum_pipeline_tests.support.homes import open_home

CELERY = {"launcher": "celery", "storage": "postgres"}
LOCAL = {"launcher": "local", "storage": "sqlite"}
ADDRESSES = {"CODESUM_POSTGRES_URL": "postgresql://user:secret@db/x", "CODESUM_BROKER_URL": "redis://:secret@redis/0"}


def instance_file(home: Path) -> Path:
    return home / "dagster" / "dagster.yaml"


def test_the_local_engine_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    home = open_home(tmp_path)
    packaged = (ensure_dagster_home(home.layout) / "dagster.yaml").read_text()

    apply_engine(home.layout, home.settings.engine, {})

    assert instance_file(tmp_path).read_text() == packaged


def test_a_changed_engine_replaces_its_block_and_nothing_else(tmp_path: Path) -> None:
    local = open_home(tmp_path)
    ensure_dagster_home(local.layout)
    file = instance_file(tmp_path)
    file.write_text(file.read_text() + "\n# mine\n")
    before = file.read_text()

    home = open_home(tmp_path, engine=CELERY)
    apply_engine(home.layout, home.settings.engine, ADDRESSES)
    once = file.read_text()
    apply_engine(home.layout, home.settings.engine, ADDRESSES)
    found = yaml.safe_load(once)

    assert file.read_text() == once
    assert found["storage"]["custom"]["config"] == {"postgres_url": {"env": "CODESUM_POSTGRES_URL"}}
    assert found["run_launcher"]["config"] == {"broker": {"env": "CODESUM_BROKER_URL"}, "lost_after_s": 90.0}
    assert "secret" not in once
    back = open_home(tmp_path, engine=LOCAL)
    apply_engine(back.layout, back.settings.engine, {})
    assert file.read_text() == before


def test_a_home_of_an_earlier_version_gets_the_modules_of_this_one(tmp_path: Path) -> None:
    home = open_home(tmp_path, engine=CELERY)
    apply_engine(home.layout, home.settings.engine, ADDRESSES)
    file = instance_file(tmp_path)
    now = file.read_text()
    file.write_text(re.sub(r"codesum_pipeline\.[a-z_.]*\.(postgres|celery_runs)", r"codesum_pipeline.defs.\1", now))
    assert file.read_text().count("codesum_pipeline.defs.") == 2

    apply_engine(home.layout, home.settings.engine, ADDRESSES)

    assert file.read_text() == now


def test_a_command_that_does_not_name_an_engine_does_not_take_the_home_out_of_its_fleet(tmp_path: Path) -> None:
    fleet = open_home(tmp_path, engine=CELERY)
    apply_engine(fleet.layout, fleet.settings.engine, ADDRESSES)
    file = fleet.layout.dagster_home / "dagster.yaml"
    before = file.read_text()

    with pytest.raises(ConfigurationError, match="use the daemon's environment here"):
        apply_engine(fleet.layout, open_home(tmp_path).settings.engine, {})
    assert file.read_text() == before


def test_the_number_of_runs_is_written_in_its_place(tmp_path: Path) -> None:
    home = open_home(tmp_path, engine={"max_concurrent_runs": 17})

    apply_engine(home.layout, home.settings.engine, {})

    found = yaml.safe_load(instance_file(tmp_path).read_text())
    assert found["concurrency"]["runs"]["max_concurrent_runs"] == 17
    assert len(found["concurrency"]["runs"]["tag_concurrency_limits"]) == 1


def test_what_the_person_wrote_is_not_overruled(tmp_path: Path) -> None:
    home = open_home(tmp_path, engine=CELERY)
    with (ensure_dagster_home(home.layout) / "dagster.yaml").open("a") as file:
        file.write("\nrun_launcher:\n  module: mine\n  class: Mine\n")

    with pytest.raises(ConfigurationError, match="`run_launcher` is set there and by the settings"):
        apply_engine(home.layout, home.settings.engine, ADDRESSES)


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({}, "set CODESUM_POSTGRES_URL in the environment"),
        ({"CODESUM_POSTGRES_URL": "x"}, "set CODESUM_BROKER_URL in the environment"),
        ({**ADDRESSES, "CODESUM_BROKER_URL": "amqp://:secret@rabbit"}, "must begin with redis://"),
    ],
    ids=["no database", "no broker", "another broker"],
)
def test_an_address_that_is_missing_is_named_and_none_is_shown(
    tmp_path: Path, environ: dict[str, str], message: str
) -> None:
    home = open_home(tmp_path, engine=CELERY)

    with pytest.raises(ConfigurationError, match=message) as refused:
        apply_engine(home.layout, home.settings.engine, environ)

    assert "secret" not in str(refused.value)
    assert not instance_file(tmp_path).exists()


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        ({"launcher": "celery"}, 'needs storage = "postgres"'),
        ({"launcher": "k8s", "storage": "postgres"}, "needs k8s.image"),
        ({"k8s": {"namespace": "Not A Name"}}, "no name of a Kubernetes object"),
        ({"launcher": "slurm"}, "'local', 'celery' or 'k8s'"),
    ],
    ids=["SQLite for several machines", "no image", "no name", "unknown"],
)
def test_an_engine_that_cannot_work_is_refused(tmp_path: Path, engine: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        open_home(tmp_path, engine=engine)


def test_each_part_of_the_pages_is_a_command_of_its_own(tmp_path: Path) -> None:
    webserver, daemon = (
        ui_command(tmp_path, UiOptions(["localhost"]), host="127.0.0.1", port=1, part=part)
        for part in ("webserver", "daemon")
    )

    assert "webserver" in webserver
    assert "--serve" in webserver
    assert daemon[4:8] == ["-m", "codesum_pipeline.ways_in.dagster_ui.guarded_ui", "daemon", "--serve"]
    assert daemon[9] == "--limits"
    assert daemon[11:13] == ["--", "run"]
