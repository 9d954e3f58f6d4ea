"""Reads the scopes of a Python file: its definitions with their parameters, lambdas and comprehensions."""

from collections.abc import Iterable, Mapping

from tree_sitter import Node

from codesum_pipeline.languages.python.references.expressions import ExpressionReader
from codesum_pipeline.languages.python.references.names import Bound, NameTable
from codesum_pipeline.languages.python.references.scopes import NameScope, ScopeKind, ScopeRanges
from codesum_pipeline.languages.spec import words

_CAPTURES = {
    ScopeKind.FUNCTION: "function",
    ScopeKind.CLASS: "class",
    ScopeKind.LAMBDA: "lambda",
    ScopeKind.COMPREHENSION: "comprehension",
}
_CLASS_METHOD_NAMES = words("__new__ __init_subclass__ __class_getitem__")
# What `*args` and `**kwargs` are, whatever their elements.
_CONTAINERS = {"list_splat_pattern": "tuple[{}, ...]", "dictionary_splat_pattern": "dict[str, {}]"}


class DefinitionReader:
    """Fills `scopes`, which begins with the file's own; `ids` maps (name, first line) to the end of a symbol's id."""

    def __init__(
        self, expressions: ExpressionReader, table: NameTable, length: int, ids: Mapping[tuple[str, int], str]
    ) -> None:
        self._expressions = expressions
        self._table = table
        self._ids = ids
        self.ranges = ScopeRanges(length)
        self.scopes = [NameScope(ScopeKind.MODULE, -1, "")]

    def read(self, captures: dict[str, list[Node]]) -> None:
        """Take in all captures of definitions, lambdas and comprehensions."""
        nodes = [
            (node.start_byte, -node.end_byte, kind, node)
            for kind, name in _CAPTURES.items()
            for node in captures.get(name, ())
        ]
        nodes.sort(key=lambda entry: entry[:3])
        decorated = _decorated(captures.get("decorated", ()))
        for number, (_, _, kind, node) in enumerate(nodes, start=1):
            self.scopes.append(NameScope(kind, -1))
            self._add_ranges(node, kind, number)
        self.ranges.close()
        for number, (start, _, kind, node) in enumerate(nodes, start=1):
            scope = self.scopes[number]
            scope.parent = self.ranges.scope_around(number, start)
            self.ranges.parents.append(scope.parent)
            if kind in (ScopeKind.FUNCTION, ScopeKind.CLASS):
                self._read_definition(node, number, decorated.get(start))
            if kind in (ScopeKind.FUNCTION, ScopeKind.LAMBDA):
                self._read_parameters(node, number)

    def _add_ranges(self, node: Node, kind: ScopeKind, number: int) -> None:
        if kind is not ScopeKind.COMPREHENSION:
            body = node.child_by_field_name("body")
            if body is not None:
                self.ranges.add(body.start_byte, body.end_byte, number)
            return
        self.ranges.add(node.start_byte, node.end_byte, number)
        for child in node.named_children:
            if child.type == "for_in_clause":
                drawn_from = child.child_by_field_name("right")
                if drawn_from is not None:
                    self.ranges.add_hole(drawn_from.start_byte, drawn_from.end_byte, number)
                return

    def _read_definition(self, node: Node, number: int, decorated: Node | None) -> None:
        scope = self.scopes[number]
        name_node = node.child_by_field_name("name")
        if name_node is None:
            return
        name = self._expressions.text(name_node)
        first = decorated or node
        scope.symbol = self._ids.get((name, first.start_point[0] + 1))
        scope.decorators = self._decorators(decorated)
        if scope.kind is ScopeKind.FUNCTION:
            scope.returns = self._expressions.annotation(node.child_by_field_name("return_type"))
            is_class_method = name in _CLASS_METHOD_NAMES or "classmethod" in scope.decorators
            scope.receives = Bound.CLASS_RECEIVER if is_class_method else Bound.RECEIVER
        else:
            scope.bases = self._bases(node.child_by_field_name("superclasses"))
        self._table.bind(scope.parent, node.start_byte, name, [Bound.DEFINED, number])

    def _decorators(self, decorated: Node | None) -> tuple[str, ...]:
        if decorated is None:
            return ()
        expressions = (child.named_children for child in decorated.named_children if child.type == "decorator")
        return tuple(self._expressions.shape(nodes[0]).removesuffix("()") for nodes in expressions if nodes)

    def _bases(self, superclasses: Node | None) -> tuple[str, ...]:
        if superclasses is None:
            return ()
        positional = (n for n in superclasses.named_children if n.type not in ("keyword_argument", "comment"))
        return tuple(self._expressions.shape(node).removesuffix("[]") for node in positional)

    def _read_parameters(self, node: Node, number: int) -> None:
        parameters = node.child_by_field_name("parameters")
        if parameters is None:
            return
        scope = self.scopes[number]
        in_class = self.scopes[scope.parent].kind is ScopeKind.CLASS and scope.kind is ScopeKind.FUNCTION
        awaits_receiver = in_class and "staticmethod" not in scope.decorators
        for parameter in parameters.named_children:
            if parameter.type == "comment":
                continue
            name, annotation = self._parameter(parameter)
            if awaits_receiver and name is not None and parameter.type in ("identifier", "typed_parameter"):
                scope.receiver = name
                self._table.bind(number, parameter.start_byte, name, [scope.receives, scope.parent])
            elif name is not None:
                binding = [Bound.UNKNOWN] if annotation is None else [Bound.ANNOTATED, annotation]
                self._table.bind(number, parameter.start_byte, name, binding)
            else:
                self._table.bind_targets(number, parameter, None)
            awaits_receiver = False

    def _parameter(self, node: Node) -> tuple[str | None, str | None]:
        """Name and annotation, None for what has none."""
        name = node.child_by_field_name("name") or node
        if name.type == "typed_parameter":
            name = name.named_children[0]
        annotation = self._expressions.annotation(node.child_by_field_name("type"))
        container = _CONTAINERS.get(name.type)
        if container is not None and name.named_children:
            return self._expressions.text(name.named_children[0]), container.format(annotation or "Any")
        return (self._expressions.text(name), annotation) if name.type == "identifier" else (None, None)


def _decorated(nodes: Iterable[Node]) -> dict[int, Node]:
    """Each decorated definition's first byte with the node that holds its decorators too."""
    definitions = ((node.child_by_field_name("definition"), node) for node in nodes)
    return {definition.start_byte: node for definition, node in definitions if definition is not None}
