"""Items in the braces of a macro, which the grammar does not read.

`cfg_if! { if #[cfg(unix)] { fn f() {} } }` and `pin_project! { struct A {} }` define
what is in them. The macro's name, its braces and the conditions are omitted, and
the items are shown as if there were no macro.
"""

import re
from collections.abc import Iterator

from codesum_pipeline.languages.spec import Span, patterns_beside

_PATTERNS = patterns_beside(__file__)
# The code that a Rust macro writes is text that belongs to the macro. So is code quoted in it.
_TEMPLATES = re.compile(
    r"^(?P<head>(?P<depth>[ \t]*)macro_rules![^\n]*)(?P<body>(?:[({]\n|\n).*?\n(?P=depth)[)}])",
    re.MULTILINE | re.DOTALL,
)
_QUOTED_CODE = re.compile(
    r"^(?P<head>(?P<depth>[ \t]*)[^\n]*\b(?:parse_)?quote(?:_spanned)?![^\n]*[{(])"
    r"(?P<body>\n.*?\n(?P=depth)[)}])",
    re.MULTILINE | re.DOTALL,
)


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
        if match["brace"] in b"{(":
            # Directly in what is around items.
            is_bare = depth >= 0 and opened[-1] is not None
            before = _PATTERNS["condition"].search(source[:position], max(0, position - 400)) if is_bare else None
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
                    for found in _PATTERNS["flags"].finditer(source, start, position):
                        macro += [found.span("type"), found.span("body")]
                    yield tuple(sorted(macro))
                depth = -1


def without_templates(text: str) -> str:
    """A text with blanks in place of what macros write."""
    for pattern in (_TEMPLATES, _QUOTED_CODE) if "!" in text else ():
        text = pattern.sub(lambda match: match["head"] + re.sub(r"[^\n]", " ", match["body"]), text)
    return text
