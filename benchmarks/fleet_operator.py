"""An operator on a machine of its own, who calls `codesum status` and `codesum doctor` again and again."""

import json
import re
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from codesum_pipeline_tests.support.commands import COMMAND
from codesum_pipeline_tests.support.fleet_workers import Fleet

# A command that has said nothing for so long is ended; its exit code is shown as this one.
PATIENCE_S = 150.0
NO_ANSWER = -1
_SENTENCES, _CHARACTERS = 4, 240
_HEADER = "| s | looks | `status` | `doctor` | repositories | said |\n|---|---|---|---|---|---|\n"


@dataclass(frozen=True)
class Look:
    """What was seen at one moment, in seconds since the phase began. Each command has its exit code and its seconds;
    `said` has the sentences about the fleet, and how many repositories each was said of (0: of none by name)."""

    at_s: float
    status: tuple[int, float]
    doctor: tuple[int, float]
    states: dict[str, int]
    said: dict[str, int]


@dataclass
class Operator:
    """Looks every `every_s` seconds at most, and once more at the end."""

    fleet: Fleet
    every_s: float
    looks: list[Look] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def watching(self) -> Iterator["Operator"]:
        """Look while the block runs."""
        # The home of a fleet in a bucket is copied to the cache: this machine has a copy of its own.
        extra = {**self.fleet.extra, "XDG_CACHE_HOME": str(self.fleet.folder / "operator")}
        self.fleet = replace(self.fleet, extra=extra)
        thread = threading.Thread(target=self._watch, args=(time.monotonic(),))
        thread.start()
        try:
            yield self
        finally:
            self.ended.set()
            thread.join()

    def _watch(self, began: float) -> None:
        is_last = False
        while not is_last:
            is_last = self.ended.is_set()
            at = time.monotonic()
            self.looks.append(self._look(at - began))
            self.ended.wait(max(0.0, self.every_s - (time.monotonic() - at)))

    def _look(self, at_s: float) -> Look:
        code, seconds, rows, words = self._call("status", "--json")
        doctor, doctor_s, problems, more = self._call("doctor", "--json")
        said = Counter[str]()
        shown: dict[str, str] = {}
        # A sentence about one repository is the same one about the next.
        for key, what in [*(("", line) for line in (*words, *more)), *((row["repo"], row["what"]) for row in problems)]:
            told = what.replace(key, "…") if key else what
            sentence = shown.setdefault(_shape(told), told)
            said[sentence] += 1 if key else 0
        states = Counter(str(row["state"]) for row in rows)
        return Look(round(at_s), (code, seconds), (doctor, doctor_s), dict(states), dict(said))

    def _call(self, *arguments: str) -> tuple[int, float, list[dict[str, str]], list[str]]:
        """The exit code, the seconds, the objects that were printed, and what was said beside them."""
        began = time.monotonic()
        command, environment = [*COMMAND, *arguments], self.fleet.environment
        try:
            done = subprocess.run(
                command, cwd=self.fleet.folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_S
            )
        except subprocess.TimeoutExpired:
            return NO_ANSWER, round(time.monotonic() - began, 1), [], [f"{arguments[0]}: no answer"]
        words = [line for line in done.stderr.splitlines() if line.strip()]
        if any(line.startswith("Traceback") for line in words):
            words = [f"Traceback … {words[-1]}"]
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return done.returncode, round(time.monotonic() - began, 1), rows, words


def table_of_looks(looks: Sequence[Look]) -> str:
    """A Markdown table, in which looks in a row that saw the same are one line."""
    groups: list[list[Look]] = []
    for look in looks:
        if groups and _essence(groups[-1][0]) == _essence(look):
            groups[-1].append(look)
        else:
            groups.append([look])
    return _HEADER + "".join(map(_row, groups))


def _essence(look: Look) -> object:
    said = sorted((_shape(sentence), number) for sentence, number in look.said.items())
    return look.status[0], look.doctor[0], look.states, said


def _row(group: Sequence[Look]) -> str:
    first, last = group[0], group[-1]
    when = f"{first.at_s:,.0f}" if first is last else f"{first.at_s:,.0f} to {last.at_s:,.0f}"
    calls = []
    for found in ([look.status for look in group], [look.doctor for look in group]):
        code = "no answer" if found[0][0] == NO_ANSWER else str(found[0][0])
        calls.append(f"{code}, {max(seconds for _, seconds in found):.0f} s")
    states = ", ".join(f"{number:,} {state}" for state, number in sorted(first.states.items(), key=lambda it: -it[1]))
    said = [f"{number:,} × {_short(text)}" if number > 1 else _short(text) for text, number in first.said.items()]
    if len(said) > _SENTENCES:
        said[_SENTENCES:] = [f"{len(said) - _SENTENCES} more"]
    return f"| {when} | {len(group)} | {calls[0]} | {calls[1]} | {states} | {'<br>'.join(said)} |\n"


def _short(text: str) -> str:
    cut = text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}…"
    return cut.replace("|", "\\|").replace("\n", " ")


def _shape(text: str) -> str:
    """A sentence without its times, numbers and names of runs."""
    return re.sub(r"\d[\d,.:]*", "N", re.sub(r"\b[0-9a-f]{8}[0-9a-f-]*\b", "ID", text))
