"""What matching costs: the processor time of comparing and matching, as a share of a build after a one-function edit.

    python -m benchmarks.digests [--lines 1800000] [--intents 100] [--update]

Installed packages are gathered until there are as many lines (1.8 million have about 100,000 documents), indexed and
compared once; then one function is edited and the repository is built again. Measured of that second build, with its
workers, and of what comes after it: comparing the published version with the last one, opening the index, asking all
intents, grouping, and moving the baseline. Prints a table and, with --update, puts it into
`benchmarks/results/digests.md`, whose other half, the calibration, is written by hand.
"""

import argparse
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

from benchmarks.throughput import edit_one_function, gather_sources, time_build
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.data_model.standing_question import DEFAULT_THRESHOLD, Intent
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.notifications.matching.changed_documents import VersionComparison, compare_published
from codesum_pipeline.notifications.matching.grouping import group_matches
from codesum_pipeline.notifications.matching.scores import make_blob_reader, match_changes
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.source.git.git import BlobReader
from codesum_pipeline_tests.support.homes import open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

RESULTS = Path(__file__).parent / "results" / "digests.md"
_WHAT = (
    "retries of failed requests",
    "authentication of users",
    "reading of configuration files",
    "connections to a database",
    "parsing of dates",
    "caching of results",
    "logging and warnings",
    "graph algorithms",
    "serialization to JSON",
    "command line options",
)
_HOW = ("anything that touches {}", "how do we handle {}?", "{}", "{} and their errors", "{} in tests",
        "default values of {}", "security of {}", "speed of {}", "{} on Windows", "documentation of {}")  # fmt: skip


class Meter:
    """Seconds of processor time of this process and those that it started, and seconds that passed, by name."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[float, float]] = {}

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        cpu, wall = _processor_s(), time.perf_counter()
        yield
        self.rows[name] = (_processor_s() - cpu, time.perf_counter() - wall)


def _processor_s() -> float:
    return sum(os.times()[:4])


def intents_of(count: int) -> list[Intent]:
    texts = [how.format(what) for how, what in product(_HOW, _WHAT)]
    return [
        Intent(f"intent-{number}", texts[number % len(texts)], threshold=DEFAULT_THRESHOLD) for number in range(count)
    ]


def measure(folder: Path, *, lines: int, intents: int) -> tuple[Meter, dict[str, int]]:
    """The second build, and all that matching adds to it."""
    meter = Meter()
    home = folder / "home"
    repo = GitRepo.create(folder / "repo", gather_sources(lines))
    with meter.measure("first build"):
        time_build(home, repo)
    workspace = workspace_of(open_home(home), RepositoryEntry("measured", str(repo.path)))
    _compare_versions(workspace).keep()
    repo.commit(edit_one_function(home, repo))
    with meter.measure("build after the edit"):
        time_build(home, repo)
    embedder = embedder_of(workspace.settings)
    embedder.embed_query("a build has loaded the model")
    with meter.measure("compare"):
        compared = _compare_versions(workspace)
    with meter.measure("match"), BlobReader(workspace.layout.mirror(workspace.key)) as blobs:
        index = PublishedIndex.open(workspace.layout.published(workspace.key))
        found = match_changes(compared.changes, intents_of(intents), index, embedder, make_blob_reader(blobs))
    with meter.measure("group and keep"):
        group_matches(found)
        compared.keep()
    with meter.measure("compare again"):
        _compare_versions(workspace)
    return meter, {"documents": len(index), "intents": intents, "changes": len(compared.changes), "matches": len(found)}


def _compare_versions(workspace: Workspace) -> VersionComparison:
    compared = compare_published(workspace)
    if compared is None:
        raise SystemExit("nothing is published")
    return compared


def format_table(meter: Meter, counts: dict[str, int]) -> str:
    build = meter.rows["build after the edit"][0]
    lines = [
        ", ".join(f"{number:,} {name}" for name, number in counts.items()),
        "",
        "| | processor s | passed s | share of the build |",
        "|---|---|---|---|",
    ]
    for name, (cpu, wall) in meter.rows.items():
        lines.append(f"| {name} | {cpu:.2f} | {wall:.2f} | {100 * cpu / build:.2f} % |")
    added = sum(meter.rows[name][0] for name in ("compare", "match", "group and keep"))
    lines.append(f"| **matching in all** | **{added:.2f}** | | **{100 * added / build:.2f} %** |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_800_000)
    parser.add_argument("--intents", type=int, default=100)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = format_table(*measure(Path(folder), lines=arguments.lines, intents=arguments.intents))
    print(found)
    if arguments.update:
        begin, end = "<!-- cost -->", "<!-- end of cost -->"
        text = RESULTS.read_text(encoding="utf-8")
        written = re.sub(f"{begin}.*{end}", lambda _: f"{begin}\n{found}\n{end}", text, flags=re.DOTALL)
        RESULTS.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
