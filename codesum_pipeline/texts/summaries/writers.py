"""Texts of documents, written by their writers: those of a few here, those of many functions on all cores.

Whichever process writes a text, it is a pure function of what its writer is shown. As a row of its level's table it
has a stamp, which says when and in which run it was written, and changes only where the text does.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.evidence.author_texts.plain_sentences import clip_text, make_printable
from codesum_pipeline.evidence.extractive.composing import ExtractiveText
from codesum_pipeline.evidence.extractive.extractive_functions import write_function
from codesum_pipeline.evidence.extractive.extractive_parents import write_class, write_file, write_module
from codesum_pipeline.evidence.extractive.text_files import write_text_file
from codesum_pipeline.evidence.inputs import (
    AnyInput,
    ClassInput,
    FileInput,
    FunctionInput,
    Holder,
    ModuleInput,
    TextFileInput,
    UpperInput,
    children_of,
)
from codesum_pipeline.foundation.data_model.document import Level, PurposeSource, TextRow, WrittenBy, WrittenText
from codesum_pipeline.foundation.data_model.file import Snapshot
from codesum_pipeline.foundation.data_model.guard import Failure, FailureGuard, work_in_halves
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.language_facts.language_profiles import language_of_code
from codesum_pipeline.foundation.store.rows import from_table, rows_with, to_table, tuples_of
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.foundation.worker_processes.limits import TooMuchHere
from codesum_pipeline.foundation.worker_processes.pool import WorkerDied
from codesum_pipeline.texts.summaries.decide import RequiredDocument, Rewrite, kind_of_writer
from codesum_pipeline.texts.summaries.holders import Holders
from codesum_pipeline.texts.summaries.placeholders import placeholder_text
from codesum_pipeline.texts.summaries.wanted_texts import FAILED, shown_source, want_failed, want_function

_LONGEST_NAME = 100


def failed_text(id_: str) -> ExtractiveText:
    """The text of a document that cannot be written. It leaves out the reason, which may differ from run to run."""
    name = clip_text(make_printable(id_.rpartition("/")[2]), _LONGEST_NAME) or "unnamed"
    keywords = tuple(dict.fromkeys((name.lower(), "missing", "text", "failed")))
    text = WrittenText(f"No text could be written for {name}.", "Stands in for a text that failed.", keywords)
    return ExtractiveText(text, PurposeSource.TEMPLATE)


class Stamp(Struct, frozen=True):
    """The provenance of what one run writes at one level."""

    level: Level
    run_id: str
    commit: str
    written_at: str

    @classmethod
    def of(cls, workspace: Workspace, level: Level) -> "Stamp":
        (snapshot,) = workspace.tables.read_rows("snapshot", workspace.key, Snapshot)
        return cls(level, workspace.run_id, snapshot.commit, workspace.timestamp())

    def make_row(
        self,
        written: ExtractiveText,
        wanted: RequiredDocument,
        rewrite: Rewrite,
        before: TextRow | None,
        *,
        cost_usd: float = 0.0,
    ) -> TextRow:
        """A written text as a row: provenance changes only where the text does."""
        text_hash = written.text.text_hash
        same = before if before is not None and before.text_hash == text_hash else None
        return TextRow(
            id=wanted.id,
            level=self.level,
            writer=wanted.writer,
            written_by=kind_of_writer(wanted.writer),
            model=None,
            prompt_version=None,
            parameters=None,
            written_with=None,
            gate=None,
            failure=None,
            own_hash=wanted.own_hash,
            children=wanted.children,
            summary_hash=wanted.summary_hash,
            text=written.text,
            text_hash=text_hash,
            purpose_source=written.purpose_source,
            cause=same.cause if same else rewrite.cause,
            cause_ids=same.cause_ids if same else rewrite.cause_ids,
            run_id=same.run_id if same else self.run_id,
            commit=same.commit if same else self.commit,
            written_at=same.written_at if same else self.written_at,
            cost_usd=same.cost_usd if same else cost_usd,
            shown_hash=written.text.shown_hash if kind_of_writer(wanted.writer) is WrittenBy.EXTRACTIVE else None,
        )

    def make_row_or_failed(
        self,
        text: ExtractiveText | None,
        wanted: RequiredDocument,
        rewrite: Rewrite,
        before: TextRow | None,
        guard: FailureGuard,
    ) -> TextRow:
        """The row of a text; that of a failed one where there is none."""
        if text:
            with guard.item(wanted.id):
                return self.make_row(text, wanted, rewrite, before)
        return self._failed(rewrite, before)

    def make_table(self, rows: Sequence[TextRow], guard: FailureGuard) -> tuple[Sequence[TextRow], pa.Table]:
        """The rows and their table; a row that no table can hold is replaced by that of a failed text."""
        parts = list(work_in_halves(rows, _table, guard=guard, name=lambda row: row.id))
        stored = {row.id for some, _ in parts for row in some}
        if len(parts) == 1 and len(stored) == len(rows):
            return rows, parts[0][1]
        whys = (Rewrite(row.id, row.cause, row.cause_ids) for row in rows)
        rows = [row if row.id in stored else self._failed(why, None) for row, why in zip(rows, whys, strict=True)]
        return rows, _table(rows)

    def _failed(self, rewrite: Rewrite, before: TextRow | None) -> TextRow:
        return self.make_row(failed_text(rewrite.id), want_failed(rewrite.id), rewrite, before)


def _table(rows: Sequence[TextRow]) -> pa.Table:
    return to_table(rows, TextRow)


def write_text(document: AnyInput, writer: str, holder: Holder | None = None) -> ExtractiveText:
    """The text that `writer` gives for what it is shown; a `holder` is that of a function."""
    if kind_of_writer(writer) is WrittenBy.PLACEHOLDER:
        return ExtractiveText(placeholder_text(document), PurposeSource.TEMPLATE)
    match document:
        case FunctionInput():
            return write_function(document, holder)
        case ClassInput():
            return write_class(document)
        case FileInput():
            return write_file(document)
        case TextFileInput():
            return write_text_file(document)
        case ModuleInput():
            return write_module(document)


def _text(document: AnyInput, writer: str, guard: FailureGuard, holder: Holder | None = None) -> ExtractiveText | None:
    """A text, or None if it cannot be written."""
    with guard.item(document.id):
        return None if writer == FAILED else write_text(document, writer, holder)
    return None


# About 0.3 s of writing.
BATCH_FUNCTIONS = 400
# What is more is left to a worker, which may be ended.
MOST_CHARACTERS_HERE = 300_000
MOST_CHILDREN_HERE = 10_000
# How the reason begins of a text that ended its process.
WRITER_ENDED = "the writer ended"


# Who writes a function, why, and what holds it.
FunctionWriting = tuple[str, Rewrite, Holder | None]


class FunctionBatch(Struct, frozen=True):
    """Some functions to write: their rows of `symbols`, how each is written, in the same order, and the rows of those
    that have a text."""

    symbols: pa.Table
    writings: tuple[FunctionWriting, ...]
    previous: pa.Table

    def each(self) -> Iterator["FunctionBatch"]:
        """One function at a time."""
        for at, writing in enumerate(self.writings):
            symbols = self.symbols.slice(at, 1)
            yield FunctionBatch(symbols, (writing,), rows_with(self.previous, symbols.column("id").to_pylist()))


# Their rows, and the failures.
FunctionResults = tuple[pa.Table, tuple[Failure, ...]]


class WriteFunctions(Struct, frozen=True):
    """Writes the texts of functions, as rows in their order, and returns the failures; a function that fails gets the
    text of a failed one."""

    stamp: Stamp

    def __call__(self, batch: FunctionBatch) -> FunctionResults:
        before = {row.id: row for row in from_table(batch.previous, TextRow)}
        guard = FailureGuard()
        read = from_table(batch.symbols, FunctionInput)
        functions = [replace(one, language=language_of_code(one.language)) for one in read]
        rows = [
            self._row(function, writing, before.get(function.id), guard)
            for function, writing in zip(functions, batch.writings, strict=True)
        ]
        return self.stamp.make_table(rows, guard)[1], guard.failures

    def _row(
        self, function: FunctionInput, writing: FunctionWriting, before: TextRow | None, guard: FailureGuard
    ) -> TextRow:
        writer, rewrite, holder = writing
        wanted = want_failed(function.id)
        with guard.item(function.id):
            wanted = want_function(
                function.id, writer, shown_source(function), comment=function.opening_comment, holder=holder
            )
        text = _text(function, wanted.writer, guard, holder)
        return self.stamp.make_row_or_failed(text, wanted, rewrite, before, guard)

    def here(self, batch: FunctionBatch) -> FunctionResults:
        """The same; raises `TooMuchHere` for long functions."""
        lengths = pc.binary_length(batch.symbols.column("canonical_source"))
        if (pc.max(lengths).as_py() or 0) > MOST_CHARACTERS_HERE:
            raise TooMuchHere
        return self(batch)

    def rescue(self, batch: FunctionBatch, again: Callable[[FunctionBatch], FunctionResults]) -> FunctionResults:
        """Function by function; the one that ends a fresh worker gets the text of a failed one."""
        parts = [self._alone(one, again) for one in batch.each()]
        return pa.concat_tables([rows for rows, _ in parts]), tuple(one for _, some in parts for one in some)

    def _alone(self, batch: FunctionBatch, again: Callable[[FunctionBatch], FunctionResults]) -> FunctionResults:
        try:
            return again(batch)
        except WorkerDied as error:
            (id_,), guard = batch.symbols.column("id").to_pylist(), FailureGuard()
            guard.add([Failure(id_, f"{WRITER_ENDED}: {error}")])
            before = next(iter(from_table(batch.previous, TextRow)), None)
            row = self.stamp.make_row_or_failed(None, want_failed(id_), batch.writings[0][1], before, guard)
            return self.stamp.make_table([row], guard)[1], guard.failures


def function_batches(
    symbols: Iterable[pa.Table],
    writers: Mapping[str, str],
    rewrites: Sequence[Rewrite],
    previous: pa.Table,
    holders: Holders,
) -> Iterator[FunctionBatch]:
    """The functions of all `symbols`, a bounded number at a time; `writers` and `rewrites` may name more."""
    causes = {rewrite.id: rewrite for rewrite in rewrites}
    parts = (part.slice(at, BATCH_FUNCTIONS) for part in symbols for at in range(0, part.num_rows, BATCH_FUNCTIONS))
    for rows in parts:
        names = rows.column("id").to_pylist()
        writings = [
            (writers[name], causes[name], holders.of_symbol(parent, name.partition(SEPARATOR)[0]))
            for name, parent in tuples_of(rows, ("id", "parent_id"))
        ]
        yield FunctionBatch(rows, tuple(writings), rows_with(previous, names))


# About 20 ms of writing.
BATCH_UPPER = 50

UpperBatch = Sequence[tuple[UpperInput, str]]
UpperResults = tuple[list[ExtractiveText | None], tuple[Failure, ...]]


def upper_batches(documents: UpperBatch) -> list[UpperBatch]:
    """Some classes, files or folders at a time, each with its writer."""
    return [documents[at : at + BATCH_UPPER] for at in range(0, len(documents), BATCH_UPPER)]


class WriteUpper(Struct, frozen=True):
    """Writes the texts of classes, files or folders, and returns the failures; one that fails has None for its text."""

    def __call__(self, batch: UpperBatch) -> UpperResults:
        guard = FailureGuard()
        return [_text(document, writer, guard) for document, writer in batch], guard.failures

    def here(self, batch: UpperBatch) -> UpperResults:
        """The same; raises `TooMuchHere` for long texts, and for documents with very many children."""
        for document, _ in batch:
            is_long = isinstance(document, TextFileInput) and len(document.text) > MOST_CHARACTERS_HERE
            if is_long or len(children_of(document)) > MOST_CHILDREN_HERE:
                raise TooMuchHere
        return self(batch)

    def rescue(self, batch: UpperBatch, again: Callable[[UpperBatch], UpperResults]) -> UpperResults:
        """Document by document; the one that ends a fresh worker has no text."""
        texts: list[ExtractiveText | None] = []
        guard = FailureGuard()
        for one in batch:
            try:
                written, failures = again([one])
            except WorkerDied as error:
                written, failures = [None], (Failure(one[0].id, f"{WRITER_ENDED}: {error}"),)
            texts += written
            guard.add(failures)
        return texts, guard.failures
