"""Some files of a snapshot, parsed together into Arrow rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Self

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.edge import CompilerFile
from codesum_pipeline.foundation.data_model.errors import NotParsed, SkippedFile
from codesum_pipeline.foundation.data_model.file import UTF_8, SkipReason
from codesum_pipeline.foundation.data_model.guard import Failure, FailureGuard, work_in_halves
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.symbol import FileFacts, Symbol
from codesum_pipeline.foundation.settings.stage_settings import STEPS_PER_BYTE
from codesum_pipeline.foundation.store.rows import to_table
from codesum_pipeline.foundation.worker_processes.limits import TooMuchHere, WorkLimits
from codesum_pipeline.foundation.worker_processes.pool import WorkerDied
from codesum_pipeline.source.files.encodings import decode_text
from codesum_pipeline.symbols.parsing.bounded import TooCostly, may_take_gigabytes
from codesum_pipeline.symbols.parsing.compiled_files import OfferedDocument, with_compiler
from codesum_pipeline.symbols.parsing.masks import masked_file
from codesum_pipeline.symbols.parsing.parsers import parse_file
from codesum_pipeline.symbols.parsing.text import ParsedFile, text_of_failed

# About 0.2 s of parsing.
BATCH_BYTES = 500_000
BATCH_FILES = 200


# A file that is more is left to a worker, which may be ended: about a second of parsing.
MOST_BYTES_HERE = 300_000
MOST_STEPS_HERE = 1_000_000
LIMITS_HERE = WorkLimits(memory_mb=256, processor_s=3.0)
# How the reason begins of a file that took its process along.
PARSER_ENDED = "the parser ended"


class SourceText(Struct, frozen=True):
    """A file's bytes, None if its blob cannot be read, and what compilers' indexes hold about it.

    `documents_hash` covers the documents; empty if there are none.
    """

    path: str
    language: str
    blob: str
    data: bytes | None
    documents: tuple[OfferedDocument, ...] = ()
    documents_hash: str = ""
    encoding: str = UTF_8

    @property
    def size(self) -> int:
        return len(self.data or b"") + sum(len(document.content) for document in self.documents)


class ReadFile(Struct, frozen=True):
    """A parsed file, and what a compiler's index says about it, if one says anything."""

    parsed: ParsedFile
    compiled: CompilerFile | None = None


class ParsedRows(Struct, frozen=True):
    """The rows of some files in `symbols`, `file_facts` and `compiler_files`."""

    symbols: pa.Table
    facts: pa.Table
    compiled: pa.Table

    @classmethod
    def of_values(cls, files: Sequence[ReadFile]) -> Self:
        symbols = [symbol for file in files for symbol in file.parsed.symbols]
        return cls(
            to_table(symbols, Symbol),
            to_table([file.parsed.facts for file in files], FileFacts),
            to_table([file.compiled for file in files if file.compiled], CompilerFile),
        )

    @classmethod
    def joined(cls, parts: Iterable["ParsedRows"]) -> Self:
        """The rows of all parts, in order."""
        every: list[ParsedRows] = [cls.of_values([]), *parts]
        return cls(*(pa.concat_tables(tables) for tables in zip(*map(ParsedRows.tables, every), strict=True)))

    def tables(self) -> tuple[pa.Table, pa.Table, pa.Table]:
        """The tables of symbols, of facts, and of compilers' findings."""
        return self.symbols, self.facts, self.compiled


class ParsedBatch(Struct, frozen=True):
    """The results of a batch, in the order of its files; a failed file has its text, if it can be read."""

    rows: ParsedRows
    failures: tuple[Failure, ...]


class ParseFiles(Struct, frozen=True):
    """Parses files one after the other; one that cannot be parsed is a failure, and read as a plain text.

    With `patience`, a file that takes more steps raises `TooMuchHere`.
    """

    hash_policy: HashPolicy
    steps_per_byte: int = STEPS_PER_BYTE
    limits: WorkLimits = WorkLimits()
    patience: int | None = None

    def __call__(self, files: Sequence[SourceText]) -> ParsedBatch:
        guard = FailureGuard()
        parsed = [found for file in files if (found := self._parse(file, guard)) is not None]
        stored = list(work_in_halves(parsed, ParsedRows.of_values, guard=guard, name=_path))
        # Facts read from a file may have values that no table can hold.
        lost = {*map(_path, parsed)}.difference(*(map(_path, some) for some, _ in stored))
        texts = ParsedRows.of_values([self._as_text(file) for file in files if file.path in lost])
        return ParsedBatch(ParsedRows.joined([*(rows for _, rows in stored), texts]), guard.failures)

    def here(self, files: Sequence[SourceText]) -> ParsedBatch:
        """The same; raises `TooMuchHere` for a large file, and for one that is or may be too much work."""
        if any(file.size > MOST_BYTES_HERE or may_take_gigabytes(file.data or b"", file.language) for file in files):
            raise TooMuchHere
        return replace(self, limits=LIMITS_HERE, patience=MOST_STEPS_HERE)(files)

    def rescue(self, files: Sequence[SourceText], again: Callable[[Sequence[SourceText]], ParsedBatch]) -> ParsedBatch:
        """File by file; the one that kills a fresh worker is a failure."""
        parts = []
        for file in files:
            try:
                parts.append(again([file]))
            except WorkerDied as error:
                text = self._as_text(file)
                parts.append(ParsedBatch(ParsedRows.of_values([text]), (_ended(file, error),)))
        return ParsedBatch(
            ParsedRows.joined(part.rows for part in parts),
            tuple(failure for part in parts for failure in part.failures),
        )

    def _parse(self, file: SourceText, guard: FailureGuard) -> ReadFile | None:
        if file.data is None:
            guard.add([Failure(file.path, f"{SkipReason.UNREADABLE}: blob {file.blob} is not in the mirror")])
            return None
        try:
            with guard.item(file.path):
                parsed = parse_file(
                    file.path, file.language, file.data,
                    blob=file.blob, encoding=file.encoding, hash_policy=self.hash_policy,
                    steps_per_byte=self.steps_per_byte, patience=self.patience, limits=self.limits,
                )  # fmt: skip
                if parsed.facts.failure:
                    guard.add([Failure(file.path, parsed.facts.failure, is_settled=True)])
                read = self._with_compiler(file, parsed, guard) if file.documents else ReadFile(parsed)
                return ReadFile(*masked_file(_of_encoding(read.parsed, file.encoding), read.compiled))
        except SkippedFile as error:
            guard.add([Failure(file.path, str(error))])
            return None
        except TooCostly as error:
            guard.add([_ended(file, error)])
        except NotParsed as error:
            guard.add([Failure(file.path, str(error))])
        return self._as_text(file)

    def _with_compiler(self, file: SourceText, parsed: ParsedFile, guard: FailureGuard) -> ReadFile:
        """The file beside its documents; where these have an error come up, as if there were none."""
        text = decode_text(file.data or b"", file.encoding)
        with guard.item(file.path):
            found = with_compiler(parsed, file.documents, text, self.hash_policy, digest=file.documents_hash)
            return ReadFile(*found)
        return ReadFile(parsed)

    def _as_text(self, file: SourceText) -> ReadFile:
        """A file that failed, as one of no known language."""
        source = decode_text(file.data or b"", file.encoding).encode()
        read = text_of_failed(source, file.path, blob=file.blob, hash_policy=self.hash_policy)
        return ReadFile(*masked_file(_of_encoding(read, file.encoding)))


def _of_encoding(parsed: ParsedFile, encoding: str) -> ParsedFile:
    """The file with its encoding among the facts, which for UTF-8 is none."""
    return parsed if encoding == UTF_8 else replace(parsed, facts=replace(parsed.facts, encoding=encoding))


def _ended(file: SourceText, error: Exception) -> Failure:
    return Failure(file.path, f"{PARSER_ENDED}: {error}")


def _path(file: ReadFile) -> str:
    return file.parsed.facts.file_path


def in_batches(files: Iterable[SourceText]) -> Iterator[list[SourceText]]:
    """Consecutive files, up to `BATCH_FILES` and about `BATCH_BYTES` of them together; a large one alone."""
    batch: list[SourceText] = []
    size = 0
    for file in files:
        is_large = file.size > MOST_BYTES_HERE
        if is_large and batch:
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file.size
        if is_large or len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
