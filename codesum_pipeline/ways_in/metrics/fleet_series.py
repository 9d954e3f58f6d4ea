"""The fleet as series: how old and how late each index is, builds by outcome and cause, what models cost, the queue.

All is read from records, at most once in `FRESH_S`, by the process of the page: so a daemon that is down, or whose code
location does not load, is measured as well as one that ticks. Builds are counted from the start of the process on, as
counters of processes are.
"""

import logging
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pyarrow.compute as pc
from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.fleet_reading import can_read_records, read_fleet
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.steps.fleet_states import FleetState, RepositoryState
from codesum_pipeline.builds.steps.freshness import IndexState, allowed_lag
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.store.tables import TableStore

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter, Observation

_log = logging.getLogger(__name__)
FRESH_S = 10.0
# Of who did not ask for a fresh one.
_OLDEST_S = 2 * FRESH_S
# Clocks of machines differ, and a run may be recorded after one that ended later.
_OVERLAP_S = 600.0
_OUTCOMES = (
    ("success", ""),
    ("canceled", ""),
    ("held", ""),
    ("failure", "machine"),
    ("failure", "shared part"),
    ("failure", "repository"),
)
_SPENT = ["model", "level", "cost_usd", "latency_s", "attempts"]
Labels = Mapping[str, str]
# A repository, and two more labels; US dollars, and seconds.
Names = tuple[str, str, str]
Spent = tuple[float, float]
# The value of each series of one instrument.
Points = Callable[["FleetReading"], Iterable[tuple[float, Labels]]]


class FleetReading(Struct, frozen=True, kw_only=True):
    """What was read at the time `at` (Unix seconds). `shown` are the repositories with series of their own."""

    at: float
    fleet: FleetState
    shown: Sequence[RepositoryState]
    targets: Mapping[str, float]
    lags: Mapping[str, float]
    paused: Counter[str]
    builds: Mapping[Names, int]
    build_seconds: Mapping[str, float]
    spent: Mapping[Names, Spent]

    def of_each(self, value: Callable[[RepositoryState], float | None]) -> Iterator[tuple[float, Labels]]:
        for each in self.shown:
            if (found := value(each)) is not None:
                yield found, {"repository": each.key}

    def ages(self) -> Iterator[tuple[float, Labels]]:
        return self.of_each(lambda each: max(0.0, self.at - each.published_at) if each.published_at else None)

    def states(self) -> Iterator[tuple[float, Labels]]:
        return ((1.0, {"repository": each.key, "state": str(each.state)}) for each in self.shown)

    def counted(self) -> Iterator[tuple[float, Labels]]:
        counts = Counter(str(each.state) for each in self.fleet.repositories)
        return ((float(number), {"state": state}) for state, number in counts.items())

    def late(self) -> Iterator[tuple[float, Labels]]:
        yield float(sum(lag > self.targets[key] for key, lag in self.lags.items())), {}

    def queue(self) -> Iterator[tuple[float, Labels]]:
        runs = [each.run for each in self.fleet.repositories if each.run]
        waiting = sum(run.is_queued for run in runs)
        yield float(waiting), {"state": "queued"}
        yield float(len(runs) - waiting), {"state": "running"}

    def longest_wait(self) -> Iterator[tuple[float, Labels]]:
        waits = (self.at - each.run.since for each in self.fleet.repositories if each.run and each.run.is_queued
                 and each.run.since)  # fmt: skip
        yield max(waits, default=0.0), {}

    def tick_age(self) -> Iterator[tuple[float, Labels]]:
        if self.fleet.record:
            yield max(0.0, self.at - self.fleet.record.at), {}

    def reachable(self) -> Iterator[tuple[float, Labels]]:
        parts, away = self.fleet.parts, self.fleet.unreachable
        return ((float(part not in away), {"part": part}) for part in sorted({*parts, *away}))


_ENDED = ("repository", "outcome", "cause")
_CALLS = ("repository", "model", "level")
# The series of each instrument of the table beside this module.
_POINTS: dict[str, Points] = {
    "codesum.index.age": FleetReading.ages,
    "codesum.index.lag": lambda read: read.of_each(lambda each: read.lags.get(each.key)),
    "codesum.index.lag.target": lambda read: read.of_each(lambda each: read.targets.get(each.key)),
    "codesum.index.state": FleetReading.states,
    "codesum.repositories": FleetReading.counted,
    "codesum.repositories.late": FleetReading.late,
    "codesum.repositories.unlabelled": lambda read: [(float(len(read.fleet.repositories) - len(read.shown)), {})],
    "codesum.build.failed.attempts": lambda read: read.of_each(lambda each: float(each.failures)),
    "codesum.builds": lambda read: ((float(number), _labels_of(key, _ENDED)) for key, number in read.builds.items()),
    "codesum.build.time": lambda read: ((each, {"repository": key}) for key, each in read.build_seconds.items()),
    "codesum.llm.cost": lambda read: ((usd, _labels_of(key, _CALLS)) for key, (usd, _) in read.spent.items()),
    "codesum.llm.time": lambda read: ((seconds, _labels_of(key, _CALLS)) for key, (_, seconds) in read.spent.items()),
    "codesum.queue.runs": FleetReading.queue,
    "codesum.queue.longest.wait": FleetReading.longest_wait,
    "codesum.planner.tick.age": FleetReading.tick_age,
    "codesum.part.up": FleetReading.reachable,
    "codesum.workers.paused": lambda read: ((float(each), {"host": host}) for host, each in read.paused.items()),
}


class FleetSeries(Struct):
    """The last reading, for several readers of metrics at once. Of more than `most` repositories, those have series
    that are late, then the first by name.

    OpenTelemetry gives a collection ten seconds by default: who has no more calls `refresh` before.
    """

    catalogue: IndexCatalogue
    most: int
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _read_at: float = float("-inf")
    _reading: FleetReading | None = None
    _builds: "CountedBuilds" = field(default_factory=lambda: CountedBuilds())
    # Of which costs there were series before.
    _known: frozenset[Names] = frozenset()
    _spending: dict[str, tuple[object, dict[tuple[str, str], Spent]]] = field(default_factory=dict)

    def register(self, meter: "Meter") -> None:
        """Have the series observed whenever the meter's values are collected."""
        kinds = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
        for kind, instruments in kinds.items():
            for name, words in instruments.items():
                make = getattr(meter, f"create_observable_{kind}")
                make(name, callbacks=[partial(self._observe, _POINTS[name])], **words)

    def _observe(self, points: Points, _: object) -> "Iterator[Observation]":
        from opentelemetry.metrics import Observation

        self.refresh(older_than_s=_OLDEST_S)
        reading = self._reading
        for value, labels in points(reading) if reading else ():
            yield Observation(value, labels)

    def refresh(self, older_than_s: float | None = None) -> None:
        """Read the records where the last reading is older, by default than `FRESH_S`."""
        with self._lock:
            if time.monotonic() - self._read_at >= (FRESH_S if older_than_s is None else older_than_s):
                try:
                    self._reading = self._read()
                except CodesumError as error:
                    # An old reading would look like a fleet in which nothing changes.
                    self._reading = None
                    _log.warning("the state of the fleet cannot be measured: %s", error)
                self._read_at = time.monotonic()

    def _read(self) -> FleetReading:
        home = Home(self.catalogue.settings)
        fleet = read_fleet(home, self.catalogue.entries(lambda _: None))
        now = time.time()
        targets = {
            each.key: allowed_lag(home.settings.checks, each.entry).total_seconds() for each in fleet.repositories
        }
        lags = {each.key: lag for each in fleet.repositories if (lag := _lag(each, now)) is not None}
        first = sorted(fleet.repositories, key=lambda each: (lags.get(each.key, 0.0) <= targets[each.key], each.key))
        shown = sorted(first[: self.most], key=lambda each: each.key)
        keys = {each.key for each in shown}
        unreachable = dict(fleet.unreachable)
        if can_read_records(home, fleet.record):
            _unless_away(unreachable, "database", partial(self._builds.look, home), None)
        none: Counter[str] = Counter()
        paused = _unless_away(unreachable, "queue", partial(_paused, home), none)
        # Prometheus sees no rise in a series that begins with one.
        builds = {(each.key, *names): 0 for each in shown for names in _OUTCOMES}
        builds.update({names: number for names, number in self._builds.by_outcome.items() if names[0] in keys})
        return FleetReading(
            at=now,
            fleet=replace(fleet, unreachable=unreachable),
            shown=shown,
            targets=targets,
            lags=lags,
            paused=paused,
            builds=builds,
            build_seconds={key: seconds for key, seconds in self._builds.seconds.items() if key in keys},
            spent=self._rising(
                {(key, *which): spent for key in sorted(keys) for which, spent in self._spent(home.tables, key).items()}
            ),
        )

    def _rising(self, spent: Mapping[Names, Spent]) -> dict[Names, Spent]:
        """The same, but for the first reading of what came since this process began, which is 0: Prometheus sees no
        rise in a series that begins with more."""
        is_first, known = self._reading is None, self._known
        self._known = known | spent.keys()
        return {names: each if is_first or names in known else (0.0, 0.0) for names, each in spent.items()}

    def _spent(self, tables: TableStore, key: str) -> dict[tuple[str, str], Spent]:
        """US dollars and seconds of a repository's calls by model and level. The books are read where they changed;
        where they cannot be read, those of the others are all the same."""
        try:
            path = tables.readable_path("ledger", key)
            if path is None:
                return {}
            found = path.stat()
            version = (found.st_ino, found.st_size, found.st_mtime_ns)
            known = self._spending.get(key)
            if known is None or known[0] != version:
                self._spending[key] = known = version, _add_up(tables, key)
            return known[1]
        except (CodesumError, OSError) as error:
            _log.warning("%s: what its texts cost cannot be measured: %s", key, error)
            return {}


class CountedBuilds(Struct):
    """The builds that ended since the process began, each counted once; times are Unix seconds."""

    began: float = field(default_factory=time.time)
    by_outcome: Counter[Names] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    _looked_up_to: float = 0.0
    _seen: dict[str, float] = field(default_factory=dict)

    def look(self, home: Home) -> None:
        """Count what has ended since the last look. Raises `RecordsUnavailable`."""
        # It imports Dagster, which takes a second.
        from codesum_pipeline.builds.dagster.control import ended_builds

        since = max(self.began, self._looked_up_to) - _OVERLAP_S
        for run in ended_builds(home, after=datetime.fromtimestamp(since, UTC)):
            self._looked_up_to = max(self._looked_up_to, run.recorded_at)
            if run.ended_at < max(self.began, since) or run.run_id in self._seen:
                continue
            self._seen[run.run_id] = run.recorded_at
            self.by_outcome[run.key, run.outcome, run.cause] += 1
            self.seconds[run.key] += run.seconds  # type: ignore[assignment]
        self._seen = {run_id: at for run_id, at in self._seen.items() if at >= self._looked_up_to - 2 * _OVERLAP_S}


def _lag(each: RepositoryState, now: float) -> float | None:
    """How long an index has been behind, in seconds; None where that is not known, or nobody waits for it."""
    if each.behind_since is not None:
        return max(0.0, now - datetime.fromisoformat(each.behind_since).timestamp())
    is_at_head = each.state == IndexState.FRESH or (each.commit is not None and each.commit == each.head)
    return 0.0 if is_at_head and each.entry.enabled else None


T = TypeVar("T")


def _unless_away(unreachable: dict[str, str], part: str, read: Callable[[], T], otherwise: T) -> T:
    """What a part says; one that cannot be asked is noted, and is not asked again."""
    if part in unreachable:
        return otherwise
    try:
        return read()
    except CodesumError as error:
        unreachable[part] = str(error)
        return otherwise


def _paused(home: Home) -> Counter[str]:
    if home.settings.engine.launcher != "celery":
        return Counter()
    from codesum_pipeline.builds.dagster.control import workers_without_runs

    return Counter(worker.host for worker in workers_without_runs(home))


def _add_up(tables: TableStore, key: str) -> dict[tuple[str, str], Spent]:
    rows = tables.read_or_empty("ledger", key, columns=_SPENT)
    # In a row of several old calls, the wait is their mean.
    waited = pc.multiply(rows["latency_s"], pc.fill_null(rows["attempts"], 1))
    sums = rows.append_column("waited", waited).group_by(["model", "level"])
    found = sums.aggregate([("cost_usd", "sum"), ("waited", "sum")]).to_pylist()
    return {(row["model"], row["level"]): (row["cost_usd_sum"], row["waited_sum"]) for row in found}


def _labels_of(key: Names, names: Names) -> Labels:
    return dict(zip(names, key, strict=True))
