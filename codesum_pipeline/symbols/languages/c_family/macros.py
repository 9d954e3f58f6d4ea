"""What the grammars of C and C++ are given in place of words that only the preprocessor understands.

A grammar sees a file before its macros are replaced, and one `class EXPORT
Name {` is enough to lose a class. So such a word is shown to it as something
of the same length that is valid there: an attribute, a directive that it does
not know, or a comment. All of these are rendered as written, so the words stay.
"""

import re
from collections.abc import Iterator
from functools import partial

from msgspec import Struct, field

from codesum_pipeline.symbols.languages.c_family.heads import unknown_words
from codesum_pipeline.symbols.languages.syntax_tables import patterns_beside

_PATTERNS = patterns_beside(__file__)
_ENDS = (b";", b"{", b"}")


def mask_macros(source: bytes, is_broken: bool) -> bytes:
    """The source with macros replaced by text of the same length that the grammar can read; more is replaced where that
    did not parse."""
    shown = _PATTERNS["class_head"].sub(_class_attribute, source)
    if b"#" in shown:
        shown = _PATTERNS["define"].sub(_without_comments, shown)
    shown = _PATTERNS["old_style"].sub(partial(_old_style, is_broken=is_broken), shown)
    if is_broken:
        shown = _PATTERNS["module"].sub(lambda match: match["before"] + _unknown(match["macro"]), shown)
        shown = _PATTERNS["export"].sub(lambda match: match["before"] + _comment(match["macro"]), shown)
        shown = _PATTERNS["no_type"].sub(lambda match: b"m" * len(match["macro"]), shown)
        shown = _without_torn_branches(shown)
        shown = _PATTERNS["hidden"].sub(_hidden, shown)
        shown = _PATTERNS["type_as_argument"].sub(_as_type, shown)
        shown = _PATTERNS["handle"].sub(b"*", shown)
        shown = _PATTERNS["alone"].sub(_directive, shown)
        shown = _PATTERNS["leading"].sub(_attribute, _PATTERNS["leading"].sub(_attribute, shown))
        shown = _without_unknown_words(shown)
    return shown


def _old_style(match: re.Match[bytes], *, is_broken: bool) -> bytes:
    """A head in K&R's style without the declarations of its parameters."""
    is_misread = is_broken or match["pointer"]
    return match["before"] + _comment(match["declared"]) if is_misread else match[0]


def _without_unknown_words(source: bytes) -> bytes:
    pieces, position = [], 0
    for (start, end), is_type in unknown_words(source):
        if start >= position and source.find(b"#", start, end) < 0:
            word = source[start:end]
            pieces += [source[position:start], b"m" * len(word) if is_type else _comment(word)]
            position = end
    return b"".join([*pieces, source[position:]])


def unknown_macros(source: bytes) -> Iterator[tuple[int, int]]:
    """The commas before the empty last argument of a macro; macros of whose arguments one holds a text."""
    for pattern in (_PATTERNS["no_argument"], _PATTERNS["call"]):
        yield from (match.span() for match in pattern.finditer(source))


def _class_attribute(match: re.Match[bytes]) -> bytes:
    is_enum = match["before"].startswith(b"enum") and not match["enum"]
    return match[0] if is_enum and not _PATTERNS["has_body"].match(match.string, match.end()) else _attribute(match)


def _attribute(match: re.Match[bytes]) -> bytes:
    """A macro as an attribute, which must have a name."""
    length = len(match["macro"])
    return match["before"] + (b"[[" + b"x" * (length - 4) + b"]]" if length > 4 else match["macro"])


def _as_type(match: re.Match[bytes]) -> bytes:
    """A macro with its arguments as the name of a type."""
    return match["before"] + b"m" * len(match["macro"])


def _directive(match: re.Match[bytes]) -> bytes:
    """A macro's own line as a directive, where a statement or declaration may begin."""
    if not _begins_something(match):
        follows_template = match.string[: match.start()].endswith(b">\n")
        return _attribute(match) + match[0][match.end("macro") - match.start() :] if follows_template else match[0]
    return match["before"] + _unknown(match["macro"]) + match[0][match.end("macro") - match.start() :]


def _begins_something(match: re.Match[bytes]) -> bool:
    source = match.string
    before, after = source[max(0, match.start() - 400) : match.start()].rstrip(), source[match.end() :][:400].lstrip()
    line = before[before.rfind(b"\n") + 1 :]
    is_begun = (
        not before
        or before.endswith((b";", b"{", b"}", b"*/"))
        or line.lstrip().startswith(b"#")
        or b"//" in line
        or _PATTERNS["label"].match(line)
        or _PATTERNS["alone"].match(line)
    )
    if not is_begun or line.endswith(b"\\"):
        return False
    if after.startswith(b"}"):
        # All that is in a class, or else perhaps a value of an enum or of a list.
        is_member = b"(" in match["macro"] and (_PATTERNS["label"].match(line) or _PATTERNS["class_opened"].match(line))
        return before.endswith((b";", b"}")) or bool(is_member)
    is_type = b"(" not in match["macro"] and _PATTERNS["call_line"].match(after)
    return not is_type and (not after or after[:1].isalpha() or after[:1] in (b"_", b"#", b"~", b"/", b"["))


def _unknown(text: bytes) -> bytes:
    """A text as a directive that no grammar knows: one leaf, whatever is in it."""
    return b"#" + b"m" * (len(text) - 1)


def _without_comments(match: re.Match[bytes]) -> bytes:
    """A macro's definition; a comment amid it would end it for the grammar."""
    text = match[0]
    if b"/*" not in text:
        return text

    def blank(found: re.Match[bytes]) -> bytes:
        is_amid = found[0].startswith(b"/*") and text[found.end() :].strip(b" \t\\\n")
        return re.sub(rb"[^\\\n]|\\(?!\n)", b" ", found[0]) if is_amid else found[0]

    return _PATTERNS["in_define"].sub(blank, text)


def _hidden(match: re.Match[bytes]) -> bytes:
    source, start = match.string, match.start()
    row_start = source.rfind(b"\n", 0, start) + 1
    row_end = source.find(b"\n", match.end())
    # In a macro's definition, a comment would end it for the grammar.
    if source[max(0, row_start - 2) : row_start] == b"\\\n" or source[row_end - 1 : row_end] == b"\\":
        return match[0]
    if source[row_start:start].lstrip().startswith(b"#"):
        return match[0]
    # In a comment, it would end that.
    if source.rfind(b"/*", 0, start) > source.rfind(b"*/", 0, start):
        return match[0]
    before = match["before"] or match["condition"] or match["type"] or match["end"] or b""
    return before + _comment(match["macro"] or match["macro2"] or match["macro4"] or match["macro3"])


def _comment(text: bytes) -> bytes:
    """A text as a comment, which is valid everywhere."""
    return b"/*" + b"m" * (len(text) - 4) + b"*/" if len(text) > 3 else text


class _Group(Struct):
    """An `#if` up to its `#endif`: where each directive is, and how many braces each branch leaves open."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    opened: list[int] = field(default_factory=list)
    is_torn: bool = False


def _without_torn_branches(source: bytes) -> bytes:
    """The source in which, of branches that are no whole statements or declarations, only the first is code."""
    pieces, position = [], 0
    for start, end in sorted(_torn_branches(source)):
        if start >= position:
            pieces += [source[position:start], _comment(source[start:end])]
            position = end
    return b"".join([*pieces, source[position:]])


def _torn_branches(source: bytes) -> Iterator[tuple[int, int]]:
    """The spans of the directives and of the later branches of such groups."""
    groups: list[_Group] = []
    last, position = b"", 0
    for match in _PATTERNS["token"].finditer(source):
        between = source[position : match.start()].rstrip()
        last, position = between or last, match.end()
        if match["brace"]:
            last = match["brace"]
            if groups:
                group = groups[-1]
                group.opened[-1] += 1 if last == b"{" else -1
                group.is_torn |= group.opened[-1] < 0
        elif match["word"]:
            yield from _read_directive(match, groups, is_amid=_is_amid(last, source, position))
        elif match["literal"]:
            last = b'"'


def _is_amid(last: bytes, source: bytes, position: int) -> bool:
    """Whether a directive interrupts a statement."""
    line = last[last.rfind(b"\n") + 1 :]
    is_ended = not last or last.endswith(_ENDS) or _PATTERNS["label"].match(line)
    return bool(_PATTERNS["else"].match(source, position)) or not is_ended


def _read_directive(match: re.Match[bytes], groups: list[_Group], *, is_amid: bool) -> Iterator[tuple[int, int]]:
    word, start = match["word"], match.start("directive")
    if word in (b"if", b"ifdef", b"ifndef"):
        groups.append(_Group())
    if not groups or word not in (b"if", b"ifdef", b"ifndef", b"elif", b"else", b"endif"):
        return
    group = groups[-1]
    group.starts.append(start)
    group.ends.append(start + len(match["directive"].rstrip()))
    group.opened.append(0)
    group.is_torn |= is_amid or b"__has_" in match["directive"]
    if word == b"endif":
        groups.pop()
        if groups:
            groups[-1].opened[-1] += group.opened[0]
        if group.is_torn or any(group.opened):
            yield group.starts[0], group.ends[0]
            yield group.starts[1], group.ends[-1]
