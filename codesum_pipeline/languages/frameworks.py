"""How the tests of a language are told by its code: marks, bases and calls of test frameworks, build tags."""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from codesum_pipeline.languages.spec import Mark, Span
from codesum_pipeline.model.symbols import Import, Symbol

TEST = "test"


class FrameworkRules(Struct, frozen=True):
    """What one language says besides the modifier `test` and the well-known bases.

    `calls` at the top of a file are given a text, or what is tested, and a body. `is_test` decides alone whether a
    definition is a test, from its children and what the file imports; `is_test_file` whether a file is, from its
    path, its imports and its definitions. `signatures` are those of tests, `modules` the parts of a file that hold
    nothing but tests. A class with one of the bases `specs` holds tests as calls in its body; one with a base of a
    framework needs test methods, unless `needs_methods` is false, and has none of the `library_words`. Where
    `methods_decide`, a class is a test if a method is. A `tag` in a file's head makes all of it one. Where
    `stands_beside`, tests stand in the file of what they test, and only one with nothing else is a test, if any
    (`is_whole`).
    """

    calls: frozenset[str] = frozenset()
    is_test: Callable[[Symbol, Sequence[Symbol], Sequence[Import]], bool] | None = None
    is_test_file: Callable[[str, Sequence[Import], Sequence[Symbol]], bool] = lambda path, imports, symbols: False
    signatures: re.Pattern[str] | None = None
    modules: Callable[[Sequence[Mark]], Sequence[Span]] = lambda outside: ()
    specs: frozenset[str] = frozenset()
    library_words: frozenset[str] = frozenset()
    needs_methods: bool = True
    methods_decide: bool = False
    tag: re.Pattern[bytes] | None = None
    stands_beside: bool = False
    is_whole: bool = False


def is_called_test(symbol: Symbol) -> bool:
    """Whether a method is a test by its mark or its name."""
    return TEST in symbol.modifiers or symbol.name.startswith(("test", "spec"))
