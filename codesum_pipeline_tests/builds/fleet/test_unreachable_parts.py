"""What commands say, and still show, while the database or the broker of a fleet cannot be reached."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codesum_pipeline_tests.support.commands import COMMAND
from codesum_pipeline_tests.support.fleet_workers import Fleet
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.services import Bucket
from codesum_pipeline_tests.support.shop_home import FILES

pytestmark = pytest.mark.distributed
AWAY = {
    "CODESUM_POSTGRES_URL": "postgresql://somebody:secret@127.0.0.1:9/codesum",
    "CODESUM_BROKER_URL": "redis://:secret@127.0.0.1:9/0",
}


def call(fleet: Fleet, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, *arguments], cwd=fleet.folder, env=fleet.environment, capture_output=True, text=True, timeout=120
    )


def test_each_part_that_cannot_be_reached_is_named_and_what_is_known_is_shown(fleet: Fleet, tmp_path: Path) -> None:
    fleet.call("index", str(GitRepo.create(tmp_path / "shop", FILES).path))
    away = replace(fleet, extra={**fleet.extra, **AWAY})

    states, details, doctor, index = (
        call(away, *arguments)
        for arguments in (("status", "--json"), ("status", "shop"), ("doctor",), ("index", "shop", "--force"))
    )

    assert json.loads(states.stdout)["state"] == "up to date"
    assert [line for line in states.stderr.splitlines() if "the broker at 127.0.0.1" in line], states.stderr
    database = "the database of Dagster's records (CODESUM_POSTGRES_URL) cannot be reached"
    assert database in states.stderr
    assert (states.returncode, details.returncode, doctor.returncode, index.returncode) == (0, 0, 0, 3), index.stderr
    assert "up to date" in details.stdout and database in details.stderr
    assert database in doctor.stdout
    assert database in index.stderr
    # Whoever only looks does not wait while Dagster asks again and again, with a warning each time.
    for done in (states, details, doctor):
        assert "Retrying failed database connection" not in done.stderr
    for done in (states, details, doctor, index):
        assert "secret" not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_a_machine_that_has_never_built_tells_the_state_of_a_fleet_in_a_bucket(
    bucket_fleet: Fleet, tmp_path: Path
) -> None:
    bucket_fleet.call("index", str(GitRepo.create(tmp_path / "shop", FILES).path))
    reader = replace(bucket_fleet, extra={**bucket_fleet.extra, "XDG_CACHE_HOME": str(tmp_path / "reader")})

    states, doctor = (call(reader, *arguments) for arguments in (("status", "--json"), ("doctor",)))

    assert states.returncode == 0, states.stderr
    assert json.loads(states.stdout)["state"] == "up to date"
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr


def test_the_doctor_does_not_wait_for_a_bucket_as_long_as_a_build_does(
    bucket_fleet: Fleet, bucket: Bucket, tmp_path: Path
) -> None:
    bucket_fleet.call("index", str(GitRepo.create(tmp_path / "shop", FILES).path))
    bucket.is_away = True

    doctor = call(bucket_fleet, "doctor")

    assert doctor.returncode == 1, doctor.stderr
    assert "home/probes/" in doctor.stdout
    assert "the bucket cannot be reached now" in doctor.stdout
    assert "retry_timeout: 60s" not in doctor.stdout + doctor.stderr
