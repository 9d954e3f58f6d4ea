"""The facts of a file of a declared language that the graph reads, as JSON.

`{"language", "package", "exports", "symbols", "heads", "extensions", "imports",
"typed", "bound", "receivers", "calls", "counts", "blocks", "around", "results", "uses",
"constants"}`:
a symbol is `[id without path, type, parts, bases, return type]`, and its head `[modifiers, names of
parameters, least arguments, most]` (-1: any number); an extension `[names around it, type, bases]`, of a
type that is defined elsewhere; an import `[symbol, module, name, alias, level]`; a
typed name `[symbol, name, type]` (a field where the symbol is a class), a bound
one `[symbol, name, value]` where nothing says the type; a call `[symbol,
number of its receiver, name, is_new]`, and its count how many arguments it has (-1: unknown). A use is of a name that
is not called, as `parsing.named_uses` says; `constants` are names at the top of the file that are no definitions,
those that no other file sees again in `private`, where there are any. `conditions` has `[symbol, condition]` of what is
not in every program, and `apart` the symbols directly in an extension of an inner type.
`symbol` is the number of the innermost symbol around it, -1 outside of all. In a language whose
blocks have names of their own it may be a block's, which come after the symbols': `blocks` has
`[scope around, names of parameters]` of each, and `around` for each symbol `[scope around, 1 where no plain
name means it: a member]`, and `results` are `[scope, value]` of the values returned by functions that do not declare
their return type, none of a function with no single known value. A target of an assignment belongs to its scope.
Receivers and values are chains, bases and types are names with arguments, as
`model.expressions` says. Nothing here is looked up: names are as written.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tree_sitter import Node

from codesum_pipeline.foundation.data_model.expression import CAST, OBJECT
from codesum_pipeline.foundation.data_model.symbol import Import, Symbol, SymbolType
from codesum_pipeline.languages.declarations.declaration import Declaration
from codesum_pipeline.languages.declarations.hook_values import References, WordRow
from codesum_pipeline.languages.declarations.node_code import MAX_CHAIN, MAX_TYPE, Code, Text
from codesum_pipeline.languages.declarations.spec import Mark, Span
from codesum_pipeline.symbols.parsing.blocks import BlockScopes, NameRow, ScopedNames
from codesum_pipeline.symbols.parsing.canonical import Canonical
from codesum_pipeline.symbols.parsing.chains import parameter_names
from codesum_pipeline.symbols.parsing.facts import CallReader
from codesum_pipeline.symbols.parsing.named_uses import NamedUses
from codesum_pipeline.symbols.parsing.nested_definitions import Definition, FileOutline
from codesum_pipeline.symbols.parsing.structures import CalleeNames, Structures

# A hook may give this instead of a long receiver.
LONG = "…"
# A function with more results has no single class.
MAX_RESULTS = 8


class ReferenceReader:
    """Reads what one file refers to."""

    def __init__(
        self, declaration: Declaration, outline: FileOutline, text: Text, calls: CallReader, structures: Structures
    ) -> None:
        self._declaration, self._outline, self._text = declaration, outline, text
        self._calls, self._structures = calls, structures
        self._content: dict[str, Any] = {}
        self._shortened: dict[int, Code] = {}

    def read(
        self,
        symbols: Sequence[Symbol],
        file_path: str,
        callee_names: CalleeNames,
        *,
        words: Iterable[WordRow] = (),
        constants: Sequence[str] = (),
    ) -> References:
        """Read the references of a file; `callee_names` locates the names of its callees, `words` are its names."""
        declaration, outline, text = self._declaration, self._outline, self._text
        content = self._content = {
            "language": declaration.spec.name,
            "package": self._package(),
            "exports": read_names(declaration.exports, outline, text),
            "symbols": [
                [symbol.id.removeprefix(f"{file_path}::"), symbol.type.value, list(definition.parts),
                 *self._types(symbol, definition)]
                for symbol, definition in zip(symbols, outline.definitions, strict=True)
            ],
            "heads": [_head(symbol) for symbol in symbols],
            "constants": list(constants),
            "extensions": list(self._extensions()),
            **{group: [] for group in ("imports", "typed", "bound", "calls", "counts", "blocks", "around", "results")},
        }  # fmt: skip
        if private := self._private_constants():
            content["private"] = private
        if declaration.uses.has_extensions_apart:
            content["apart"] = list(_apart(outline.definitions))
        if (condition_of := declaration.condition) is not None:
            found = (condition_of(definition.nodes[0], text) for definition in outline.definitions)
            content["conditions"] = [[number, condition] for number, condition in enumerate(found) if condition]
        self._add_documented(symbols)
        marks = list(_all_marks(outline))
        blocks = BlockScopes(declaration, outline, marks)
        names, imported, assigned = self._read_marks(marks, blocks, callee_names)
        uses = NamedUses(declaration, outline, callee_names.source, content)
        content["uses"] = uses.read(words, frozenset(names), imported, blocks.scope)
        if declaration.blocks:
            content["results"] = list(self._results(blocks))
            self._place(blocks, assigned)
        content["receivers"] = self._structures.receivers
        return References(json.dumps(content, ensure_ascii=False, separators=(",", ":")), tuple(names))

    def _read_marks(
        self, marks: Sequence[tuple[int, Mark]], blocks: BlockScopes, callee_names: CalleeNames
    ) -> tuple[list[int], list[Span], list[NameRow]]:
        """Add what each node says that the language asked for. The places of callees' names, the parts that import, and
        the rows of what is assigned."""
        declaration, text, content = self._declaration, self._text, self._content
        kinds = {*declaration.imports, *declaration.typed, *declaration.bound, *declaration.calls}
        names: list[int] = []
        imported: list[Span] = []
        assigned: list[NameRow] = []
        for number, mark in marks:
            kind, start, node = mark
            if kind not in kinds:
                continue
            scope = blocks.scope(number, start)
            outer = blocks.scope(number, start, is_hoisted=True) if blocks.is_hoisted(start) else scope
            if read_imports := declaration.imports.get(kind):
                rows = [[outer, one.module, one.name, one.alias, one.level] for one in read_imports(node, text)]
                content["imports"] += rows
                imported += [(start, node.end_byte)] if rows else []
            for group, name, structure in self._named_in(kind, node):
                # A field is of the symbol around.
                row = [number if "." in name else outer, name, structure]
                content[group].append(row)
                if kind in declaration.assigned and "." not in name:
                    assigned.append(row)
            if kind in declaration.calls and (called := self._calls.read(kind, node)):
                receiver = called.receiver
                if len(receiver) > MAX_CHAIN or receiver == LONG:
                    receiver = declaration.short_receiver(node, text, self._shortened) or receiver
                content["calls"].append([scope, self._structures.receiver(receiver), called.name, int(called.is_new)])
                content["counts"].append(_argument_count(node))
                names.append(callee_names.start(node, called))
        return names, imported, assigned

    def _package(self) -> str | None:
        """The package that the file says it belongs to."""
        readers = self._declaration.package
        packages = (readers[kind](node, self._text) for kind, _, node in self._outline.outside if kind in readers)
        return next(packages, None) or None

    def _private_constants(self) -> list[str]:
        declaration, text, words = self._declaration, self._text, self._declaration.uses.private
        outside = self._outline.outside if words else ()
        nodes = ((declaration.globals[kind], node) for kind, _, node in outside if kind in declaration.globals)
        return [
            name
            for names_of, node in nodes
            if not words.isdisjoint(declaration.modifiers(node, (), text))
            for name in names_of(node, text)
        ]

    def _types(self, symbol: Symbol, definition: Definition) -> tuple[list[Any], list[Any] | None]:
        """The bases of a class; the type that a function returns."""
        node = definition.nodes[0]
        if symbol.type is SymbolType.CLASS:
            return self._structures.types(self._declaration.bases(node, self._text)), None
        returned = self._declaration.return_type(node, self._text)
        return [], self._structures.type(returned) if returned else None

    def _short_type(self, written_type: str) -> list[Any] | None:
        return self._structures.type(written_type) if len(written_type) <= MAX_TYPE else None

    def _extensions(self) -> Iterator[list[Any]]:
        for around, node in self._outline.extensions:
            found = self._declaration.extensions[node.type](node, self._text)
            type_ = self._short_type(found.type) if found is not None else None
            if found is not None and found.bases and type_ is not None:
                yield [list(around), type_, self._structures.types(found.bases)]

    def _add_documented(self, symbols: Sequence[Symbol]) -> None:
        """The types that comments say of parameters and results."""
        for number, symbol in enumerate(symbols):
            for found in self._declaration.documented(symbol.docstring or ""):
                type_ = self._short_type(found.type)
                if type_ is None or symbol.type is not SymbolType.FUNCTION:
                    continue
                if found.name in self._content["heads"][number][1]:
                    self._content["typed"].append([number, found.name, type_])
                elif not found.name and self._content["symbols"][number][-1] is None:
                    self._content["symbols"][number][-1] = type_

    def _named_in(self, kind: str, node: Node) -> Iterator[tuple[str, str, list[Any] | None]]:
        """What a node says about variables and fields: `typed` or `bound`, the name, and the type or value."""
        declaration, text, structures = self._declaration, self._text, self._structures
        for found in declaration.typed[kind](node, text) if kind in declaration.typed else ():
            if found.name and 0 < len(found.type) <= MAX_TYPE:
                yield "typed", found.name, structures.type(found.type)
            elif found.name and not found.type:
                yield "bound", found.name, []
        for found in declaration.bound[kind](node, text) if kind in declaration.bound else ():
            if found.name:
                yield "bound", found.name, structures.chain(found.type) if len(found.type) <= MAX_CHAIN else []

    def _results(self, blocks: BlockScopes) -> Iterator[list[Any]]:
        """The values that functions return which do not state their return type."""
        values_of = self._declaration.returned_values
        for number, definition in enumerate(self._outline.definitions if values_of is not None else ()):
            if definition.type is SymbolType.FUNCTION and self._content["symbols"][number][-1] is None:
                nodes = list(self._returned(values_of, number, definition, blocks))
                rows = [[scope, self._returned_value(node)] for scope, node in nodes[: MAX_RESULTS + 1]]
                if rows and len(rows) <= MAX_RESULTS and all(value for _, value in rows):
                    yield from rows

    def _returned(
        self, values_of: Any, number: int, definition: Definition, blocks: BlockScopes
    ) -> Iterator[tuple[int, Node]]:
        """The expressions that a function returns, each with its scope; none for a generator."""
        declaration, body = self._declaration, definition.bodies[0]
        if not declaration.yields.isdisjoint(kind for kind, _, _ in definition.marks):
            return
        if body is not None and (result := declaration.result(body)) is not None:
            yield from ((number, node) for node in values_of(result))
        for kind, start, statement in definition.marks:
            if kind in declaration.returns and blocks.scope(number, start, is_hoisted=True) == number:
                scope = blocks.scope(number, start)
                yield from ((scope, node) for child in statement.named_children[:1] for node in values_of(child))

    def _returned_value(self, node: Node) -> list[Any] | None:
        declaration, text = self._declaration, self._text
        if declaration.is_object(node):
            return [OBJECT]
        if cast := declaration.cast_type(node, text):
            type_ = self._short_type(cast)
            return [[CAST, type_]] if type_ is not None else None
        is_short = node.end_byte - node.start_byte <= MAX_CHAIN
        expression = text(node) if is_short else declaration.shortened(node, text, self._shortened)
        return self._structures.chain(expression) or None

    def _place(self, blocks: BlockScopes, assigned: Sequence[NameRow]) -> None:
        """Write into each row the scope that declares its name."""
        content, declaration = self._content, self._declaration
        names = ScopedNames(blocks, self._text, content["heads"])
        is_assigned = {id(row) for row in assigned}
        names.declare(row for kind in ("typed", "bound") for row in content[kind] if id(row) not in is_assigned)
        nodes = [definition.nodes[0] for definition in self._outline.definitions]
        rows: list[NameRow] = [
            [around, definition.parts[-1]]
            for around, definition in zip(blocks.around_symbols, self._outline.definitions, strict=True)
        ]
        assigns = [node.type in declaration.assigned for node in nodes]
        members = [declaration.is_member(node) for node in nodes]
        names.declare(row for row, *others in zip(rows, assigns, members, strict=True) if not any(others))
        for row in (
            *assigned,
            *(row for row, is_assigned_later in zip(rows, assigns, strict=True) if is_assigned_later),
        ):
            declared = names.declaring(row[0], row[1])
            row[0] = row[0] if declared is None else declared
        content["around"] = [
            [scope, int(is_member or (is_assigned_later and names.is_parameter(scope, name)))]
            for (scope, name), is_assigned_later, is_member in zip(rows, assigns, members, strict=True)
        ]
        content["blocks"] = names.written(content, [scope for scope, _ in rows])


def read_names(readers: Any, outline: FileOutline, text: Text) -> list[str]:
    """The names that hooks find outside of all symbols, each once, in source order."""
    names = {name: None for kind, _, node in outline.outside if kind in readers for name in readers[kind](node, text)}
    return list(names)


def read_imports(
    declaration: Declaration, outline: FileOutline, ids: Sequence[str], text: Text, canonical: Canonical
) -> tuple[Import, ...]:
    """What a file imports, in source order."""
    imports = (numbered for numbered in _all_marks(outline) if numbered[1][0] in declaration.imports)
    marks = sorted(imports, key=lambda numbered: numbered[1][1])
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
        for found in declaration.imports[kind](node, text)
    ])  # fmt: skip


def _all_marks(outline: FileOutline) -> Iterator[tuple[int, Mark]]:
    yield from ((-1, mark) for mark in outline.outside)
    for number, definition in enumerate(outline.definitions):
        yield from ((number, mark) for mark in definition.marks)


def _apart(definitions: Sequence[Definition]) -> Iterator[int]:
    """Those that have two names or more before their own, and are written outside of what these names define."""
    for number, one in enumerate(definitions):
        owner = definitions[one.parent] if one.parent is not None else None
        is_inside = owner is not None and owner.code_start <= one.code_start < owner.end_byte
        if len(one.parts) > 2 and not is_inside:
            yield number


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
