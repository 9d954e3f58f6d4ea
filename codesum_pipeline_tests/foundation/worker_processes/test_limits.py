"""A worker that needs more memory or processor time than it may have ends, and only what needed it is lost."""

import json
import os
import resource
from pathlib import Path

import pytest

from codesum_pipeline.foundation.worker_processes.limits import WorkLimits
from codesum_pipeline.foundation.worker_processes.pool import Pool
from codesum_pipeline_tests.foundation.worker_processes.works import (
    ABORT,
    COMPUTE,
    CRASH,
    EAT,
    Double,
    Noted,
    OnlyOddHere,
)

NO_MEMORY = "it needed more than 200 MB of memory (worker_memory_mb)"
NO_TIME = "it took more than 1 s of processor time (worker_processor_s)"
BATCHES = [[number, number + 1] for number in range(20)]


def double(batches: list[list[int]], limits: WorkLimits) -> list[list[int | str]]:
    with Pool(2, limits=limits) as pool:
        return list(pool.map(Double(os.getpid()), batches))


@pytest.mark.parametrize(
    ("what", "limits", "reason"),
    [
        pytest.param(EAT, WorkLimits(memory_mb=200), NO_MEMORY, id="memory that Python is refused"),
        pytest.param(ABORT, WorkLimits(memory_mb=200), NO_MEMORY, id="memory that a library is refused"),
        pytest.param(COMPUTE, WorkLimits(processor_s=1), NO_TIME, id="processor time"),
    ],
)
def test_what_meets_a_limit_is_named_with_the_setting_and_nothing_else_is_lost(
    what: int, limits: WorkLimits, reason: str
) -> None:
    done = double([*BATCHES[:10], [7, what, 8], *BATCHES[10:]], limits)

    assert done[10] == [14, reason, 16]
    assert [*done[:10], *done[11:]] == [[2 * number for number in batch] for batch in BATCHES]


@pytest.mark.parametrize(
    ("batch", "begun"),
    [
        pytest.param([EAT], [[EAT]], id="alone: what met a limit would meet it again"),
        pytest.param([7, EAT], [[7, EAT], [7], [EAT]], id="beside another: either may have met it"),
        pytest.param([CRASH], [[CRASH], [CRASH]], id="a crash: it may have been the worker's"),
    ],
)
def test_what_met_a_limit_alone_is_not_tried_a_second_time(
    batch: list[int], begun: list[list[int]], tmp_path: Path
) -> None:
    with Pool(2, limits=WorkLimits(memory_mb=200)) as pool:
        list(pool.map(Noted(tmp_path / "notes"), [batch]))

    assert [json.loads(line) for line in (tmp_path / "notes").read_text().splitlines()] == begun


@pytest.mark.parametrize("what", [EAT, ABORT, COMPUTE])
def test_what_stays_below_the_limits_is_done(what: int) -> None:
    assert double([[7, what, 8]], WorkLimits()) == [[14, 2 * what, 16]]


@pytest.mark.slow
def test_the_limits_are_those_of_one_batch_not_of_a_worker() -> None:
    """Two workers compute twice as long in all as either may for one batch."""
    assert double([[COMPUTE]] * 5, WorkLimits(processor_s=4)) == [[2 * COMPUTE]] * 5


def test_a_process_has_its_own_limits_again_after_the_work() -> None:
    before = [resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU)]

    with WorkLimits().applied():
        within = [resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU)]

    assert within != before
    assert [resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU)] == before


def test_what_is_too_much_for_a_process_without_workers_is_done_by_one() -> None:
    with Pool(0) as pool:
        found = list(pool.map(OnlyOddHere(), range(1, 6)))

    assert [pid == os.getpid() for pid in found] == [True, False, True, False, True]
    assert len(set(found)) == 2
