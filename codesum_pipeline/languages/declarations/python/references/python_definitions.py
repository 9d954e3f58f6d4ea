"""Reads the scopes of a Python file, its definitions with their parameters, lambdas and comprehensions; and imports."""

from collections.abc import Mapping, Sequence
from typing import Any

from tree_sitter import Node

from codesum_pipeline.foundation.data_model.bindings import Bound, ScopeKind
from codesum_pipeline.languages.declarations.node_code import Code
from codesum_pipeline.languages.declarations.nodes import code_children
from codesum_pipeline.languages.declarations.python.python_facts import read_import
from codesum_pipeline.languages.declarations.python.references.python_scopes import NameScope, NameTable
from codesum_pipeline.languages.declarations.spec import split_words

_CAPTURES = {
    ScopeKind.FUNCTION: "function",
    ScopeKind.CLASS: "class",
    ScopeKind.LAMBDA: "lambda",
    ScopeKind.COMPREHENSION: "comprehension",
}
_CLASS_METHOD_NAMES = split_words("__new__ __init_subclass__ __class_getitem__")
# What `*args` and `**kwargs` are, whatever their elements.
_CONTAINERS = {"list_splat_pattern": "tuple[{}, ...]", "dictionary_splat_pattern": "dict[str, {}]"}


class DefinitionReader:
    """Fills the scopes of a table; `ids` maps (name, first line) to the end of a symbol's id."""

    def __init__(self, table: NameTable, ids: Mapping[tuple[str, int], str]) -> None:
        self._table = table
        self._expressions = table.expressions
        self._scopes = table.scopes
        self._ids = ids

    def read(self, captures: Mapping[str, Sequence[Node]]) -> None:
        """Take in all captures of definitions, lambdas and comprehensions."""
        nodes = [
            (node.start_byte, -node.end_byte, kind, node)
            for kind, name in _CAPTURES.items()
            for node in captures.get(name, ())
        ]
        nodes.sort(key=lambda entry: entry[:3])
        definitions = ((node.child_by_field_name("definition"), node) for node in captures.get("decorated", ()))
        decorated = {inner.start_byte: node for inner, node in definitions if inner is not None}
        ranges = self._table.ranges
        for number, (_, _, kind, node) in enumerate(nodes, start=1):
            self._scopes.append(NameScope(kind, -1))
            self._add_ranges(node, kind, number)
        ranges.close()
        for number, (start, _, kind, node) in enumerate(nodes, start=1):
            parent = self._scopes[number].parent = ranges.scope_at(start, besides=number)
            ranges.parents.append(parent)
            receives = Bound.RECEIVER
            if kind in (ScopeKind.FUNCTION, ScopeKind.CLASS):
                receives = self._read_definition(node, number, decorated.get(start))
            if kind in (ScopeKind.FUNCTION, ScopeKind.LAMBDA):
                self._read_parameters(node, number, receives)

    def _add_ranges(self, node: Node, kind: ScopeKind, number: int) -> None:
        whole = node if kind is ScopeKind.COMPREHENSION else node.child_by_field_name("body")
        if whole is not None:
            self._table.ranges.add(whole, number)
        loops = node.named_children if kind is ScopeKind.COMPREHENSION else ()
        loop = next((child for child in loops if child.type == "for_in_clause"), None)
        drawn_from = loop.child_by_field_name("right") if loop is not None else None
        if drawn_from is not None:
            self._table.ranges.add(drawn_from, ~number)

    def _read_definition(self, node: Node, number: int, decorated: Node | None) -> Bound:
        """Bind a function or class; what the first parameter of a method is."""
        scope = self._scopes[number]
        name_node = node.child_by_field_name("name")
        if name_node is None:
            return Bound.RECEIVER
        name = self._table.text(name_node)
        scope.symbol = self._ids.get((name, (decorated or node).start_point[0] + 1))
        decorators = code_children(decorated) if decorated is not None else ()
        expressions = (child.named_children for child in decorators if child.type == "decorator")
        scope.decorators = tuple([self._expressions.shape(one[0]).removesuffix("()") for one in expressions if one])
        if scope.kind is ScopeKind.FUNCTION:
            scope.returns = self._expressions.annotation(node.child_by_field_name("return_type"))
        elif (superclasses := node.child_by_field_name("superclasses")) is not None:
            bases = (one for one in code_children(superclasses) if one.type != "keyword_argument")
            scope.bases = tuple([self._expressions.shape(one).removesuffix("[]") for one in bases])
        self._table.bind(scope.parent, node, [Bound.DEFINED, number], name)
        is_of_class = name in _CLASS_METHOD_NAMES or "classmethod" in scope.decorators
        return Bound.CLASS_RECEIVER if is_of_class else Bound.RECEIVER

    def _read_parameters(self, node: Node, number: int, receives: Bound) -> None:
        parameters = node.child_by_field_name("parameters")
        if parameters is None:
            return
        scope = self._scopes[number]
        in_class = self._scopes[scope.parent].kind is ScopeKind.CLASS and scope.kind is ScopeKind.FUNCTION
        awaits_receiver = in_class and "staticmethod" not in scope.decorators
        for parameter in code_children(parameters):
            name, annotation = self._parameter(parameter)
            if awaits_receiver and name is not None and parameter.type in ("identifier", "typed_parameter"):
                scope.receiver = name
                self._table.bind(number, parameter, [receives, scope.parent], name)
            elif name is not None:
                binding = [Bound.UNKNOWN] if annotation is None else [Bound.ANNOTATED, annotation]
                self._table.bind(number, parameter, binding, name)
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
            return self._table.text(name.named_children[0]), container.format(annotation or "Any")
        return (self._table.text(name), annotation) if name.type == "identifier" else (None, None)


def read_imports(table: NameTable, captures: Mapping[str, Sequence[Node]]) -> dict[str, list[list[Any]]]:
    """Bind imported names; `imports` are what was taken from where (`[module, level, name]`), `stars` the modules that
    were imported whole (`[scope, module, level]`), both in source order."""

    def text(node: Node | None) -> Code:
        return Code("".join(table.text(node).split()) if node is not None else "")

    found: dict[str, list[list[Any]]] = {"imports": [], "stars": []}
    for node in sorted((*captures.get("import", ()), *captures.get("from", ())), key=lambda node: node.start_byte):
        scope = table.scope_at(node)
        for one in read_import(node, text):
            found["imports"].append([one.module, one.level, one.name])
            if one.name == "*":
                found["stars"].append([scope, one.module, one.level])
            elif one.name is not None:
                table.bind(scope, node, [Bound.IMPORTED, one.module, one.level, one.name], one.alias or one.name)
            else:
                bound = Bound.ALIASED_MODULE if one.alias else Bound.MODULE
                table.bind(scope, node, [bound, one.module], one.alias or one.module.partition(".")[0])
    return found
