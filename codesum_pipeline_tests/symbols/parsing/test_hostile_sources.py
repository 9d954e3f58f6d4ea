"""What a file costs grows with its length, whatever is in it: work and facts are counted, not seconds."""

import gc
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.symbols.parsing import bounded, file_tokens, nested_definitions
from codesum_pipeline.symbols.parsing.parsers import PARSERS, parse_file
from codesum_pipeline.symbols.parsing.text import ParsedFile
from codesum_pipeline_tests.support.hostile_reading import read_apart
from codesum_pipeline_tests.support.hostile_sources import Hostile, hostile_sources

SMALL, LARGE = 1_500, 2
# Twice the file may cost so many times the work: a little more than twice, for what is done for the first half alone.
MOST_GROWTH = 2.6
# A kind that all languages have; two more, and all that are written for one, are slow.
QUICK = [source for source in hostile_sources() if source.kind == "chain of calls"]
MORE = [
    pytest.param(source, id=source.id, marks=pytest.mark.slow)
    for source in hostile_sources()
    if source.kind in ("chain of sums", "nested: members in calls")
    or source.kind.startswith(("nested-functions", "nested-classes", "functions", "comments"))
]
# A text of so many characters counts as a call: few, so that a small source shows what grows with its square.
CHARACTERS = 4


class Work:
    """Counts calls of functions, and the lengths of the texts that they give.

    What is done for the parser is left out: that has a count of its own.
    """

    def __init__(self) -> None:
        self.done = 0

    def __call__(self, frame: FrameType, event: str, value: Any) -> None:
        if frame.f_code.co_filename == bounded.__file__:
            return
        if event == "return":
            self.done += len(value) // CHARACTERS if isinstance(value, str | bytes) else 0
        else:
            self.done += 1


@contextmanager
def counted() -> Iterator[Work]:
    work = Work()
    sys.setprofile(work)
    try:
        yield work
    finally:
        sys.setprofile(None)


def read(source: Hostile, size: int) -> ParsedFile:
    text = source.of_size(size).encode()
    return parse_file(source.file, source.language, text, blob="b", hash_policy=HashPolicy.CANONICAL)


@pytest.mark.parametrize("source", [*QUICK, *MORE], ids=lambda source: source.id)
def test_twice_the_source_costs_twice_the_work(source: Hostile) -> None:
    read(source, 100)
    gc.collect()
    costs = []
    for size in (SMALL, SMALL * LARGE):
        with counted() as work:
            parsed = read(source, size)
        costs.append((work.done, len(repr(parsed))))

    (work_before, facts_before), (work_after, facts_after) = costs
    assert work_after < MOST_GROWTH * work_before + 500
    assert facts_after < MOST_GROWTH * facts_before


# What is read in a process of its own: within these limits, or as a counted failure.
MOST_SECONDS, MOST_MEMORY_MB, LONG = 15, 1_000, 1_000_000
LONG_KINDS = ("chain of calls, over lines", "nested: members in calls", "functions")


@pytest.mark.slow
@pytest.mark.parametrize(
    "source", [source for source in hostile_sources() if source.kind in LONG_KINDS], ids=lambda source: source.id
)
def test_a_megabyte_is_read_within_the_limits_or_counted(source: Hostile) -> None:
    reading = read_apart(source.id, LONG, MOST_SECONDS)

    assert reading.error == ""
    assert reading.rows == 1
    assert len(reading.failures) <= 1
    assert reading.memory_mb < MOST_MEMORY_MB


def test_there_are_sources_of_every_language_that_is_parsed() -> None:
    assert {source.language for source in hostile_sources()} == {*PARSERS}


def test_long_texts_share_the_bytes_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = "int f(int a) { return a" + ".b(c)" * 400 + "; }\n"

    def called() -> list[Any]:
        parsed = parse_file("a.c", "c", chain.encode(), blob="b", hash_policy=HashPolicy.CANONICAL)
        calls: list[Any] = json.loads(parsed.facts.references)["calls"]
        return calls

    whole = called()
    assert len(whole) == 400
    # Without any long text: each call is still known by its name and its arguments.
    monkeypatch.setattr(file_tokens, "LONG_TEXTS_SHARE", 0)
    assert [(scope, name) for scope, _, name, _ in called()] == [(scope, name) for scope, _, name, _ in whole]


def test_definitions_in_each_other_are_symbols_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    nested = "".join("    " * n + f"def f{n}():\n" for n in range(40)) + "    " * 40 + "pass\n"

    def found() -> int:
        return len(parse_file("a.py", "python", nested.encode(), blob="b", hash_policy=HashPolicy.CANONICAL).symbols)

    assert found() == 40
    monkeypatch.setattr(nested_definitions, "FREE_INSIDE", 0)
    monkeypatch.setattr(nested_definitions, "MOST_INSIDE", 3)
    assert 0 < found() < 10
