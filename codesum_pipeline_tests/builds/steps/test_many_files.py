"""A repository of very many tiny files is built in work that grows with their number, and no faster."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from benchmarks.many_files import write_repository
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of

# Twice as many files cost at most so much more than twice the calls.
MOST_GROWTH = 2.2


def calls_of(work: Callable[[], Any]) -> int:
    """How many functions this thread called meanwhile, those written in C included."""
    counted = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["files in one folder", "files in many folders", "refs"])
def test_twice_as_many_cost_twice_the_work(tmp_path: Path, shape: str) -> None:
    found = []
    for count in (400, 800):
        repository = tmp_path / f"repository{count}"
        write_repository(repository, shape, count)
        workspace = workspace_of(open_home(tmp_path / f"home{count}"), RepositoryEntry("many", str(repository)))
        found.append(calls_of(lambda workspace=workspace: build(workspace)))

    assert found[1] < MOST_GROWTH * found[0]
