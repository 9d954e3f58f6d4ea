"""A snapshot's files become symbols and file facts, each beside what a compiler's index says about it.

A file whose path, blob, language, parser and documents in indexes are those of
the last build is not read: its rows are carried over as they are. `file_facts`
says whose rows of `symbols` and `compiler_files` those are. It is written after
them, with a note of their hashes, so a build that is killed in between costs
work, never a wrong row.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.edge import IndexFile
from codesum_pipeline.foundation.data_model.file import UTF_8, FileStatus
from codesum_pipeline.foundation.data_model.guard import Failure
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.foundation.store.last_reading import LastReading
from codesum_pipeline.foundation.store.made_from import MadeFrom
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.foundation.worker_processes.limits import work_limits
from codesum_pipeline.foundation.worker_processes.pool import Pool, worker_count
from codesum_pipeline.source.files.content import bytes_of_text, without_outputs
from codesum_pipeline.source.git.git import BlobReader
from codesum_pipeline.symbols.parsing.batches import (
    PARSER_ENDED,
    ParsedBatch,
    ParsedRows,
    ParseFiles,
    SourceText,
    in_batches,
)
from codesum_pipeline.symbols.parsing.compiled_files import OfferedDocument, digest_of
from codesum_pipeline.symbols.parsing.outline_parser import OUTLINE_PARSERS
from codesum_pipeline.symbols.parsing.parsers import COMPONENT_PARSERS, PARSERS, parser_version
from codesum_pipeline.symbols.parsing.text import text_parser
from codesum_pipeline.symbols.scip.offering import Offer, find_offers

# All parsers, for the manifest and the fingerprint; the hash policy is an option and is recorded there itself.
PARSER_VERSION = "; ".join(
    [
        *(parser.version(HashPolicy.CANONICAL) for parser in PARSERS.values()),
        *(parser.version(HashPolicy.CANONICAL) for parser in OUTLINE_PARSERS.values()),
        *(parser.version(HashPolicy.CANONICAL) for parser in COMPONENT_PARSERS.values()),
        text_parser(HashPolicy.CANONICAL),
    ]
)
_TABLES = ("symbols", "file_facts", "compiler_files")
# What must be equal for a file's rows to be carried over, besides the hash of its documents in indexes.
CARRY_KEY = ("file_path", "blob", "language", "parser", "encoding")
# Below this a worker's start, most of a second, costs more than it saves.
LEAST_BYTES = 1_500_000


# The unusable parts of each index, by its origin.
Problems = Sequence[tuple[str, str]]
_MOST_EXAMPLES = 20


class CompiledReport(Struct, frozen=True):
    """What compilers' indexes were worth: files about which one counts, files of another text, what is wrong.

    `misnamed` of the counting ones have references that do not spell their symbols. `ignored` are some examples of
    files that no index counts for, with the reason.
    """

    counting: int = 0
    misnamed: int = 0
    stale: int = 0
    by_tool: Mapping[str, int] = field(default_factory=dict)
    ignored: tuple[tuple[str, str], ...] = ()
    problems: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, rows: pa.Table, problems: Problems) -> Self:
        """The sum over all files."""
        files = list(zip(*(rows[column].to_pylist() for column in _OF_REPORT), strict=True))
        counting = [(tool, misnamed) for _, tool, problem, misnamed in files if not problem]
        stale = [(path, problem) for path, _, problem, _ in files if problem]
        return cls(
            counting=len(counting),
            misnamed=sum(bool(misnamed) for _, misnamed in counting),
            stale=len(stale),
            by_tool=dict(sorted(Counter(tool for tool, _ in counting).items())),
            ignored=tuple(stale[:_MOST_EXAMPLES]),
            problems=tuple(problems),
        )


_COUNTED = ["file_path", "lines", "syntax_errors", "lost_definitions"]
_OF_REPORT = ("file_path", "tool", "problem", "misnamed")


class ParseReport(Struct, frozen=True):
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
    files_with_syntax_errors: int
    syntax_errors: int
    lost_definitions: int
    table_hash: str
    compiled: CompiledReport = field(default_factory=CompiledReport)


class _ParseTask(Struct, frozen=True):
    path: str
    blob: str
    language: str
    parser: str
    size: int
    encoding: str
    offers: tuple[Offer, ...] = ()
    documents: str = ""

    @property
    def carry_key(self) -> tuple[str | None, ...]:
        encoding = None if self.encoding == UTF_8 else self.encoding
        return self.path, self.blob, self.language, self.parser, encoding, self.documents


def parse_symbols(ws: Workspace, *, progress: Progress = no_progress) -> ParseReport:
    """Write `symbols`, `compiler_files` and `file_facts` for the indexed files of the snapshot."""
    files, problems = _with_offers(ws, _indexed_files(ws))
    known = set() if ws.force else _known_files(ws)
    carried = {file.path for file in files if file.carry_key in known}
    unread = [file for file in files if file.path not in carried]
    if known and len(carried) == len(known) and not unread:
        kept, *_ = [ws.tables.keep(table, ws.key).table_hash for table in _TABLES]
        return _report(ws, files, len(files), list(_settled(ws, carried)), None, kept, problems)
    settled = list(_settled(ws, carried))
    batches = list(_parse(ws, unread, progress=progress))
    failures = [*settled, *(failure for batch in batches for failure in batch.failures)]
    if not any(failure.reason.startswith(PARSER_ENDED) for failure in failures):
        ws.layout.parsing(ws.key).unlink(missing_ok=True)
    new = ParsedRows.joined(batch.rows for batch in batches)
    replaced = {str(path) for path, *_ in known}.union(file.path for file in unread) - carried

    def put(table: str, rows: pa.Table, note: str = "") -> str:
        if not carried:
            return ws.tables.write(table, ws.key, rows, note=note).table_hash
        return ws.tables.replace_files(table, ws.key, rows, replaced, note=note).table_hash

    symbols, compiled = put("symbols", new.symbols), put("compiler_files", new.compiled)
    put("file_facts", new.facts, facts_note(symbols, compiled))
    return _report(ws, files, len(carried), failures, new.facts, symbols, problems)


def facts_note(symbols: str | None, compiled: str | None) -> str:
    """What `file_facts` says of the tables that it goes with, by their hashes."""
    return f"{symbols} {compiled}"


def _settled(ws: Workspace, carried: Collection[str]) -> Iterator[Failure]:
    """The failures of files whose rows are carried over."""
    facts = ws.tables.read_or_empty("file_facts", ws.key, columns=["file_path", "failure"])
    for row in facts.filter(pc.is_valid(facts["failure"])).to_pylist():
        if row["file_path"] in carried:
            yield Failure(row["file_path"], row["failure"], is_settled=True)


def _with_offers(ws: Workspace, files: Sequence[_ParseTask]) -> tuple[list[_ParseTask], Problems]:
    """The files with what compilers' indexes hold about them, and what is wrong with the indexes."""
    indexes = ws.tables.read_rows_or_empty("scip_indexes", ws.key, IndexFile)
    if not indexes:
        return list(files), ()
    offers = find_offers(indexes, ws.layout.scip(ws.key), {file.path for file in files})
    found = []
    for file in files:
        own = tuple(offers.by_path.get(file.path, ()))
        digest = digest_of([(offer.tool, offer.place.digest) for offer in own]) if own else ""
        found.append(replace(file, offers=own, documents=digest))
    return found, offers.problems


def _indexed_files(ws: Workspace) -> list[_ParseTask]:
    table = ws.tables.read("files", ws.key, columns=["path", "blob", "language", "status", "size", "encoding"])
    indexed = table.filter(pc.equal(table["status"], FileStatus.INDEXED.value)).to_pylist()
    versions = {
        language: parser_version(language, ws.settings.hash_policy, ws.settings.max_steps_per_byte)
        for language in {r["language"] for r in indexed}
    }
    return [
        _ParseTask(
            row["path"], row["blob"], row["language"], versions[row["language"]], row["size"], row["encoding"] or UTF_8
        )
        for row in indexed
    ]


def _known_files(ws: Workspace) -> set[tuple[str | None, ...]]:
    """The carry key of every file of the last build; none if the three tables are not of one run."""
    hashes = (ws.tables.content_hash(table, ws.key) for table in ("symbols", "compiler_files"))
    if ws.tables.note("file_facts", ws.key) != facts_note(*hashes):
        return set()
    keys = ws.tables.read_or_empty("file_facts", ws.key, columns=list(CARRY_KEY))
    compiled = ws.tables.read_or_empty("compiler_files", ws.key, columns=["file_path", "documents"])
    documents = dict(zip(*(column.to_pylist() for column in compiled.columns), strict=True))
    files = zip(*(keys[column].to_pylist() for column in CARRY_KEY), strict=True)
    return {(*file, documents.get(file[0], "")) for file in files}


def hash_origins(ws: Workspace) -> tuple[str | None, ...]:
    """The hashes of all that `read_origins` is made from."""
    tables, columns = ws.tables.unrecorded(), (CARRY_KEY, ("file_path", "documents"))
    names = ("file_facts", "compiler_files")
    return tuple(tables.content_hash(name, ws.key, columns=some) for name, some in zip(names, columns, strict=True))


# Most steps of a build read the same ones.
_LAST_ORIGINS = LastReading[MadeFrom]()


def read_origins(ws: Workspace) -> MadeFrom:
    """What the rows of each indexed file in the three tables were read from. No step depends on it: files that were
    read from the same have the same rows, and others may."""
    hashes = hash_origins(ws)
    if known := _LAST_ORIGINS.find(hashes):
        return known
    tables = ws.tables.unrecorded()
    keys = tables.read_or_empty("file_facts", ws.key, columns=list(CARRY_KEY))
    compiled = tables.read_or_empty("compiler_files", ws.key, columns=["file_path", "documents"]).combine_chunks()
    places = pc.index_in(keys["file_path"], value_set=compiled["file_path"].combine_chunks())
    columns = (*keys.columns, compiled["documents"].take(places))
    origins = MadeFrom.of_columns(keys["file_path"], *(pc.fill_null(column, "") for column in columns))
    _LAST_ORIGINS.keep(hashes, origins, rows=len(origins.rows))
    return origins


def _parse(ws: Workspace, files: Sequence[_ParseTask], *, progress: Progress) -> Iterator[ParsedBatch]:
    """Parse the files that are not carried over, batch by batch."""
    if not files:
        return
    limits = work_limits(ws.settings)
    with (
        Pool(_workers(ws, files), keep=True, limits=limits) as pool,
        BlobReader(ws.layout.mirror(ws.key)) as blobs,
    ):
        contents = zip(files, blobs.read_many([file.blob for file in files]), strict=True)
        texts = (_source_text(file, data) for file, data in contents)
        done = 0
        parse = ParseFiles(ws.settings.hash_policy, ws.settings.max_steps_per_byte, limits)
        for parsed in pool.map(parse, in_batches(texts)):
            yield parsed
            done += len({*parsed.rows.facts["file_path"].to_pylist(), *(failure.item for failure in parsed.failures)})
            progress("parsing", done, len(files))


def _source_text(file: _ParseTask, data: bytes | None) -> SourceText:
    documents = tuple(OfferedDocument(offer.tool, offer.read()) for offer in file.offers)
    data = data and without_outputs(file.path, data)
    return SourceText(file.path, file.language, file.blob, data, documents, file.documents, file.encoding)


def _workers(ws: Workspace, files: Sequence[_ParseTask]) -> int:
    """How many processes parse. A note that parsing has begun goes when it ends well: where one is left, a file may
    have killed the process that was parsing, and another is needed that it can kill."""
    note = ws.layout.parsing(ws.key)
    if note.exists():
        return max(worker_count(), 2)
    note.parent.mkdir(parents=True, exist_ok=True)
    note.touch()
    size = sum(bytes_of_text(file.path, file.size) + sum(offer.place.length for offer in file.offers) for file in files)
    return worker_count() if size >= LEAST_BYTES else 0


def _report(
    ws: Workspace,
    files: Sequence[_ParseTask],
    carried: int,
    failures: Sequence[Failure],
    parsed: pa.Table | None,
    table_hash: str,
    problems: Problems,
) -> ParseReport:
    """Counts over the tables as they are now; `parsed` are the facts that were read in this run."""
    types = ws.tables.read("symbols", ws.key, columns=["type"])["type"]
    facts = ws.tables.read("file_facts", ws.key, columns=_COUNTED)
    parsed = facts.slice(0, 0) if parsed is None else parsed
    errors = facts["syntax_errors"]
    failed = pa.array([failure.item for failure in failures], pa.string())
    functions = pc.sum(pc.equal(types, SymbolType.FUNCTION.value)).as_py() or 0
    return ParseReport(
        files=len(files),
        parsed=parsed.num_rows - (pc.sum(pc.is_in(parsed["file_path"], failed)).as_py() or 0),
        carried=carried,
        failed=len(failures),
        failures=tuple(failures),
        symbols=len(types),
        functions=functions,
        classes=len(types) - functions,
        lines=pc.sum(facts["lines"]).as_py() or 0,
        files_with_syntax_errors=pc.sum(pc.greater(errors, 0)).as_py() or 0,
        syntax_errors=pc.sum(errors).as_py() or 0,
        lost_definitions=pc.sum(facts["lost_definitions"]).as_py() or 0,
        table_hash=table_hash,
        compiled=CompiledReport.of(ws.tables.read("compiler_files", ws.key, columns=list(_OF_REPORT)), problems),
    )
