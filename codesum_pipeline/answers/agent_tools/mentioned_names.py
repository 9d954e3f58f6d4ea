"""Which functions call a name on something (`x.save()`), read it (`x.size`), or look it up (`getattr(x, "save")`).

A call whose receiver is not known has no edge in the graph. Its name says which methods it may run. A sign does so for
Python's operators: `with` runs `__enter__`. Those whose signs are everywhere, as an index or a call, have none here.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from msgspec import Struct, field

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.foundation.language_facts.file_languages import is_program, language_of_path
from codesum_pipeline.indexes.file_formats.stored_zip import Array
from codesum_pipeline.search.retrieval.innermost import innermost_around
from codesum_pipeline.search.retrieval.published_index import PublishedIndex

# What finds the sign that runs each special method.
_SIGNS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SIGNS_BY_NAME = {f"__{name}__": re.compile(sign) for names, sign in _SIGNS.items() for name in names.split()}
# Files whose sources are read for it, those with most definitions first.
MOST_FILES_READ = 4_000
_MEMBER = re.compile(r"(?:(?<!\w)(self|this|cls|super\([^()]{0,99}\)))?(?:\.|->|::)(\w+)(\s?\()?")
# A text names a member where the line says that it looks one up.
_LOOKS_UP = re.compile(r"\b(?:getattr|attrgetter|methodcaller|send|public_send|__send__)\b")
_TEXT = re.compile(r"['\"](\w+)['\"]")
_PROPERTY = re.compile(r"@[\w.]*(?:property|setter|getter|deleter)\b")


class Mention(Struct, frozen=True):
    """A function, else class or file, that mentions a name; of its own object (`self.x`), or without calling it."""

    number: int
    is_of_own: bool
    is_called: bool


class MentionedNames(Struct, eq=False, dict=True):
    """The functions, else classes or files, that mention each name; the sources are read at the first question."""

    documents: JoinedDocuments
    sources: SourceReader
    _found: dict[re.Pattern[str], frozenset[int]] = field(default_factory=dict)

    def mentioning(self, name: str) -> Collection[Mention]:
        return self._read[0].get(name, ())

    def with_operator(self, name: str) -> Collection[int] | None:
        """The functions, else classes or files, that have the sign of an operator: `with` for `__enter__`; None for a
        name without a sign of its own."""
        sign = SIGNS_BY_NAME.get(name)
        return None if sign is None else self._with_code(sign)

    def with_text(self, text: str) -> Collection[int]:
        """The functions, else classes or files, that have a text; no part of a word follows a word at its end."""
        return self._with_code(re.compile(rf"{re.escape(text)}(?:(?![\w-])|(?<!\w))"), text)

    def with_quoted(self, name: str) -> Collection[int]:
        """The functions, else classes or files, that have a name as the end of a text: `"pay"`, `"shop.pay"`."""
        return self._with_code(re.compile(rf"['\".:/]{re.escape(name)}['\"]"), name)

    def _with_code(self, wanted: re.Pattern[str], having: str = "") -> frozenset[int]:
        """Who has what is wanted in a line; `having` is a text that each such line has."""
        if wanted not in self._found:
            lines = ((number, line) for number, line in self._lines(having) if having in line)
            self._found[wanted] = frozenset(number for number, line in lines if wanted.search(line))
        return self._found[wanted]

    def is_property(self, number: int) -> bool:
        """Whether a decorator of a function says that it is run when it is read."""
        return number in self._read[1]

    @cached_property
    def _read(self) -> tuple[Mapping[str, Collection[Mention]], frozenset[int]]:
        found: dict[str, dict[Mention, None]] = defaultdict(dict)
        properties = set[int]()
        for number, line in self._lines():
            if _PROPERTY.search(line):
                properties.add(number)
            for own, member, is_called in _MEMBER.findall(line):
                found[member][Mention(number, bool(own), bool(is_called))] = None
            for member in _TEXT.findall(line) if _LOOKS_UP.search(line) else ():
                found[member][Mention(number, False, True)] = None
        return found, frozenset(properties)

    def _lines(self, having: str = "") -> Iterator[tuple[int, str]]:
        """The lines of the programs that have some text, each with the innermost definition around it, else with its
        file."""
        for text, holders in self._programs:
            if having in text:
                yield from zip(holders.tolist(), text.split("\n"), strict=True)

    @cached_property
    def _programs(self) -> Sequence[tuple[str, Array]]:
        """The texts of all programs, each with the number of the innermost definition around each line."""
        found: list[tuple[str, Array]] = []
        for start, index in zip(self.documents.starts, self.documents.parts, strict=False):
            for row, text in self._texts(index):
                rows = (index.arrays["file_row"] == row).nonzero()[0]
                holders = innermost_around(index, rows, range(1, text.count("\n") + 2))
                numbers = (start + (row if holder is None else holder) for holder in holders)
                found.append((text, np.fromiter(numbers, dtype=np.int32, count=len(holders))))
        return found

    def _texts(self, index: PublishedIndex) -> Iterator[tuple[int, str]]:
        rows, counts = np.unique(index.arrays["file_row"], return_counts=True)
        ordered = rows[np.argsort(-counts, kind="stable")].tolist()
        wanted = [
            row for row in ordered
            if row >= 0 and index.shows(row) and is_program(language_of_path(index.ids[row]) or "")
        ][:MOST_FILES_READ]  # fmt: skip
        texts = self.sources.read(index, [index.ids[row] for row in wanted])
        yield from ((row, texts[index.ids[row]]) for row in wanted if index.ids[row] in texts)
