"""How a language uses names that it does not call: the table `[uses]` of a `*.syntax.toml`.

The names themselves are the tokens of `LanguageSpec.words`.
"""

import re
from collections.abc import Callable, Mapping

from msgspec import Struct, field

from codesum_pipeline.languages.declarations.hook_values import NamedWord
from codesum_pipeline.languages.declarations.spec import Names, split_keys


class HandedName(Struct, frozen=True):
    """A function that is named in a way of its own, such as by a text: the names before its own, and how many arguments
    it takes (-1: unknown). One that `is_only` is meant if no other function has its name."""

    names: tuple[str, ...]
    arguments: int = -1
    is_only: bool = False


class UseSyntax(Struct, frozen=True, kw_only=True):
    """One language's ways to use a name. By default each name may mean a class or a constant, and none a function."""

    # The marks between a name and a member of what it means. Rust: ":: .".
    links: Names = frozenset({"."})
    # Words of these kinds may also mean functions; of the others, types and constants alone. Go: "identifier".
    functions: Names = frozenset()
    # Words of these kinds are types alone, also beside what is declared. Haskell: "name".
    types: Names = frozenset({"type_identifier"})
    # Words of these kinds mean something only behind a mark. JavaScript: "property_identifier".
    members: Names = frozenset()
    # Whether a member of a variable's object is handed over by its name. Go: `http.HandleFunc("/", server.show)`.
    hands_members: bool = False
    # Whether fields hide functions and constants in the methods of their type. Those of a known type do so wherever
    # members are seen without a receiver. Swift: `let log = Log.shared`.
    fields_hide: bool = False
    # Where a word of `members` that is behind no mark is a field. C++: "field_declaration".
    fields: Names = frozenset()
    # A word that is directly in one of these is declared there, unless it is behind `=` or `=>`.
    # Go: "parameter_declaration".
    declaring: Names = frozenset()
    # Of the words directly in one of these, the last one is declared there, and those before it are its type. C#:
    # "property_declaration".
    naming: Names = frozenset()
    # The attributes that the language itself has, and the mark up to which their words are no names of the repository.
    # Rust: {"allow": "]"}.
    attributes: Mapping[str, str] = field(default_factory=dict)
    # What shows that a file is of another language, which the grammar reads in part: its names are not believed. C:
    # `@interface`.
    foreign: re.Pattern[bytes] | None = None
    # Words before a constant or definition that no other file sees. Swift: "private fileprivate".
    private: Names = frozenset()
    # Whether what extends an inner type by its whole name sees nothing of the type around it. Swift:
    # `extension Page.Item`.
    has_extensions_apart: bool = False
    # Words before a definition that nothing above it sees. Lua: "local".
    seen_below: Names = frozenset()
    # Patterns of what comes right before a word that is no use, and right behind one that is declared, in one line.
    # Rust: `impl`; Haskell: `->`, after the pattern of a case. A word that begins with a capital is not declared so.
    unused_behind: re.Pattern[bytes] | None = None
    declared_before: re.Pattern[bytes] | None = None
    # A word behind one of these, and a blank, is declared, unless it begins with a capital. Swift: "let var".
    declared_behind: Names = frozenset()
    # The same of a word that is directly in one of these: others there are constants. Rust: "match_pattern".
    patterns: Names = frozenset()
    # Where alone words may mean functions, if not everywhere: types have the same kind. C#: "argument".
    handing: Names = frozenset()
    # A word before `:` in one of these says what comes after it is for. Go: "literal_element".
    keyed: Names = frozenset()
    # Words of these kinds are names only where that says so, and then of functions: `method(:name)` of Ruby.
    handed: Names = frozenset()
    find_handed: Callable[[bytes, NamedWord], HandedName | None] = lambda source, word: None

    def __post_init__(self) -> None:
        split_keys(self, "attributes")
