"""Annotations: taken apart, strings read as what they quote, and what an object so annotated may be asked for.

An annotation is a dotted name with its arguments; `|` holds alternatives. What cannot be read is None.
"""

import ast
from functools import lru_cache

from codesum_pipeline.foundation.data_model.expression import TypeName, type_of
from codesum_pipeline.foundation.data_model.possible_values import (
    NONE,
    UNKNOWN,
    BuiltinValue,
    ClassValue,
    ContainerValue,
    ExternalValue,
    InstanceValue,
    NoValue,
    Reason,
    Value,
    agree_on_value,
)
from codesum_pipeline.foundation.data_model.scopes import Scope
from codesum_pipeline.foundation.language_facts.language_profiles import library_names
from codesum_pipeline.graph.resolvers.resolver import MAX_DEPTH, Resolver
from codesum_pipeline.languages.declarations.python.syntax_trees import parse_expression

UNION = "|"

# Deeper annotations are never about one class.
_MAX_DEPTH = 6
_TYPING, _PROTOCOLS, _WRAPPERS, _ITERABLES, _MAPPINGS, _CONTEXTS, _VAGUE_TYPES = (
    library_names("python", kind)
    for kind in (
        "typing_modules", "protocol_modules", "wrapper_types", "iterable_types", "mapping_types", "context_types",
        "untold_types",
    )
)  # fmt: skip


@lru_cache(maxsize=50_000)
def parse_annotation(text: str, *, depth: int = 0) -> TypeName | None:
    """Read one annotation as written."""
    if depth > _MAX_DEPTH:
        return None
    try:
        return _read(parse_expression(text.strip()), depth)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _read(node: ast.expr, depth: int) -> TypeName | None:
    match node:
        case ast.Name() | ast.Attribute():
            name = _dotted(node)
            return type_of(name) if name else None
        case ast.Constant(value=str() as quoted):
            return parse_annotation(quoted, depth=depth + 1)
        case ast.Constant(value=None | True | False as word):
            return type_of(str(word))
        case ast.BinOp(op=ast.BitOr()):
            return TypeName((UNION,), tuple(_alternatives(node, depth)))
        case ast.Subscript(value=value, slice=inside):
            name = _dotted(value)
            found = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            arguments = tuple([_read(one, depth + 1) for one in found]) if name and depth < _MAX_DEPTH else ()
            return TypeName((name,), arguments) if name else None
    return None


def _alternatives(node: ast.expr, depth: int) -> list[TypeName | None]:
    """The parts of `a | b | c`, in order; the tree leans to the left."""
    parts: list[TypeName | None] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        parts.append(_read(node.right, depth))
        node = node.left
    return [_read(node, depth), *reversed(parts)]


def _dotted(node: ast.expr) -> str:
    """A name with the names before it; "" if it is another expression."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


class PythonTypes:
    """Evaluates annotations in the scope that contains them."""

    def __init__(self, resolver: Resolver[str, str]) -> None:
        self._resolver = resolver
        self._known: dict[tuple[Scope, str], Value] = resolver.make_answers()

    def value(self, scope: Scope, text: str) -> Value:
        """An object with this annotation."""
        key = (scope, text)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._object(scope, parse_annotation(text))
        return found

    def _object(self, scope: Scope, annotation: TypeName | None) -> Value:
        if annotation is None or self._resolver.depth >= MAX_DEPTH:
            return UNKNOWN
        self._resolver.depth += 1
        value = self._described(scope, annotation)
        self._resolver.depth -= 1
        return value

    def _described(self, scope: Scope, annotation: TypeName) -> Value:
        name, arguments = annotation.names[0], annotation.arguments
        if name == "None":
            return NONE
        if name == UNION:
            return agree_on_value([self._object(scope, part) for part in arguments])
        named = self._resolver.value(scope, name)
        if isinstance(named, ClassValue):
            return InstanceValue(named.scope, Reason.ANNOTATION)
        if isinstance(named, BuiltinValue):
            return self._of_python(scope, named.name, arguments) or BuiltinValue(named.name, is_instance=True)
        if isinstance(named, ExternalValue) and not named.is_instance:
            module, _, last = named.dotted.rpartition(".")
            known = self._of_python(scope, last, arguments) if module.partition(".")[0] in _TYPING else None
            if known is None and module in _PROTOCOLS:
                return BuiltinValue(last, is_instance=True)
            return known or ExternalValue(named.dotted, is_instance=True)
        return UNKNOWN

    def _of_python(self, scope: Scope, name: str, arguments: tuple[TypeName | None, ...]) -> Value | None:
        """Objects whose class Python itself defines; None for any other class of it."""
        if name in _VAGUE_TYPES:
            return UNKNOWN
        if name == "Self":
            return NoValue.SELF
        if not arguments:
            return None
        first = self._object(scope, arguments[0])
        if name in _WRAPPERS:
            return first
        if name in ("type", "Type"):
            return ClassValue(first.scope, Reason.ANNOTATION) if isinstance(first, InstanceValue) else UNKNOWN
        is_endless = name in ("tuple", "Tuple") and len(arguments) == 2 and arguments[1] is None
        if name in _ITERABLES or is_endless:
            return ContainerValue("iterable", (first,))
        if name in _CONTEXTS:
            return ContainerValue("context", (first,))
        values = (first, *(self._object(scope, part) for part in arguments[1:]))
        if name == "Union":
            return agree_on_value(list(values))
        if name == "Coroutine":
            return values[-1]
        if name in _MAPPINGS and len(arguments) == 2:
            return ContainerValue("dict", values)
        return ContainerValue("tuple", values) if name in ("tuple", "Tuple") else None
