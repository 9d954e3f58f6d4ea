"""Some files of a snapshot, parsed together into Arrow rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import pyarrow as pa

from codesum_pipeline.model.errors import SkippedFile
from codesum_pipeline.model.files import SkipReason
from codesum_pipeline.model.options import HashPolicy
from codesum_pipeline.model.symbols import FileFacts, Symbol
from codesum_pipeline.parsing.parsed import ParsedFile
from codesum_pipeline.parsing.parsers import parse_file
from codesum_pipeline.store.rows import to_table
from codesum_pipeline.workers.pool import WorkerDied

# About 0.2 s of parsing.
BATCH_BYTES = 500_000
BATCH_FILES = 200


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file's bytes; None where its blob cannot be read."""

    path: str
    language: str
    blob: str
    data: bytes | None


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of some files in `symbols` and `file_facts`."""

    symbols: pa.Table
    facts: pa.Table

    @classmethod
    def of_values(cls, parsed: Sequence[ParsedFile]) -> Self:
        symbols = [symbol for file in parsed for symbol in file.symbols]
        return cls(to_table(symbols, Symbol), to_table([file.facts for file in parsed], FileFacts))

    @classmethod
    def joined(cls, parts: Iterable["Rows"]) -> Self:
        """The rows of all parts, in order."""
        every: list[Rows] = [cls.of_values([]), *parts]
        return cls(pa.concat_tables([part.symbols for part in every]), pa.concat_tables([part.facts for part in every]))


# (path, reason) of a file without rows.
Failure = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What came of a batch, in the order of its files."""

    rows: Rows
    failures: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class ParseFiles:
    """Parses files one after the other; what cannot be parsed is a failure with its reason."""

    hash_policy: HashPolicy

    def __call__(self, files: Sequence[SourceText]) -> Parsed:
        parsed: list[ParsedFile] = []
        failures: list[Failure] = []
        for file in files:
            if file.data is None:
                failures.append((file.path, f"{SkipReason.UNREADABLE}: blob {file.blob} is not in the mirror"))
                continue
            try:
                parsed.append(
                    parse_file(file.path, file.language, file.data, blob=file.blob, hash_policy=self.hash_policy)
                )
            except SkippedFile as error:
                failures.append((file.path, str(error)))
        return Parsed(Rows.of_values(parsed), tuple(failures))

    def rescue(self, files: Sequence[SourceText], again: Callable[[Sequence[SourceText]], Parsed]) -> Parsed:
        """File by file; the one that kills a fresh worker is a failure."""
        parts = []
        for file in files:
            try:
                parts.append(again([file]))
            except WorkerDied as error:
                parts.append(Parsed(Rows.of_values([]), ((file.path, f"the parser ended: {error}"),)))
        return Parsed(
            Rows.joined(part.rows for part in parts), tuple(failure for part in parts for failure in part.failures)
        )


def in_batches(files: Iterable[SourceText]) -> Iterator[list[SourceText]]:
    """Consecutive files, up to `BATCH_FILES` and about `BATCH_BYTES` of them together."""
    batch: list[SourceText] = []
    size = 0
    for file in files:
        batch.append(file)
        size += len(file.data or b"")
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
