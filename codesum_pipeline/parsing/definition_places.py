"""Which of a file's symbols a compiler's definitions are: by place and name."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from codesum_pipeline.model.symbols import Symbol, SymbolType
from codesum_pipeline.scip.comparing import IndexDefinition
from codesum_pipeline.scip.symbol_names import Suffix

# The ids of our symbols, by the numbers of an index's definitions.
Matches = Mapping[int, str]

_FITTING = {
    Suffix.METHOD: (SymbolType.FUNCTION, SymbolType.CLASS),
    Suffix.MACRO: (SymbolType.FUNCTION,),
    Suffix.TYPE: (SymbolType.CLASS,),
    Suffix.TERM: (SymbolType.FUNCTION, SymbolType.CLASS),
    # A key of an object that has no name.
    Suffix.META: (SymbolType.FUNCTION,),
}
# A name may stand below the first line of its head: after a return type, or an attribute.
_LINES_OF_HEAD = 2


def match_definitions(symbols: Sequence[Symbol], definitions: Sequence[IndexDefinition]) -> dict[int, str]:
    """Of each definition that is one of ours, by its number, the id: the name is spelled in the head of ours.

    Of several names in one head, as that of an attribute which a one-line method sets, the first is meant.
    """
    by_name: defaultdict[str, list[Symbol]] = defaultdict(list)
    for symbol in symbols:
        by_name[symbol.name].append(symbol)
    first: dict[str, tuple[int, int]] = {}
    found: dict[int, str] = {}
    written = [number for number, one in enumerate(definitions) if not one.is_generated]
    for number in sorted(written, key=lambda number: definitions[number].named.span):
        named = definitions[number].named
        place = (named.span.line, named.span.start)
        around = next(_around(by_name.get(named.text, ()), definitions[number]), None)
        if around is not None and first.setdefault(around.id, place) == place:
            found[number] = around.id
    return found


def _around(candidates: Sequence[Symbol], definition: IndexDefinition) -> Iterator[Symbol]:
    """The symbols in whose head a name stands, the innermost first."""
    named = definition.named
    types = _FITTING.get(named.name.last.suffix, ())
    fitting = [symbol for symbol in candidates if symbol.type in types and _is_in_head(symbol, named.span.line)]
    yield from sorted(fitting, key=lambda symbol: (types.index(symbol.type), -symbol.start_line, symbol.id))


def _is_in_head(symbol: Symbol, line: int) -> bool:
    number = symbol.facts.signature_line - 1
    begins = symbol.line_map[number] if number < len(symbol.line_map) else symbol.start_line
    return begins <= line <= min(symbol.end_line, begins + _LINES_OF_HEAD)
