"""When worker processes pay."""

from itertools import accumulate, count

from codesum_pipeline.texts.llm.call_workers import CallLoad


def needs_workers_after_each_second(*cpu_s: float, cores: int = 2) -> list[bool]:
    """What is said at the start, and after each second of which so much went to the processor."""

    walls, cpus = count(100.0), accumulate(cpu_s, initial=50.0)
    load = CallLoad(cores=cores, wall=lambda: next(walls), cpu=lambda: next(cpus))
    return [load.needs_workers() for _ in range(1 + len(cpu_s))]


def test_workers_pay_once_the_process_was_busy_for_as_long_as_a_start_takes() -> None:
    assert needs_workers_after_each_second(0.9, 0.7, 0.9, 0.9) == [False, False, False, True, True]


def test_a_process_that_waits_for_its_provider_needs_none_however_long_it_runs() -> None:
    assert not any(needs_workers_after_each_second(*[0.5] * 100))


def test_a_break_starts_the_count_again() -> None:
    assert not any(needs_workers_after_each_second(0.9, 0.9, 0.1, 0.9, 0.9))


def test_a_single_core_is_not_shared() -> None:
    assert not any(needs_workers_after_each_second(*[0.9] * 100, cores=1))
