"""Which writer a document gets, what it is shown, its text, and the text's row.

A writer's name holds its version: a new version is a new writer, so every text of the old one is written again (cause
`settings`). Texts of a few documents are written here, those of many functions on all cores. Whichever process writes
a text, it is a pure function of what its writer is shown; the stamp says when and in which run, and changes only where
the text does.

Placeholders are short texts from a template, for documents that are too small to say much about. A function is trivial
that has fewer than `min_lines` canonical lines, or a complexity below `min_complexity` and a name that matches a skip
pattern, unless it does real work: raises, writes or calls outward. Placeholders are in the index, so that every
document has its children, but in no dense lane.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from codesum_pipeline.ground.model.document import ChildPair, Level, PurposeSource, TextRow, WrittenBy, WrittenText
from codesum_pipeline.ground.model.file import Snapshot
from codesum_pipeline.ground.model.guard import Failure, FailureGuard, in_halves
from codesum_pipeline.ground.model.hashing import canonical_json, sha1_hex, summary_hash
from codesum_pipeline.ground.model.patterns import any_of
from codesum_pipeline.ground.profiles.language_profiles import Trait, has_trait
from codesum_pipeline.ground.store.rows import from_table, to_table
from codesum_pipeline.ground.store.workspace import Workspace
from codesum_pipeline.ground.workers.limits import TooMuchHere
from codesum_pipeline.ground.workers.pool import WorkerDied
from codesum_pipeline.symbols.parsing.symbols_step import PARSER_VERSION
from codesum_pipeline.texts.llm.plain_text import has_words, markup_of
from codesum_pipeline.texts.summaries.decide import RequiredDocument, Rewrite, written_by
from codesum_pipeline.texts.summaries.documentation.docstrings import docstring_of, opening_of
from codesum_pipeline.texts.summaries.documentation.plain_sentences import clip, printable, sentence, word_set
from codesum_pipeline.texts.summaries.extractive.composing import (
    EXTRACTIVE_VERSION,
    MAX_INTENT,
    MAX_SUMMARY,
    ExtractiveText,
)
from codesum_pipeline.texts.summaries.extractive.extractive_functions import write_function
from codesum_pipeline.texts.summaries.extractive.extractive_parents import write_class, write_file, write_module
from codesum_pipeline.texts.summaries.extractive.text_files import write_text_file
from codesum_pipeline.texts.summaries.extractive.words import choose_keywords, place_of
from codesum_pipeline.texts.summaries.inputs import (
    AnyInput,
    ChildText,
    ClassInput,
    FileInput,
    FunctionInput,
    ModuleInput,
    TextFileInput,
    UpperInput,
    children_of,
    metadata,
)

if TYPE_CHECKING:
    from codesum_pipeline.ground.settings.stage_settings import FilterSettings


PLACEHOLDER_VERSION = "5"

# Calls of the language itself and of its built-in types: they do not leave the function.
_INNER_CALLS = word_set("inner_calls")


def is_short(name: str, line_count: int, complexity: int, settings: "FilterSettings") -> bool:
    """Whether a function is trivial unless it does real work."""
    if line_count < settings.min_lines:
        return True
    return complexity < settings.min_complexity and any_of(settings.skip_patterns)(name)


def is_outward(callee: str) -> bool:
    """Whether a call leaves the function; what is called is given as written, and what it is called on is the same."""
    return callee.rpartition(".")[2] not in _INNER_CALLS


def is_empty(given: UpperInput, children: Sequence[ChildText]) -> bool:
    """Whether a class, file or folder with these children has nothing in it that a text could be about."""
    match given:
        case ClassInput():
            return not (children or given.fields or given.docstring)
        case FileInput():
            said = given.docstring or given.literals
            return not (children or said or given.imports or given.globals or given.exports)
        case TextFileInput():
            return not has_words(given.text, markup_of(given.name))
        case ModuleInput():
            has_readme = given.readme is not None and has_words(given.readme, markup_of(given.readme_name or ""))
            return not has_readme and all(child.is_placeholder for child in children)


def placeholder_text(given: AnyInput) -> WrittenText:
    """The template of each level, filled with the name, the place and, for a function, its author's words."""
    name = clip(printable(given.name), MAX_INTENT // 3) or "unnamed"
    path, _, _ = given.id.partition("::")
    summary, level = _template(given, name)
    return WrittenText(
        summary=clip(sentence(summary), MAX_SUMMARY),
        business_intent=clip(f"Part of {place_of(path)}.", MAX_INTENT),
        keywords=choose_keywords([(given.name, 1.0)], fallback=(path, level)),
    )


def _template(given: AnyInput, name: str) -> tuple[str, Level]:
    match given:
        case FunctionInput():
            return _function_template(given, name), Level.FUNCTION
        case ClassInput() if stands_for := _stands_for(given):
            return f"Type {name} stands for {stands_for}", Level.CLASS
        case ClassInput():
            bases = f", derived from {', '.join(map(printable, given.bases[:3]))}" if given.bases else ""
            return f"Class {name} without members of its own{bases}", Level.CLASS
        case ModuleInput():
            return f"Folder {name} with nothing but empty files", Level.MODULE
        case TextFileInput() if given.text.strip():
            return f"File {name} without words", Level.FILE
        case _:
            return f"File {name} without content", Level.FILE


def _stands_for(given: ClassInput) -> str:
    """What a type without members is another name of: `string` of `type Id = string`, and of Go's `type Id string`."""
    _, is_type, rest = f" {given.signature}".partition(" type ")
    if not is_type:
        return ""
    depth = 0
    for place, sign in enumerate(rest):
        if sign == "=" and not depth and not rest.startswith("=>", place):
            return printable(rest[place + 1 :])
        depth += {"<": 1, "[": 1, "]": -1}.get(sign, 0) - (sign == ">" and not rest.endswith("=", 0, place))
    told = rest.removeprefix(given.name) if has_trait(given.language, Trait.TYPE_FOLLOWS_NAME) else ""
    return printable(told).removesuffix("{}").rstrip() if told.strip() not in ("", "struct{}", "struct {}") else ""


def _function_template(given: FunctionInput, name: str) -> str:
    told, _ = opening_of(docstring_of(given))
    owner = given.qualified_name.rpartition(".")[0].rpartition(".")[2]
    where = f" of {printable(owner)}" if owner else ""
    return f"Short function {name}{where}: {told}" if told else f"Short function {name}{where}"


# What a function's writer states are facts that the parser read off its canonical source.
EXTRACTIVE = f"extractive/{EXTRACTIVE_VERSION}.{sha1_hex(PARSER_VERSION)[:8]}"
PLACEHOLDER = f"placeholder/{PLACEHOLDER_VERSION}"
# The writer of a text that failed. No document wants this writer, so the next build tries again.
FAILED = f"{PLACEHOLDER} failed"
_LONGEST_NAME = 100


def want_function(id_: str, writer: str, source: str) -> RequiredDocument:
    """The hashes of a function: its writer is shown this source, and the id is its key."""
    return RequiredDocument(id_, writer, sha1_hex(source), (), summary_hash(writer, source))


def shown_source(shown: FunctionInput) -> str:
    """What a function's text is made from: its canonical source.

    Where that does not parse, what was read off it counts too: `a * * b` and
    `a ** b` then have the same canonical source and may give other facts.
    """
    if not shown.has_syntax_errors:
        return shown.canonical_source
    return canonical_json([shown.canonical_source, to_builtins(replace(shown, id="", canonical_source=""))])


def want_upper(head: UpperInput, children: Sequence[ChildText]) -> RequiredDocument:
    """The hashes of a class, file or module: shown metadata, and each child's name and text."""
    writer = PLACEHOLDER if is_empty(head, children) else EXTRACTIVE
    shown_metadata = canonical_json(metadata(head))
    shown_pairs = [[child.name, child.level, child.text_hash, child.is_placeholder] for child in children]
    return RequiredDocument(
        id=head.id,
        writer=writer,
        own_hash=sha1_hex(shown_metadata),
        children=tuple(ChildPair(child.id, child.name, child.text_hash) for child in children),
        summary_hash=summary_hash(writer, f"[{canonical_json(shown_pairs)},{shown_metadata}]"),
    )


def want_unless_it_fails(head: UpperInput, children: Sequence[ChildText], guard: FailureGuard) -> RequiredDocument:
    """As `want_upper`; of a document that it fails on, what is wanted of one that cannot be written."""
    with guard.item(head.id):
        return want_upper(head, children)
    return want_failed(head.id)


def want_failed(id_: str) -> RequiredDocument:
    """The hashes of a document that cannot be written."""
    return RequiredDocument(id_, FAILED, "", (), summary_hash(FAILED, ""))


def failed_text(id_: str) -> ExtractiveText:
    """The text of a document that cannot be written. It leaves out the reason, which may differ from run to run."""
    name = clip(printable(id_.rpartition("/")[2]), _LONGEST_NAME) or "unnamed"
    keywords = tuple(dict.fromkeys((name.lower(), "missing", "text", "failed")))
    text = WrittenText(f"No text could be written for {name}.", "Stands in for a text that failed.", keywords)
    return ExtractiveText(text, PurposeSource.TEMPLATE)


def write(shown: AnyInput, writer: str) -> ExtractiveText:
    """The text that `writer` gives for what it is shown."""
    if written_by(writer) is WrittenBy.PLACEHOLDER:
        return ExtractiveText(placeholder_text(shown), PurposeSource.TEMPLATE)
    match shown:
        case FunctionInput():
            return write_function(shown)
        case ClassInput():
            return write_class(shown)
        case FileInput():
            return write_file(shown)
        case TextFileInput():
            return write_text_file(shown)
        case ModuleInput():
            return write_module(shown)


def _text(shown: AnyInput, writer: str, guard: FailureGuard) -> ExtractiveText | None:
    """A text, or None if it cannot be written."""
    with guard.item(shown.id):
        return None if writer == FAILED else write(shown, writer)
    return None


# About 0.3 s of writing.
BATCH_FUNCTIONS = 400
# What is more is left to a worker, which may be ended.
MOST_CHARACTERS_HERE = 300_000
MOST_CHILDREN_HERE = 10_000
# How the reason begins of a text that ended its process.
WRITER_ENDED = "the writer ended"


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

    def row(
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
            written_by=written_by(wanted.writer),
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
        )

    def written(
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
                return self.row(text, wanted, rewrite, before)
        return self._failed(rewrite, before)

    def stored(self, rows: Sequence[TextRow], guard: FailureGuard) -> tuple[Sequence[TextRow], pa.Table]:
        """The rows and their table; a row that no table can hold is replaced by that of a failed text."""
        parts = list(in_halves(rows, _table, guard=guard, name=lambda row: row.id))
        stored = {row.id for some, _ in parts for row in some}
        if len(parts) == 1 and len(stored) == len(rows):
            return rows, parts[0][1]
        whys = (Rewrite(row.id, row.cause, row.cause_ids) for row in rows)
        rows = [row if row.id in stored else self._failed(why, None) for row, why in zip(rows, whys, strict=True)]
        return rows, _table(rows)

    def _failed(self, rewrite: Rewrite, before: TextRow | None) -> TextRow:
        return self.row(failed_text(rewrite.id), want_failed(rewrite.id), rewrite, before)


def _table(rows: Sequence[TextRow]) -> pa.Table:
    return to_table(rows, TextRow)


class FunctionBatch(Struct, frozen=True):
    """Some functions to write: their rows of `symbols`, the writer of each and why it is written, in the same order,
    and the rows of those that have a text."""

    symbols: pa.Table
    writers: tuple[str, ...]
    rewrites: tuple[Rewrite, ...]
    previous: pa.Table

    def each(self) -> Iterator["FunctionBatch"]:
        """One function at a time."""
        for at, (writer, rewrite) in enumerate(zip(self.writers, self.rewrites, strict=True)):
            symbols = self.symbols.slice(at, 1)
            mine = pc.is_in(self.previous.column("id"), value_set=symbols.column("id").combine_chunks())
            yield FunctionBatch(symbols, (writer,), (rewrite,), self.previous.filter(mine))


# Their rows, and the failures.
FunctionResults = tuple[pa.Table, tuple[Failure, ...]]


class WriteFunctions(Struct, frozen=True):
    """Writes the texts of functions, as rows in their order, and returns the failures; a function that fails gets the
    text of a failed one."""

    stamp: Stamp

    def __call__(self, batch: FunctionBatch) -> FunctionResults:
        before = {row.id: row for row in from_table(batch.previous, TextRow)}
        guard = FailureGuard()
        functions = from_table(batch.symbols, FunctionInput)
        rows = [
            self._row(shown, writer, rewrite, before.get(shown.id), guard)
            for shown, writer, rewrite in zip(functions, batch.writers, batch.rewrites, strict=True)
        ]
        return self.stamp.stored(rows, guard)[1], guard.failures

    def _row(
        self, shown: FunctionInput, writer: str, rewrite: Rewrite, before: TextRow | None, guard: FailureGuard
    ) -> TextRow:
        wanted = want_failed(shown.id)
        with guard.item(shown.id):
            wanted = want_function(shown.id, writer, shown_source(shown))
        return self.stamp.written(_text(shown, wanted.writer, guard), wanted, rewrite, before, guard)

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
            row = self.stamp.written(None, want_failed(id_), batch.rewrites[0], before, guard)
            return self.stamp.stored([row], guard)[1], guard.failures


def function_batches(
    symbols: Iterable[pa.Table], writers: Mapping[str, str], rewrites: Sequence[Rewrite], previous: pa.Table
) -> Iterator[FunctionBatch]:
    """The functions of all `symbols`, a bounded number at a time; `writers` and `rewrites` may name more."""
    causes = {rewrite.id: rewrite for rewrite in rewrites}
    parts = (part.slice(at, BATCH_FUNCTIONS) for part in symbols for at in range(0, part.num_rows, BATCH_FUNCTIONS))
    for rows in parts:
        ids = rows.column("id")
        names = ids.to_pylist()
        yield FunctionBatch(
            rows,
            tuple([writers[name] for name in names]),
            tuple([causes[name] for name in names]),
            previous.filter(pc.is_in(previous.column("id"), value_set=ids.combine_chunks())),
        )


# About 20 ms of writing.
BATCH_UPPER = 50

UpperBatch = Sequence[tuple[UpperInput, str]]
UpperResults = tuple[list[ExtractiveText | None], tuple[Failure, ...]]


def upper_batches(shown: UpperBatch) -> list[UpperBatch]:
    """Some classes, files or folders at a time, each with its writer."""
    return [shown[at : at + BATCH_UPPER] for at in range(0, len(shown), BATCH_UPPER)]


class WriteUpper(Struct, frozen=True):
    """Writes the texts of classes, files or folders, and returns the failures; one that fails has None for its text."""

    def __call__(self, batch: UpperBatch) -> UpperResults:
        guard = FailureGuard()
        return [_text(shown, writer, guard) for shown, writer in batch], guard.failures

    def here(self, batch: UpperBatch) -> UpperResults:
        """The same; raises `TooMuchHere` for long texts, and for documents with very many children."""
        for shown, _ in batch:
            is_long = isinstance(shown, TextFileInput) and len(shown.text) > MOST_CHARACTERS_HERE
            if is_long or len(children_of(shown)) > MOST_CHILDREN_HERE:
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
