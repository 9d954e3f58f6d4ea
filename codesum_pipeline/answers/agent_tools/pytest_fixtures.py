"""Which tests pytest runs with a fixture: those that name it as a parameter, and all in its scope if it is automatic.

Fixtures are bound by their names, so no call in the code says so. A fixture of a `conftest.py` is known below its
folder, one of a class in that class and its relatives, any other in its file and in the files that import it.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
from msgspec import Struct, field

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.answers.agent_tools.relations import Relation, related_documents
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE, SEPARATOR, module_path_of, own_name

# Files of tests that are read for their fixtures.
_MOST_FILES = 3000
_FIXTURE = re.compile(r"@[\w.]*\bfixture\b")
_AUTOMATIC = re.compile(r"\bautouse\s*=\s*True\b")
_NAMED = re.compile(r"\bfixture\([^()]*\bname\s*=\s*['\"](\w+)['\"]")
_USED = re.compile(r"\busefixtures\(([^()]*)\)")
_WORD = re.compile(r"\w+")
_TEXT = re.compile(r"['\"](\w+)['\"]")


class FixtureUser(Struct, frozen=True):
    """A function of test code: the fixtures that it asks for, and its own name as a fixture, empty for none."""

    number: int
    id: str
    asks_for: frozenset[str]
    provides: str
    is_automatic: bool


class PytestFixtures(Struct, eq=False, dict=True):
    """The fixtures of a repository. Sources of test code are read at the first question."""

    documents: JoinedDocuments
    sources: SourceReader
    _families: dict[int, frozenset[int]] = field(default_factory=dict)
    _importers: dict[str, frozenset[str]] = field(default_factory=dict)

    def users_of(self, number: int) -> list[int]:
        """The tests and fixtures that a function serves as a fixture; nothing for what is none."""
        fixture = self._functions.get(number)
        if fixture is None or not fixture.provides:
            return []
        wanted = self._by_fixture.get(fixture.provides, ())
        if fixture.is_automatic:
            wanted = [each.number for each in self._functions.values()]
        return [one for one in wanted if one != number and self._is_known_in(number, one)]

    def _is_known_in(self, fixture: int, user: int) -> bool:
        place, id_ = self.documents[fixture], self._functions[user].id
        folder = module_path_of(place.path)
        if place.path.rpartition("/")[2] == "conftest.py":
            return folder == ROOT_MODULE or id_.startswith(f"{folder}/")
        if SEPARATOR in place.id.rpartition(SEPARATOR)[0]:
            return int(self.documents.parents[user]) in self._related(int(self.documents.parents[fixture]))
        path = self._path(id_)
        return path == place.path or path in self._importing(place.path)

    def _related(self, class_: int) -> frozenset[int]:
        """A class with its bases, whose tests it inherits, and its subclasses, which inherit its fixtures."""
        if class_ not in self._families:
            both = (Relation.BASES, Relation.SUBCLASSES)
            found = (each.number for way in both for each in related_documents(self.documents, class_, way, depth=6))
            self._families[class_] = frozenset({class_, *found})
        return self._families[class_]

    def _importing(self, path: str) -> frozenset[str]:
        if path not in self._importers:
            number = self.documents.number(path)
            found = related_documents(self.documents, number, Relation.IMPORTED_BY) if number is not None else []
            self._importers[path] = frozenset(self.documents[each.number].id for each in found)
        return self._importers[path]

    @cached_property
    def _by_fixture(self) -> Mapping[str, list[int]]:
        """The functions that ask for each fixture."""
        found: dict[str, list[int]] = defaultdict(list)
        for each in self._functions.values():
            for name in each.asks_for:
                found[name].append(each.number)
        return found

    @cached_property
    def _functions(self) -> dict[int, FixtureUser]:
        return {each.number: each for each in self._read()}

    def _read(self) -> Iterator[FixtureUser]:
        for start, index in zip(self.documents.starts, self.documents.parts, strict=False):
            rows = [
                row for row in np.flatnonzero(index.arrays["is_test"]).tolist()
                if index.shows(row) and index.level_of(row) is Level.FUNCTION
            ]  # fmt: skip
            of_python = [row for row in rows if self._path(index.ids[row]).endswith(".py")]
            paths = sorted({self._path(index.ids[row]) for row in of_python})[:_MOST_FILES]
            lines = {path: text.split("\n") for path, text in self.sources.read(index, paths).items()}
            for row in of_python:
                if (path := self._path(index.ids[row])) in lines:
                    shown = index.shown.of_row(row)
                    yield _user(start + row, index.ids[row], lines[path], shown["start_line"], shown["end_line"])

    def _path(self, id_: str) -> str:
        return id_.partition(SEPARATOR)[0]


def _user(number: int, id_: str, lines: list[str], first: int, last: int) -> FixtureUser:
    """A function by its lines: decorators, then the head up to the first line that ends with a colon."""
    own = lines[first - 1 : last]
    start = next((at for at, line in enumerate(own) if re.match(r"\s*(async\s+)?def\s", line)), 0)
    end = next((at for at in range(start, len(own)) if own[at].rstrip().endswith(":")), start)
    marks, head = "\n".join(own[:start]), "\n".join(own[start : end + 1])
    is_fixture = bool(_FIXTURE.search(marks))
    named = _NAMED.search(marks)
    name = (named[1] if named else own_name(id_)) if is_fixture else ""
    asked = {*_WORD.findall(head.partition("(")[2])}
    asked |= {each for part in _USED.findall(marks) for each in _TEXT.findall(part)}
    return FixtureUser(number, id_, frozenset(asked), name, bool(_AUTOMATIC.search(marks)))
