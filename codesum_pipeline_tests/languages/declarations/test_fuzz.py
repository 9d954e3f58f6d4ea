"""Damaged sources of every language: whatever stands in a file, it is read, and the same way each time."""

import random
import time
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import SkippedFile
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.symbols.parsing import canonical, nested_definitions, parsers
from codesum_pipeline.symbols.parsing.parsers import PARSERS, parse_file
from codesum_pipeline.symbols.parsing.text import ParsedFile
from codesum_pipeline_tests.languages.declarations.cases import all_cases

SECONDS_A_LANGUAGE = 8
# Characters that grammars and their hand-written scanners give a meaning to.
SPARKS = (
    *"{}()[]<>;:,.'\"`\\/*#@$%&|=+-~!?^_ \n\t",
    "\r",
    "\x00",
    "\ufeff",
    "\u2028",
    "\u202e",
    "é",
    "𝕏",
    '"""',
    "'''",
    "/*",
    "*/",
    "<<EOT\n",
    "EOT\n",
    "{-",
    "-}",
    "=begin\n",
    "#if\n",
    "#endif\n",
    "end\n",
    "?>",
    "<?php ",
    "${",
    "#{",
    "0x",
    "1e",
)


def sources(language: str) -> list[str]:
    """Programs to damage: the language's case, and for Python some of this project's own modules."""
    case = all_cases().get(language)
    if case is not None:
        return [case.source, case.reformatted]
    return [Path(module.__file__ or "").read_text("utf-8") for module in (canonical, nested_definitions, parsers)]


def damaged(source: str, chance: random.Random) -> str:
    """A source with a few of its parts taken out, doubled, swapped or put in from elsewhere."""
    for _ in range(chance.randint(1, 4)):
        start, end = sorted((chance.randint(0, len(source)), chance.randint(0, len(source))))
        end = min(end, start + chance.choice((1, 5, 40, 400)))
        part = source[start:end]
        match chance.randint(0, 4):
            case 0:
                source = source[:start] + source[end:]
            case 1:
                source = source[:end] + part * chance.choice((1, 2, 30)) + source[end:]
            case 2:
                source = source[:start] + chance.choice(SPARKS) * chance.choice((1, 1, 3)) + source[start:]
            case 3:
                where = chance.randint(0, len(source))
                source = source[:where] + part + source[where:]
            case _:
                source = source[:end]
    return source


def must_be_readable(parsed: ParsedFile, source: str) -> None:
    """What holds for any file, however broken."""
    rows = source.count("\n") + 1
    ids = [symbol.id for symbol in parsed.symbols]
    assert len(ids) == len(set(ids))
    for symbol in parsed.symbols:
        assert symbol.name
        assert 1 <= symbol.start_line <= symbol.end_line <= rows
        assert len(symbol.line_map) == len(symbol.canonical_source.split("\n"))
        assert all(1 <= line <= rows for line in symbol.line_map)
        assert symbol.parent_id is None or symbol.parent_id in ids
        assert symbol.complexity >= 1


@pytest.mark.slow
@pytest.mark.parametrize("language", sorted(PARSERS))
def test_damaged_sources_are_read(language: str) -> None:
    chance = random.Random(language)
    programs = sources(language)
    case = all_cases().get(language)
    is_fixed = language == "python" or (case is not None and case.is_braced)
    end = time.monotonic() + SECONDS_A_LANGUAGE
    count = 0
    while time.monotonic() < end:
        source = damaged(chance.choice(programs), chance)
        count += 1
        try:
            parsed = parse_file("file", language, source.encode(), blob="", hash_policy=HashPolicy.CANONICAL)
            must_be_readable(parsed, source.replace("\r\n", "\n").replace("\r", "\n"))
            if is_fixed and not parsed.facts.syntax_errors:
                again = parse_file(
                    "file", language, parsed.facts.source.encode(), blob="", hash_policy=HashPolicy.CANONICAL
                )
                assert again.facts.source == parsed.facts.source
                assert [(s.id, s.content_hash) for s in again.symbols] == [
                    (s.id, s.content_hash) for s in parsed.symbols
                ]
        except SkippedFile:
            continue
        except Exception as error:
            error.add_note(f"{language}, program {count}: {source!r}")
            raise
    assert count > 10
