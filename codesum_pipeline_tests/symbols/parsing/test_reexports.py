"""What files hand on that others define, language by language."""

import pytest

from codesum_pipeline.foundation.data_model.symbol import FileFacts, Reexport
from codesum_pipeline.symbols.parsing.parsers import PARSERS

ALL = ("*", "*")


def facts(language: str, path: str, source: str) -> FileFacts:
    return PARSERS[language].parse(source.encode(), path).facts


STATED = {
    "Rust: pub use, with a list, a name after as, and a star": (
        "rust", "src/lib.rs", "mod a;\npub use a::b::{C, D as E, f::*};\nuse z::q;\n",
        [("C", "C", "a::b"), ("E", "D", "a::b"), (*ALL, "a::b::f")],
    ),
    "Rust: what one crate alone sees, too": (
        "rust", "src/a.rs", "pub(crate) use self::x::Y;\npub use q::T as _;\n", [("Y", "Y", "self::x")]
    ),
    "TypeScript: export from": (
        "typescript", "index.ts",
        'export * from "./a"; export * as ns from "./b"; export { c as d, e } from "./c";\n'
        'export type { T } from "./t";\n',
        [(*ALL, "./a"), ("ns", None, "./b"), ("d", "c", "./c"), ("e", "e", "./c"), ("T", "T", "./t")],
    ),
    "TypeScript: what was imported first": (
        "typescript", "index.ts",
        'import { f, g as h } from "./f"; import D from "./d"; export { f, h as i }; export default D;\n',
        [("f", "f", "./f"), ("i", "g", "./f"), ("default", "default", "./d")],
    ),
    "JavaScript: a module that is another": ("javascript", "index.js", 'module.exports = require("./lib/x");\n',
        [(*ALL, "./lib/x")]),
    "JavaScript: fields of exports": (
        "javascript", "index.js",
        'const q = require("./q"); const { w: W } = require("./w");\n'
        'exports.x = require("./b").c; module.exports = { a: require("./a"), q, W };\n',
        [("x", "c", "./b"), ("a", None, "./a"), ("q", None, "./q"), ("W", "w", "./w")],
    ),
    "Python: what a package takes from itself": (
        "python", "p/__init__.py",
        "import os\nfrom .a import b, _c\nfrom . import d\nfrom p.e import F as G\nfrom x import y\n",
        [("b", "b", ".a"), ("d", "d", "."), ("G", "F", "p.e")],
    ),
    "Python: what __all__ names, and a name that is imported as itself": (
        "python", "p/m.py", 'from .a import b, c\nfrom x import y as y, z\n__all__ = ["b", "z"]\n',
        [("b", "b", ".a"), ("y", "y", "x"), ("z", "z", "x")],
    ),
    "Python: all of another module": ("python", "p/old.py", "from .new import *  # noqa\n", [(*ALL, ".new")]),
    "C: a header that only includes others": (
        "c", "a.h", '#ifndef A_H\n#define A_H\n#pragma once\n/* x */\n#include "x/y.h"\n#include <z.h>\n#endif\n',
        [(*ALL, "x/y.h"), (*ALL, "z.h")],
    ),
    "C++: a header that includes one or the other": (
        "cpp", "a.hpp", '#pragma once\n#ifdef X\n#include "x.hpp"\n#else\n#include "y.hpp"\n#endif\n',
        [(*ALL, "x.hpp"), (*ALL, "y.hpp")],
    ),
    "Haskell: modules and names of an export list": (
        "haskell", "X.hs",
        "module X (module Y, module Q, foo, T(..)) where\nimport Y\nimport A (foo, T(..))\nimport W.E as Q\n",
        [(*ALL, "Y"), (*ALL, "W.E"), ("foo", "foo", "A"), ("T", "T", "A")],
    ),
    "Lua: the table that a file returns": (
        "lua", "init.lua", 'local b = require("b.c")\nreturn { a = require("a"), b = b, c = b.d }\n',
        [("a", None, "a"), ("b", None, "b.c"), ("c", "d", "b.c")],
    ),
    "Lua: a file that is another": ("lua", "x.lua", 'return require("x.init")\n', [(*ALL, "x.init")]),
    "Zig: public constants of imports": (
        "zig", "main.zig", 'pub const x = @import("x.zig");\npub const X = x.Y;\nconst z = @import("z.zig");\n',
        [("x", None, "x.zig"), ("X", "Y", "x.zig")],
    ),
    "Scala: export": ("scala", "a.scala", "package a\nexport b.C\nexport b.{D as E, *}\n",
        [("C", "C", "b"), ("E", "D", "b"), (*ALL, "b")]),
    "Kotlin: an alias of an imported type": (
        "kotlin", "a.kt", "import other.Y\ntypealias X = Y\n", [("X", "Y", "other")]
    ),
    "Swift: an exported import": ("swift", "a.swift", "@_exported import A\n", [(*ALL, "A")]),
}  # fmt: skip


@pytest.mark.parametrize(("language", "path", "source", "expected"), STATED.values(), ids=STATED)
def test_what_a_file_hands_on_is_a_fact_of_it(
    language: str, path: str, source: str, expected: list[tuple[str, str | None, str]]
) -> None:
    assert facts(language, path, source).reexports == tuple(Reexport(*one) for one in expected)


@pytest.mark.parametrize(
    ("language", "path", "source"),
    [
        ("rust", "src/lib.rs", "use a::B;\n"),
        ("typescript", "a.ts", 'import { f } from "./f"; export const g = f;\n'),
        ("javascript", "a.js", 'const a = require("./a"); exports.run = () => a();\n'),
        ("python", "p/m.py", "from .a import b\nimport os\n"),
        ("python", "p/__init__.py", "from __future__ import annotations\nfrom typing import Any\n"),
        ("c", "a.h", '#include "x.h"\nint y;\n'),
        ("cpp", "a.h", '#include "x.h"\n#define WIDTH 3\n'),
        ("haskell", "X.hs", "module X (module X, f) where\nimport A (g)\nf = g\n"),
        ("lua", "a.lua", 'local a = require("a")\nreturn { b = 1 }\n'),
        ("zig", "a.zig", 'const x = @import("x.zig");\nconst X = x.Y;\n'),
    ],
)
def test_what_a_file_uses_itself_is_not_handed_on(language: str, path: str, source: str) -> None:
    assert facts(language, path, source).reexports == ()


@pytest.mark.parametrize(
    ("language", "path", "source", "expected"),
    [
        ("python", "p/__init__.py", '"""Words."""\nfrom .a import b\n__version__ = "1"\n__all__ = ["b"]\n', True),
        ("python", "p/__init__.py", "from .a import b\ndef f(): pass\n", False),
        ("python", "p/__init__.py", "from .a import b\nDEFAULT = 3\n", False),
        ("python", "p/__init__.py", "", False),
        ("rust", "src/lib.rs", "//! Words.\nmod a;\npub use a::B;\n", True),
        ("rust", "src/lib.rs", "mod a;\npub use a::B;\npub fn f() {}\n", False),
        ("typescript", "index.ts", 'export * from "./a";\n', True),
        ("typescript", "index.ts", 'export * from "./a";\nexport const b = 1;\n', False),
        ("haskell", "X.hs", "module X (module Y, g) where\nimport Y\n", True),
    ],
)
def test_a_file_that_defines_nothing_itself_says_so(language: str, path: str, source: str, expected: bool) -> None:
    assert facts(language, path, source).only_reexports is expected
