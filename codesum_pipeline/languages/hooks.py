"""Hooks that many languages have alike, and what hooks are written with."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from tree_sitter import Node

from codesum_pipeline.languages.declaration import Code, DefinitionHead, ImportSyntax, Text, TypedName
from codesum_pipeline.languages.spec import Span, words
from codesum_pipeline.model.symbols import SymbolType

# A longer text is no name, member or call whose class could be told.
MAX_VALUE = 300
_NAMES = frozenset(
    {"identifier", "simple_identifier", "variable_name", "name", "shorthand_property_identifier_pattern"}
)


def field_text(node: Node, name: str, text: Text) -> Code:
    """The canonical text of a node's field; empty without it."""
    return text(node.child_by_field_name(name))


def raw_text(node: Node | None) -> str:
    """A node's own text with blanks as one; empty without it."""
    return " ".join(node.text.decode("utf-8", "replace").split()) if node is not None and node.text else ""


def child_of(node: Node | None, *types: str) -> Node | None:
    """The first child of one of some types; of none, none."""
    return next((child for child in node.children if child.type in types), None) if node is not None else None


def defines(
    type_: SymbolType, head: Callable[[Node], Node | None] = lambda node: None
) -> Callable[[Node], DefinitionHead | None]:
    """A hook for definitions with a field for the name, perhaps in backticks, and one for the body."""

    def define(node: Node) -> DefinitionHead | None:
        name = raw_text(node.child_by_field_name("name")).strip("`")
        return DefinitionHead((name,), type_, node.child_by_field_name("body"), head(node)) if name else None

    return define


def field_reader(name: str) -> Callable[[Node, Text], str]:
    """A hook that gives the text of a field; empty without it."""
    return lambda node, text: field_text(node, name, text)


def names_in(name: str) -> Callable[[Node, Text], Iterator[str]]:
    """A hook that gives the texts of all fields of a name."""
    return lambda node, text: (text(named) for named in node.children_by_field_name(name))


def typed_name(node: Node, text: Text) -> Iterator[TypedName]:
    """What has a field for its name and one for its type."""
    yield TypedName(field_text(node, "name", text).strip("`"), field_text(node, "type", text))


def hidden_by(modifiers: str) -> Callable[[tuple[str, ...], tuple[str, ...]], bool]:
    """A hook for `is_public`: what has none of these modifiers is."""
    hiding = words(modifiers)
    return lambda parts, said: hiding.isdisjoint(said)


def first_values(name: str, value: str, *, unless: str = "") -> Callable[[Node, Text], Iterator[TypedName]]:
    """A hook for nodes with a field for the name, or a list of names, and one for the value.

    A node with the field `unless` says the type itself.
    """

    def read(node: Node, text: Text) -> Iterator[TypedName]:
        if unless and node.child_by_field_name(unless) is not None:
            return
        left, right = node.child_by_field_name(name), node.child_by_field_name(value) if value else None
        if left is None:
            return
        listed = [left] if left.type in _NAMES else [child for child in left.named_children if child.type in _NAMES]
        is_list = right is not None and right.type.endswith("_list")
        values: list[Node | None] = [*right.named_children] if right is not None and is_list else [right]
        for number, variable in enumerate(listed):
            # What is taken apart gives its first part as the call says it; the others are of classes unknown.
            given = values[number] if number < len(values) else None
            is_short = given is not None and given.end_byte - given.start_byte <= MAX_VALUE
            yield TypedName(text(variable), text(given) if is_short and _is_first(left, number, values) else "")

    return read


def _is_first(left: Node, number: int, values: list[Node | None]) -> bool:
    return left.type in _NAMES or (left.type.endswith("_list") and (number == 0 or len(values) > 1))


def unknown_words(read: Callable[[bytes], Iterable[Span]]) -> Callable[[bytes, bool], Iterator[Sequence[Span]]]:
    """A hook for `hiding`: what the grammar does not know, as one group, where a file does not parse."""

    def hiding(source: bytes, is_broken: bool) -> Iterator[Sequence[Span]]:
        if is_broken and (spans := tuple(read(source))):
            yield spans

    return hiding


def of_public(read: Callable[[Node, Text], Iterable[ImportSyntax]]) -> Callable[[Node, Text], Iterator[ImportSyntax]]:
    """The imports of a node that says `pub` first."""

    def handed_on(node: Node, text: Text) -> Iterator[ImportSyntax]:
        if node.children and node.children[0].type in ("visibility_modifier", "pub"):
            yield from (found for found in read(node, text) if found.alias != "_")

    return handed_on
