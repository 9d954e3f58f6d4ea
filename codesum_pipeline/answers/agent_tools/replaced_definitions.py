"""Which of the definitions that are reached the functions of test code replace, and whose uses that cuts.

A replaced name of a module counts for whoever looks the definition up by it: what the module's own functions call, and
what others call as `module.name`. Who has imported the definition itself before runs the original. A replaced member of
a class counts for all.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.agent_tools.document_tree import NOTHING, JoinedDocuments
from codesum_pipeline.answers.agent_tools.reached_code import CodeReach
from codesum_pipeline.answers.agent_tools.relations import Relation, related_documents
from codesum_pipeline.answers.agent_tools.replaced_names import Replacement, replacements_in
from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import symbol_id

# Files that are parsed for one answer, and pairs of a function and what it replaces, with the definitions, files and
# classes that were tried for them: about 50 MB.
MOST_PARSED = 1_000
MOST_KEPT = 500_000
# Where a source has none of these, nothing is replaced; then the names that may be.
_MARK = re.compile(r"\bpatch\b|attr\(")
_NAME = re.compile(r"\b(\w+)['\"]")
_ALIAS = re.compile(r"\b(\w+) as (\w+)")
_DEFINING = re.compile(r"^[ \t]*(?:async[ \t]+)?def\s", re.MULTILINE)


class ReplacedDefinition(Struct, frozen=True):
    """A definition, the name that is replaced, and the file of the module that has the name; empty for a member of a
    class, which is replaced for all. `told` is the name as people read it. What a class or module that `is_handed` has
    may run all the same."""

    definition: int
    name: str
    module: str
    told: str
    is_handed: bool


class TestReplacements(Struct, eq=False, dict=True):
    """What test code replaces of some definitions, `by_name`. Of more than `MOST_PARSED` files, or `MOST_KEPT` pairs
    and tries, it `is_cut`: the others are taken to replace nothing. `spans` are by the functions that replace."""

    __test__ = False

    reach: CodeReach
    sources: SourceReader
    by_name: Mapping[str, list[int]]
    is_cut: bool = False
    spans: dict[int, list[tuple[ReplacedDefinition, Replacement]]] = field(default_factory=lambda: defaultdict(list))
    _aliases: dict[str, Mapping[str, str]] = field(default_factory=dict)
    # What was looked for before: thousands of lines replace the same names.
    _meanings: dict[tuple[Replacement, str], list[ReplacedDefinition]] = field(default_factory=dict)
    _classes: dict[tuple[tuple[str, ...], bool, str], list[int]] = field(default_factory=dict)
    _modules: dict[tuple[tuple[str, ...], str], str] = field(default_factory=dict)
    _imports: dict[str, frozenset[str]] = field(default_factory=dict)
    _parsed: int = 0
    _kept: int = 0

    @property
    def documents(self) -> JoinedDocuments:
        return self.reach.documents

    def read(self) -> None:
        """Read the files of test code in Python."""
        for path, text in self._sources():
            stop_if_cancelled()
            inside = self.documents.inside_file(self.documents.number(path) or 0)
            by_line = {self.documents[one].shown()["start_line"]: one for one in inside}
            for written in replacements_in(text):
                stop_if_cancelled()
                for found in self._meant(written, path) if written.line in by_line else ():
                    if self._has_room(1):
                        self.spans[by_line[written.line]].append((found, written))

    def _has_room(self, count: int) -> bool:
        self.is_cut = self.is_cut or self._kept + count > MOST_KEPT
        self._kept += count
        return not self.is_cut

    def _sources(self) -> Iterator[tuple[str, str]]:
        for index in self.documents.parts:
            rows = (row for row in np.flatnonzero(index.arrays["is_test"]).tolist() if index.shows(row))
            found = {index.ids[row].partition("::")[0] for row in rows}
            for path, text in self.sources.texts(index, sorted(each for each in found if each.endswith(".py"))).items():
                if _MARK.search(text) and not self.by_name.keys().isdisjoint(_NAME.findall(text)):
                    self._parsed += 1
                    if self._parsed > MOST_PARSED:
                        self.is_cut = True
                        return
                    yield path, text

    def _meant(self, written: Replacement, path: str) -> Sequence[ReplacedDefinition]:
        """The definitions that a replaced name means in a file; none of another repository, or of an object, and none
        where there is no room for more."""
        key = replace(written, line=0, body=0, first=0, last=0), path
        if key not in self._meanings:
            numbers = self.by_name.get(written.name, ())
            if not numbers or not self._has_room(len(numbers)):
                return ()
            self._meanings[key] = [*self._find_meant(written, path, numbers)]
        return self._meanings[key]

    def _find_meant(self, written: Replacement, path: str, numbers: Sequence[int]) -> Iterator[ReplacedDefinition]:
        documents, told = self.documents, f"{written.owner[-1]}.{written.name}"
        for number in numbers:
            above, module = int(documents.parents[number]), ""
            if above != NOTHING and documents[above].level is Level.CLASS:
                if above not in self._classes_meant(written, path):
                    continue
            elif documents[number].level is Level.FILE or documents[above].level is Level.FILE:
                module = self._module_meant(written.owner, "" if written.is_text else path)
                own = documents.number(symbol_id(module, [written.name])) if module else None
                if not module or own not in (None, number):
                    continue
            else:
                continue
            yield ReplacedDefinition(number, written.name, module, told, written.is_handed)

    def _classes_meant(self, written: Replacement, path: str) -> list[int]:
        """The only class of a name in the module before it, else in the files that a file imports, or in what these
        bring in."""
        key = written.owner, written.is_text, path
        if key not in self._classes:
            found = self._find_classes(written, path)
            self._classes[key] = found if len(found) == 1 else []
        return self._classes[key]

    def _find_classes(self, written: Replacement, path: str) -> list[int]:
        documents, owner = self.documents, written.owner
        if len(owner) > 1:
            module = self._module_meant(owner[:-1], "" if written.is_text else path)
            files = self._imported_by(module) | {module}
        else:
            imported = self._imported_by(path)
            files = imported.union(*(self._imported_by(each) for each in imported if each.endswith("/__init__.py")))
        named = documents.named_exactly(owner[-1])
        classes = (one for one in named if documents[one].level is Level.CLASS) if self._has_room(len(named)) else ()
        return [one for one in classes if documents[one].path in files]

    def _module_meant(self, owner: tuple[str, ...], path: str) -> str:
        """The only file that a dotted name may mean: in a file one that it imports, else one below no package; else the
        module that the one before it imports under the last name."""
        key = owner, path
        if key not in self._modules:
            is_own = owner[0] not in sys.stdlib_module_names and self._has_room(len(self._files.get(owner[-1], ())) + 1)
            found = self._find_modules(owner, path) if is_own else []
            self._modules[key] = found[0] if len(found) == 1 else ""
        return self._modules[key]

    def _find_modules(self, owner: tuple[str, ...], path: str) -> list[str]:
        written, last = "/".join(owner), owner[-1]
        found = [each for each in self._files.get(last, ()) if f"/{_stem(each)}".endswith(f"/{written}")]
        if path:
            found = [each for each in found if each in self._imported_by(path)]
        else:
            roots = {each: _stem(each).removesuffix(written) for each in found}
            found = [each for each in found if not roots[each] or not self._is_package(roots[each])]
        if not found and (before := self._module_meant(owner[:-1], path) if owner[1:] else ""):
            if before not in self._aliases:
                names = _ALIAS.findall(self.sources.text(self.documents.repo, before) or "")
                self._aliases[before] = {alias: real for real, alias in names}
            real = self._aliases[before].get(last, last)
            found = [each for each in self._imported_by(before) if module_name(each) == real]
        return found

    def _is_package(self, folder: str) -> bool:
        return self.documents.number(f"{folder}__init__.py") is not None

    def _imported_by(self, path: str) -> frozenset[str]:
        if path not in self._imports:
            file = self.documents.number(path)
            imported = [] if file is None else related_documents(self.documents, file, Relation.IMPORTS)
            self._imports[path] = frozenset(self.documents[each.number].id for each in imported)
        return self._imports[path]

    @cached_property
    def _files(self) -> Mapping[str, list[str]]:
        """The files by the last name of their modules."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in (self.documents[number].id for number in self.documents.numbers(Level.FILE)):
            found[module_name(path)].append(path)
        return found

    def cuts(self, replaced: ReplacedDefinition, number: int, user: int) -> bool:
        """Whether a user does not run a definition while a name is replaced for it or for what it is in."""
        documents = self.documents
        if documents[user].level is not Level.FUNCTION or documents[number].level is Level.FILE:
            # What stands outside of functions is run when its file is imported.
            return False
        if replaced.definition in chain_of(documents, user) or (replaced.is_handed and number != replaced.definition):
            return False
        if not replaced.module or self._looks_up(replaced, user):
            return True
        owner = int(documents.parents[user])
        is_method = owner != NOTHING and documents[owner].level is Level.CLASS
        # Another method of its class may have made the object.
        return number != replaced.definition and is_method and self._looks_up(replaced, owner)

    def _looks_up(self, replaced: ReplacedDefinition, holder: int) -> bool:
        """Whether a definition has the name that is replaced, outside of the decorators, which are run before."""
        found, name = self.documents[holder], re.escape(replaced.name)
        is_own = found.path == replaced.module
        by_module = rf"\b(?:{re.escape(module_name(replaced.module))}\.{name}|{re.escape(replaced.told)})\b"
        pattern = rf"(?<![\w.]){name}\b" if is_own else by_module
        text = "\n".join(self.sources.lines_of(found))
        start = _DEFINING.search(text) if found.level is Level.FUNCTION else None
        return re.search(pattern, text[start.start() if start else 0 :]) is not None


def chain_of(documents: JoinedDocuments, number: int) -> Iterator[int]:
    """A document and what it is in."""
    while number != NOTHING and documents[number].level is not Level.MODULE:
        yield number
        number = int(documents.parents[number])


def _stem(path: str) -> str:
    """The path of a module: `src/shop` for `src/shop/__init__.py`."""
    return path.removesuffix(".py").removesuffix("/__init__")


def module_name(path: str) -> str:
    return _stem(path).rpartition("/")[2]
