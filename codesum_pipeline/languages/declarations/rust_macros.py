"""Items in the braces of a macro, which the grammar does not read.

`cfg_if! { if #[cfg(unix)] { fn f() {} } }` and `pin_project! { struct A {} }` define
what is in them. The macro's name, its braces and the conditions are omitted, and
the items are shown as if there were no macro.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from codesum_pipeline.languages.declarations.spec import Span
from codesum_pipeline.languages.declarations.syntax_tables import patterns_beside

_PATTERNS = patterns_beside(__file__)
# The code that a Rust macro writes is text that belongs to the macro. So is code quoted in it.
_TEMPLATES = re.compile(r"[ \t]*macro_rules!")
_QUOTED_CODE = re.compile(r"\b(?:parse_)?quote(?:_spanned)?!")
# The margins that are tried for the end of quoted code.
DEEPEST_MARGIN = 400


def around_items(source: bytes) -> Iterator[tuple[Span, ...]]:
    """For each macro with items in it, the parts around those: its head, conditions, and the braces of both."""
    # For each open bracket: what is blanked if it turns out to be around items, or None.
    opened: list[Span | None] = []
    macro: list[Span] = []
    depth, start = -1, 0
    head: Span | None = None
    for match in _PATTERNS["token"].finditer(source):
        if match["macro"] and (depth < 0 or opened[-1]) and match["name"] != b"macro_rules":
            head = match.span("macro")
        if not match["brace"]:
            continue
        position = match.start()
        if match["brace"] in b"{([":
            # Directly in what is around items.
            is_bare = depth >= 0 and opened[-1] is not None and match["brace"] != b"["
            before = _PATTERNS["condition"].search(source, max(0, position - 400), position) if is_bare else None
            if head is not None and source[head[1] : position].strip() == b"":
                if depth < 0:
                    depth, start, macro = len(opened), position, []
                opened.append((head[0], position + 1))
            else:
                opened.append((before.start(), position + 1) if before else None)
            head = None
        elif opened:
            span = opened.pop()
            if span is not None and len(opened) > depth and b"!" in source[slice(*span)]:
                # A macro in another one.
                span = span if _PATTERNS["item"].search(source, span[1], position) else None
            if span is not None:
                closed = _PATTERNS["closed"].match(source, match.end()) if len(opened) == depth else None
                macro += [span, (position, closed.end() if closed else position + 1)]
            if len(opened) == depth:
                if _PATTERNS["item"].search(source, start, position):
                    macro += [found.span("word") for found in _PATTERNS["words"].finditer(source, start, position)]
                    macro += [found.span("from") for found in _PATTERNS["drawn"].finditer(source, start, position)]
                    for found in _PATTERNS["flags"].finditer(source, start, position):
                        macro += [found.span("type"), found.span("body")]
                    yield tuple(sorted(macro))
                depth = -1


def without_templates(text: str) -> str:
    """A text with blanks in place of what macros write."""
    has_templates, has_quoted_code = "macro_rules!" in text, "quote" in text and bool(_QUOTED_CODE.search(text))
    if not has_templates and not has_quoted_code:
        return text
    lines = text.split("\n")
    if has_templates:
        _blank_bodies(lines, lambda line, indent: [indent] if _TEMPLATES.match(line) else [])
    if has_quoted_code:
        _blank_bodies(
            lines,
            lambda line, indent: (
                # The code may end less deep than the line that begins it.
                [indent[:depth] for depth in range(min(len(indent), DEEPEST_MARGIN), -1, -1)]
                if line.endswith(("{", "(")) and _QUOTED_CODE.search(line)
                else []
            ),
        )
    return "\n".join(lines)


def _blank_bodies(lines: list[str], ends_at: Callable[[str, str], Sequence[str]]) -> None:
    """Blank what stands below the lines that begin a body, with the bracket that ends it. `ends_at` gives the margins
    of that bracket's line, the likeliest first, for a line and its own margin."""
    closing = defaultdict[str, list[int]](list)
    for number, line in enumerate(lines):
        indent = _margin(line)
        if line[len(indent) : len(indent) + 1] in (")", "}"):
            closing[indent].append(number)
    number = 0
    while number < len(lines):
        last = None
        for margin in ends_at(lines[number], _margin(lines[number])):
            places = closing.get(margin, [])
            if (place := bisect_left(places, number + 2)) < len(places):
                last = places[place]
                break
        if last is not None:
            lines[number + 1 : last] = [" " * len(line) for line in lines[number + 1 : last]]
            lines[last] = " " * (len(margin) + 1) + lines[last][len(margin) + 1 :]
        number = number + 1 if last is None else last + 1


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]
