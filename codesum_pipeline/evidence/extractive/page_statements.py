"""What a page or a template shows: its headings, tables, forms, buttons, and the templates that it renders."""

import re

from codesum_pipeline.evidence.author_texts.plain_sentences import clip_text, make_printable
from codesum_pipeline.evidence.extractive.words import identifier_in_words, list_first, name_in_words

_MAX_CHARS, _MAX_SHOWN = 60_000, 4
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
        f"a table of {list_first(pieces['th'], _MAX_SHOWN)}" if pieces.get("th") else "",
        f"a form of {list_first(fields, 5)}" if fields else "",
        f"buttons {list_first(pieces['button'], 3)}" if pieces.get("button") else "",
        f"headings {list_first(titles[1:], 3)}" if titles[1:] else "",
        f"says {list_first(said[:2], 2)}" if said else "",
        f"renders {list_first(rendered, _MAX_SHOWN)}" if rendered else "",
    ]
    told = "; ".join(list(filter(None, parts))[:3])
    if not told and not titles:
        components = [name_in_words(name) for name in dict.fromkeys(_COMPONENT.findall(shown))]
        told = f"shows {list_first(components, _MAX_SHOWN)}" if components else ""
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
