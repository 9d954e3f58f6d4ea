"""Reads the statements of a Python file that bind names, apart from definitions and imports."""

from collections.abc import Callable

from tree_sitter import Node

from codesum_pipeline.languages.python.references.expressions import ExpressionReader
from codesum_pipeline.languages.python.references.names import SEQUENCES, Bound, Moment, NameTable
from codesum_pipeline.languages.python.references.scopes import NameScope, ScopeKind, ScopeRanges
from codesum_pipeline.languages.spec import words

RETURN = "return"
YIELD = "yield"

# Annotations that leave the type to the value.
_UNTYPED = words("TypeAlias Final ClassVar")


class StatementReader:
    """Places each binding statement in its scope."""

    def __init__(
        self, expressions: ExpressionReader, table: NameTable, scopes: list[NameScope], ranges: ScopeRanges
    ) -> None:
        self._expressions = expressions
        self._table = table
        self._scopes = scopes
        self._ranges = ranges

    def read(self, captures: dict[str, list[Node]]) -> None:
        """Take in all captures of binding statements."""
        readers: tuple[tuple[str, Callable[[Node], None]], ...] = (
            ("assignment", self._read_assignment),
            ("augmented", self._read_augmented),
            ("walrus", self._read_walrus),
            ("loop", self._read_loop),
            ("captured", self._read_captured),
            ("global", lambda node: self._read_outer(node, Bound.GLOBAL)),
            ("nonlocal", lambda node: self._read_outer(node, Bound.NONLOCAL)),
            ("delete", self._read_delete),
            ("return", self._read_return),
            ("yield", self._read_yield),
        )
        for name, reader in readers:
            for node in captures.get(name, ()):
                reader(node)
        self._read_as(captures)

    def _scope_at(self, node: Node) -> int:
        return self._ranges.scope_at(node.start_byte)

    def _read_assignment(self, node: Node) -> None:
        target = node.child_by_field_name("left")
        value = node.child_by_field_name("right")
        if target is None:
            return
        scope = self._scope_at(node)
        annotation_node = node.child_by_field_name("type")
        annotation = self._expressions.annotation(annotation_node)
        if annotation is not None and target.type in ("identifier", "attribute"):
            self._read_annotated(scope, target, value, annotation)
        elif value is None:
            self._table.bind_targets(scope, target, None)
        elif target.type in SEQUENCES and value.type in ("expression_list", "tuple"):
            self._read_parallel(scope, target, value)
        else:
            self._table.bind_targets(scope, target, self._expressions.value(value), moment=Moment.of(node, target))

    def _read_annotated(self, scope: int, target: Node, value: Node | None, annotation: str) -> None:
        moment = Moment.of(target.parent, target)
        if annotation.rpartition(".")[2] in _UNTYPED and value is not None:
            self._table.bind_targets(scope, target, self._expressions.value(value), moment=moment)
            return
        binding = [Bound.ANNOTATED, annotation]
        if target.type == "identifier":
            name, is_sure = self._expressions.text(target), value is not None
            self._table.bind(scope, target.start_byte, name, binding, moment=moment, is_sure=is_sure)
        else:
            self._table.bind_attribute(scope, target, binding, read_at=moment.read_at)

    def _read_parallel(self, scope: int, target: Node, value: Node) -> None:
        targets, values = target.named_children, value.named_children
        plain = len(targets) == len(values) and not any(n.type.startswith("list_splat") for n in (*targets, *values))
        for position, child in enumerate(targets):
            shape = self._expressions.value(values[position]) if plain else None
            self._table.bind_targets(scope, child, shape, moment=Moment.of(target.parent, target))

    def _read_augmented(self, node: Node) -> None:
        # `x += y` keeps what x is, but makes the name local.
        binding = [Bound.VALUE, "<None>"]
        self._table.bind(self._scope_at(node), node.start_byte, self._expressions.text(node), binding, is_sure=False)

    def _read_walrus(self, node: Node) -> None:
        scope = self._scope_at(node)
        while self._scopes[scope].kind is ScopeKind.COMPREHENSION:
            scope = self._scopes[scope].parent
        name = node.child_by_field_name("name")
        if name is not None:
            value = self._expressions.value(node.child_by_field_name("value"))
            binding = [Bound.VALUE, value]
            text, moment = self._expressions.text(name), Moment.of(node, node)
            self._table.bind(scope, node.start_byte, text, binding, moment=moment, is_sure=False)

    def _read_loop(self, node: Node) -> None:
        target = node.child_by_field_name("left")
        if target is None:
            return
        is_enumerated, drawn_from = self._expressions.elements(node.child_by_field_name("right"))
        scope = self._scope_at(node)
        moment = Moment(node.start_byte, target.end_byte)
        if not is_enumerated:
            self._table.bind_targets(scope, target, f"{drawn_from}*", moment=moment)
        elif target.type in SEQUENCES and len(target.named_children) == 2:
            counter, element = target.named_children
            self._table.bind_targets(scope, counter, "<int>")
            self._table.bind_targets(scope, element, f"{drawn_from}*", moment=moment)
        else:
            self._table.bind_targets(scope, target, None)

    def _read_as(self, captures: dict[str, list[Node]]) -> None:
        caught = {node.start_byte for node in captures.get("except_as", ())}
        matched = {node.start_byte for node in captures.get("case_as", ())}
        for node in captures.get("as", ()):
            children = [child for child in node.named_children if child.type != "comment"]
            if len(children) != 2:
                continue
            value, target = children
            scope = self._scope_at(node)
            moment = Moment.of(node, target)
            if node.start_byte in matched:
                self._table.bind_targets(scope, target, None, moment=moment)
            elif node.start_byte in caught:
                instance = f"{self._expressions.shape(value)}()" if value.type in ("identifier", "attribute") else None
                self._table.bind_targets(scope, target, instance, moment=moment)
            else:
                self._table.bind_targets(scope, target, f"{self._expressions.shape(value)}>", moment=moment)

    def _read_captured(self, node: Node) -> None:
        self._table.bind(self._scope_at(node), node.start_byte, self._expressions.text(node), [Bound.UNKNOWN])

    def _read_outer(self, node: Node, bound: Bound) -> None:
        scope = self._scope_at(node)
        for name in node.named_children:
            text = self._expressions.text(name)
            self._table.bind(scope, name.start_byte, text, [bound, text])

    def _read_delete(self, node: Node) -> None:
        scope = self._scope_at(node)
        waiting = list(node.named_children)
        while waiting:
            target = waiting.pop()
            if target.type == "identifier":
                self._table.bind(scope, target.start_byte, self._expressions.text(target), [Bound.DELETED])
            elif target.type in SEQUENCES:
                waiting.extend(target.named_children)

    def _read_return(self, node: Node) -> None:
        value = node.named_children
        shape = self._expressions.value(value[0]) if value else "<None>"
        self._table.bind(self._scope_at(node), node.start_byte, RETURN, [Bound.VALUE, shape], is_sure=False)

    def _read_yield(self, node: Node) -> None:
        scope = self._scope_at(node)
        self._scopes[scope].is_generator = True
        value = next((child for child in node.named_children if child.type != "comment"), None)
        shape = self._expressions.value(value) if value is not None else "<None>"
        if any(child.type == "from" for child in node.children):
            shape = "|".join(f"{one}*" for one in shape.split("|"))
        self._table.bind(scope, node.start_byte, YIELD, [Bound.VALUE, shape], is_sure=False)
