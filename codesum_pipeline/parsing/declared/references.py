"""What a file of a declared language says to the graph, as JSON.

`{"language", "package", "exports", "symbols", "heads", "extensions", "imports",
"typed", "bound", "calls", "counts"}`: a symbol is `[id without path, type, parts, bases,
return type]`, and its head `[modifiers, names of parameters, least arguments,
most]` (-1: any number); an extension `[names around it, type, bases]`, of a
type that stands elsewhere; an import `[symbol, module, name, alias, level]`; a
typed name `[symbol, name, type]` (a field where the symbol is a class), a bound
one `[symbol, name, value]` where nothing says the type; a call `[symbol,
receiver, name, is_new]`, and its count how many arguments it has (-1: unknown).
`symbol` is the number of the innermost symbol around it, -1 outside of all.
Nothing here is looked up: names are as written.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tree_sitter import Node

from codesum_pipeline.model.symbols import Import, Symbol
from codesum_pipeline.parsing.canonical import Canonical
from codesum_pipeline.parsing.declared.declaration import Called, Declaration, Text
from codesum_pipeline.parsing.declared.definitions import Outline
from codesum_pipeline.parsing.declared.facts import Calls
from codesum_pipeline.parsing.walk import Mark

REFERENCES_VERSION = 4
# Longer receivers are expressions whose class nobody can tell from their text.
MAX_RECEIVER = 120
MAX_TYPE = 200


def read_references(
    declaration: Declaration, outline: Outline, symbols: Sequence[Symbol], file_path: str, text: Text, calls: Calls
) -> str:
    """The JSON of one file."""
    content: dict[str, Any] = {
        "language": declaration.spec.name,
        "package": read_package(declaration, outline, text),
        "exports": read_names(declaration.exports, outline, text),
        "symbols": [
            _symbol(symbol, definition.parts, file_path)
            for symbol, definition in zip(symbols, outline.definitions, strict=True)
        ],
        "heads": [_head(symbol) for symbol in symbols],
        "extensions": list(_extensions(declaration, outline, text)),
        "imports": [],
        "typed": [],
        "bound": [],
        "calls": [],
        "counts": [],
    }
    for number, mark in _all_marks(outline):
        kind, _, node = mark
        if read_imports := declaration.imports.get(kind):
            content["imports"].extend(
                [number, found.module, found.name, found.alias, found.level] for found in read_imports(node, text)
            )
        if read_typed := declaration.typed.get(kind):
            for found in read_typed(node, text):
                if found.name and len(found.type) <= MAX_TYPE:
                    content["typed" if found.type else "bound"].append([number, found.name, found.type])
        if read_bound := declaration.bound.get(kind):
            content["bound"].extend(
                [number, found.name, found.type if len(found.type) <= MAX_RECEIVER else ""]
                for found in read_bound(node, text)
                if found.name
            )
        if kind in declaration.calls and (called := calls.read(kind, node)) and called.name:
            content["calls"].append([number, *_call(called)])
            content["counts"].append(_argument_count(node))
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def read_package(declaration: Declaration, outline: Outline, text: Text) -> str | None:
    """The package that the file says it belongs to."""
    for kind, _, node in outline.outside:
        if read := declaration.package.get(kind):
            return read(node, text) or None
    return None


def read_names(readers: Any, outline: Outline, text: Text) -> list[str]:
    """The names that hooks find outside of all symbols, each once, in source order."""
    names = {name: None for kind, _, node in outline.outside if kind in readers for name in readers[kind](node, text)}
    return list(names)


def read_imports(
    declaration: Declaration, outline: Outline, ids: Sequence[str], text: Text, canonical: Canonical
) -> tuple[Import, ...]:
    """What a file imports, in source order."""
    marks = sorted(_all_marks(outline), key=lambda numbered: numbered[1][1])
    return tuple([
        Import(
            module=found.module,
            level=found.level,
            name=found.name,
            alias=found.alias,
            scope_id=ids[number] if number >= 0 else None,
            line=canonical.real_line(start),
        )
        for number, (kind, start, node) in marks
        if kind in declaration.imports
        for found in declaration.imports[kind](node, text)
    ])  # fmt: skip


def _extensions(declaration: Declaration, outline: Outline, text: Text) -> Iterator[list[Any]]:
    for around, node in outline.extensions:
        found = declaration.extensions[node.type](node, text)
        if found is not None and found.bases and len(found.type) <= MAX_TYPE:
            yield [list(around), found.type, [base for base in found.bases if len(base) <= MAX_TYPE]]


def _all_marks(outline: Outline) -> Iterator[tuple[int, Mark]]:
    yield from ((-1, mark) for mark in outline.outside)
    for number, definition in enumerate(outline.definitions):
        yield from ((number, mark) for mark in definition.marks)


def _symbol(symbol: Symbol, parts: Sequence[str], file_path: str) -> list[Any]:
    local_id = symbol.id.removeprefix(f"{file_path}::")
    return [local_id, symbol.type.value, list(parts), list(symbol.bases), symbol.facts.return_type]


def _head(symbol: Symbol) -> list[Any]:
    parameters = [parameter for parameter in symbol.facts.parameters if parameter.kind != "receiver"]
    is_open = any(parameter.kind.startswith("var_") for parameter in parameters)
    fixed = [parameter for parameter in parameters if not parameter.kind.startswith("var_")]
    least = sum(parameter.default is None for parameter in fixed)
    names = [parameter.name for parameter in symbol.facts.parameters]
    return [list(symbol.modifiers), names, least, -1 if is_open else len(fixed)]


def _argument_count(call: Node) -> int:
    arguments = call.child_by_field_name("arguments")
    if arguments is None or "arg" not in arguments.type:
        return -1
    shown = [child for child in arguments.named_children if not child.is_extra]
    is_open = any("spread" in child.type or "splat" in child.type for child in shown)
    return -1 if is_open else len(shown)


def _call(called: Called) -> list[Any]:
    receiver = called.receiver if len(called.receiver) <= MAX_RECEIVER else "?"
    return [receiver, called.name, int(called.is_new)]
