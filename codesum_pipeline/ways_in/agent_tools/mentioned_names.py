"""Which functions mention a name as a member (`x.save`) or as a whole text (`getattr(x, "save")`).

A call whose receiver is not known has no edge in the graph. Its name says which methods it may run.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct

from codesum_pipeline.foundation.language_facts.file_languages import is_program, language_of_path
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.ways_in.agent_tools.answering_sources import SourceReader
from codesum_pipeline.ways_in.agent_tools.document_tree import JoinedDocuments

# Files whose sources are read for it, those with most definitions first.
MOST_FILES_READ = 4_000
_MENTION = re.compile(r"(?:\.|->|::)(\w+)|(['\"])(\w+)\2")


class MentionedNames(Struct, eq=False, dict=True):
    """The functions, else classes or files, that mention each name; the sources are read at the first question."""

    documents: JoinedDocuments
    sources: SourceReader

    def mentioning(self, name: str) -> Sequence[int]:
        return self._by_name.get(name, ())

    @cached_property
    def _by_name(self) -> Mapping[str, list[int]]:
        found: dict[str, dict[int, None]] = defaultdict(dict)
        for start, index in zip(self.documents.starts, self.documents.parts, strict=False):
            for row, text in self._texts(index):
                holders = _holders(index, row, text.count("\n") + 1)
                for number, line in enumerate(text.split("\n")):
                    for member, _, whole in _MENTION.findall(line):
                        found[member or whole][start + holders[number]] = None
        return {name: list(numbers) for name, numbers in found.items()}

    def _texts(self, index: PublishedIndex) -> Iterator[tuple[int, str]]:
        rows, counts = np.unique(index.arrays["file_row"], return_counts=True)
        ordered = rows[np.argsort(-counts, kind="stable")].tolist()
        wanted = [
            row for row in ordered
            if row >= 0 and index.shows(row) and is_program(language_of_path(index.ids[row]) or "")
        ][:MOST_FILES_READ]  # fmt: skip
        texts = self.sources.read(index, [index.ids[row] for row in wanted])
        yield from ((row, texts[index.ids[row]]) for row in wanted if index.ids[row] in texts)


def _holders(index: PublishedIndex, file: int, lines: int) -> list[int]:
    """The row of the innermost definition around each line of a file."""
    rows = (index.arrays["file_row"] == file).nonzero()[0]
    rows = rows[rows != file]
    first, last = index.shown.lines[rows].T
    holders = np.full(lines, file)
    # What is inside of another comes after it.
    for place in np.lexsort((-last, first)).tolist():
        holders[max(0, first[place] - 1) : last[place]] = rows[place]
    found: list[int] = holders.tolist()
    return found

