"""The one door through which Python's resolver reads other files, and asks about all of them.

What passes is written down, as a record for the file that is being resolved (`graph/resolvers/cells.py`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from sys import intern
from typing import Any

from codesum_pipeline.foundation.data_model.ids import module_path_of
from codesum_pipeline.foundation.data_model.scopes import Binding, LazyFiles, Scope, ScopedFile
from codesum_pipeline.graph.resolvers.cells import (
    ABSENT,
    EXPORTED,
    LISTED,
    LISTS_EXPORTS,
    Answers,
    LookupRecord,
    export_key,
    exported_answer,
    hash_answer,
    head_answer,
    head_key,
    name_answer,
    name_key,
    owner_of,
    pack_record,
    place_of,
)
from codesum_pipeline.languages.declarations.name_tree import AskedQuestions
from codesum_pipeline.languages.declarations.python.module_paths import Absent, ModulePath, ModulePaths

# Where each method is that a name identifies: its file, and its place there; None for a name with other meanings.
Methods = Mapping[str, tuple[str, str] | None]
# The scope of each name of a file that may identify a method: its place, or `NO_METHOD`.
Telling = Mapping[str, str]
NO_METHOD = ""

_NAME, _HEAD, _EXPORT, _EXPORTED, _MODULE, _METHOD = range(6)
# In the place of a number of dots.
_CHILD = "in"
# The kind of a question; the scope, file, folder or name that it is about; and what of that.
_Question = tuple[int, Any, str]


class PythonLookups(AskedQuestions):
    """Answers questions about files, and records those about others than the one that is being resolved."""

    asked: set[_Question]

    def __init__(self, files: LazyFiles, paths: ModulePaths, methods: Callable[[], Methods]) -> None:
        super().__init__()
        self._files = files
        self._paths = paths
        self._methods = methods
        self._cells: dict[_Question, tuple[bytes, ...]] = {}

    def bindings(self, scope: Scope, name: str) -> Sequence[Binding] | None:
        """What a name is bound to in a scope; None if it is not bound there."""
        if scope.file is not self._own:
            self.asked.add((_NAME, scope, name))
        return scope.names.get(name)

    def attributes(self, class_: Scope, name: str) -> Sequence[Sequence[Any]]:
        """What methods bind a name of their object to: numbers of scopes and bindings."""
        if class_.file is not self._own:
            self.asked.add((_NAME, class_, name))
        return class_.attributes.get(name, ())

    def head(self, scope: Scope) -> Scope:
        """A scope, to read its bases, decorators and result."""
        if scope.file is not self._own:
            self.asked.add((_HEAD, scope, ""))
        return scope

    def stars(self, file: ScopedFile) -> Sequence[tuple[int, str, int]]:
        """The star imports of a file."""
        return self.head(file.top).file.stars

    def exports(self, path: str, name: str) -> bool:
        """Whether a star import of a file gives a name."""
        self.asked.add((_EXPORT, path, name))
        exports = self._files.exports(path)
        return not name.startswith("_") if exports is None else name in exports

    def note_exports(self, file: ScopedFile) -> None:
        """Note that everything is read that a file exports."""
        if file is not self._own:
            self.asked.add((_EXPORTED, file, ""))

    def module(self, importer: str, level: int, dotted: str) -> ModulePath | Absent:
        """What an import in a file names; `level` is the number of dots before it."""
        self.asked.add((_MODULE, module_path_of(importer), f"{level}\0{dotted}"))
        if level:
            return self._paths.relative(importer, level, dotted)
        return self._paths.absolute(importer, dotted)

    def child(self, folder: str, name: str) -> ModulePath | None:
        """The submodule of the package in a folder; "" is no package's."""
        self.asked.add((_MODULE, folder, f"{_CHILD}\0{name}"))
        return self._paths.child(folder, name)

    def method(self, name: str) -> tuple[str, str] | None:
        """The file and place of the method that a name identifies."""
        self.asked.add((_METHOD, "", name))
        return self._methods().get(name)

    def record(self) -> LookupRecord | None:
        """What the file has asked for; None if that is too much."""
        # Many files ask the same.
        modules = (intern(f"{one}\0{two}") for kind, one, two in self.asked if kind == _MODULE)
        return pack_record(self.asked, self._cells, self._cells_of, modules)

    def _cells_of(self, question: _Question) -> Iterator[tuple[int, int, int]]:
        kind, holder, name = question
        if kind == _NAME:
            yield owner_of(holder.file.path), name_key(place_of(holder), name), name_answer(holder, name)
        elif kind == _HEAD:
            yield owner_of(holder.file.path), head_key(place_of(holder)), head_answer(holder)
        elif kind == _EXPORTED:
            yield owner_of(holder.path), EXPORTED, exported_answer(holder)
        elif kind == _EXPORT:
            exports, owner = self._files.exports(holder), owner_of(holder)
            yield owner, LISTS_EXPORTS, ABSENT if exports is None else LISTED
            if exports is not None:
                yield owner, export_key(name), LISTED if name in exports else ABSENT
        elif kind == _MODULE:
            asked = f"{holder}\0{name}"
            yield hash_answer(asked), 0, _module_answer(self._paths, asked)
        else:
            yield _method_owner(name), 0, _method_answer(self._methods().get(name))


def _module_answer(paths: ModulePaths, question: str) -> int:
    folder, level, dotted = question.split("\0", 2)
    if level == _CHILD:
        found: ModulePath | Absent | None = paths.child(folder, dotted)
    elif level == "0":
        found = paths.absolute(f"{folder}/", dotted)
    else:
        found = paths.relative(f"{folder}/", int(level), dotted)
    return ABSENT if found is None else hash_answer("\0".join(found) if isinstance(found, ModulePath) else found)


def answers_of_modules(paths: ModulePaths, questions: Iterable[str]) -> dict[int, Answers]:
    """The answers to questions about modules; each is an owner by itself, since any file may change it."""
    return {hash_answer(question): {0: _module_answer(paths, question)} for question in questions}


def answers_of_methods(telling: Mapping[str, Telling], last: Mapping[str, Telling]) -> dict[int, Answers]:
    """Which methods the names identify that files have now or had in the `last` build, if that may have changed.

    `telling` is of all files, `last` of those that differ. Each name is an owner by itself.
    """
    names = {name for path, old in last.items() for name, _ in old.items() ^ telling.get(path, {}).items()}
    methods = find_methods(telling) if names else {}
    return {_method_owner(name): {0: _method_answer(methods.get(name))} for name in names}


def _method_owner(name: str) -> int:
    return hash_answer(f"method\0{name}")


def _method_answer(method: tuple[str, str] | None) -> int:
    return ABSENT if method is None else hash_answer("\0".join(method))


def find_methods(telling: Mapping[str, Telling]) -> Methods:
    """The methods that names identify, from the names of each file."""
    found: dict[str, tuple[str, str] | None] = {}
    for path in sorted(telling):
        for name, place in telling[path].items():
            found[name] = None if name in found or place == NO_METHOD else (path, place)
    return found
