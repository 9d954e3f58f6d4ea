"""The names of a Python file that are used and not called: values handed over, types, constants, exceptions caught.

Left out is what cannot mean a definition or a constant, as far as the file itself shows that: names that are declared,
keywords of arguments, imports, variables, and attributes of the receiver that hold values.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tree_sitter import Node

from codesum_pipeline.foundation.data_model.bindings import Bound, ScopeKind
from codesum_pipeline.foundation.language_facts.language_profiles import library_names
from codesum_pipeline.languages.declarations.hook_values import WordRow
from codesum_pipeline.languages.declarations.python.references.python_expressions import MAX_ANNOTATION_BYTES, MAX_LINKS
from codesum_pipeline.languages.declarations.python.references.python_scopes import Binding, NameScope, NameTable
from codesum_pipeline.languages.declarations.spans import NestedRanges, is_inside
from codesum_pipeline.languages.declarations.spec import split_words

# Where a word is a name that is declared there.
_DECLARING = split_words(
    "function_definition class_definition parameters lambda_parameters typed_parameter list_splat_pattern "
    "dictionary_splat_pattern as_pattern_target global_statement nonlocal_statement type_parameter"
)
# Where it is one if a value or a type follows.
_PAIRED = split_words("keyword_argument default_parameter typed_default_parameter keyword_pattern assignment")
_PAIRING = re.compile(rb"\s*(?:=(?!=)|:)")
_LINK = re.compile(rb"[\s\\]*\.[\s\\]*")
_LINKED = split_words("attribute dotted_name")
_BLANKS = b" \t\r\n\\"
# So many bytes before an attribute its dot is looked for.
_NEAR = 200
_QUOTED = re.compile(r"(?<![\w.])[^\W\d]\w*(?:\.[^\W\d]\w*)*")
# Names that are neither called nor keywords.
_BETWEEN_BRACES = re.compile(r"(?<![\w.])[^\W\d]\w*+(?:\.[^\W\d]\w*+)*+(?!\s*\(|\s*=(?!=))")
_IN_QUOTES = re.compile(r"'[^']*+'|\"[^\"]*+\"")
_DEFINING = frozenset({Bound.DEFINED, Bound.IMPORTED, Bound.GLOBAL, Bound.ELSEWHERE})
_RECEIVERS = frozenset({Bound.RECEIVER, Bound.CLASS_RECEIVER})
_VALUED = frozenset({Bound.VALUE, Bound.ANNOTATED})
_NEVER = frozenset({Bound.UNKNOWN, Bound.DELETED, Bound.NARROWED})
# Attributes that every object or class has.
_OF_ALL = split_words("__class__ __name__ __dict__ __doc__ __module__ __qualname__")

# A dotted name, and the byte of its last part.
_Chain = tuple[str, int]


class UseReader:
    """Reads the uses of one file, whose names are placed already; `callees` are the first bytes of last names of
    callees."""

    def __init__(self, table: NameTable, captures: Mapping[str, Sequence[Node]], source: bytes) -> None:
        self._table, self._captures, self._source = table, captures, source
        self._builtins = library_names("python", "builtins")
        self._has_stars = False
        self._owners: dict[tuple[int, str], NameScope | None] = {}
        self._symbols = _symbol_ranges(table, captures)

    def read(self, words: Iterable[WordRow], callees: Collection[int], *, has_stars: bool) -> list[list[Any]]:
        """`[scope in which the name is looked up, scope of what uses it, dotted name, how often]`."""
        self._has_stars = has_stars
        found: dict[tuple[int, int, str], int] = {}
        chains = [*self._chains(words, callees), *self._in_texts()]
        starts = [start for _, start in chains]
        scopes = self._table.ranges.scopes_at(starts)
        meaning: dict[tuple[int, str], bool] = {}
        symbols = self._symbols.ranges
        for (dotted, _), scope, place in zip(chains, scopes, self._symbols.at_each(starts), strict=True):
            at = (scope, dotted)
            may_mean = meaning.get(at)
            if may_mean is None:
                may_mean = meaning[at] = self._may_mean_something(scope, tuple(dotted.split(".")))
            if may_mean:
                key = (scope, symbols[place][2], dotted)
                found[key] = found.get(key, 0) + 1
        return [[*key, count] for key, count in found.items()]

    def _chains(self, words: Iterable[WordRow], callees: Collection[int]) -> Iterator[_Chain]:
        """Each word that may be a use, with the names before it."""
        source, may_begin = self._source, self._beginnings()
        imports = sorted(
            (node.start_byte, node.end_byte) for kind in ("import", "from") for node in self._captures.get(kind, ())
        )
        last_import = max((end for _, end in imports), default=0)
        end, dotted = 0, ""
        for start, word, _, around in words:
            if around in _LINKED and _is_member(source, start):
                # Behind what is no name, or a name that means nothing here.
                is_linked = dotted and (start == end + 1 or _LINK.fullmatch(source, end, start))
                dotted = f"{dotted}.{word}" if is_linked and dotted.count(".") < MAX_LINKS - 1 else ""
            else:
                dotted = word if may_begin is None or word in may_begin else ""
            if not dotted:
                continue
            end = start + len(word if word.isascii() else word.encode())
            if start in callees or around in _DECLARING or (start < last_import and is_inside(imports, start)):
                continue
            if not (around in _PAIRED and dotted == word and _PAIRING.match(source, end)):
                yield dotted, start

    def _beginnings(self) -> set[str] | None:
        """The names that may mean something of the repository somewhere in the file, alone or with what follows; None
        for all."""
        if self._has_stars:
            return None
        return {
            name
            for scope in self._table.scopes
            for name, bindings in scope.names.items()
            if name.isupper() or not all(map(_is_plain, bindings))
        }

    def _in_texts(self) -> Iterator[_Chain]:
        """The names in the braces of texts, and those in types that are written as texts."""
        for node in self._captures.get("interpolated", ()):
            if node.end_byte - node.start_byte <= MAX_ANNOTATION_BYTES:
                for match in _BETWEEN_BRACES.finditer(_IN_QUOTES.sub("", self._table.text(node))):
                    names = match[0].split(".")
                    for count in range(1, min(len(names), MAX_LINKS) + 1):
                        yield ".".join(names[:count]), node.start_byte
        for node in self._captures.get("quoted", ()):
            if node.end_byte - node.start_byte <= MAX_ANNOTATION_BYTES and not self._is_value(node):
                for match in _QUOTED.finditer(self._table.text(node).strip("rbuRBU").strip("\"'")):
                    yield match[0], node.start_byte

    def _is_value(self, text: Node) -> bool:
        """Whether a text in a type is a value: `Literal["a"]`, `Annotated[int, "a"]`."""
        type_ = text.parent
        arguments = type_.parent if type_ is not None else None
        generic = arguments.parent if arguments is not None and arguments.type == "type_parameter" else None
        if type_ is None or arguments is None or generic is None or not generic.named_children:
            return False
        name = self._table.text(generic.named_children[0])
        return name == "Literal" or (name == "Annotated" and type_ != arguments.named_children[0])

    def _may_mean_something(self, scope: int, names: tuple[str, ...]) -> bool:
        root = names[0]
        if names[-1] in _OF_ALL:
            return False
        key = (scope, root)
        if key not in self._owners:
            self._owners[key] = self._find_owner(scope, root)
        owner = self._owners[key]
        if owner is None:
            return self._has_stars and root not in self._builtins
        bindings = owner.names[root]
        kinds = {binding[0] for binding in bindings}
        if len(names) == 1:
            is_constant = owner.kind is ScopeKind.MODULE and (root.isupper() or _is_alias(bindings))
            return not kinds.isdisjoint(_DEFINING) or (is_constant and not kinds.isdisjoint(_VALUED))
        if not kinds.isdisjoint(_RECEIVERS):
            return self._may_be_method(bindings, names)
        return not kinds <= _NEVER and not all(map(_is_plain, bindings))

    def _find_owner(self, scope: int, name: str) -> NameScope | None:
        """The scope that binds a name used in another; functions do not see the classes around them."""
        scopes, number = self._table.scopes, scope
        while number >= 0:
            current = scopes[number]
            if name in current.names and (number == scope or current.kind is not ScopeKind.CLASS):
                return current
            number = current.parent
        return None

    def _may_be_method(self, bindings: Sequence[Binding], names: tuple[str, ...]) -> bool:
        """Whether an attribute of the receiver may be a method, or leads to another object."""
        for binding in bindings:
            if binding[0] in _RECEIVERS:
                class_ = self._table.scopes[binding[1]]
                own = class_.names.get(names[1], ())
                if len(names) > 2 or any(one[0] in _DEFINING for one in own):
                    return True
                return not own and names[1] not in class_.attributes and bool(class_.bases)
        return True


def _is_member(source: bytes, start: int) -> bool:
    """Whether a word is behind a dot."""
    before = source[start - 1 : start]
    return before == b"." or (before in _BLANKS and source[max(start - _NEAR, 0) : start].rstrip(_BLANKS)[-1:] == b".")


def _symbol_ranges(table: NameTable, captures: Mapping[str, Sequence[Node]]) -> NestedRanges:
    """The definitions with their decorators, each with the number of its scope."""
    starts = {
        inner.start_byte: node.start_byte
        for node in captures.get("decorated", ())
        if (inner := node.child_by_field_name("definition")) is not None
    }
    ranges = [(0, table.ranges.length, 0)]
    for kind in ("function", "class"):
        for node in captures.get(kind, ()):
            body = node.child_by_field_name("body")
            if body is not None and (number := table.ranges.scope_of(body)) is not None:
                ranges.append((starts.get(node.start_byte, node.start_byte), node.end_byte, number))
    return NestedRanges(ranges)


def _is_alias(bindings: Sequence[Binding]) -> bool:
    return any(one[0] == Bound.VALUE and one[1].replace(".", "").isidentifier() for one in bindings)


def _is_plain(binding: Binding) -> bool:
    """Whether a name holds what no member of the repository is known of: a literal, or what cannot be told."""
    return binding[0] in _NEVER or (binding[0] == Bound.VALUE and binding[1].startswith(("?", "<")))
