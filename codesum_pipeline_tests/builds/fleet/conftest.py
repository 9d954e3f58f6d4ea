"""The servers and the processes of a fleet, one set for each test."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from codesum_pipeline.foundation.store.object_storage.opened_homes import OPENED_HOMES
from codesum_pipeline_tests.support.fleet_workers import Fleet
from codesum_pipeline_tests.support.services import Bucket, Postgres, Redis, short_folder

# `make distributed` installs it; all other tests are collected without it.
collect_ignore = [] if find_spec("celery") else ["test_celery_runs.py", "test_faults_of_machines.py"]


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    with short_folder() as folder:
        server = Postgres(folder)
        server.start()
        yield server
        server.kill()


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    folder = tmp_path / "redis"
    folder.mkdir()
    server = Redis(folder)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    with Bucket().serving() as server:
        yield server


@pytest.fixture
def fleet(tmp_path: Path, postgres: Postgres, redis: Redis) -> Iterator[Fleet]:
    """A folder that all workers share."""
    folder = tmp_path / "fleet"
    folder.mkdir()
    made = Fleet(str(tmp_path / "home"), folder, postgres, redis)
    yield made
    made.end()


@pytest.fixture
def bucket_fleet(
    tmp_path: Path, postgres: Postgres, redis: Redis, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Fleet]:
    """A bucket, and for each process that is started a machine of its own: it has its own copy of the home."""
    folder = tmp_path / "fleet"
    folder.mkdir()
    extra = {**bucket.environment, "XDG_CACHE_HOME": str(folder / "here"), "CODESUM_STORAGE__LEASE_S": "5"}
    for name, value in extra.items():
        monkeypatch.setenv(name, value)
    # The buckets of several tests have one URL, and ports of their own.
    for opened in ("_objects", "_files", "_copies"):
        monkeypatch.setattr(OPENED_HOMES, opened, {})
    made = Fleet(bucket.url, folder, postgres, redis, extra)
    yield made
    made.end()
