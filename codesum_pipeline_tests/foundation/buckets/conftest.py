"""Two workers and the bucket that they share, which this process holds in memory."""

from pathlib import Path

import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.foundation.store.object_storage.objects import Objects, open_objects
from codesum_pipeline_tests.support.bucket_workers import worker_at


@pytest.fixture
def bucket(tmp_path: Path) -> str:
    return f"memory://{tmp_path}"


@pytest.fixture
def objects(bucket: str) -> Objects:
    return open_objects(bucket)


@pytest.fixture
def one(tmp_path: Path, bucket: str) -> Home:
    return worker_at(tmp_path / "one", bucket)


@pytest.fixture
def other(tmp_path: Path, bucket: str) -> Home:
    return worker_at(tmp_path / "other", bucket)
