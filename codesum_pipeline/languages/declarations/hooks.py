"""Hooks that many languages have alike, and what hooks are written with."""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from html import unescape
from typing import TypeVar

from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import Parameter, SymbolType
from codesum_pipeline.languages.declarations.hook_values import CallSyntax, DefinitionHead, ImportSyntax, TypedName
from codesum_pipeline.languages.declarations.kin import grandparent_of
from codesum_pipeline.languages.declarations.node_code import MAX_VALUE, Text, field_text, raw_text
from codesum_pipeline.languages.declarations.nodes import find_field
from codesum_pipeline.languages.declarations.spec import Span, split_words

T = TypeVar("T")
_NAMES = split_words("identifier simple_identifier variable_name name shorthand_property_identifier_pattern")
# Annotations that are inside of what they annotate: Java, C#, Kotlin, Scala.
ANNOTATIONS = split_words("annotation marker_annotation attribute_list")
TEST_ANNOTATIONS = split_words("Test ParameterizedTest RepeatedTest TestFactory TestTemplate")
# How texts and numbers are spelled.
_QUOTED = re.compile(r"""(['"])(.*)\1""", re.DOTALL)
_PLAIN = re.compile(r"""(['"])([^\\'"$#{]*)\1""", re.DOTALL)
_UNIT = re.compile(r"""\\.|["']""", re.DOTALL)
_DECIMAL = re.compile(r"(\d*)(?:\.(\d*))?(?:e([+-]?)(\d+))?")


def definition_reader(
    type_: SymbolType | None, head: Callable[[Node], Node | None] = lambda node: None
) -> Callable[[Node], DefinitionHead]:
    """A hook for definitions with a field for the name, perhaps in backticks, and one for the body."""
    return lambda node: DefinitionHead(
        (raw_text(node, "name").strip("`"),), type_, find_field(node, "body"), head(node)
    )


def field_reader(name: str) -> Callable[[Node, Text], str]:
    """A hook that gives the text of a field; empty without it."""
    return lambda node, text: field_text(node, name, text)


def texts_of_fields(name: str) -> Callable[[Node, Text], Iterator[str]]:
    """A hook that gives the texts of all fields of a name."""
    return lambda node, text: (text(named) for named in node.children_by_field_name(name))


def texts_of_children(kind: str) -> Callable[[Node, Text], Iterator[str]]:
    """A hook that gives the texts of the children of a kind."""
    return lambda node, text: (text(child) for child in node.named_children if child.type == kind)


def call_reader(field: str, members: str, *, around: str = "") -> Callable[[Node, Text], CallSyntax | None]:
    """A hook for calls: the field with what is called, and of each kind of that which is a member the kind, the field
    with its owner, the mark between and the field with its name. A kind `around` what is called says only types."""
    parts = members.split()
    fields = {kind: (owner, mark, name) for kind, owner, mark, name in zip(*[iter(parts)] * 4, strict=True)}

    def read(node: Node, text: Text) -> CallSyntax | None:
        function = node.child_by_field_name(field)
        if function is not None and function.type == around:
            function = function.child_by_field_name(field)
        if function is None:
            return None
        if function.type in fields:
            owner, mark, field_of_name = fields[function.type]
            name = field_text(function, field_of_name, text)
            # Scala quotes names that are words of the language.
            plain = name.strip("`") if name.startswith("`") else name
            return CallSyntax(field_text(function, owner, text), plain, mark=mark)
        return CallSyntax("", text(function)) if function.type == "identifier" else None

    return read


def read_parameter(
    node: Node, text: Text, kind: str = "positional", *, name: str = "name", default: str = "default_value"
) -> Parameter:
    """A parameter with fields for its name, its type and its default."""
    type_, default_text = field_text(node, "type", text), field_text(node, default, text)
    return Parameter(field_text(node, name, text), type_ or None, default_text or None, kind)


def typed_name_reader(name: str = "name", type_: str = "type") -> Callable[[Node, Text], Iterator[TypedName]]:
    """A hook for what has a field for its name, perhaps in backticks, and one for its type."""
    return lambda node, text: iter([TypedName(field_text(node, name, text).strip("`"), field_text(node, type_, text))])


def directly_in(kinds: Container[str], read: Callable[[Node, Text], T]) -> Callable[[Node, Text], T | tuple[()]]:
    """A hook for the members of a list inside of a node of some kinds, such as the parameters of a class."""

    def hook(node: Node, text: Text) -> T | tuple[()]:
        around = grandparent_of(node)
        return read(node, text) if around is not None and around.type in kinds else ()

    return hook


def member_text(name: str, type_: str) -> str:
    """A member of a class as text: `name: type`, or the name alone."""
    return f"{name}: {type_}" if type_ else name


def members_reader(read: Callable[[Node, Text], Iterable[TypedName]]) -> Callable[[Node, Text], Iterator[str]]:
    """A hook that gives what another one says of types as members of a class."""
    return lambda node, text: (member_text(one.name, one.type) for one in read(node, text))


def read_typed_member(node: Node, text: Text) -> Iterator[str]:
    """A member of a class that has a field for its name and one for its type."""
    yield member_text(field_text(node, "name", text), field_text(node, "type", text))


def import_of_path(path: str, mark: str, alias: str | None = None) -> ImportSyntax:
    """The import of a path whose last part is the name; a path of one part is the module."""
    module, _, name = path.rpartition(mark)
    return ImportSyntax(module or name, name if module else None, alias or None)


def call_of_path(path: str, mark: str = ".", *, is_new: bool = False) -> CallSyntax:
    """The call of what a path leads to: its last part is the name."""
    receiver, _, name = path.rpartition(mark)
    return CallSyntax(receiver, name, is_new, mark)


def last_expression(body: Node, but: Iterable[str]) -> Node | None:
    """The last node of a body, comments aside; None if it is of one of these kinds."""
    last = next((child for child in reversed(body.named_children) if not child.is_extra), None)
    return last if last is not None and last.type not in but else None


def first_values_reader(name: str, value: str, *, unless: str = "") -> Callable[[Node, Text], Iterator[TypedName]]:
    """A hook for nodes with a field for the name, or a list of names, and one for the value.

    A node with the field `unless` says the type itself.
    """

    def read(node: Node, text: Text) -> Iterator[TypedName]:
        left, right = node.child_by_field_name(name), node.child_by_field_name(value)
        if left is None or (unless and node.child_by_field_name(unless) is not None):
            return
        is_name = left.type in _NAMES
        is_list = right is not None and right.type.endswith("_list")
        values: list[Node | None] = [*right.named_children] if right is not None and is_list else [right]
        variables = [left] if is_name else [child for child in left.named_children if child.type in _NAMES]
        for number, variable in enumerate(variables):
            # Of an unpacked value, only the first part has the class that the call says; the others are unknown.
            assigned = values[number] if number < len(values) else None
            is_short = assigned is not None and assigned.end_byte - assigned.start_byte <= MAX_VALUE
            is_known = is_name or (left.type.endswith("_list") and (number == 0 or len(values) > 1))
            yield TypedName(text(variable), text(assigned) if is_short and is_known else "")

    return read


def unknown_words_reader(read: Callable[[bytes], Iterable[Span]]) -> Callable[[bytes, bool], Iterator[Sequence[Span]]]:
    """A hook for `hiding`: what the grammar does not know, as one group, where a file does not parse."""

    def hiding(source: bytes, is_broken: bool) -> Iterator[Sequence[Span]]:
        if is_broken and (spans := tuple(read(source))):
            yield spans

    return hiding


def public_imports_reader(
    read: Callable[[Node, Text], Iterable[ImportSyntax]],
) -> Callable[[Node, Text], Iterator[ImportSyntax]]:
    """A hook for the imports of a node that begins with `pub`."""

    def handed_on(node: Node, text: Text) -> Iterator[ImportSyntax]:
        if node.children and node.children[0].type in ("visibility_modifier", "pub"):
            yield from (found for found in read(node, text) if found.alias != "_")

    return handed_on


def plain_text_reader(tags: Sequence[tuple[re.Pattern[str], str]], *, keeps_margin: bool) -> Callable[[str], str]:
    """A hook for the words of a comment written in markup: each tag is replaced, lines that hold nothing but tags go,
    and perhaps the blanks before others with tags."""

    def read(documentation: str) -> str:
        lines = []
        for line in documentation.split("\n"):
            plain = line
            for tag, replacement in tags:
                plain = tag.sub(replacement, plain)
            if plain.strip() or plain == line:
                lines.append(unescape(plain.rstrip() if keeps_margin or plain == line else plain.strip()))
        return "\n".join(lines).strip("\n")

    return read


def node_after_annotations(node: Node | None) -> Node | None:
    """Where a definition begins that people would read aloud: its first word that is no annotation."""
    for child in node.children if node is not None else ():
        if child.type == "modifiers":
            first = next((word for word in child.children if not _is_passed_over(word)), None)
            if first is not None:
                return first
        elif not _is_passed_over(child):
            return child
    return None


def _is_passed_over(node: Node) -> bool:
    return node.type in ANNOTATIONS or node.is_extra


def annotations_and_words(node: Node) -> Iterator[Node]:
    """The contents of a definition's modifiers, in the order written."""
    for child in node.children:
        if child.type == "modifiers":
            yield from child.children
        elif child.type in ANNOTATIONS or child.type in ("modifier", "annotations"):
            yield child


def modifiers_before(node: Node, text: Text, tests: Container[str]) -> list[str]:
    """The modifiers of a definition; annotations, alone or in a list, are none but for those that mark a test."""
    words: list[str] = []
    for child in annotations_and_words(node):
        if child.type not in ANNOTATIONS:
            words.append(text(child))
        elif any(_last_name(one, text) in tests for one in (child, *child.named_children)):
            words.append("test")
    return words


def _last_name(annotation: Node, text: Text) -> str:
    return field_text(annotation, "name", text).rpartition(".")[2].removesuffix("Attribute")


def is_longer_than_one(node: Node) -> bool:
    """A comma at the end of it says nothing, but after one alone it makes a tuple."""
    return sum(child.type == "," for child in node.children) > 1


def spell_quoted(node: Node, written: str, parent: str, field: str | None) -> str:
    """A text in double quotes, where both kinds of quotes mean the same; those in it escaped where that is needed."""
    match = _QUOTED.fullmatch(written)
    if match is None:
        return written
    body = match[2]
    if parent == "jsx_attribute":
        return written if '"' in body else f'"{body}"'
    return f'"{_UNIT.sub(_unit, body)}"' if "\\" in body or '"' in body else f'"{body}"'


def spell_plain(node: Node, written: str, parent: str, field: str | None) -> str:
    """A text in double quotes, where it holds nothing that either kind of quotes reads in a way of its own."""
    match = _PLAIN.fullmatch(written)
    return f'"{match[2]}"' if match else written


def _unit(match: re.Match[str]) -> str:
    return {'"': '\\"', "\\'": "'"}.get(match.group(), match.group())


def spell_number(node: Node, written: str, parent: str, field: str | None) -> str:
    """A number in lower case, without marks between its digits and zeros that say nothing."""
    text = written.lower().replace("_", "")
    match = _DECIMAL.fullmatch(text)
    if match is None or (text[:1] == "0" and text[1:2].isdecimal()):
        return text
    whole, part, sign, power = match.groups()
    part = (part or "").rstrip("0")
    shown = (whole or "0") + (f".{part}" if part else "")
    return shown if power is None else f"{shown}e{sign.replace('+', '')}{power}"
