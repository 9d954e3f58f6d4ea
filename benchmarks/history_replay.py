"""What a model would have cost over a repository's history, and what was avoided.

    python -m benchmarks.history_replay CLONE... [--commits 200]

The last `--commits` first-parent commits of each clone are built one after the
other with a model that writes everything: LiteLLM asks a server on loopback,
whose answer is a pure function of the request, at the listed price of
gpt-4o-mini. Compared with

- rebuilding: every text is written at every commit, at what writing it cost here;
- raw spans: a function is written whenever the sha256 over its raw lines, or
  its id, has not been seen before (a cache keyed by id and hash of the span, as
  other tools have it); of functions alone, since such caches have no levels above.

Prints a table, writes `benchmarks/results/history_replay.md` and a plot of the
cost of each commit.
"""

import argparse
import os
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.replay import MovingBranch, commits_of
from codesum_pipeline.foundation.data_model.document import LEVELS, Level, WrittenBy
from codesum_pipeline.foundation.data_model.model_call import LedgerRow
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.support.homes import build, open_home
from codesum_pipeline_tests.support.llm_server import ServerProcess

MODEL = "openai/gpt-4o-mini"
KEY_ENV = "CODESUM_REPLAY_KEY"
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls, tokens read and written, US dollars."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.calls + other.calls, self.tokens + other.tokens, self.usd + other.usd)


@dataclass
class Replay:
    """One repository: what each commit cost, and what it would have cost."""

    name: str
    spent: list[Spent] = field(default_factory=list)
    rebuilt: list[Spent] = field(default_factory=list)
    functions: list[int] = field(default_factory=list)
    raw_functions: list[int] = field(default_factory=list)

    def avoided(self, what: str) -> float:
        """The share of calls, tokens or dollars that a rebuild at each commit after the first would have cost more."""
        ours = float(sum(getattr(one, what) for one in self.spent[1:]))
        return 1 - ours / max(1e-12, float(sum(getattr(one, what) for one in self.rebuilt[1:])))

    def avoided_of_raw(self) -> float:
        return 1 - sum(self.functions[1:]) / max(1, sum(self.raw_functions[1:]))


class Prices:
    """What each text cost when it was written, for what writing it again would cost."""

    def __init__(self) -> None:
        self._by_text: dict[tuple[str, str], Spent] = {}
        self._of_level: dict[Level, list[Spent]] = defaultdict(list)
        self._rows_seen = 0

    def read(self, workspace: Workspace) -> dict[Level, list[LedgerRow]]:
        """The calls that were made since the last time, by level."""
        rows = workspace.tables.read_rows_or_empty("ledger", workspace.key, LedgerRow)
        fresh, self._rows_seen = rows[self._rows_seen :], len(rows)
        found: dict[Level, list[LedgerRow]] = {level: [] for level in LEVELS}
        for row in fresh:
            found[Level(row.level)].append(row)
        return found

    def of_all(self, workspace: Workspace, fresh: dict[Level, list[LedgerRow]]) -> Spent:
        """What writing every model's text of the commit would cost."""
        total = Spent()
        for level in LEVELS:
            costs: dict[str, Spent] = defaultdict(Spent)
            for row in fresh[level]:
                costs[row.id] += _spent_on(row)
            self._of_level[level] += costs.values()
            names = ["id", "summary_hash", "written_by"]
            table = workspace.tables.read(texts_table(level), workspace.key, columns=names)
            for id_, summary_hash, writer in zip(*(table.column(name).to_pylist() for name in names), strict=True):
                if writer == WrittenBy.LLM:
                    key = (id_, summary_hash)
                    if id_ in costs or key not in self._by_text:
                        self._by_text[key] = costs.get(id_) or self._usual(level)
                    total += self._by_text[key]
        return total

    def _usual(self, level: Level) -> Spent:
        """Of a text that was taken from elsewhere: what one of its level costs on the average."""
        known = self._of_level[level]
        total = sum(known, Spent())
        return Spent(1, total.tokens // max(1, len(known)), total.usd / max(1, len(known)))


def replay(clone: Path, count: int, base: str, folder: Path) -> Replay:
    """Build commit after commit."""
    found, prices = Replay(clone.name), Prices()
    seen: set[tuple[str, str]] = set()
    branch = MovingBranch.of(clone, folder)
    for number, commit in enumerate(commits_of(clone, count), start=1):
        entry = branch.move_to(commit)
        workspace = _workspace(folder / "home", entry, f"run {number}", llm=_llm_settings(base))
        build(workspace, until="summary_documents")
        fresh = prices.read(workspace)
        found.spent.append(sum((_spent_on(row) for rows in fresh.values() for row in rows), Spent()))
        found.rebuilt.append(prices.of_all(workspace, fresh))
        found.functions.append(len({row.id for row in fresh[Level.FUNCTION]}))
        raw = _workspace(folder / "raw", entry, f"run {number}", hash_policy="raw")
        build(raw, until="symbols")
        spans = _function_spans(raw, _written_by_model(workspace))
        found.raw_functions.append(len(spans - seen))
        seen |= spans
        print(f"{clone.name} {number:4} {commit[:12]} {found.spent[-1].calls:5} calls", flush=True)
    return found


def _llm_settings(base: str) -> dict[str, Any]:
    return {
        "enabled": True,
        "model": MODEL,
        "api_base": base,
        "api_key_env": KEY_ENV,
        "max_summaries_per_run": 1_000_000,
        "tests": True,
        "documented": True,
        "concurrency": 32,
    }


def _workspace(home: Path, entry: RepositoryEntry, run_id: str, **settings: Any) -> Workspace:
    opened = open_home(home, **settings)
    opened.registry.add(entry)
    return opened.workspace(entry.key, run_id=run_id, is_confirmed=True)


def _written_by_model(workspace: Workspace) -> set[str]:
    table = workspace.tables.read(texts_table(Level.FUNCTION), workspace.key, columns=["id", "written_by"])
    pairs = zip(table.column("id").to_pylist(), table.column("written_by").to_pylist(), strict=True)
    return {id_ for id_, writer in pairs if writer == WrittenBy.LLM}


def _function_spans(workspace: Workspace, ids: set[str]) -> set[tuple[str, str]]:
    table = workspace.tables.read("symbols", workspace.key, columns=["id", "content_hash"])
    pairs = zip(table.column("id").to_pylist(), table.column("content_hash").to_pylist(), strict=True)
    return {pair for pair in pairs if pair[0] in ids}


def _spent_on(row: LedgerRow) -> Spent:
    return Spent(1, row.prompt_tokens + row.completion_tokens, row.cost_usd)


def write_results(replays: Sequence[Replay], count: int) -> None:
    """The table on the terminal and, with the plot, among the results."""
    columns = ["repository", "commits", "first build", "all others", "rebuilding", "calls avoided", "tokens", "dollars",
               "functions", "by raw spans", "avoided of these"]  # fmt: skip
    rows = [
        [
            one.name,
            str(len(one.spent)),
            f"{one.spent[0].calls:,} calls, ${one.spent[0].usd:.2f}",
            f"{sum(part.calls for part in one.spent[1:]):,} calls, ${sum(part.usd for part in one.spent[1:]):.2f}",
            f"{sum(part.calls for part in one.rebuilt[1:]):,} calls, ${sum(part.usd for part in one.rebuilt[1:]):.2f}",
            *(f"{one.avoided(what):.2%}" for what in ("calls", "tokens", "usd")),
            f"{sum(one.functions[1:]):,}",
            f"{sum(one.raw_functions[1:]):,}",
            f"{one.avoided_of_raw():.1%}",
        ]
        for one in replays
    ]
    table = Table(*columns)
    for row in rows:
        table.add_row(*row)
    Console(width=200).print(table)
    lines = [
        "# What a model costs over a history",
        "",
        f"`python -m benchmarks.history_replay CLONE... --commits {count}`",
        "",
    ]
    lines += [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}", *(f"| {' | '.join(row)} |" for row in rows)]
    text = "\n".join([*lines, "", "![cost of each commit](history_replay.png)", ""])
    (RESULTS / "history_replay.md").write_text(text, encoding="utf-8")
    _plot_costs(replays)


def _plot_costs(replays: Sequence[Replay]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3 * len(replays)), layout="constrained")
    for axes, one in zip(figure.subplots(len(replays), 1, squeeze=False)[:, 0], replays, strict=True):
        axes.plot([part.usd for part in one.rebuilt], label="rebuilding", color="tab:gray")
        axes.plot([max(part.usd, 1e-6) for part in one.spent], ".", label="this project", color="tab:blue")
        axes.set(title=one.name, xlabel="commit", ylabel="US dollars", yscale="log")
        axes.legend()
    figure.savefig(RESULTS / "history_replay.png", metadata={"Software": None})


def main() -> None:
    """Replay, compare, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--commits", type=int, default=200)
    options = parser.parse_args()
    os.environ[KEY_ENV] = "nothing is asked but loopback"
    replays = []
    with ServerProcess() as server:
        for clone in options.clones:
            subprocess.run(["git", "-C", str(clone), "rev-parse", "HEAD"], check=True, capture_output=True)
            with tempfile.TemporaryDirectory() as folder:
                replays.append(replay(clone, options.commits, server.base, Path(folder)))
    write_results(replays, options.commits)


if __name__ == "__main__":
    main()
