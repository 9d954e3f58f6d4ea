"""The tables of a bundle are read as what strangers wrote, and written anew as this package writes its own.

So the files of a home are always this package's: of a bundle only values are taken over, and what the header says of
them is compared with what was written.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec.structs import replace

from codesum_pipeline.builds.bundles.bundle_file import BUNDLED_TABLES, RESOLUTION, OpenedBundle, table_member
from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.data_model.progress import Progress
from codesum_pipeline.foundation.store.rows import with_newer_columns
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.table_files import hash_rows
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.foundation.worker_processes.limits import WorkLimits
from codesum_pipeline.graph.resolution import Resolution
from codesum_pipeline.symbols.parsing.symbols_step import facts_note

_MB = 1 << 20
# Rows that are decoded at one time: of a short file with long values even these may be much.
_BATCH_ROWS = 1 << 10
# Decoding the tables of a repository takes seconds.
_MOST_PROCESSOR_S = 3600.0
_EXPLAINED = (pa.ArrowException, ValueError, TypeError, KeyError, IndexError, OverflowError, OSError, MemoryError)


def take_tables(bundle: OpenedBundle, scratch: Workspace, *, progress: Progress) -> None:
    """Write the tables of a bundle into those of `scratch`; raises `BundleRefused`, `CannotWrite`."""
    hashes: dict[str, str] = {}
    limits = WorkLimits(scratch.settings.bundles.max_memory_mb, _MOST_PROCESSOR_S)
    for done, name in enumerate(BUNDLED_TABLES):
        progress("reading the bundle", done, len(BUNDLED_TABLES))
        if name not in bundle.header.tables:
            bundle.refuse(f"it lacks the table {name}")
        with limits.applied(), _explained(bundle, name):
            rows = _read_rows(bundle, name, most_bytes=limits.memory_mb * _MB)
        # Last of its three: see `symbols_step`.
        note = facts_note(hashes["symbols"], hashes["compiler_files"]) if name == "file_facts" else ""
        with _explained(bundle, name):
            written = scratch.tables.write(name, scratch.key, rows, note=note)
        hashes[name] = written.table_hash
        said = bundle.header.tables[name]
        is_same = said.content == written.table_hash or said.content == hash_rows(TABLES[name], rows)
        if written.rows != said.rows or not is_same:
            bundle.refuse(f"its table {name} holds other rows than its header says: export it again")


def take_resolution(bundle: OpenedBundle, scratch: Workspace) -> None:
    """Keep what the bundle's edges were resolved from, so that only what changes is resolved again."""
    if RESOLUTION not in bundle.header.parts:
        return
    try:
        found = decode(bundle.read(RESOLUTION), Resolution)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        bundle.refuse(f"its part {RESOLUTION} cannot be read: {one_line(str(error))}")
    # Neither the key nor the location of a repository decides an edge.
    replace(found, settings=scratch.fingerprint("")).write(scratch)


def _read_rows(bundle: OpenedBundle, name: str, *, most_bytes: int) -> pa.Table:
    spec = TABLES[name]
    file = pq.ParquetFile(pa.BufferReader(bundle.read(table_member(name))))
    if file.metadata.num_rows != bundle.header.tables[name].rows:
        bundle.refuse(f"its table {name} has {file.metadata.num_rows:,} rows, other than its header says")
    if unknown := [*set(file.schema_arrow.names) - set(spec.schema.names)]:
        bundle.refuse(f"its table {name} has a column {unknown[0][:100]!r}, which this version does not know")
    parts, held = [], 0
    for batch in file.iter_batches(_BATCH_ROWS, use_threads=False):
        held += batch.nbytes
        if held > most_bytes:
            raise MemoryError
        batch.validate(full=True)
        parts.append(batch)
    found = pa.Table.from_batches(parts, schema=file.schema_arrow).replace_schema_metadata(None)
    return with_newer_columns(found, spec.schema, None).select(spec.schema.names).cast(spec.schema)


@contextmanager
def _explained(bundle: OpenedBundle, name: str) -> Iterator[None]:
    """Arrow says of a damaged file only what it met there."""
    try:
        yield
    except _EXPLAINED as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        if isinstance(error, MemoryError):
            bundle.refuse(f"its table {name} needs more memory than may be used for it")
        bundle.refuse(f"its table {name} is damaged ({one_line(str(error))}): export it again")
