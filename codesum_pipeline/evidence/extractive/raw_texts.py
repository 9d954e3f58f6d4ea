"""Texts that nobody reads as prose: pages and templates, with what these show; of any other its size."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache

from codesum_pipeline.evidence.author_texts.plain_sentences import clip_text, make_printable
from codesum_pipeline.evidence.extractive.translated_texts import (
    language_of_translation,
    spoken_language,
    translation_statement,
)
from codesum_pipeline.evidence.extractive.words import (
    capitalize,
    identifier_in_words,
    list_first,
    name_in_words,
    stem_of,
)
from codesum_pipeline.evidence.extractive.xml_statements import xml_statement
from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.printable import count_noun

_MAX_CHARS, _MAX_SHOWN, _MAX_LINE, _MAX_LINES, _MOST_LINES = 60_000, 6, 80, 4, 400
_TEMPLATE_CODE = re.compile(r"\{\{|\{%|<%|<\?php")
_FILLED = re.compile(
    r"\{\{-?\s{0,9}(?:(?:if|with|range|else if|#if|#each|#unless|end)\s{1,9})?"
    r"\.?([A-Za-z]\w{1,40})[\w.]{0,80}\s{0,9}(?:-?\}\}|\|)"
)
# What steers a template: its conditions, loops and blocks.
_STEERING = re.compile(r"(?:\{\{[-~]?|\{%-?)\s{0,9}(?:([#^])|(/)|(if|unless|range|with|for|define|block)\b|(end))")
_FIELD_OF_HEADING = re.compile(r"(?<=# )[`_*]{0,3}\{\{[^{}\n]{0,80}\}\}[`_*: -]{0,9}")
_XML = re.compile(r"\ufeff?\s{0,80}<[\w:]{1,60}\s[^<>]{0,400}?\b(?:xmlns|Sdk)\b")
_HTML = re.compile(r"<(?:!doctype html|html|body|div|form|p|a|h1|span)\b", re.I)
_TAG_LINE = re.compile(r"\s{0,80}(?:<[!?/]?[a-zA-Z]|\{\{|\{%)")
_RAW = re.compile(r"[<>{}$]|--|\\|==|;$|^[=@+#%/|]|^\* |\s%\s|\s[+=|]\s")
# Words of templates' languages that name no value.
_KEYWORDS = frozenset(("end", "else", "if", "range", "block", "define", "nil", "true", "false"))


def raw_statement(path: str, text: str) -> str:
    """One sentence about a page or template that is known by what stands in it; "" of others."""
    head = text[:_MAX_CHARS]
    lines = [line for line in head.splitlines() if line.strip()]
    is_template = bool(_TEMPLATE_CODE.search(head))
    if not is_template and _XML.match(head) and not _HTML.search(head) and (told := xml_statement(path, head)):
        return told
    if is_template or sum(map(bool, map(_TAG_LINE.match, lines))) * 2 > len(lines):
        kind = "Template" if is_template else "Page"
        return page_statement(kind, head) or _filled(kind, head)
    return ""


def _filled(kind: str, text: str) -> str:
    names = [name for name in _FILLED.findall(text) if name.lower() not in _KEYWORDS]
    filled = list_first(map(name_in_words, names), _MAX_SHOWN)
    return f"{kind} that fills in {filled}" if filled else sized(kind, text)


def is_raw(line: str) -> bool:
    """Whether a line is of a language for machines, which no text repeats."""
    return bool(_RAW.search(line))


def is_code(text: str) -> bool:
    """Whether most lines of a text end as those of code do, or the first one includes code."""
    lines = [line for line in without_template_code(text).splitlines()[:_MOST_LINES] if line.strip()]
    lines = [line for line in lines if not line.startswith("//")]
    ended = sum(line.rstrip().endswith((";", "{", "}")) for line in lines)
    return ended * 2 > len(lines) or "".join(lines[:1]).startswith(("#include <", '#include "'))


def without_template_code(text: str) -> str:
    """The prose of a template: the lines that fill in nothing and stand under no condition."""
    lines = text[:_MAX_CHARS].splitlines()
    if not any("`" not in line and _STEERING.search(line) for line in lines):
        return text
    kept: list[str] = []
    opened: list[bool] = []
    conditions = 0
    for line in lines:
        before = conditions
        for mark, closing, word, end in _STEERING.findall(line):
            if mark or word:
                opened.append(word not in ("define", "block"))
                conditions += opened[-1]
            elif opened and (closing or end):
                conditions -= opened.pop()
        line = _FIELD_OF_HEADING.sub("", line)
        kept.append("" if before or conditions or _TEMPLATE_CODE.search(line) else line)
    return "\n".join(kept)


def is_of_records(text: str) -> bool:
    """Whether the lines of a text are short and few end as sentences do: read as one they say nothing."""
    lines = [line.strip() for line in text[:_MAX_CHARS].splitlines() if line.strip()]
    ended = sum(line.endswith((".", "!", "?", ":", ",")) for line in lines)
    return len(lines) > 1 and sum(map(len, lines)) < _MAX_LINE // 2 * len(lines) and ended * 5 < len(lines)


def sized(kind: str, text: str) -> str:
    """`Text of 12 lines that begins "Category: A"`: the first line where it is plain."""
    lines = [make_printable(line) for line in text[:_MAX_CHARS].splitlines() if line.strip()]
    first = clip_text(lines[0], _MAX_LINE).rstrip(".") if lines else ""
    begins = f' that begins "{first}"' if " " in first and not is_raw(first) and '"' not in first else ""
    more = "more than " if len(text) > _MAX_CHARS else ""
    return f"{kind} of {more}{count_noun(len(text[:_MAX_CHARS].splitlines()), 'line')}{begins}" if lines else ""


def told_by_lines(text: str) -> str:
    """`Lines of text: first; second; 3 more lines`; of lines for machines their number."""
    lines = [line for line in map(make_printable, text[:_MAX_CHARS].split("\n")) if any(map(str.isalnum, line))]
    if any(is_raw(line) or ": " in line for line in lines[:_MAX_LINES]):
        return sized("Text", text)
    shown = [clip_text(line, 50).rstrip(".,;") for line in lines[:_MAX_LINES]]
    left = f"{len(lines) - len(shown)} " if len(text) <= _MAX_CHARS else ""
    more = f"; {left}more lines" if len(lines) > len(shown) else ""
    return f"Lines of text: {'; '.join(shown)}{more}" if shown else ""


_MAX_OF_PAGE = 4
# What is no text on the page: scripts, comments, and the code of a template.
_LEFT_OUT = re.compile(
    r"<(script|style)\b(?:(?!</\1).){0,20000}+(?:</\1>)?|<!--(?:(?!-->).){0,8000}+|<%#?(?:(?!%>).){0,4000}+(?:%>)?|<\?(?:(?!\?>).){0,4000}+(?:\?>)?"
    r"|\{\{(?:(?!\}\}).){0,2000}+(?:\}\})?|\{%(?:(?!%\}).){0,2000}+(?:%\})?",
    re.S | re.I,
)
_RENDERED = re.compile(
    r"\brender\b\(?\s{0,9}(?:partial:\s{0,9}|layout:\s{0,9}|template:\s{0,9})?['\"]([\w/.-]{2,80})['\"]|\{%-?\s{0,9}(?:include|extends|import|from|embed)\s{1,9}['\"]([\w@/.:-]{2,80})['\"]"
    r"|\{\{-?\s{0,9}template\s{1,9}\"([\w/.-]{2,80})\"|\{\{>\s{0,9}['\"]?([\w/.-]{2,80})|@(?:include|extends|component)\(['\"]([\w/.:-]{2,80})['\"]|<%-?=?\s{0,9}include\(?\s{0,9}['\"]([\w/.-]{2,80})['\"]"
)
_PIECE = re.compile(
    r"<(title|h[1-6]|th|label|button|legend|option|a|summary|p|li|strong|span|td)\b[^<>]{0,600}>([^<>]{2,160})(?=</)",
    re.I,
)
_HELPER = re.compile(
    r"\b(?:f|form|builder)\.(text_field|text_area|select|check_box|email_field|password_field|file_field|number_field|date_field|radio_button|submit|collection_select)\b\(?\s{0,9}[:'\"](\w{2,40})"
)
_FIELD = re.compile(
    r"<(?:input|textarea|select)\b[^<>]{0,600}?\b(?:name|formControlName|placeholder)=['\"]([^'\"<>{}$%]{2,60})['\"]",
    re.I,
)
_COMPONENT = re.compile(r"<([a-z][a-z0-9]{1,20}-[a-z0-9-]{2,40}|[A-Z][a-zA-Z0-9]{2,40})\b")
# Two texts, of which the page shows one.
_GLUED = re.compile(r"\w…\w")
# What only a template of a component has, and what only a whole page has.
_BINDING = re.compile(
    r"\s\*ng[A-Z]|^\s{0,80}@(?:if|for|switch) \(|\s[\[(][a-zA-Z.]{1,40}[\])]=|\s(?:v-|:|@)[a-z-]{2,30}=",
    re.M,
)
_WHOLE = re.compile(r"<(?:!doctype|html|head|body|title|h1)\b", re.I)
_HEADINGS = ("title", "h1", "h2", "h3", "h4", "h5", "h6", "legend")
_SAID = ("p", "li", "strong", "span", "a", "td", "option", "summary")


def page_statement(kind: str, text: str) -> str:
    """`Page "Reports": a table of Project, Report; renders pages`; "" where it shows no text and renders nothing."""
    head = text[:_MAX_CHARS]
    rendered = [identifier_in_words(name.rpartition("/")[2].partition(".")[0].strip("_@"), written_out=False)
                for found in _RENDERED.findall(head) for name in found if name]  # fmt: skip
    fields = [name_in_words(name) for _, name in _HELPER.findall(head)]
    shown = _LEFT_OUT.sub("…", head)
    fields += [name_in_words(name) if " " not in name else make_printable(name) for name in _FIELD.findall(shown)]
    pieces: dict[str, list[str]] = {}
    for tag, said in _PIECE.findall(shown):
        if words := _worded(said):
            pieces.setdefault(tag.lower(), []).append(words)
    if kind == "Page" and _BINDING.search(head) and not _WHOLE.search(head):
        kind = "Template"
    titles = [words for tag in _HEADINGS for words in pieces.get(tag, ())]
    said = (
        [f'"{words}"' for tag in _SAID for words in pieces.get(tag, ())]
        if not titles or not (pieces.get("th") or fields)
        else []
    )
    parts = [
        f"a table of {list_first(pieces['th'], _MAX_OF_PAGE)}" if pieces.get("th") else "",
        f"a form of {list_first(fields, 5)}" if fields else "",
        f"buttons {list_first(pieces['button'], 3)}" if pieces.get("button") else "",
        f"headings {list_first(titles[1:], 3)}" if titles[1:] else "",
        f"says {list_first(said[:2], 2)}" if said else "",
        f"renders {list_first(rendered, _MAX_OF_PAGE)}" if rendered else "",
    ]
    told = "; ".join(list(filter(None, parts))[:3])
    if not told and not titles:
        components = [name_in_words(name) for name in dict.fromkeys(_COMPONENT.findall(shown))]
        told = f"shows {list_first(components, _MAX_OF_PAGE)}" if components else ""
    is_titled = "title" in pieces or "h1" in pieces
    title = f'{"" if is_titled or kind != "Template" else " with"} "{titles[0]}"' if titles else ""
    return f"{kind}{title}{f': {told}' if told else ''}" if title or told else ""


def _worded(text: str) -> str:
    """A text of a page without the code in it; "" where little else is left."""
    words = make_printable(text.replace("&nbsp;", " ").replace("&amp;", "&")).strip(" …:·|-")
    is_told = (
        sum(map(str.isalpha, words)) > 2
        and words.count("…") < 2
        and not _GLUED.search(words)
        and not any(mark in words for mark in '{}%$"&;')
    )
    return clip_text(words, 60).rstrip(".") if is_told else ""


_MAX_FACT_LINE, _MAX_FACTS = 400, 3
_MESSAGE = re.compile(r'^msgid "([^"\n]+)', re.M)


@cache
def _tables() -> dict[str, dict[str, re.Pattern[str]]]:
    table: Mapping[str, Mapping[str, str]] = packaged_table(__package__, "line_facts")
    return {name: {lead: re.compile(pattern) for lead, pattern in leads.items()} for name, leads in table.items()}


def line_statement(path: str, text: str) -> str:
    """One sentence about a file whose lines declare things; "" of others."""
    name = path.rpartition("/")[2].lower()
    head = text[:_MAX_CHARS]
    if name.endswith(".po"):
        language = language_of_translation(path) or spoken_language(stem_of(name))
        return translation_statement(language, _MESSAGE.findall(head), are_all=len(text) <= _MAX_CHARS)
    lines = [line for line in head.splitlines() if len(line) <= _MAX_FACT_LINE]
    leads = next((leads for pattern, leads in _tables().items() if fnmatchcase(name, pattern)), {})
    facts: dict[str, list[str]] = {}
    for lead, pattern in leads.items():
        found = (match[1] for line in lines if (match := pattern.match(line)))
        facts[lead] = [clip_text(make_printable(one), 60) for one in found]
    told = [f"{lead} {list_first(_named(lead, found), _MAX_SHOWN)}" for lead, found in facts.items() if found]
    return capitalize("; ".join(told[:_MAX_FACTS]))


def _named(lead: str, found: list[str]) -> list[str]:
    """Texts in quotes, names as they are written."""
    is_quoted = lead.startswith("tests") and any(" " in one for one in found)
    return [f'"{one}"' for one in found if '"' not in one] if is_quoted else [one.rstrip('",]') for one in found]
