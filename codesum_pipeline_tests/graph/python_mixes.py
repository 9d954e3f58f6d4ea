"""Small Python repositories whose few names mean many things in many files, and random changes of them."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Sources = Mapping[str, str]

PATHS = (
    "a.py", "b.py", "one.py", "pkg/__init__.py", "pkg/c.py", "pkg/one.py", "pkg/sub/__init__.py", "pkg/sub/d.py",
    "src/e.py", "loose/f.py", "tests/test_g.py",
)  # fmt: skip
_MODULES = (
    *("a", "b", "one", "pkg", "pkg.c", "pkg.one", "pkg.sub", "pkg.sub.d", "e", "loose.f") * 3,
    *("f", ".", "..", ".c", ".one", ".sub", "..c", ".d", "enum", "typing", "contextlib", "outside.deep"),
)
_NAMES = ("one", "two", "Thing", "Other", "LIMIT", "make", "_hidden", "c", "sub")
_MEMBERS = ("run", "one", "leave_for_good", "fold_edges", "__enter__", "__iter__", "__call__", "LIMIT", "value")
_TYPES = ("Thing", "Other", "'Thing | None'", "list[Thing]", "dict[str, Other]", "Self", "one.Thing", "c.Other", "int")
_DECORATORS = ("property", "contextmanager", "overload", "unheard_of", "run.setter", "staticmethod", "cache")
_IMPORTS = (
    "import {module}",
    "import {module} as {name}",
    "from {module} import {name}",
    "from {module} import {name}",
    "from {module} import {name} as {other}",
    "from {module} import *",
)
_ITEMS = (
    *_IMPORTS,
    "__all__ = ['{name}', '{other}']",
    "{name} = {value}",
    "{name}: {type} = {value}",
    "{value}",
    "{value}\n{name}.{member}()",
    "def {name}(x: {type} = None) -> {type}:\n    x.{member}()\n    return {value}",
    "def {name}(x):\n    y = {value}\n    y.{member}()\n    return y",
    "def {name}(x):\n    def inner():\n        return {value}\n    return inner()",
    "def {name}():\n    yield {value}",
    "@{decorator}\ndef {name}() -> {type}:\n    return {value}",
    "def {name}():\n    global {other}\n    {other} = {value}",
    "def {name}(unknown):\n    unknown.leave_for_good()\n    unknown.fold_edges()",
    "class {name}:\n    {member} = {value}",
    "class {name}({other}):\n    def {member}(self):\n        return self",
    "class {name}({other}):\n    def __init__(self):\n        self.{member} = {value}\n"
    "    @{decorator}\n    def run(self) -> {type}:\n        return self.{member}.run()",
    "class {name}({value}, {other}):\n    def {member}(self):\n        super().{member}()\n        return self.run()",
    "class {name}({module_name}.{other}):\n    def leave_for_good(self):\n        self.value = {value}",
    "for item in {value}:\n    item.{member}()",
    "with {value} as item:\n    item.{member}()",
    "if {name}:\n    {other} = {value}\nelse:\n    {other} = {value}",
    "[item.{member}() for item in {value}]",
)  # fmt: skip
_VALUES = (
    "{name}", "{name}()", "{name}().{member}()", "{name}.{member}", "{name}.{other}()", "{module_name}.{name}()",
    "[{name}()]", "{{1: {name}()}}", "({name}(), {other})[0]", "None", "LIMIT", "lambda: {name}()", "one.one.{name}",
)  # fmt: skip


@dataclass
class PythonMix:
    """Files as lists of items, each some lines; changed step by step."""

    chance: random.Random
    files: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of_seed(cls, seed: int) -> "PythonMix":
        """A repository in which each file has some items."""
        mix = cls(random.Random(seed))
        for path in PATHS:
            mix.files[path] = [mix.item(kind) for kind in (_IMPORTS, _IMPORTS, *[_ITEMS] * mix.chance.randrange(4, 12))]
        return mix

    @property
    def sources(self) -> Sources:
        """The text of each file."""
        return {path: "\n".join([*items, ""]) for path, items in self.files.items()}

    def item(self, items: Sequence[str] = _ITEMS) -> str:
        """Some lines that mean something to other files, or ask for something of them."""
        words = self._words()
        values = self.chance.choice(_VALUES).format(**words)
        return self.chance.choice(items).format(**words, value=values)

    def _words(self) -> dict[str, str]:
        pick = self.chance.choice
        modules = [module for module in _MODULES if not module.startswith(".")]
        return {
            "module": pick(_MODULES), "module_name": pick(modules), "name": pick(_NAMES), "other": pick(_NAMES),
            "member": pick(_MEMBERS), "type": pick(_TYPES), "decorator": pick(_DECORATORS),
        }  # fmt: skip

    def change(self) -> None:
        """Change one thing: an item, or a file that comes, goes or gets another name."""
        changes = (self._put, self._drop, self._swap, self._come_or_go, self._rename)
        self.chance.choices(changes, (8, 4, 2, 1, 1))[0]()

    def _put(self) -> None:
        items = self.files[self.chance.choice([*self.files])]
        if items and self.chance.random() < 0.6:
            items[self.chance.randrange(len(items))] = self.item()
        else:
            items.insert(self.chance.randrange(len(items) + 1), self.item())

    def _drop(self) -> None:
        items = self.files[self.chance.choice([*self.files])]
        if items:
            del items[self.chance.randrange(len(items))]

    def _swap(self) -> None:
        items = self.files[self.chance.choice([*self.files])]
        self.chance.shuffle(items)

    def _come_or_go(self) -> None:
        path = self.chance.choice(PATHS)
        if self.files.pop(path, None) is None or len(self.files) < 4:
            self.files[path] = [self.item() for _ in range(3)]

    def _rename(self) -> None:
        path, other = self.chance.choice([*self.files]), self.chance.choice(PATHS)
        self.files[other] = self.files.pop(path)
