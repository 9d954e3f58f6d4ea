"""The other names of a file, as the graph reads them: beside its references, in the same JSON.

`named` are rows of kind, name, the id of a document without the path (empty: the file), and code that leads to what is
named from inside of that document; without code, the document has the name. `held` are, by the id of a function without
a name, the numbers of its calls.
"""

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.ids import SEPARATOR, own_name
from codesum_pipeline.foundation.data_model.symbol import NameKind, Symbol, SymbolType
from codesum_pipeline.languages.declarations.hook_values import References
from codesum_pipeline.languages.declarations.start_marks import (
    StartMark,
    command_of,
    marks_by_language,
    marks_of,
    routes_of,
)
from codesum_pipeline.symbols.parsing.held_functions import HeldNames, clean_name
from codesum_pipeline.symbols.parsing.nested_definitions import Definition

Row = tuple[str, str, str, str]


def with_names(
    references: References,
    held: HeldNames,
    symbols: Sequence[Symbol],
    unnamed: Sequence[Symbol],
    definitions: Sequence[Definition],
) -> References:
    """A file's references with its other names. `symbols` are those of `definitions`, `unnamed` those of the functions
    that are held."""
    rows = [*_of_marks(symbols), *_of_held(held, symbols, unnamed)]
    calls = _calls_of(references, held, unnamed, definitions)
    added: dict[str, Any] = {}
    if rows:
        added["named"] = [*dict.fromkeys(rows)]
    if calls:
        added["held"] = calls
    if not added:
        return references
    written = json.dumps(added, ensure_ascii=False, separators=(",", ":"))
    return replace(references, json=f"{references.json[:-1]},{written[1:]}")


def _of_held(held: HeldNames, symbols: Sequence[Symbol], unnamed: Sequence[Symbol]) -> Iterator[Row]:
    for one in held.names:
        if one.function is not None:
            holder = _local(unnamed[one.function])
        else:
            holder = "" if one.definition is None else _local(symbols[one.definition])
        yield str(one.kind), one.name, holder, one.said


def _local(symbol: Symbol) -> str:
    return symbol.id.removeprefix(f"{symbol.file_path}{SEPARATOR}")


def _of_marks(symbols: Sequence[Symbol]) -> Iterator[Row]:
    """The routes and commands that decorators, annotations and attributes declare."""
    language = symbols[0].language if symbols else ""
    known = marks_by_language().get("typescript" if language == "tsx" else language)
    if known is None:
        return
    around: Mapping[str, Sequence[StartMark]] = {
        one.id: marks_of(one.canonical_source) for one in symbols if one.type is SymbolType.CLASS
    }
    for symbol in symbols:
        marks = around.get(symbol.id) or marks_of(symbol.canonical_source)
        is_class = symbol.type is SymbolType.CLASS
        marks = [mark for mark in marks if not is_class or mark.name in known.commands]
        if not marks:
            continue
        if command := clean_name(command_of(known, language, symbol.name, marks) or ""):
            yield NameKind.COMMAND.value, command, _local(symbol), ""
        for route in routes_of(known, marks, around.get(symbol.parent_id or "", ())) if not is_class else ():
            yield NameKind.ROUTE.value, clean_name(_with_names(route, symbol)), _local(symbol), ""


def _with_names(route: str, symbol: Symbol) -> str:
    """A route of ASP.NET with the names that `[controller]` and `[action]` mean."""
    if "[" not in route or symbol.parent_id is None:
        return route
    controller = own_name(symbol.parent_id).removesuffix("Controller")
    return route.replace("[controller]", controller).replace("[action]", symbol.name)


def _calls_of(
    references: References, held: HeldNames, unnamed: Sequence[Symbol], definitions: Sequence[Definition]
) -> dict[str, list[int]]:
    """The numbers of the calls in functions without a name, but for those in definitions inside of them."""
    functions = [one.definition for one in held.functions]
    order = sorted(range(len(functions)), key=lambda number: functions[number].nodes[0].start_byte)
    starts = [functions[number].nodes[0].start_byte for number in order]
    inner: dict[int, list[Definition]] = {}
    for definition in definitions if functions else ():
        place = bisect_right(starts, definition.start_byte) - 1
        if place >= 0 and definition.start_byte < functions[order[place]].nodes[0].end_byte:
            inner.setdefault(order[place], []).append(definition)
    found: dict[str, list[int]] = {}
    for call, start in enumerate(references.names if functions else ()):
        place = bisect_right(starts, start) - 1
        if place < 0 or start >= functions[order[place]].nodes[0].end_byte:
            continue
        number = order[place]
        if not any(one.start_byte <= start < one.end_byte for one in inner.get(number, ())):
            found.setdefault(_local(unnamed[number]), []).append(call)
    return found
