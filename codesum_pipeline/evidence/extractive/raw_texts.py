"""Texts that nobody reads as prose: test archives, scripts and units of services, templates; of any other its size."""

import re

from codesum_pipeline.evidence.author_texts.plain_sentences import clip_text, make_printable
from codesum_pipeline.evidence.extractive.page_statements import page_statement
from codesum_pipeline.evidence.extractive.words import list_first, name_in_words
from codesum_pipeline.evidence.extractive.xml_statements import xml_statement
from codesum_pipeline.foundation.data_model.printable import count_noun

_MAX_CHARS, _MAX_SHOWN, _MAX_LINE, _MAX_LINES, _MOST_LINES = 60_000, 6, 80, 4, 400
# The name of a text in an archive, and all of it where that is one word.
_ARCHIVED = re.compile(r"^-- ([\w./-]{1,80}) --$(?:\n([\w.-]{3,60})\n(?=--|\n))?", re.M)
_RC_FACT = re.compile(r"^# (PROVIDE|Provides|REQUIRE|Short-Description): {0,20}([\w ./-]{1,120})$", re.M)
_UNIT = re.compile(r"^\[(?:Unit|Install)\][ \t]*$", re.M)
_UNIT_FACT = re.compile(r"^(Description|ExecStart|OnCalendar|WantedBy)=[-@!+:]{0,3}([^\s$%{}][^\n$%{}]{0,120})$", re.M)
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
    """One sentence about an archive, service or template that is known by what stands in it; "" of others."""
    head = text[:_MAX_CHARS]
    archived = _ARCHIVED.findall(head)
    if len(archived) > 1:
        said = next((f' ("{word}")' for _, word in archived[:1] if word), "")
        names = [f"{archived[0][0]}{said}", *(name for name, _ in archived[1:])]
        return f"Archive of the texts {list_first(names, _MAX_SHOWN, are_all=len(text) <= _MAX_CHARS)}"
    if facts := dict(_RC_FACT.findall(head[:2000])):
        return _service_script(facts)
    if _UNIT.search(head):
        return _unit(path, dict(reversed(_UNIT_FACT.findall(head))))
    lines = [line for line in head.splitlines() if line.strip()]
    is_template = bool(_TEMPLATE_CODE.search(head))
    if not is_template and _XML.match(head) and not _HTML.search(head) and (told := xml_statement(path, head)):
        return told
    if is_template or sum(map(bool, map(_TAG_LINE.match, lines))) * 2 > len(lines):
        kind = "Template" if is_template else "Page"
        return page_statement(kind, head) or _filled(kind, head)
    return ""


def _service_script(facts: dict[str, str]) -> str:
    """A script of rc.d or init.d: the service, what it is, and after which others it starts."""
    service = facts.get("PROVIDE") or facts.get("Provides", "")
    about = f": {facts['Short-Description'].strip()}" if "Short-Description" in facts else ""
    needs = f", after {', '.join(facts['REQUIRE'].split())}" if "REQUIRE" in facts else ""
    return f"Script that starts the service {service.strip()}{needs}{about}" if service else ""


def _unit(path: str, facts: dict[str, str]) -> str:
    """A unit of systemd: what it says that it is, the program that it runs, when, and for which target."""
    program = facts.get("ExecStart", "").partition(" ")[0].rpartition("/")[2]
    told = [
        make_printable(facts.get("Description", "")),
        f"runs the program {program}" if program else "",
        f"at {facts['OnCalendar']}" if "OnCalendar" in facts else "",
        f"is started for the target {facts['WantedBy'].removesuffix('.target')}" if "WantedBy" in facts else "",
    ]
    kind = path.rpartition(".")[2]
    return f"Unit of systemd ({kind}): {'; '.join(filter(None, told))}" if any(told) else ""


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
