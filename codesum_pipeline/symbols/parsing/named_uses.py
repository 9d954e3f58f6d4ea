"""The names of a file of a declared language that are used and not called: functions handed over, types, constants.

Left out is what cannot mean any of these, as far as the file itself shows that: names that are declared, callees,
imports, variables, keys.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from codesum_pipeline.languages.declarations.declaration import Declaration
from codesum_pipeline.languages.declarations.hook_values import NamedWord, WordRow
from codesum_pipeline.languages.declarations.spans import NestedRanges, is_inside
from codesum_pipeline.languages.declarations.spec import Span
from codesum_pipeline.symbols.parsing.nested_definitions import FileOutline

OUTSIDE = -1
# Paths of more names are of programs that write programs.
_MOST_NAMES = 12
# So many bytes there may be between two names of a path, blanks included.
_NEAR = 100
_ASSIGNED = re.compile(rb"\s*=(?![=>~])")
_KEYED = re.compile(rb"\s*:(?!:)")
_TYPE_OF_NAME = re.compile(rb"\s+[@\w\x80-\xff]")
_BLANKS = b" \t\r\n"
# In others, a word for a type is the type of what is declared beside it.
# Of the words for types, those whose names hide others in all of a class, too.
_TYPE_PARAMETERS = frozenset({
    "type_parameter", "type_parameter_declaration", "type_parameters", "type_params", "infer_type",
    "optional_type_parameter_declaration", "variadic_type_parameter_declaration", "mapped_type_clause",
    "covariant_type_parameter", "contravariant_type_parameter", "associatedtype_declaration",
})  # fmt: skip
_DECLARING_TYPES = _TYPE_PARAMETERS - {"type_params"} | {
    "alias_declaration", "type_alias", "type_item", "typealias_declaration",
}  # fmt: skip
# The name of what is thrown away.
_NOTHING = "_"
# The marks before which there may be no name; behind one of these bytes, they lead to a member of something.
_ROOTED = (b"::", b"\\")
_ENDS_OF_OWNERS = re.compile(rb"[\w)\]]|(?<!=)>")
_PATH_MARKS = re.compile(r"\\|::|\.")
_BEFORE_VALUES = (b" ", b"=", b"\t")
# What is behind a name that has others inside of it.
_INSIDE = b"::"
_ATTRIBUTE = "attribute"
# The names of a path with blanks between them, the first byte of the last one, whether that may be a function, and of
# how many arguments (-1: unknown).
_UsedName = tuple[str, int, int, int]
# What means the object or class around, and is no use of anything by itself.
_OWN_WORDS = frozenset({"this", "self", "Self", "super", "crate", "__MODULE__", "$this"})


class NamedUses:
    """Reads the uses of one file; `content` is what is known of its names already."""

    def __init__(
        self, declaration: Declaration, outline: FileOutline, source: bytes, content: Mapping[str, Sequence[Any]]
    ) -> None:
        self._declaration, self._syntax, self._source = declaration, declaration.uses, source
        self._outline = outline
        self._links = tuple(link.encode() for link in self._syntax.links)
        self._link_ends = frozenset(link[-1] for link in self._links)
        self._link_starts = frozenset(link[:1] for link in self._links)
        self._parents = [definition.parent for definition in outline.definitions]
        spans = [(one.code_start, one.end_byte, number) for number, one in enumerate(outline.definitions)]
        self._nested = NestedRanges(spans)
        self._variables = {
            (row[0], row[1]) for kind in ("typed", "bound") for row in content[kind] if row[0] != OUTSIDE
        }
        for number, head in enumerate(content["heads"]):
            self._variables.update((number, name) for name in head[1])
        self._types = {number for number, row in enumerate(content["symbols"]) if row[1] == "class"}
        # A property with code is a field and a definition, which is used.
        self._properties = {
            (one.parent, one.parts[-1]) for one in (outline.definitions if self._syntax.fields_hide else ())
        }
        # Those hold in all of a class, whose other variables are its members.
        self._type_parameters = set[tuple[int, str]]()
        self._declared_behind = tuple(f"{word} ".encode() for word in self._syntax.declared_behind)
        self._seen_from = self._first_bytes(content["heads"]) if self._syntax.seen_below else {}

    def read(
        self,
        words: Iterable[WordRow],
        callees: Collection[int],
        imports: Iterable[Span],
        scope_of: Callable[[int, int], int],
    ) -> list[list[Any]]:
        """`[scope, path, whether it may be a function (2: if that is the only one of its name), arguments, how often]`;
        `callees` are the first bytes of their last names, and `scope_of` says which scope of a symbol has a byte."""
        if self._syntax.foreign is not None and self._syntax.foreign.search(self._source):
            return []
        found: dict[tuple[int, str, int, int], int] = {}
        is_variable: dict[tuple[int, str, int], bool] = {}
        hands_members, seen_from = self._syntax.hands_members, self._seen_from
        # All names are read before, since one may be declared behind its use.
        uses = [*self._uses(words, callees, sorted(imports))]
        variables = {name for _, name in self._variables}
        ranges = self._nested.ranges
        for (path, start, may_be_function, arguments), place in zip(
            uses, self._nested.at_each(start for _, start, _, _ in uses), strict=True
        ):
            symbol = ranges[place][2] if place >= 0 else OUTSIDE
            name, _, others = path.partition(" ")
            if start < seen_from.get(name, 0):
                continue
            if name in variables and not (others and hands_members):
                at = (symbol, name, may_be_function)
                known = is_variable.get(at)
                if known is None:
                    known = is_variable[at] = self._is_variable(*at)
                if known:
                    continue
            key = (scope_of(symbol, start), path, may_be_function, arguments)
            found[key] = found.get(key, 0) + 1
        return [[*key, count] for key, count in found.items()]

    def _uses(self, words: Iterable[WordRow], callees: Collection[int], imports: list[Span]) -> Iterator[_UsedName]:
        syntax, source = self._syntax, self._source
        handed, functions, handing, declaring = syntax.handed, syntax.functions, syntax.handing, syntax.declaring
        members, fields, link_ends, link_starts = syntax.members, syntax.fields, self._link_ends, self._link_starts
        keyed, types, unused_behind, naming = syntax.keyed, syntax.types, syntax.unused_behind, syntax.naming
        leads, attributes = _INSIDE in self._links, syntax.attributes
        declared_anywhere = syntax.declared_before is not None or bool(syntax.declared_behind)
        last_import = max((last for _, last in imports), default=0)
        end, path, unread = 0, "", 0
        for start, text, kind, around in words:
            if kind in handed:
                found = syntax.find_handed(source, NamedWord(start, text, kind, around))
                if found is not None and start not in callees:
                    yield " ".join(found.names), start, 1 + found.is_only, found.arguments
                continue
            if (start and source[start - 1] in link_ends) or kind in members:
                path = self._path(path, end, start, text, kind)
            else:
                path = text if text.isidentifier() else _parts(text)
            end = start + (len(text) if text.isascii() else len(text.encode()))
            if not path:
                if around in fields:
                    self._variables.add((self._symbol_at(start), text))
                continue
            is_lone = path == text and not functions and text[0].islower()
            # No class or constant, but it may lead to one.
            if is_lone and not (source[end : end + 1] in link_starts and self._is_linked(end)):
                continue
            if start in callees or start < unread or text == _NOTHING:
                continue
            if around == _ATTRIBUTE and (mark := attributes.get(text)) is not None:
                unread = source.find(mark.encode(), end)
                continue
            if "\\" in text and end - len(text.rpartition("\\")[2].encode()) in callees:
                continue
            if " " not in path:
                if text in _OWN_WORDS:
                    continue
                may_declare = around in declaring or declared_anywhere or around in naming
                if may_declare and self._is_declared(start, end, kind, around):
                    declared = (self._symbol_at(start), text)
                    self._variables.add(declared)
                    if around in _TYPE_PARAMETERS:
                        self._type_parameters.add(declared)
                    continue
            may_be_assigned = kind not in types and source[end : end + 1] in _BEFORE_VALUES
            if (may_be_assigned or around in keyed or unused_behind) and self._is_assigned(start, end, kind, around):
                continue
            if start >= last_import or not is_inside(imports, start):
                may_be_function = kind in functions and (not handing or around in handing)
                # Nothing is inside of a function; `f::<T>` is one all the same.
                is_way = leads and source[end : end + 2] == _INSIDE and source[end + 2 : end + 3] != b"<"
                yield path, start, int(may_be_function and not is_way), -1

    def _first_bytes(self, heads: Sequence[Any]) -> dict[str, int]:
        """Where the first definition of a name begins, if nothing above sees any of that name."""
        first: dict[str, int] = {}
        for definition, head in zip(self._outline.definitions, heads, strict=True):
            is_below = not self._syntax.seen_below.isdisjoint(head[0])
            if is_below or len(definition.parts) == 1:
                first.setdefault(definition.parts[-1], definition.code_start if is_below else 0)
        return first

    def _is_linked(self, end: int) -> bool:
        """Whether a mark comes behind a word that leads to a member."""
        return self._source[end : end + 2].startswith(self._links)

    def _path(self, path: str, end: int, start: int, text: str, kind: str) -> str:
        """The names of a path up to a word, the last of which is the word; none where it begins with something else."""
        source = self._source
        if 0 < start - end <= _NEAR and source[end:start].strip(_BLANKS) in self._links:
            return f"{path} {_parts(text)}".rstrip() if path and path.count(" ") < _MOST_NAMES - 1 else ""
        if kind in self._syntax.members:
            return ""
        before = source[max(start - 2, 0) : start]
        # A range or a spread is no link.
        link = next((link for link in self._links if before.endswith(link)), b"") if before != b".." else b""
        is_member = link and (link not in _ROOTED or _ENDS_OF_OWNERS.match(source, start - len(link) - 1))
        return "" if is_member else _parts(text)

    def _is_declared(self, start: int, end: int, kind: str, around: str) -> bool:
        syntax, source = self._syntax, self._source
        pattern = syntax.declared_before
        if around in syntax.naming:
            return _TYPE_OF_NAME.match(source, end, end + _NEAR) is None
        if kind in syntax.functions and not source[start : start + 1].isupper():
            if around in syntax.patterns or (
                self._declared_behind and source.endswith(self._declared_behind, 0, start)
            ):
                return True
            if pattern is not None and pattern.match(source, end, end + _NEAR):
                return True
        if around not in syntax.declaring or (kind in syntax.types and around not in _DECLARING_TYPES):
            return False
        return not source[max(start - _NEAR, 0) : start].rstrip(_BLANKS).endswith((b"=", b"=>"))

    def _is_assigned(self, start: int, end: int, kind: str, around: str) -> bool:
        """Whether a word is assigned, or is the key of what comes after it."""
        syntax, source = self._syntax, self._source
        if around in syntax.keyed and _KEYED.match(source, end):
            return True
        if syntax.unused_behind is not None and syntax.unused_behind.search(source, max(start - _NEAR, 0), start):
            return True
        if kind in syntax.types or source[end : end + 1] not in _BEFORE_VALUES or not _ASSIGNED.match(source, end):
            return False
        # What is behind a colon is the type of what is given a value.
        return not source[max(start - _NEAR, 0) : start].rstrip(_BLANKS).endswith(b":")

    def _symbol_at(self, start: int) -> int:
        return self._nested.number_at(start)

    def _is_variable(self, symbol: int, name: str, may_be_function: int) -> bool:
        """Whether a name is a variable of a function around, or a parameter or a field of a type around."""
        around: int | None = symbol if symbol != OUTSIDE else None
        hides_all = self._syntax.fields_hide and may_be_function
        while around is not None:
            declared = (around, name)
            sees_all = around not in self._types or (hides_all and declared not in self._properties)
            if declared in (self._variables if sees_all else self._type_parameters):
                return True
            around = self._parents[around]
        # `impl<T>` is in no definition.
        return (OUTSIDE, name) in self._type_parameters


def _parts(text: str) -> str:
    """The names in a word, with blanks between them; a language may write a path as one. `\\Exception` of PHP has none:
    it is not in the namespace of the file."""
    if text.isidentifier():
        return text
    parts = _PATH_MARKS.sub(" ", text).split()
    return "" if text.startswith("\\") and len(parts) == 1 else " ".join(parts)
