"""How tests of a language are recognised, besides the modifier `test` and the well-known bases."""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from codesum_pipeline.foundation.data_model.symbol import Import, Symbol
from codesum_pipeline.languages.declarations.spec import Mark, Names, Span

# The modifier of tests.
TEST = "test"


class FrameworkRules(Struct, frozen=True, kw_only=True):
    """What the test frameworks of one language look like. By default there is nothing but what all languages share."""

    # Calls at the top of a file with a text, or what is tested, and a body. Lua: "describe it".
    calls: Names = frozenset()
    # Whether a definition is a test, from its children and what the file imports. It decides alone.
    is_test: Callable[[Symbol, Sequence[Symbol], Sequence[Import]], bool] | None = None
    # Whether a file is one of tests, from its path, its imports and its definitions.
    is_test_file: Callable[[str, Sequence[Import], Sequence[Symbol]], bool] = lambda path, imports, symbols: False
    # The signatures of tests. C: those of macros that make tests.
    signatures: re.Pattern[str] | None = None
    # The parts of a file that hold nothing but tests. Rust: a module with `#[cfg(test)]`.
    modules: Callable[[Sequence[Mark]], Sequence[Span]] = lambda outside: ()
    # A class with one of these bases holds tests as calls in its body. Kotlin: "FunSpec".
    specs: Names = frozenset()
    # A class with a base of a framework is no test if it has one of these modifiers. Swift: "open public".
    library_words: Names = frozenset()
    # A class with a base of a framework needs test methods.
    needs_methods: bool = True
    # A class is a test if a method is.
    methods_decide: bool = False
    # What makes all of a file a test, in its head. Go: a build tag.
    tag: re.Pattern[bytes] | None = None
    # Tests are in the file of what they test.
    stands_beside: bool = False
    # A file is a test only if it has nothing else.
    is_whole: bool = False


def is_called_test(symbol: Symbol) -> bool:
    """Whether a method is a test by its mark or its name."""
    return TEST in symbol.modifiers or symbol.name.startswith(("test", "spec"))
