"""Some files of a snapshot, parsed together into Arrow rows."""

from collections.abc import Iterable, Sequence
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


def parse_batch(files: Sequence[SourceText], hash_policy: HashPolicy) -> Parsed:
    """Parse files one after the other; what cannot be parsed is a failure with its reason."""
    parsed: list[ParsedFile] = []
    failures: list[Failure] = []
    for file in files:
        if file.data is None:
            failures.append((file.path, f"{SkipReason.UNREADABLE}: blob {file.blob} is not in the mirror"))
            continue
        try:
            parsed.append(parse_file(file.path, file.language, file.data, blob=file.blob, hash_policy=hash_policy))
        except SkippedFile as error:
            failures.append((file.path, str(error)))
    return Parsed(Rows.of_values(parsed), tuple(failures))
