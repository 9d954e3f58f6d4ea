"""Texts that nobody reads as prose: pages and templates, with what these show; of any other its size."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import pairwise
from xml.parsers import expat

from msgspec import Struct

from codesum_pipeline.evidence.author_texts.plain_sentences import clip_text, make_printable
from codesum_pipeline.evidence.extractive.data_statements import is_secret
from codesum_pipeline.evidence.extractive.name_grammar import pluralize
from codesum_pipeline.evidence.extractive.translated_texts import (
    language_of_translation,
    list_quoted,
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
    begins = f' that begins "{first}"' if " " in first and not _RAW.search(first) and '"' not in first else ""
    more = "more than " if len(text) > _MAX_CHARS else ""
    return f"{kind} of {more}{count_noun(len(text[:_MAX_CHARS].splitlines()), 'line')}{begins}" if lines else ""


def told_by_lines(text: str) -> str:
    """`Lines of text: first; second; 3 more lines`; of lines for machines their number."""
    lines = [line for line in map(make_printable, text[:_MAX_CHARS].split("\n")) if any(map(str.isalnum, line))]
    if any(_RAW.search(line) or ": " in line for line in lines[:_MAX_LINES]):
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
    told = []
    for lead, pattern in leads.items():
        found = [clip_text(make_printable(match[1]), 60) for line in lines if (match := pattern.match(line))]
        told += [f"{lead} {list_first(_named(lead, found), _MAX_SHOWN)}"] if found else []
    return capitalize("; ".join(told[:_MAX_FACTS]))


def _named(lead: str, found: list[str]) -> list[str]:
    """Texts in quotes, names as they are written."""
    is_quoted = lead.startswith("tests") and any(" " in one for one in found)
    return [f'"{one}"' for one in found if '"' not in one] if is_quoted else [one.rstrip('",]') for one in found]


_MOST_ELEMENTS, _MAX_TEXT = 1500, 600
_VIEW_BOX, _OF_PROPERTIES = 4, 2
_NAMES = ("name", "id", "title", "label", "key")


class XmlPart(Struct):
    """One element: its name without a namespace, its attributes without theirs, its depth and the text in it."""

    name: str
    attributes: dict[str, str]
    depth: int
    text: str = ""


def read_parts(text: str) -> tuple[list[XmlPart], bool]:
    """The first elements in their order, and whether these are all; of a broken document those before the fault.
    Entities are not read."""
    parts: list[XmlPart] = []
    open_parts: list[XmlPart] = []
    # The text is decoded: whatever encoding its head names is over.
    parser = expat.ParserCreate("utf-8")

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(parts) >= _MOST_ELEMENTS:
            raise _EnoughError
        bare = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        parts.append(XmlPart(name.rpartition(":")[2], bare, len(open_parts)))
        open_parts.append(parts[-1])

    def data(said: str) -> None:
        if open_parts and len(open_parts[-1].text) < _MAX_TEXT:
            open_parts[-1].text += said

    def refuse(*_declared: object) -> None:
        raise _EnoughError

    parser.StartElementHandler, parser.CharacterDataHandler = start, data
    parser.EndElementHandler = lambda _name: open_parts.pop() and None
    parser.EntityDeclHandler, parser.buffer_text = refuse, True
    try:
        parser.Parse(text[:_MAX_CHARS].lstrip("\ufeff").encode("utf-8", "replace"), False)
    except (expat.ExpatError, _EnoughError):
        return parts, False
    return parts, len(text) <= _MAX_CHARS


class _EnoughError(Exception):
    """No more is read."""


def xml_statement(path: str, text: str) -> str:
    """One sentence about an XML document; "" of one that cannot be read."""
    parts, are_all = read_parts(text)
    if not parts:
        return ""
    root = parts[0].name
    if root == "svg":
        return _drawing(parts, identifier_in_words(stem_of(path.rpartition("/")[2]), written_out=False))
    if root == "resources" and (texts := _texts_of_app(parts)):
        return translation_statement(language_of_translation(path), texts, are_all=are_all)
    if root in ("project", "Project"):
        return _build(parts)
    return _properties(parts, are_all=are_all) if root == "plist" else _others(parts, are_all=are_all)


def _texts_of_app(parts: Sequence[XmlPart]) -> list[str]:
    """The texts of an app of Android, without secrets."""
    named = [one for one in parts if one.name in ("string", "item") and one.text.strip()]
    return [one.text for one in named if not is_secret(one.attributes.get("name", ""))]


def _drawing(parts: Sequence[XmlPart], name: str) -> str:
    """Its title or name, and its size."""
    given = parts[0].attributes
    title = next((make_printable(one.text) for one in parts[:20] if one.name == "title" and one.depth == 1), "")
    width, height = (given.get(key, "").removesuffix("px") for key in ("width", "height"))
    box = given.get("viewBox", "").replace(",", " ").split()
    if not (width and height) and len(box) == _VIEW_BOX:
        width, height = box[2:]
    size = f" of {width} by {height}" if width[:1].isdigit() and height[:1].isdigit() else ""
    return f'Drawing "{clip_text(title or name, 60)}"{size}'


def _counted(parts: Sequence[XmlPart], *, are_all: bool) -> str:
    """How many of which elements, the most frequent first; no numbers where more elements were not read."""
    counts = Counter(name_in_words(one.name.rpartition(".")[2]) for one in parts)
    many = [
        f"{f'{number} ' if are_all else ''}{pluralize(name)}" if number > 1 else name
        for name, number in counts.most_common(4)
    ]
    return list_first(many, 4)


def _build(parts: Sequence[XmlPart]) -> str:
    """Of Maven and .NET: what is built, its modules, packages and projects."""
    own = {one.name: make_printable(one.text) for one in reversed(parts) if one.text.strip()}
    top = {one.name: make_printable(one.text) for one in reversed(parts) if one.depth == 1 and one.text.strip()}
    name, about = top.get("name") or top.get("artifactId", ""), top.get("description", "")
    projects = [one.attributes.get("Include", "").replace("\\", "/") for one in parts if one.name == "ProjectReference"]
    lists = {
        "Modules:": [make_printable(one.text) for one in parts if one.name == "module"],
        "Uses the packages": [one.attributes.get("Include", "") for one in parts if one.name == "PackageReference"],
        "Uses the projects": [stem_of(project.rpartition("/")[2]) for project in projects],
        "Names": [make_printable(one.text) for one in parts if one.name == "artifactId" and one.depth > 1][:4],
    }
    facts = [
        f"Builds {name}{f': {about}' if about else ''}" if name and "${" not in name else "",
        f"Builds for {framework}" if (framework := own.get("TargetFramework") or own.get("TargetFrameworks")) else "",
        *(f"{lead} {list_first(found, _MAX_SHOWN)}" for lead, found in lists.items() if any(found)),
    ]
    return ". ".join([*filter(None, facts)][:3])


def _properties(parts: Sequence[XmlPart], *, are_all: bool) -> str:
    """Of a list of properties the keys, with the values that are short texts."""
    keys = [(one, value) for one, value in pairwise(parts) if one.name == "key" and one.depth == _OF_PROPERTIES]
    untold = ("array", "dict")
    told = [
        (key.text, "" if is_secret(key.text) or value.name in untold else value.text or value.name)
        for key, value in keys
    ]
    shown = [f"{key} {text if len(text) < _MAX_SHOWN * 6 and '$' not in text else ''}".strip() for key, text in told]
    return f"Properties: {list_first(map(make_printable, shown), _MAX_SHOWN, are_all=are_all)}" if shown else ""


def _others(parts: Sequence[XmlPart], *, are_all: bool) -> str:
    """Of any other document its root, how many of what it holds, and the first texts or names in it."""
    held = [one for one in parts if one.depth == 1]
    texts = [one.text for one in parts if " " in one.text.strip()][:2]
    names = [one.attributes[key] for one in parts for key in _NAMES if one.attributes.get(key)]
    shown = list_quoted([*texts, *names[:3]], 3)
    told = f"{f' of {_counted(held, are_all=are_all)}' if held else ''}{f', such as {shown}' if shown else ''}"
    return f"XML {name_in_words(parts[0].name)}{told}" if told else ""
