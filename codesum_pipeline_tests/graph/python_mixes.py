"""Small repositories of Python whose few names mean many things in many files."""

from codesum_pipeline_tests.graph.code_mixes import Vocabulary

_PATHS = (
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

PYTHON = Vocabulary(
    paths=_PATHS,
    imports=_IMPORTS,
    items=_ITEMS,
    values=_VALUES,
    words={"module": _MODULES, "module_name": tuple(module for module in _MODULES if not module.startswith(".")),
           "name": _NAMES, "other": _NAMES, "member": _MEMBERS, "type": _TYPES, "decorator": _DECORATORS},
)  # fmt: skip
