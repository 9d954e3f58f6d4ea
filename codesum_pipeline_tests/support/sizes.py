"""Numbers that choose how a build works by the size of what it works on, and the command `codesum` with others.

    python -m codesum_pipeline_tests.support.sizes MODULE:NAME=NUMBER … -- ARGUMENT …

None of them decides what is in an index. So a small repository shows the paths that only large ones take: with a low
number even its few documents are many.
"""

import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path

from codesum_pipeline_tests.support.commands import environment

# By module and name, each with the lowest number that means something: 0 for a bound that is compared with, 1 for a
# number of things that are worked on together.
LOW: Mapping[str, int] = {
    "graph.graph_step:_MANY_FILES": 0,
    "graph.graph_step:_ROWS_AT_ONCE": 1,
    "graph.resolution:PROGRESS_EVERY": 1,
    "graph.resolvers.lookup_table:_CELLS_AT_ONCE": 1,
    "graph.resolvers.cells:MOST_CELLS": 0,
    "indexes.file_formats.bm25:_AT_ONCE": 1,
    "indexes.file_formats.bm25_updates:_FEW": 0,
    "indexes.publishing.candidate:_AT_ONCE": 1,
    "indexes.publishing.candidate_tables:_AT_ONCE": 1,
    "indexes.publishing.candidate_files:_AT_ONCE": 1,
    "indexes.publishing.word_files:_AT_ONCE": 1,
    "indexes.lanes.dense:_AT_ONCE": 1,
    "indexes.lanes.dense:_CARRIED_AT_ONCE": 1,
    "indexes.lanes.dense:_TEXTS_AT_ONCE": 1,
    "indexes.embedders.static:BATCH_SIZE": 1,
    "indexes.embedders.static:MANY_TEXTS": 0,
    "indexes.embedders.tokenizer_calls:_BLOCK_ROWS": 1,
    "indexes.embedders.static:_CACHE_SIZE": 0,
    "indexes.embedders.static:_SHORT_WORD": 0,
    "indexes.lanes.embedding:_AT_ONCE": 1,
    "indexes.lanes.lane_texts:_AT_ONCE": 1,
    "indexes.lanes.lane_texts:_BODIES_AT_ONCE": 1,
    "indexes.lanes.lane_texts:_FEW_DOCUMENTS": 0,
    "indexes.lanes.sparse:_AT_ONCE": 1,
    "indexes.lanes.sparse:FEW_FILES": 0,
    "indexes.file_formats.stored_zip:_MOST_MAPS": 0,
    "indexes.file_formats.stored_zip:_SHORT": 0,
    "symbols.parsing.batches:BATCH_BYTES": 0,
    "symbols.parsing.batches:BATCH_FILES": 1,
    "symbols.parsing.bounded:TEXT_CHUNK": 1,
    "symbols.parsing.symbols_step:LEAST_BYTES": 0,
    "source.git.git:_PART": 1,
    "source.git.git:_WINDOW": 1,
    "source.files.snapshot:_PROGRESS_EVERY": 1,
    "foundation.store.last_reading:MOST_KEPT": 0,
    "foundation.store.memory:MANY_DOCUMENTS": 0,
    "foundation.store.memory:_LITTLE_KB": 0,
    "foundation.store.made_from:_AT_ONCE": 1,
    "foundation.store.rows:_LEAST_RUN": 1,
    "foundation.store.table_files:_GROUP_LONG_ROWS": 1,
    "foundation.store.table_files:_GROUP_ROWS": 1,
    "foundation.store.table_files:_GROUP_SOURCES": 1,
    "foundation.store.table_files:_GROUP_VECTORS": 1,
    "foundation.store.table_parts:LEAST_PART_ROWS": 0,
    "foundation.store.table_parts:LEAST_ROWS": 0,
    "foundation.store.table_parts:LEAST_SOURCES": 0,
    "foundation.store.table_parts:MODULUS": 1,
    "foundation.store.tables:_ROWS_FOR_THREADS": 0,
    "texts.summaries.level_step:LEAST_FUNCTIONS": 0,
    "texts.summaries.writers:BATCH_FUNCTIONS": 1,
    "texts.summaries.writers:BATCH_UPPER": 1,
    "foundation.worker_processes.pool:MOST_WORKERS": 1,
    "foundation.worker_processes.pool:WINDOW": 1,
}
# More than any repository of a test has.
HIGH = 1 << 24


def run_with_sizes(
    sizes: Mapping[str, int], *arguments: object, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Call `codesum` in a process of its own, with these numbers in it."""
    chosen = [f"{name}={number}" for name, number in sizes.items()]
    return subprocess.run(
        [sys.executable, "-m", "codesum_pipeline_tests.support.sizes", *chosen, "--", *map(str, arguments)],
        cwd=cwd,
        env=environment(env),
        capture_output=True,
        text=True,
        timeout=900,
    )


def set_sizes(chosen: Iterable[str]) -> None:
    """Set the numbers, each given as `MODULE:NAME=NUMBER`, in this process."""
    for each in chosen:
        name, _, number = each.partition("=")
        module, _, attribute = name.partition(":")
        place = import_module(f"codesum_pipeline.{module}")
        assert hasattr(place, attribute), f"{name} is gone: take it out of the table"
        setattr(place, attribute, int(number))


def main() -> None:
    """`codesum` in this process; the arguments before `--` are numbers."""
    from codesum_pipeline.cli import main as codesum

    at = sys.argv.index("--")
    set_sizes(sys.argv[1:at])
    sys.argv[1:] = sys.argv[at + 1 :]
    codesum()


if __name__ == "__main__":
    main()
