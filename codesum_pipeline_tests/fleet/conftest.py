"""The servers and the processes of a fleet, one set for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codesum_pipeline_tests.fleet.services import Bucket, Postgres, Redis, short_folder
from codesum_pipeline_tests.fleet.workers import Fleet


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
