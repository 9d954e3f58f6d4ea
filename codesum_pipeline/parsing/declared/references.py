"""What a file of a declared language says to the graph, as JSON.

`{"language", "package", "exports", "symbols", "heads", "extensions", "imports",
"typed", "bound", "receivers", "calls", "counts"}`: a symbol is `[id without path, type, parts, bases,
return type]`, and its head `[modifiers, names of parameters, least arguments,
most]` (-1: any number); an extension `[names around it, type, bases]`, of a
type that stands elsewhere; an import `[symbol, module, name, alias, level]`; a
typed name `[symbol, name, type]` (a field where the symbol is a class), a bound
one `[symbol, name, value]` where nothing says the type; a call `[symbol,
number of its receiver, name, is_new]`, and its count how many arguments it has (-1: unknown).
`symbol` is the number of the innermost symbol around it, -1 outside of all.
Receivers and values are chains, bases and types are names with arguments, as
`model.expressions` says. Nothing here is looked up: names are as written.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tree_sitter import Node

from codesum_pipeline.model.symbols import Import, Symbol, SymbolType
from codesum_pipeline.parsing.callees import References
from codesum_pipeline.parsing.canonical import Canonical
from codesum_pipeline.parsing.chains import parameter_names
from codesum_pipeline.parsing.declared.callee_names import CalleeNames
from codesum_pipeline.parsing.declared.declaration import Declaration, Text
from codesum_pipeline.parsing.declared.definitions import Definition, Outline
from codesum_pipeline.parsing.declared.facts import Calls
from codesum_pipeline.parsing.declared.structures import MAX_CHAIN, MAX_TYPE, Structures
from codesum_pipeline.parsing.walk import Mark

REFERENCES_VERSION = 6


def read_references(
    declaration: Declaration,
    outline: Outline,
    symbols: Sequence[Symbol],
    file_path: str,
    text: Text,
    calls: Calls,
    callee_names: CalleeNames,
    structures: Structures,
) -> References:
    """What one file refers to; `callee_names` says where the names of its callees stand."""
    names: list[int] = []
    content: dict[str, Any] = {
        "language": declaration.spec.name,
        "package": read_package(declaration, outline, text),
        "exports": read_names(declaration.exports, outline, text),
        "symbols": [
            [*_named(symbol, definition.parts, file_path), *_types(declaration, symbol, definition, text, structures)]
            for symbol, definition in zip(symbols, outline.definitions, strict=True)
        ],
        "heads": [_head(symbol) for symbol in symbols],
        "extensions": list(_extensions(declaration, outline, text, structures)),
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
                if found.name and 0 < len(found.type) <= MAX_TYPE:
                    content["typed"].append([number, found.name, structures.type(found.type)])
                elif found.name and not found.type:
                    content["bound"].append([number, found.name, []])
        if read_bound := declaration.bound.get(kind):
            content["bound"].extend(
                [number, found.name, structures.chain(found.type) if len(found.type) <= MAX_CHAIN else []]
                for found in read_bound(node, text)
                if found.name
            )
        if kind in declaration.calls and (called := calls.read(kind, node)) and called.name:
            content["calls"].append([number, structures.receiver(called.receiver), called.name, int(called.is_new)])
            content["counts"].append(_argument_count(node))
            names.append(callee_names.start(node, called))
    content["receivers"] = structures.receivers
    return References(json.dumps(content, ensure_ascii=False, separators=(",", ":")), tuple(names))


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


def _extensions(declaration: Declaration, outline: Outline, text: Text, structures: Structures) -> Iterator[list[Any]]:
    for around, node in outline.extensions:
        found = declaration.extensions[node.type](node, text)
        type_ = structures.type(found.type) if found is not None and len(found.type) <= MAX_TYPE else None
        if found is not None and found.bases and type_ is not None:
            yield [list(around), type_, structures.types(found.bases)]


def _all_marks(outline: Outline) -> Iterator[tuple[int, Mark]]:
    yield from ((-1, mark) for mark in outline.outside)
    for number, definition in enumerate(outline.definitions):
        yield from ((number, mark) for mark in definition.marks)


def _named(symbol: Symbol, parts: Sequence[str], file_path: str) -> list[Any]:
    return [symbol.id.removeprefix(f"{file_path}::"), symbol.type.value, list(parts)]


def _types(
    declaration: Declaration, symbol: Symbol, definition: Definition, text: Text, structures: Structures
) -> tuple[list[Any], list[Any] | None]:
    """The bases of a class; the type that a function returns."""
    node = definition.nodes[0]
    if symbol.type is SymbolType.CLASS:
        return structures.types(declaration.bases(node, text)), None
    returned = declaration.return_type(node, text)
    return [], structures.type(returned) if returned else None


def _head(symbol: Symbol) -> list[Any]:
    parameters = [parameter for parameter in symbol.facts.parameters if parameter.kind != "receiver"]
    is_open = any(parameter.kind.startswith("var_") for parameter in parameters)
    fixed = [parameter for parameter in parameters if not parameter.kind.startswith("var_")]
    least = sum(parameter.default is None for parameter in fixed)
    names = [name for parameter in symbol.facts.parameters for name in parameter_names(parameter.name)]
    return [list(symbol.modifiers), names, least, -1 if is_open else len(fixed)]


def _argument_count(call: Node) -> int:
    arguments = call.child_by_field_name("arguments")
    if arguments is None or "arg" not in arguments.type:
        return -1
    shown = [child for child in arguments.named_children if not child.is_extra]
    is_open = any("spread" in child.type or "splat" in child.type for child in shown)
    return -1 if is_open else len(shown)
