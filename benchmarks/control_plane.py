"""What one tick of the sensor costs at 100, 1,000 and 10,000 repositories that are up to date.

    python -m benchmarks.control_plane [--counts 100 1000 10000] [--storages sqlite postgres] [--local] [--update]

Each tick runs in a process of its own, which asks the sensor as Dagster's daemon does; its time is taken without the
start of that process. `no poll due`: the planner without the network. `polls due`: as many remotes are asked as a tick
may ask. `5 changed`: five repositories have a new commit and are marked, as by a webhook. In versions without a poll
state every tick asks every repository. Prints a table and, with --update, puts it into
`benchmarks/results/control_plane.md`.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.fleet_home import FakeRemotes, make_fleet, move_heads, postgres_server
from codesum_pipeline_tests.support.homes import open_home

RESULTS = Path(__file__).parent / "results" / "control_plane.md"
_BEGIN, _END = "<!-- figures -->", "<!-- end of figures -->"
_HEADER = (
    "| repositories | heads | storage | tick | wall s | CPU s | git's CPU s | memory MB | open files | requests "
    "| runs asked for |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
)
_MARK = "tick: "


@dataclass(frozen=True, slots=True)
class TickCost:
    """What one tick cost, and how many runs it asked for."""

    wall_s: float
    cpu_s: float
    git_cpu_s: float
    memory_mb: float
    open_files: int
    runs: int
    skip_message: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--storages", nargs="+", default=["sqlite", "postgres"])
    parser.add_argument("--local", action="store_true", help="real repositories on this disk instead of remotes")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--tick", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.tick:
        print(_MARK + json.dumps(_measure_tick(options.tick)))
        return
    rows = [
        row
        for count in options.counts
        for storage in options.storages
        for row in _measure_fleet(count, storage, options.local)
    ]
    if options.update:
        text = RESULTS.read_text(encoding="utf-8")
        before, after = text.split(_BEGIN)[0], text.split(_END)[1]
        RESULTS.write_text(f"{before}{_BEGIN}\n{_HEADER}{''.join(rows)}{_END}{after}", encoding="utf-8")


def _measure_fleet(count: int, storage: str, local: bool) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="codesum-fleet-") as made:
        folder = Path(made)
        with postgres_server(folder / "postgres", wanted=storage == "postgres") as postgres:
            remotes = make_fleet(folder, count, postgres=postgres, local=local)
            return _measure_ticks(
                folder, remotes, count, f"| {count:,} | {'local' if local else 'remote'} | {storage} ", local
            )


def _measure_ticks(folder: Path, remotes: FakeRemotes, count: int, title: str, local: bool) -> list[str]:
    rows = []
    rare = {"CODESUM_PLANNER__POLL_INTERVAL_S": "86400"}

    def measure_tick(tick: str, settings: dict[str, str]) -> TickCost:
        before = remotes.request_count
        cost = _run_tick(folder, remotes, settings)
        rows.append(
            f"{title}| {tick} | {cost.wall_s:.2f} | {cost.cpu_s:.2f} | {cost.git_cpu_s:.2f} | {cost.memory_mb:.0f} "
            f"| {cost.open_files} | {remotes.request_count - before:,} | {cost.runs} |\n"
        )
        print(rows[-1], end="", flush=True)
        print(f"    {cost.skip_message[:150]}", flush=True)
        return cost

    measure_tick("the first", {})
    if not local:
        _know_heads(folder, remotes.head)
    measure_tick("no poll due", rare)
    measure_tick("no poll due, again", rare)
    if not local:
        _know_heads(folder, remotes.head, due=True)
        measure_tick("polls due", {})
        _know_heads(folder, remotes.head)
    changed = [f"repository-{number:05d}" for number in range(0, count, count // 5)]
    move_heads(folder, changed, remotes, local=local)
    _mark_due(folder, changed)
    measure_tick("5 changed", rare)
    return rows


def _know_heads(folder: Path, head: str, *, due: bool = False) -> None:
    """As if every remote had just been asked, or a day ago; versions without a poll state know nothing."""
    try:
        from codesum_pipeline.source.repositories.poll_state import Poll, open_poll_state
        from codesum_pipeline.source.repositories.polling import source_of
    except ImportError:
        return
    home, now = open_home(folder / "home"), time.time()
    poll_time = now - 86_400 if due else now
    with open_poll_state(home.layout) as state:
        state.keep_polls(
            Poll(each.key, source_of(each, offline=False), poll_time, poll_time + 3_600, head=head)
            for each in home.registry.entries()
        )


def _mark_due(folder: Path, keys: list[str]) -> None:
    try:
        from codesum_pipeline.source.repositories.poll_state import mark_due
    except ImportError:
        return
    from codesum_pipeline.foundation.store.layout import HomeLayout

    mark_due(HomeLayout(folder / "home"), keys)


def _run_tick(folder: Path, remotes: FakeRemotes, settings: dict[str, str]) -> TickCost:
    environment = {**os.environ, **settings, "PATH": f"{remotes.folder}:{os.environ['PATH']}"}
    if not (remotes.folder / "heads").exists() or (folder / "local").exists():
        environment["PATH"] = os.environ["PATH"]
    command = [sys.executable, "-m", "benchmarks.control_plane", "--tick", str(folder / "home")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        if line.startswith(_MARK):
            return TickCost(**json.loads(line.removeprefix(_MARK)))
    raise RuntimeError(f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}")


def _measure_tick(home: Path) -> dict[str, object]:
    """One tick in this process, after all that it needs is imported."""
    import dagster as dg
    from dagster._core.definitions.partitions.context import partition_loading_context

    from codesum_pipeline.builds.dagster.dagster_records import open_instance
    from codesum_pipeline.definitions import build_defs
    from codesum_pipeline.foundation.store.layout import HomeLayout

    definitions = build_defs({"home": home})
    repository = definitions.get_repository_def()
    sensor = repository.get_sensor_def("repository_changes")
    with open_instance(HomeLayout(home)) as instance, _OpenFiles() as open_files:
        before, began = _processor_seconds(), time.monotonic()
        with (
            partition_loading_context(dynamic_partitions_store=instance),
            dg.build_sensor_context(
                instance=instance, cursor="", repository_def=repository, resources=definitions.resources
            ) as context,
        ):
            data = sensor.evaluate_tick(context)
        wall_s, after = time.monotonic() - began, _processor_seconds()
    return {
        "wall_s": wall_s,
        "cpu_s": after[0] - before[0],
        "git_cpu_s": after[1] - before[1],
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "open_files": open_files.most,
        "runs": len(data.run_requests or ()),
        "skip_message": data.skip_message or "",
    }


def _processor_seconds() -> tuple[float, float]:
    """Of this process, and of those it waited for."""
    times = os.times()
    return times.user + times.system, times.children_user + times.children_system


class _OpenFiles(threading.Thread):
    """The most files that this process had open at one moment."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0
        self._is_over = threading.Event()

    def run(self) -> None:
        while not self._is_over.wait(0.02):
            self.most = max(self.most, len(os.listdir("/proc/self/fd")))  # noqa: PTH208

    def __enter__(self) -> "_OpenFiles":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self.join()


if __name__ == "__main__":
    main()
