"""A snapshot's files become symbols and file facts.

A file whose path, blob, language and parser are those of the last build is
not read: its rows are carried over as they are. `file_facts` says whose rows
of `symbols` those are. It is written after them, with a note of which they are,
so a build that is killed in between costs work, never a wrong row.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.model.files import FileStatus
from codesum_pipeline.model.guard import Failure
from codesum_pipeline.model.options import HashPolicy
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.model.symbols import SymbolType
from codesum_pipeline.parsing.batches import PARSER_ENDED, Parsed, ParseFiles, Rows, SourceText, in_batches
from codesum_pipeline.parsing.parsers import PARSERS, parser_version
from codesum_pipeline.parsing.text import text_parser
from codesum_pipeline.source.git import BlobReader
from codesum_pipeline.store.schemas import TABLES
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.workers.pool import Pool, worker_count

# All parsers, for the manifest and the fingerprint; the hash policy is an option and stands there itself.
PARSER_VERSION = "; ".join(
    [*(parser.version(HashPolicy.CANONICAL) for parser in PARSERS.values()), text_parser(HashPolicy.CANONICAL)]
)
# What must be equal for a file's rows to be carried over.
CARRY_KEY = ("file_path", "blob", "language", "parser")
# Below this a worker's start, most of a second, costs more than it saves.
LEAST_BYTES = 1_500_000


@dataclass(frozen=True, slots=True)
class ParseReport:
    """What this step read; `lines`, symbols and errors are counted over all files."""

    files: int
    parsed: int
    carried: int
    failed: int
    failures: tuple[Failure, ...]
    symbols: int
    functions: int
    classes: int
    lines: int
    lines_parsed: int
    files_with_syntax_errors: int
    syntax_errors: int
    lost_definitions: int
    table_hash: str
    file_facts_hash: str


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    blob: str
    language: str
    parser: str
    size: int


def parse_symbols(ws: Workspace, *, progress: Progress = no_progress) -> ParseReport:
    """Write `symbols` and `file_facts` for the indexed files of the snapshot."""
    files = _indexed_files(ws)
    known = set() if ws.force else _known_files(ws)
    carried = {file.path for file in files if (file.path, file.blob, file.language, file.parser) in known}
    unread = [file for file in files if file.path not in carried]
    if known and len(carried) == len(known) and not unread:
        return _report_unchanged(ws, files)
    kept = _old_rows(ws, carried)
    batches = list(_parse(ws, unread, progress=progress))
    failures = [failure for batch in batches for failure in batch.failures]
    if not any(failure.reason.startswith(PARSER_ENDED) for failure in failures):
        ws.layout.parsing(ws.key).unlink(missing_ok=True)
    new = Rows.joined(batch.rows for batch in batches)
    rows = Rows.joined([kept, new])
    symbols = ws.tables.write("symbols", ws.key, rows.symbols).table_hash
    facts = ws.tables.write("file_facts", ws.key, rows.facts, note=symbols).table_hash
    return _report(files, len(carried), failures, rows, new.facts, [symbols, facts])


def _indexed_files(ws: Workspace) -> list[_File]:
    table = ws.tables.read("files", ws.key, columns=["path", "blob", "language", "status", "size"])
    indexed = table.filter(pc.equal(table["status"], FileStatus.INDEXED.value)).to_pylist()
    versions = {
        language: parser_version(language, ws.options.hash_policy) for language in {r["language"] for r in indexed}
    }
    return [_File(row["path"], row["blob"], row["language"], versions[row["language"]], row["size"]) for row in indexed]


def _known_files(ws: Workspace) -> set[tuple[str, ...]]:
    """The `CARRY_KEY` of every file of the last build; none where the two tables are not of one run."""
    if ws.tables.note("file_facts", ws.key) != ws.tables.content_hash("symbols", ws.key):
        return set()
    keys = ws.tables.read_or_empty("file_facts", ws.key, columns=list(CARRY_KEY))
    return set(zip(*(keys[column].to_pylist() for column in CARRY_KEY), strict=True))


def _old_rows(ws: Workspace, paths: Collection[str]) -> Rows:
    """The last build's rows of some files, never turned into values."""
    if not paths:
        return Rows.of_values([])
    wanted = pa.array(sorted(paths), pa.string())
    return Rows(*(_rows_of(ws, table, wanted) for table in ("symbols", "file_facts")))


def _rows_of(ws: Workspace, table: str, paths: pa.Array) -> pa.Table:
    schema = TABLES[table].schema
    parts = ws.tables.read_parts(table, ws.key, columns=schema.names)
    return pa.concat_tables(
        [schema.empty_table(), *(part.filter(pc.is_in(part["file_path"], paths)) for part in parts)]
    )


def _parse(ws: Workspace, files: Sequence[_File], *, progress: Progress) -> Iterator[Parsed]:
    """What comes of the files that are not carried over, batch by batch."""
    if not files:
        return
    with Pool(_workers(ws, files)) as pool, BlobReader(ws.layout.mirror(ws.key)) as blobs:
        contents = zip(files, blobs.read_many([file.blob for file in files]), strict=True)
        texts = (SourceText(file.path, file.language, file.blob, data) for file, data in contents)
        done = 0
        for parsed in pool.map(ParseFiles(ws.options.hash_policy), in_batches(texts)):
            yield parsed
            done += len({*parsed.rows.facts["file_path"].to_pylist(), *(failure.item for failure in parsed.failures)})
            progress("parsing", done, len(files))


def _workers(ws: Workspace, files: Sequence[_File]) -> int:
    """How many processes parse. A note that parsing has begun goes when it ends well: where one is left, a file may
    have killed the process that was parsing, and another is needed that it can kill."""
    note = ws.layout.parsing(ws.key)
    if note.exists():
        return max(worker_count(), 2)
    note.parent.mkdir(parents=True, exist_ok=True)
    note.touch()
    return worker_count() if sum(file.size for file in files) >= LEAST_BYTES else 0


def _report_unchanged(ws: Workspace, files: Sequence[_File]) -> ParseReport:
    """The report of a run that leaves both tables as they are."""
    rows = Rows(
        ws.tables.read("symbols", ws.key, columns=["type"]),
        ws.tables.read("file_facts", ws.key, columns=["file_path", "lines", "syntax_errors", "lost_definitions"]),
    )
    hashes = [ws.tables.keep(table, ws.key).table_hash for table in ("symbols", "file_facts")]
    return _report(files, len(files), [], rows, rows.facts.slice(0, 0), hashes)


def _report(
    files: Sequence[_File],
    carried: int,
    failures: Sequence[Failure],
    rows: Rows,
    parsed: pa.Table,
    hashes: Sequence[str],
) -> ParseReport:
    errors = rows.facts["syntax_errors"]
    failed = pa.array([failure.item for failure in failures], pa.string())
    functions = pc.sum(pc.equal(rows.symbols["type"], SymbolType.FUNCTION.value)).as_py() or 0
    return ParseReport(
        files=len(files),
        parsed=parsed.num_rows - (pc.sum(pc.is_in(parsed["file_path"], failed)).as_py() or 0),
        carried=carried,
        failed=len(failures),
        failures=tuple(failures),
        symbols=rows.symbols.num_rows,
        functions=functions,
        classes=rows.symbols.num_rows - functions,
        lines=pc.sum(rows.facts["lines"]).as_py() or 0,
        lines_parsed=pc.sum(parsed["lines"]).as_py() or 0,
        files_with_syntax_errors=pc.sum(pc.greater(errors, 0)).as_py() or 0,
        syntax_errors=pc.sum(errors).as_py() or 0,
        lost_definitions=pc.sum(rows.facts["lost_definitions"]).as_py() or 0,
        table_hash=hashes[0],
        file_facts_hash=hashes[1],
    )
