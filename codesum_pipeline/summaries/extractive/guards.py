"""What a function demands: its assertions, and the errors it raises before it starts work."""

import re

from codesum_pipeline.summaries.extractive.plain import clip, printable
from codesum_pipeline.summaries.extractive.scanning import split_top, string_content
from codesum_pipeline.summaries.extractive.source_lines import SourceLines
from codesum_pipeline.summaries.extractive.value_phrases import raised
from codesum_pipeline.summaries.extractive.written import MAX_INVARIANT, MAX_INVARIANTS, MIN_ITEM

# Guards stand before the work; deeper or later ones are part of it.
_GUARDED_STATEMENTS = 40
_ASSERT = re.compile(r" {4}assert (.+)")
_IF = re.compile(r" {4}if (.+):$")
_OPENINGS = ("    assert ", "    if ")
_RAISE = re.compile(r" {8}raise (.+)")


def invariants(source: SourceLines) -> list[tuple[str, int]]:
    """Conditions that must hold, each with its canonical line."""
    lines, start = source.lines, source.docstring_end
    found: dict[str, int] = {}
    for number in range(start, min(len(lines), start + _GUARDED_STATEMENTS)):
        if not lines[number].startswith(_OPENINGS):
            continue
        text = _asserted(lines[number]) or _guarded(lines, number)
        if text and len(text) >= MIN_ITEM:
            found.setdefault(clip(printable(text), MAX_INVARIANT), number + 1)
        if len(found) == MAX_INVARIANTS:
            break
    return list(found.items())


def _asserted(line: str) -> str:
    match = _ASSERT.fullmatch(line)
    if match is None:
        return ""
    parts = split_top(match[1])
    if not parts:
        return ""
    reason = string_content(parts[1].strip()) if len(parts) > 1 else ""
    return f"{parts[0].strip()} must hold" + (f": {reason}" if reason else "")


def _guarded(lines: list[str], number: int) -> str:
    match = _IF.fullmatch(lines[number])
    follow = _RAISE.fullmatch(lines[number + 1]) if match and number + 1 < len(lines) else None
    if match is None or follow is None:
        return ""
    name, message = raised(follow[1].split(" from ")[0])
    if not name:
        return ""
    return f"raises {name} if {match[1]}" + (f": {message}" if message else "")
