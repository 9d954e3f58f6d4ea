"""Two revisions of this project index the same repositories: do their tables differ?

    python -m benchmarks.revision_tables BEFORE [AFTER] --repository PATH [--repository PATH ...]

Each revision indexes each repository into a home of its own. Every table without provenance is compared by row: how
many rows only one side has, and for rows with the same key which columns differ, with one example each. A change of the
code that should change nothing leaves "equal" on every line; any other line has a reason that can be told.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.revisions import cost_of, tree_at
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline_tests.support.comparing import COMPARED_TABLES

COMPARED = (*COMPARED_TABLES, "compiler_files", "call_sites", "syntax_edges")
EXAMPLE_CHARS = 300

Row = Mapping[str, Any]


def rows_of(home: Path, key: str, table: str) -> dict[str, Row]:
    """A table's rows by the columns that identify them."""
    path = home / "warehouse" / table / f"repo={key}" / "part-0.parquet"
    if not path.exists():
        return {}
    return {repr([row[name] for name in TABLES[table].sort_by]): row for row in pq.ParquetFile(path).read().to_pylist()}


def differences(before: Mapping[str, Row], after: Mapping[str, Row]) -> Iterator[str]:
    """One line for rows that only one side has, and one for each column that differs."""
    for side, only in (("before", before.keys() - after.keys()), ("after", after.keys() - before.keys())):
        if only:
            yield f"{len(only):,} rows only {side}, such as {min(only)[:EXAMPLE_CHARS]}"
    columns: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for key in sorted(before.keys() & after.keys()):
        for name in before[key].keys() | after[key].keys():
            values = before[key].get(name), after[key].get(name)
            if values[0] != values[1]:
                columns[name] += 1
                examples.setdefault(name, f"{key}: {values[0]!r} is {values[1]!r}"[:EXAMPLE_CHARS])
    for name, count in columns.most_common():
        yield f"{name} differs in {count:,} rows, such as {examples[name]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after", nargs="?", default="HEAD")
    parser.add_argument("--repository", type=Path, action="append", required=True)
    arguments = parser.parse_args()
    found = 0
    with tempfile.TemporaryDirectory(prefix="revision-tables-") as scratch:
        folder = Path(scratch)
        sides = [
            (tree_at(revision, folder / name), name)
            for revision, name in ((arguments.before, "old"), (arguments.after, "new"))
        ]
        for repository in arguments.repository:
            key = repository.resolve().name
            homes = [folder / f"{key}-{name}" for _, name in sides]
            for (tree, _), home in zip(sides, homes, strict=True):
                cost_of(tree, home, "index", str(repository.resolve()))
            for table in COMPARED:
                before, after = (rows_of(home, key, table) for home in homes)
                lines = list(differences(before, after))
                found += bool(lines)
                print(
                    f"{key}, {table}: " + ("\n    ".join(["", *lines]) if lines else f"{len(after):,} rows, equal"),
                    flush=True,
                )
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
