"""Which definitions the functions of test code replace while they run, or while the tests run that they prepare.

A replaced name of a module counts for whoever looks the definition up by it: what the module's own functions call, and
what others call as `module.name`. Who has imported the definition itself before runs the original. A replaced member of
a class counts for all.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct, field

from codesum_pipeline.answers.agent_tools.document_tree import NOTHING, JoinedDocuments
from codesum_pipeline.answers.agent_tools.python_modules import Meaning, PythonModules
from codesum_pipeline.answers.agent_tools.reached_code import CodeReach
from codesum_pipeline.answers.agent_tools.replaced_names import ReplacedName, ReplacingFunction, replacements_in
from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import own_name

# Where a source has none of these, nothing is replaced; then the names that may be; and what ends replacements.
_MARK = re.compile(r"\bpatch\b|\b(?:set|del)attr\b")
_NAME = re.compile(r"\b(\w+)(?=['\"]| ?=(?!=))")
_ENDING = re.compile(r"\b(?:stopall|undo|reload)\(")
# Pairs of a function and what is replaced in or around it: about 50 MB.
MOST_KEPT = 500_000
DOTTED_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*(?:\.\w+)*")
DEFINING = re.compile(r"^\s*(?:async\s+)?def\s")


class ReplacedDefinition(Struct, frozen=True):
    """A definition, the name that is replaced, and the file of the module that has the name; empty for a member of a
    class, which is replaced for all. `told` is the name as people read it. What a class or module that `is_handed` has
    may run all the same."""

    definition: int
    name: str
    module: str
    told: str
    is_handed: bool = False


class ReplacedSpan(Struct, frozen=True):
    """What is replaced in some lines of a function."""

    replaced: ReplacedDefinition
    first: int
    last: int


class TestReplacements(Struct, eq=False):
    """What each function of test code replaces in its own lines, and what is replaced around it as a whole."""

    __test__ = False

    own: Mapping[int, Sequence[ReplacedSpan]]
    around: Mapping[int, Collection[ReplacedDefinition]]


class ReplacementReader(Struct, eq=False):
    """Reads the test code of a repository for what it replaces of some definitions: the `holders`. Of more than
    `MOST_KEPT` pairs of a function and what it replaces it `is_cut`: the others are taken to replace nothing."""

    documents: JoinedDocuments
    reach: CodeReach
    modules: PythonModules
    holders: Container[int]
    is_cut: bool = False
    _kept: int = 0
    _own: dict[int, list[ReplacedSpan]] = field(default_factory=lambda: defaultdict(list))
    _lasting: dict[int, list[ReplacedDefinition]] = field(default_factory=lambda: defaultdict(list))
    _ending: list[int] = field(default_factory=list)
    _around: dict[int, dict[ReplacedDefinition, None]] = field(default_factory=lambda: defaultdict(dict))

    def read(self, names: frozenset[str]) -> TestReplacements:
        """What test code replaces; `names` are those of the holders."""
        for path, text in self._sources():
            if _ENDING.search(text) or (_MARK.search(text) and not names.isdisjoint(_NAME.findall(text))):
                stop_if_cancelled()
                self._read_file(path)
        ended = {user for number in self._ending for user in self._run_with(number)}
        for number, replaced in self._lasting.items():
            for user in self._run_with(number)[1:]:
                if user not in ended and self._has_room(len(replaced)):
                    self._around[user].update(dict.fromkeys(replaced))
        return TestReplacements(self._own, self._around)

    def _sources(self) -> Iterator[tuple[str, str]]:
        """The files of test code in Python."""
        for index in self.documents.parts:
            rows = (row for row in np.flatnonzero(index.arrays["is_test"]).tolist() if index.shows(row))
            found = {index.ids[row].partition("::")[0] for row in rows}
            yield from self.modules.sources.texts(index, sorted(each for each in found if each.endswith(".py"))).items()

    def _read_file(self, path: str) -> None:
        tree, file = self.modules.tree(path), self.documents.number(path)
        inside = [] if tree is None or file is None else self.documents.inside_file(file)
        functions = (one for one in inside if self.documents[one].level is Level.FUNCTION)
        by_line = {self.documents[one].shown()["start_line"]: one for one in functions}
        for function in replacements_in(tree) if tree else ():
            if function.line in by_line and not self.is_cut:
                self._keep(by_line[function.line], path, function)

    def _keep(self, number: int, path: str, function: ReplacingFunction) -> None:
        self._ending += [number] if function.is_ending else []
        for each in function.replaced:
            if (found := self._meant(each.of, path)) and self._has_room(1):
                self._own[number].append(ReplacedSpan(found, each.first, each.last))
                if each.lasts:
                    self._lasting[number].append(found)

    def _has_room(self, count: int) -> bool:
        self.is_cut = self.is_cut or self._kept + count > MOST_KEPT
        self._kept += count
        return not self.is_cut

    def _meant(self, written: ReplacedName, path: str) -> ReplacedDefinition | None:
        """The definition that a name of a file's code means; None for one of another repository, or of an object."""
        owner = self.modules.meaning(written.target, "" if written.is_text else path)
        found = None if owner is None else self.modules.member(owner, written.name)
        if isinstance(found, str):
            found = self.documents.number(self.modules.path(found))
        if owner is None or found is None or found not in self.holders:
            return None
        module = self.modules.path(owner) if isinstance(owner, str) else ""
        told = f"{_last_name(self.documents, owner)}.{written.name}"
        return ReplacedDefinition(found, written.name, module, told, written.is_handed)

    def _run_with(self, number: int) -> list[int]:
        """A function, and the tests and fixtures that it is run for as a fixture or a `setUp`."""
        seen, waiting = {number: None}, [number]
        while waiting:
            for user in self.reach.tests_run_with(waiting.pop()):
                if user not in seen:
                    seen[user] = None
                    waiting += [] if self.reach.is_test(user) else [user]
        return list(seen)


def _last_name(documents: JoinedDocuments, owner: Meaning) -> str:
    return own_name(documents[owner].id) if isinstance(owner, int) else owner.rpartition("/")[2]


class ReplacedLookups(Struct, eq=False):
    """Which uses of a definition look it up by a name that is replaced."""

    documents: JoinedDocuments
    modules: PythonModules
    _names: dict[int, frozenset[tuple[str, ...]]] = field(default_factory=dict)

    def cuts(self, replaced: ReplacedDefinition, number: int, user: int) -> bool:
        """Whether a user does not run a definition while a name is replaced for it or for what it is in."""
        if self.documents[user].level is not Level.FUNCTION or self.documents[number].level is Level.FILE:
            # What stands outside of functions is run when its file is imported.
            return False
        if replaced.definition in self.chain(user) or (replaced.is_handed and number != replaced.definition):
            return False
        if not replaced.module or self._looks_up(replaced, user, user):
            return True
        owner = int(self.documents.parents[user])
        if number == replaced.definition or owner == NOTHING or self.documents[owner].level is not Level.CLASS:
            return False
        # Another method of its class may have made the object.
        return self._looks_up(replaced, user, owner)

    def chain(self, number: int) -> Iterator[int]:
        """A document and what it is in."""
        while number != NOTHING and self.documents[number].level is not Level.MODULE:
            yield number
            number = int(self.documents.parents[number])

    def _looks_up(self, replaced: ReplacedDefinition, user: int, holder: int) -> bool:
        """Whether a definition, or its `holder` for it, has the name that is replaced."""
        path, name = self.documents[user].path, replaced.name
        module = self.modules.module_of(replaced.module)
        found = [each for each in self._names_in(holder) if name in each]
        is_bare = any(each[0] == name for each in found)
        if is_bare and path == replaced.module:
            return True
        owners = {each[: at + 1] for each in found for at, part in enumerate(each[1:]) if part == name}
        return any(self.modules.meaning(each, path) == module for each in owners)

    def _names_in(self, number: int) -> frozenset[tuple[str, ...]]:
        """The names in a definition, in their parts."""
        if number not in self._names:
            found = DOTTED_NAME.findall(self._text(number))
            self._names[number] = frozenset(tuple(each.split(".")) for each in found)
        return self._names[number]

    def _text(self, number: int) -> str:
        """The lines of a definition without its decorators, which are run before."""
        own = self.modules.sources.lines_of(self.documents[number])
        start = next((at for at, line in enumerate(own) if DEFINING.match(line)), 0)
        return "\n".join(own[start:] if self.documents[number].level is Level.FUNCTION else own)
