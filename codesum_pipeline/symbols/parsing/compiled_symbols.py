"""Which of a file's symbols a compiler's definitions are, by place and name; and those that no parser has found: what a
macro makes, members that are generated, and all of a language that none reads."""

import re
import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from codesum_pipeline.foundation.data_model.hashing import HashPolicy, sha1_hex
from codesum_pipeline.foundation.data_model.ids import SUFFIX_DIGITS, symbol_id
from codesum_pipeline.foundation.data_model.symbol import Symbol, SymbolFacts, SymbolType
from codesum_pipeline.symbols.parsing.text import ParsedFile, content_hash
from codesum_pipeline.symbols.scip.comparing import IndexComparison, IndexDefinition
from codesum_pipeline.symbols.scip.symbol_names import Suffix

# As many as the largest files have by hand, many times over.
MOST_PER_FILE = 5_000

_TYPES = {
    Suffix.METHOD: SymbolType.FUNCTION,
    Suffix.MACRO: SymbolType.FUNCTION,
    Suffix.TYPE: SymbolType.CLASS,
}
_NAMING = frozenset({Suffix.TYPE, Suffix.METHOD, Suffix.TERM, Suffix.MACRO})
# A documentation begins with the definition's head as code in some tools.
_CODE = re.compile(r"\A\s*```[^\n]*\n(.*?)\n?```\s*", re.DOTALL)
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
# A name may be below the first line of its head: after a return type, or an attribute.
_LINES_OF_HEAD = 2


def match_definitions(symbols: Sequence[Symbol], definitions: Sequence[IndexDefinition]) -> dict[int, str]:
    """The id of each definition that is one of ours, by its number: the name is spelled in the head of ours.

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
    """The symbols whose head contains a name, innermost first."""
    named = definition.named
    types = _FITTING.get(named.name.last.suffix, ())
    fitting = [symbol for symbol in candidates if symbol.type in types and _is_in_head(symbol, named.span.line)]
    yield from sorted(fitting, key=lambda symbol: (types.index(symbol.type), -symbol.start_line, symbol.id))


def _is_in_head(symbol: Symbol, line: int) -> bool:
    number = symbol.facts.signature_line - 1
    begins = symbol.line_map[number] if number < len(symbol.line_map) else symbol.start_line
    return begins <= line <= min(symbol.end_line, begins + _LINES_OF_HEAD)


def symbols_lacking(
    parsed: ParsedFile, comparison: IndexComparison, matches: Matches, text: str, policy: HashPolicy
) -> tuple[list[Symbol], Matches]:
    """The definitions that become symbols of their file, and which of the index's these are."""
    numbered = list(enumerate(comparison.definitions))
    matched = {one.named.symbol for number, one in numbered if number in matches}
    wanted = {one.named.symbol: one for _, one in numbered if _is_lacking(one, matched)}
    wanted = dict(list(wanted.items())[:MOST_PER_FILE])
    if not wanted:
        return [], {}
    ids = _ids(wanted, parsed.facts.file_path, {symbol.id for symbol in parsed.symbols})
    by_key = {one.named.name.key: matches[number] for number, one in numbered if number in matches}
    by_key |= {one.named.name.key: ids[symbol] for symbol, one in wanted.items()}
    lines = text.split("\n")
    symbols = [
        _symbol(one, ids[symbol], by_key, parsed, comparison.information.get(symbol), lines, policy)
        for symbol, one in wanted.items()
    ]
    return symbols, {number: ids[one.named.symbol] for number, one in numbered if one.named.symbol in ids}


def _is_lacking(definition: IndexDefinition, matched: Collection[str]) -> bool:
    name = definition.named.name
    return name.last.suffix in _TYPES and not name.is_local and definition.named.symbol not in matched


def _ids(wanted: Mapping[str, IndexDefinition], path: str, taken: Collection[str]) -> dict[str, str]:
    """An id for each symbol; one that is taken gets a suffix that is read off the symbol."""
    ids: dict[str, str] = {}
    used = {*taken}
    for symbol, definition in sorted(wanted.items(), key=lambda one: one[1].named.name.key):
        plain = symbol_id(path, _parts(definition))
        suffix = f"#{sha1_hex(definition.named.name.key)[:SUFFIX_DIGITS]}" if plain in used else ""
        ids[symbol] = plain + suffix
        used.add(ids[symbol])
    return ids


def _parts(definition: IndexDefinition) -> tuple[str, ...]:
    return tuple(one.name for one in definition.named.name.descriptors if one.suffix in _NAMING)


def _symbol(
    definition: IndexDefinition,
    id_: str,
    by_key: Mapping[str, str],
    parsed: ParsedFile,
    information: Any,
    lines: Sequence[str],
    policy: HashPolicy,
) -> Symbol:
    name = definition.named.name
    signature, docstring = _documented(information)
    numbered = list(_source(definition, signature, lines))
    canonical = "\n".join(line for _, line in numbered)
    raw = "\n".join(lines[definition.first_line - 1 : definition.last_line])
    parts = _parts(definition)
    return Symbol(
        id=id_,
        type=_TYPES[name.last.suffix],
        qualified_name=".".join(parts),
        name=parts[-1],
        file_path=parsed.facts.file_path,
        language=parsed.facts.language,
        start_line=definition.first_line,
        end_line=definition.last_line,
        signature=signature.split("\n")[0] or numbered[0][1].strip(),
        docstring=docstring,
        modifiers=(),
        bases=(),
        parent_id=by_key.get(name.owner),
        complexity=1,
        line_count=len(numbered),
        is_public=not parts[-1].startswith("_"),
        content_hash=content_hash(policy, canonical, raw.encode()),
        canonical_source=canonical,
        line_map=tuple(number for number, _ in numbered),
        facts=SymbolFacts(),
    )


def _documented(information: Any) -> tuple[str, str | None]:
    """The definition's head as the tool shows it, and what documents it."""
    if information is None:
        return "", None
    signature = str(information.signature_documentation.text)
    texts = []
    for number, text in enumerate(information.documentation):
        code = _CODE.match(text)
        if code and number == 0:
            signature = signature or code[1]
            text = text[code.end() :]
        texts.append(text.strip())
    return signature.strip(), "\n\n".join(filter(None, texts)) or None


def _source(definition: IndexDefinition, signature: str, lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The lines of a definition that are not empty, with their numbers; of a generated one its head."""
    if definition.is_generated:
        shown = signature or definition.named.name.last.name
        yield from ((definition.named.span.line, line) for line in shown.split("\n") if line.strip())
        return
    numbers = range(definition.first_line, min(definition.last_line, len(lines)) + 1)
    own = textwrap.dedent("\n".join(lines[number - 1] for number in numbers)).split("\n")
    found = [(number, line.rstrip()) for number, line in zip(numbers, own, strict=True) if line.strip()]
    yield from found or [(definition.named.span.line, definition.named.text)]
