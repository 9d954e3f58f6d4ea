"""The names of a file of a declared language that are used and not called: functions handed over, types, constants.

Left out is what cannot mean any of these, as far as the file itself shows that: names that are declared, callees,
imports, variables, keys.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from codesum_pipeline.symbols.languages.declaration import Declaration
from codesum_pipeline.symbols.languages.hook_values import NamedWord
from codesum_pipeline.symbols.languages.spans import NestedRanges, is_inside
from codesum_pipeline.symbols.languages.spec import Span
from codesum_pipeline.symbols.parsing.nested_definitions import FileOutline

OUTSIDE = -1
# Paths of more names are of programs that write programs.
_MOST_NAMES = 12
# So many bytes there may be between two names of a path, blanks included.
_NEAR = 100
_ASSIGNED = re.compile(rb"\s*=(?![=>~])")
_KEYED = re.compile(rb"\s*:(?!:)")
_BLANKS = b" \t\r\n"
# In others, a word for a type is the type of what is declared beside it.
_DECLARING_TYPES = frozenset({
    "alias_declaration", "type_alias", "type_item", "type_parameter", "type_parameter_declaration", "type_parameters",
    "typealias_declaration", "optional_type_parameter_declaration",
})  # fmt: skip
# The marks before which there may be no name.
_ROOTED = ("::", "\\")
# What means the object or class around, and is no use of anything by itself.
_OWN_WORDS = frozenset({"this", "self", "Self", "super", "crate", "__MODULE__", "$this"})


class UsedName(NamedTuple):
    """The names of a path, the first byte of the last one, whether that may be a function, and of how many arguments
    (-1: unknown)."""

    names: tuple[str, ...]
    start: int
    may_be_function: bool
    arguments: int = -1


class NamedUses:
    """Reads the uses of one file; `content` is what is known of its names already."""

    def __init__(
        self, declaration: Declaration, outline: FileOutline, source: bytes, content: Mapping[str, Sequence[Any]]
    ) -> None:
        self._declaration, self._syntax, self._source = declaration, declaration.uses, source
        self._outline = outline
        self._links = tuple(link.encode() for link in self._syntax.links)
        self._parents = [definition.parent for definition in outline.definitions]
        spans = [(one.code_start, one.end_byte, number) for number, one in enumerate(outline.definitions)]
        self._nested = NestedRanges(spans)
        self._variables = {
            (row[0], row[1]) for kind in ("typed", "bound") for row in content[kind] if row[0] != OUTSIDE
        }
        for number, head in enumerate(content["heads"]):
            self._variables.update((number, name) for name in head[1])
        self._types = {number for number, row in enumerate(content["symbols"]) if row[1] == "class"}

    def read(
        self,
        words: Iterable[NamedWord],
        callees: Collection[int],
        imports: Iterable[Span],
        scope_of: Callable[[int, int], int],
    ) -> list[list[Any]]:
        """`[scope, path, whether it may be a function, arguments, how often]`; `callees` are the first bytes of their
        last names, and `scope_of` says which scope of a symbol contains a byte."""
        found: Counter[tuple[int, str, int, int]] = Counter()
        # All names are read before, since one may be declared behind its use.
        for use in [*self._uses(words, callees, sorted(imports))]:
            symbol = self._symbol_at(use.start)
            if not self._is_variable(symbol, use):
                scope = scope_of(symbol, use.start)
                found[scope, " ".join(use.names), int(use.may_be_function), use.arguments] += 1
        return [[*key, count] for key, count in found.items()]

    def _uses(self, words: Iterable[NamedWord], callees: Collection[int], imports: list[Span]) -> Iterator[UsedName]:
        syntax, source = self._syntax, self._source
        end, names = 0, tuple[str, ...]()
        for word in words:
            start, text, kind, around = word
            if kind in syntax.handed:
                handed = syntax.find_handed(source, word)
                if handed is not None and start not in callees:
                    yield UsedName(handed.names, start, True, handed.arguments)
                continue
            names = self._path(names, end, word)
            end = start + len(text if text.isascii() else text.encode())
            if not names or start in callees or (len(names) == 1 and text in _OWN_WORDS):
                continue
            if len(names) == 1 and self._is_declared(start, end, kind, around):
                self._variables.add((self._symbol_at(start), text))
            elif not self._is_assigned(start, end, kind, around) and not is_inside(imports, start):
                may_be_function = kind in syntax.functions and (not syntax.handing or around in syntax.handing)
                yield UsedName(names, start, may_be_function)

    def _path(self, names: tuple[str, ...], end: int, word: NamedWord) -> tuple[str, ...]:
        """The names of a path up to a word, the last of which is the word; none where it begins with something else."""
        start, source = word.start, self._source
        own = tuple(word.text.replace("\\", " ").replace("::", " ").replace(".", " ").split())
        if 0 < start - end <= _NEAR and source[end:start].strip(_BLANKS) in self._links:
            return (*names, *own) if names and len(names) < _MOST_NAMES else ()
        if word.kind in self._syntax.members:
            return ()
        before = source[max(start - _NEAR, 0) : start].rstrip(_BLANKS)
        for link in self._links:
            if before.endswith(link) and link.decode() not in _ROOTED:
                return ()
        return own

    def _is_declared(self, start: int, end: int, kind: str, around: str) -> bool:
        pattern = self._syntax.declared_before
        if pattern is not None and kind in self._syntax.functions and pattern.match(self._source, end, end + _NEAR):
            return True
        if around not in self._syntax.declaring or (kind in self._syntax.types and around not in _DECLARING_TYPES):
            return False
        return not self._source[max(start - _NEAR, 0) : start].rstrip(_BLANKS).endswith((b"=", b"=>"))

    def _is_assigned(self, start: int, end: int, kind: str, around: str) -> bool:
        """Whether a word is assigned, or is the key of what comes after it."""
        syntax, source = self._syntax, self._source
        if around in syntax.keyed and _KEYED.match(source, end):
            return True
        before = source[max(start - _NEAR, 0) : start]
        if syntax.unused_behind is not None and syntax.unused_behind.search(before):
            return True
        # What is behind a colon is the type of what is given a value.
        is_given = kind not in syntax.types and _ASSIGNED.match(source, end) is not None
        return is_given and not before.rstrip(_BLANKS).endswith(b":")

    def _symbol_at(self, start: int) -> int:
        at = self._nested.at(start)
        return self._nested.ranges[at][2] if at >= 0 else OUTSIDE

    def _is_variable(self, symbol: int, use: UsedName) -> bool:
        """Whether a path begins with a variable of a function around it, whose members are not handed over."""
        if len(use.names) > 1 and self._syntax.hands_members:
            return False
        around: int | None = symbol if symbol != OUTSIDE else None
        while around is not None:
            if around not in self._types and (around, use.names[0]) in self._variables:
                return True
            around = self._parents[around]
        return False
