"""What the system prompt forbids in every text, as far as a program can see it.

What the prompt asks for beyond this (say the purpose first, do not praise) a
program cannot judge: a good text may speak of a fast event or a clean build.
"""

import re
from collections.abc import Iterator
from typing import Any

from codesum_pipeline.llm.leaks import looks_like_code, names_in
from codesum_pipeline.model.documents import Level

_KINDS = {
    Level.FUNCTION: ("function", "method"),
    Level.CLASS: ("class", "struct", "interface", "trait", "enum"),
    Level.FILE: ("file", "module"),
    Level.MODULE: ("folder", "directory", "package", "module", "repository"),
}
_EVERY_KIND = "|".join(sorted({kind for kinds in _KINDS.values() for kind in kinds}))
_IDENTIFIER = re.compile(r"(`?)([^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)*)(`?)(\(?)")
# No prose: what is written there is code, or one of a closed set of words.
_CODE_FIELDS = frozenset(("name", "type", "children", "field"))

# HTML by its own names: `<T>` and `List<int>` are types of languages. Names that are also words of types are left out.
_HTML = re.compile(
    r"<\s*/?\s*(?:a|abbr|article|aside|audio|b|base|blockquote|body|br|button|canvas|center|details|dialog|div|dl|em|"
    r"embed|fieldset|font|footer|form|frame|frameset|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|label|li|"
    r"link|main|marquee|math|meta|nav|noscript|ol|p|picture|pre|script|section|select|source|span|strong|"
    r"style|sub|sup|svg|table|tbody|td|template|textarea|tfoot|th|thead|title|tr|u|ul|video)"
    r"(?:\s[^<>]*)?/?\s*>|<!--|<!\[CDATA\[|<!doctype",
    re.IGNORECASE,
)
# Single backticks around a name and `**kwargs` are no Markdown that anybody would miss.
_MARKDOWN = re.compile(
    r"```|^#{1,6} |^[-*+] |^> |(?<![\w*])\*\*(?=[^\s*])[^*]*[^\s*]\*\*(?![\w*])|(?<!\w)!?\[[^\]]+\]\([^()\s]*\)"
)
_LINK = re.compile(r"\b(?:https?|ftp)://\S+|\bwww\.\w\S*", re.IGNORECASE)
_GUESS = re.compile(r"\b(?:likely|probably|seems|appears to)\b", re.IGNORECASE)
_MASK = re.compile(r"«masked [^»]*»?")


def forbidden_in(answer: Any, level: Level, name: str) -> Iterator[str]:
    """Complaints about the texts of an answer; `name` is the document's own, qualified."""
    field = "purpose" if level is Level.FUNCTION else "summary"
    if opening := _opening(answer[field], level, name):
        yield f"{field}: must not open with {opening!r}: start with a verb" + (
            "" if level is Level.FUNCTION else " or a noun phrase"
        )
    for place, text in _texts(answer, ""):
        for pattern, told in (
            (_HTML, "must not hold markup: found {!r}; name an element without angle brackets"),
            (_MARKDOWN, "must not hold Markdown: found {!r}; write plain sentences"),
            (_LINK, "must not hold a link: found {!r}; say in words what it leads to"),
            (_MASK, "must not repeat {!r}: at most say that a credential stands there"),
            (_GUESS, "must not guess: found {!r}; say what can be seen, and leave out the rest"),
        ):
            if found := pattern.search(text):
                yield f"{place}: {told.format(found.group()[:40])}"


def unknown_parameters(answer: Any, head: frozenset[str] | None) -> Iterator[str]:
    """Complaints about inputs whose name is not in the head of the function; none where `head` is None."""
    for place, given in enumerate(answer["inputs"]):
        if head is not None and not names_in(given["name"]) <= head:
            yield f"inputs.{place}.name: {given['name'][:80]!r} is no parameter of the function"


def _opening(text: str, level: Level, name: str) -> str:
    if found := re.match(rf"this (?:{_EVERY_KIND})\b|the (?:{'|'.join(_KINDS[level])})\b", text, re.IGNORECASE):
        return found.group()
    first = _IDENTIFIER.match(text)
    if not first or first[2] not in (name, name.rpartition(".")[2]):
        return ""
    is_word = not (looks_like_code(first[2]) or first[1] or first[4])
    return "" if is_word and not first[2][0].islower() else first[2]


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Every text of an answer, with its place."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _texts(part, f"{place}.{number}")
    elif isinstance(value, dict):
        for name, part in value.items():
            if name not in _CODE_FIELDS:
                yield from _texts(part, f"{place}.{name}" if place else name)
