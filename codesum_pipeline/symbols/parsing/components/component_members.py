"""What others give a component and get from it, as its script says: properties and events.

Types are looked up where the script itself declares them; what is imported or made by a utility type is not known.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from tree_sitter import Node

from codesum_pipeline.languages.declarations.nodes import child_of_type, find_field
from codesum_pipeline.symbols.parsing.components.component_blocks import ASTRO, SVELTE, VUE, nodes_below

# Types that name each other in a circle end here.
_MOST_TYPES = 30
_CLAUSE = re.compile(r"export ?\{([^{}]*)\}(?! ?from\b)")
_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)|(?<![:\w\"'`])//[^\n]*+")
# What a comment says of the type of a variable: `@type {string}`.
_TYPE_TAG = re.compile(r"@type[ \t]*\{([^{}]{1,200})\}")
_DECLARED = ("interface_declaration", "type_alias_declaration")
_MEMBERS = ("property_signature", "method_signature")
# What hands an event of a component on; another object's `emit` is none of its events.
_EMITTERS = ("emit", "$emit", "this.$emit", "context.emit", "ctx.emit")


class ComponentMember(Struct, frozen=True):
    """A property, or an event, with the type that is said of it and the byte where it is declared."""

    name: str
    type: str
    start: int
    is_event: bool = False

    @property
    def text(self) -> str:
        """As a field is written."""
        name = f"event {self.name}" if self.is_event else self.name
        return f"{name}: {self.type}" if self.type else name


def members_of(language: str, root: Node, source: bytes) -> list[ComponentMember]:
    """The properties and events that a script declares, each once, in the order of the source."""
    reader = _MemberReader(root, source)
    found = {VUE: reader.of_vue, SVELTE: reader.of_svelte, ASTRO: reader.of_astro}[language]()
    members: dict[tuple[str, bool], ComponentMember] = {}
    for one in found:
        before = members.get((one.name, one.is_event))
        if before is None or (one.type and not before.type):
            members[one.name, one.is_event] = one
    return sorted(members.values(), key=lambda one: (one.is_event, one.start))


class _MemberReader:
    def __init__(self, root: Node, source: bytes) -> None:
        self._root, self._source = root, source
        self._types = {self._text(find_field(node, "name")): node for node in self._top() if node.type in _DECLARED}
        self._calls = [node for node in nodes_below(root) if node.type == "call_expression"]

    def _text(self, node: Node | None) -> str:
        written = "" if node is None else self._source[node.start_byte : node.end_byte].decode()
        return " ".join(_COMMENT.sub("", written).split())

    def _top(self) -> Iterator[Node]:
        """The statements at the top of the script, and what they export."""
        for node in self._root.named_children:
            declared = find_field(node, "declaration") if node.type == "export_statement" else None
            yield declared or node

    # Vue

    def of_vue(self) -> Iterator[ComponentMember]:
        """`defineProps`, `defineEmits`, `defineModel`, and the options `props` and `emits`."""
        for call in self._calls:
            name = self._text(find_field(call, "function"))
            if name == "defineProps":
                yield from self._declared_by(call, is_event=False)
            elif name == "defineEmits":
                yield from self._declared_by(call, is_event=True)
            elif name == "defineModel":
                yield from self._model(call)
        for option, value in self._options():
            if option in ("props", "emits"):
                yield from self._listed(value, is_event=option == "emits")
        for call in self._calls:
            yield from self._emitted(call)

    def _declared_by(self, call: Node, *, is_event: bool) -> Iterator[ComponentMember]:
        for type_ in _type_arguments(call):
            yield from self._of_type(type_, is_event=is_event)
        for argument in _arguments(call)[:1]:
            yield from self._listed(argument, is_event=is_event)

    def _model(self, call: Node) -> Iterator[ComponentMember]:
        first = next(iter(_arguments(call)), None)
        name = self._word(first) if first is not None and first.type == "string" else "modelValue"
        type_ = next(map(self._text, _type_arguments(call)), "")
        yield ComponentMember(name, type_, call.start_byte)
        yield ComponentMember(f"update:{name}", "", call.start_byte, is_event=True)

    def _options(self) -> Iterator[tuple[str, Node]]:
        """The options of a component that is an object."""
        for node in self._root.named_children:
            value = find_field(node, "value") if node.type == "export_statement" else None
            if value is not None and value.type == "call_expression":
                value = next((one for one in _arguments(value) if one.type == "object"), None)
            for pair in value.named_children if value is not None and value.type == "object" else ():
                inner = find_field(pair, "value")
                if pair.type == "pair" and inner is not None:
                    yield self._word(find_field(pair, "key")), inner

    def _listed(self, value: Node, *, is_event: bool) -> Iterator[ComponentMember]:
        """Members as an array of names, or as an object that says more of each."""
        held = _without_casts(value)
        for one in held.named_children if held is not None and held.type in ("array", "object") else ():
            if one.type == "string":
                yield ComponentMember(self._word(one), "", one.start_byte, is_event)
            elif one.type in ("pair", "method_definition", "shorthand_property_identifier"):
                key = find_field(one, "key") or find_field(one, "name") or one
                type_ = "" if is_event else self._type_of_property(find_field(one, "value"))
                yield ComponentMember(self._word(key), type_, one.start_byte, is_event)

    def _type_of_property(self, value: Node | None) -> str:
        """The type that a property's value says: `String`, `{ type: Object as PropType<User> }`."""
        if value is None:
            return ""
        if value.type == "object":
            pairs = (pair for pair in value.named_children if self._word(find_field(pair, "key")) == "type")
            return self._type_of_property(find_field(next(pairs, None), "value"))
        if value.type == "as_expression":
            type_ = value.named_children[-1]
            argument = next(iter(_type_arguments(type_)), None)
            return self._text(argument if argument is not None else type_)
        if value.type == "array":
            return " | ".join(filter(None, map(self._type_of_property, value.named_children)))
        return self._text(value) if value.type == "identifier" else ""

    def _emitted(self, call: Node) -> Iterator[ComponentMember]:
        """`this.$emit("saved")`, `emit("saved")`."""
        first = next(iter(_arguments(call)), None)
        if first is not None and first.type == "string" and self._text(find_field(call, "function")) in _EMITTERS:
            yield ComponentMember(self._word(first), "", first.start_byte, is_event=True)

    # Svelte

    def of_svelte(self) -> Iterator[ComponentMember]:
        """`export let`, what is taken from `$props()`, and what a dispatcher dispatches."""
        above: Node | None = None
        for node in self._root.named_children:
            declared = find_field(node, "declaration") if node.type == "export_statement" else None
            if declared is not None and declared.type == "lexical_declaration" and declared.children[0].type == "let":
                said = _TYPE_TAG.search(self._source[above.start_byte : above.end_byte].decode()) if above else None
                for variable in declared.named_children:
                    yield from self._variable(variable, " ".join(said[1].split()) if said else "")
            elif node.type == "export_statement":
                yield from self._exported(node)
            above = node if node.type == "comment" else None
        dispatchers = set[str]()
        for variable in (node for node in nodes_below(self._root) if node.type == "variable_declarator"):
            value = _without_casts(find_field(variable, "value"))
            called = self._text(find_field(value, "function")) if value is not None else ""
            if called == "$props":
                yield from self._taken(variable)
            elif called == "createEventDispatcher" and value is not None:
                dispatchers.add(self._text(find_field(variable, "name")))
                for type_ in _type_arguments(value):
                    yield from self._of_type(type_, is_event=True)
        for call in self._calls:
            first = next(iter(_arguments(call)), None)
            if first is not None and first.type == "string" and self._text(find_field(call, "function")) in dispatchers:
                yield ComponentMember(self._word(first), "", first.start_byte, is_event=True)

    def _exported(self, statement: Node) -> Iterator[ComponentMember]:
        """`export { className as class }`, in which the grammar does not know the word behind `as`."""
        clause = _CLAUSE.match(self._text(statement))
        for one in clause[1].split(",") if clause is not None else ():
            if name := one.rpartition(" as ")[2].strip():
                yield ComponentMember(name, "", statement.start_byte)

    def _variable(self, variable: Node, said: str) -> Iterator[ComponentMember]:
        """An exported variable with its type, or the one that the comment above it says."""
        name = find_field(variable, "name")
        if name is not None and name.type == "identifier":
            yield ComponentMember(self._text(name), self._annotation(variable) or said, variable.start_byte)

    # Astro

    def of_astro(self) -> Iterator[ComponentMember]:
        """The interface or type `Props`, and what is taken from `Astro.props`."""
        if (props := self._types.get("Props")) is not None:
            yield from self._of_type(props, is_event=False)
        for variable in (node for node in nodes_below(self._root) if node.type == "variable_declarator"):
            if self._text(_without_casts(find_field(variable, "value"))) == "Astro.props":
                yield from self._taken(variable)

    # What is common to them

    def _taken(self, variable: Node) -> Iterator[ComponentMember]:
        """The names that a pattern takes from the properties, and those of its type."""
        pattern, annotation = find_field(variable, "name"), find_field(variable, "type")
        for child in pattern.named_children if pattern is not None and pattern.type == "object_pattern" else ():
            if child.type == "rest_pattern":
                continue
            named = find_field(child, "key") or find_field(child, "left") or child
            yield ComponentMember(self._word(named), "", child.start_byte)
        for type_ in annotation.named_children if annotation is not None else ():
            yield from self._of_type(type_, is_event=False)

    def _annotation(self, node: Node) -> str:
        annotation = find_field(node, "type")
        return self._text(annotation).removeprefix(":").strip()

    def _of_type(self, type_: Node, *, is_event: bool) -> Iterator[ComponentMember]:
        """The members of a type, as far as the script declares it."""
        waiting, seen = [type_], set[int]()
        while waiting and len(seen) < _MOST_TYPES:
            node = waiting.pop(0)
            if node.id in seen:
                continue
            seen.add(node.id)
            if node.type in ("type_identifier", "generic_type"):
                name = self._text(node).partition("<")[0]
                waiting += [self._types[name]] if name in self._types else _inner_types(node)
            elif node.type == "interface_declaration":
                extended = child_of_type(node, "extends_type_clause")
                waiting += [*filter(None, [find_field(node, "body")]), *(extended.named_children if extended else ())]
            elif node.type == "type_alias_declaration":
                waiting += filter(None, [find_field(node, "value")])
            elif node.type in ("intersection_type", "union_type", "parenthesized_type"):
                waiting += node.named_children
            elif node.type in ("object_type", "interface_body"):
                yield from self._signatures(node.named_children, is_event=is_event)

    def _signatures(self, members: Sequence[Node], *, is_event: bool) -> Iterator[ComponentMember]:
        for member in members:
            if member.type in _MEMBERS:
                name = self._word(find_field(member, "name"))
                yield ComponentMember(name, self._annotation(member), member.start_byte, is_event)
            elif member.type == "call_signature" and is_event:
                yield from self._of_call(member)

    def _of_call(self, signature: Node) -> Iterator[ComponentMember]:
        """`(e: "submit", id: number): void`."""
        parameters = find_field(signature, "parameters")
        first = next(iter(parameters.named_children), None) if parameters is not None else None
        for node in nodes_below(first) if first is not None else ():
            if node.type == "string":
                yield ComponentMember(self._word(node), "", node.start_byte, is_event=True)

    def _word(self, node: Node | None) -> str:
        return self._text(node).strip("\"'`")


def _without_casts(value: Node | None) -> Node | None:
    """A value without what only says its type."""
    while value is not None and value.type in ("as_expression", "satisfies_expression", "parenthesized_expression"):
        value = next(iter(value.named_children), None)
    return value


def _arguments(call: Node) -> list[Node]:
    arguments = find_field(call, "arguments")
    return [one for one in arguments.named_children if not one.is_extra] if arguments is not None else []


def _type_arguments(node: Node) -> list[Node]:
    arguments = find_field(node, "type_arguments") or child_of_type(node, "type_arguments")
    return list(arguments.named_children) if arguments is not None else []


def _inner_types(type_: Node) -> list[Node]:
    """What a utility type takes members from, as `WithChildren<Props>` or `Readonly<Props>`; some leave members out."""
    name = next(iter(type_.named_children), None)
    is_cut = name is not None and name.text in (b"Omit", b"Pick", b"Exclude", b"Record", b"Extract")
    return [] if is_cut else _type_arguments(type_)[:1]
