"""What the grammars of C and C++ are given in place of words that only the preprocessor understands.

A grammar sees a file before its macros are replaced, and one `class EXPORT
Name {` is enough to lose a class. So such a word is shown to it as something
of the same length that is valid there: an attribute, a directive that it does
not know, or a comment. All of these are rendered as written, so the words stay.
"""

import re
from collections.abc import Iterator

from codesum_pipeline.languages.declarations.c_family.function_heads import unknown_words
from codesum_pipeline.languages.declarations.spans import blanked_out, replaced
from codesum_pipeline.languages.declarations.spec import Span
from codesum_pipeline.languages.declarations.syntax_tables import patterns_beside
from codesum_pipeline.languages.declarations.torn_branches import torn_branches

_PATTERNS = patterns_beside(__file__)


def mask_macros(source: bytes, is_broken: bool) -> bytes:
    """The source with macros replaced by text of the same length that the grammar can read; more is replaced where that
    did not parse."""
    shown = blanked_out(source, rewritten_parts(source))
    shown = _PATTERNS["no_type"].sub(lambda match: b"m" * len(match["macro"]), shown)
    if b"#" in shown:
        shown = _PATTERNS["define"].sub(_without_comments, shown)
    if is_broken:
        shown = _PATTERNS["module"].sub(lambda match: match["before"] + _unknown(match["macro"]), shown)
        shown = _PATTERNS["export"].sub(lambda match: match["before"] + _comment(match["macro"]), shown)
        shown = _PATTERNS["enum_attribute"].sub(lambda match: match["before"] + _comment(match["macro"]), shown)
        shown = _PATTERNS["forward"].sub(lambda match: match["before"] + _comment(match["macro"]), shown)
        shown = replaced(shown, torn_branches(shown), _comment)
        shown = _PATTERNS["hidden"].sub(_hidden, shown)
        shown = _PATTERNS["type_as_argument"].sub(_as_type, shown)
        shown = _PATTERNS["before_label"].sub(lambda match: match["before"] + _comment(match["macro"]), shown)
        shown = _PATTERNS["type_before_block"].sub(_as_type, shown)
        shown = _PATTERNS["handle"].sub(b"*", shown)
        shown = _PATTERNS["alone"].sub(_directive, shown)
        shown = _PATTERNS["leading"].sub(_attribute, _PATTERNS["leading"].sub(_attribute, shown))
        shown = _without_unknown_words(shown)
    return shown


def without_macro_bodies(text: str) -> str:
    """A text with blanks in place of what macros stand for: no line of it defines anything."""
    if "\\\n" not in text:
        return text
    source = text.encode("latin-1")
    return blanked_out(source, [match.span() for match in _PATTERNS["define"].finditer(source)]).decode("latin-1")


def rewritten_parts(source: bytes) -> list[Span]:
    """The macros around the name of a class, and declarations of parameters below a head in K&R's style, where the
    grammar misreads them: of a function that returns a pointer, or says no type."""
    has_tails = b"FINAL" in source or b"SEALED" in source
    found = [match.span("macro") for match in _PATTERNS["class_tail"].finditer(source)] if has_tails else []
    # Else the last word before the brace would be the name.
    heads = _PATTERNS["class_head"].finditer(blanked_out(source, found))
    declared = _PATTERNS["old_style"].finditer(source)
    found += [match.span("macro") for match in heads if not _is_bit_field(match)]
    found += [match.span("declared") for match in declared if _is_misread(match["type"] or b"")]
    return sorted(found)


def _is_misread(type_: bytes) -> bool:
    return b"*" in type_ or not set(type_.split()) - {b"static", b"extern"}


def _is_bit_field(match: re.Match[bytes]) -> bool:
    is_enum = match["before"].startswith(b"enum") and not match["enum"]
    return is_enum and not _PATTERNS["has_body"].match(match.string, match.end())


def _without_unknown_words(source: bytes) -> bytes:
    words = {span: is_type for span, is_type in unknown_words(source) if source.find(b"#", *span) < 0}
    types = [span for span, is_type in words.items() if is_type]
    shown = replaced(source, types, lambda word: b"m" * len(word))
    return replaced(shown, [span for span, is_type in words.items() if not is_type], _comment)


def unknown_macros(source: bytes) -> Iterator[tuple[int, int]]:
    """The commas before the empty last argument of a macro; macros of whose arguments one holds a text."""
    for pattern in (_PATTERNS["no_argument"], _PATTERNS["call"]):
        yield from (match.span() for match in pattern.finditer(source))


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
