"""What files say whose lines declare things: builds, ignored files, queries, styles, and languages without a parser."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache

from codesum_pipeline.evidence.author_texts.inline_marks import remove_markup
from codesum_pipeline.evidence.author_texts.plain_sentences import clip_text, make_printable, split_sentences
from codesum_pipeline.evidence.extractive.translated_texts import language_of_translation, spoken_language
from codesum_pipeline.evidence.extractive.words import capitalize, list_first, stem_of
from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.printable import count_noun

_MAX_CHARS, _MAX_LINE, _MAX_SHOWN, _MAX_FACTS = 60_000, 400, 6, 3
# The marks of a definition's documentation, and how a definition begins, by the ending of a file.
_DOCUMENTED = {
    "dart": (r"///\s?(.*)", r"(?:abstract |final |base |sealed )*(?:class|mixin|enum|extension)\s+(\w+)"),
    "r": (r"#'\s?(.*)", r"([a-zA-Z][\w.]*)\s*<-\s*function"),
    "mli": (r"\(\*\*\s*(.*?)\s*\*\)", r"(?:val|type|module)\s+(\w+)"),
}
_POD_NAME = re.compile(r"^=head1 NAME\n\n[\w:.-]{2,80} - ([^\n]{5,160})", re.M)
_MESSAGE = re.compile(r'^msgid "[^"\n]', re.M)


@cache
def _tables() -> dict[str, dict[str, re.Pattern[str]]]:
    table: Mapping[str, Mapping[str, str]] = packaged_table(__package__, "line_facts")
    return {name: {lead: re.compile(pattern) for lead, pattern in leads.items()} for name, leads in table.items()}


def line_statement(path: str, text: str) -> str:
    """One sentence about a file whose lines declare things; "" of others."""
    name = path.rpartition("/")[2].lower()
    head = text[:_MAX_CHARS]
    if match := name.endswith((".pm", ".pod", ".pl")) and _POD_NAME.search(head):
        return capitalize(remove_markup(match[1], "perl"))
    lines = [line for line in head.splitlines() if len(line) <= _MAX_LINE]
    documented = _documented(name.rpartition(".")[2], lines)
    leads = next((leads for pattern, leads in _tables().items() if fnmatchcase(name, pattern)), {})
    facts: dict[str, list[str]] = {}
    for lead, pattern in leads.items():
        found = (match[1] for line in lines if (match := pattern.match(line)))
        facts[lead] = [clip_text(make_printable(one), 60) for one in found]
    if name.endswith(".po"):
        facts = {
            f"translates {count_noun(len(_MESSAGE.findall(head)), 'text')}{_into(path)}, such as": facts.get(
                "translates", []
            )
        }
    told = [f"{lead} {list_first(_named(lead, found), _MAX_SHOWN)}" for lead, found in facts.items() if found]
    if documented and not any(one.startswith("tests") for one in told):
        return documented
    return capitalize("; ".join(told[:_MAX_FACTS]))


def _named(lead: str, found: list[str]) -> list[str]:
    """Texts in quotes, names as they are written."""
    is_quoted = lead.startswith(("tests", "translates")) and any(" " in one for one in found)
    return [f'"{one}"' for one in found if '"' not in one] if is_quoted else [one.rstrip('",]') for one in found]


def _into(path: str) -> str:
    language = language_of_translation(path) or spoken_language(stem_of(path.rpartition("/")[2]))
    return f" into {language}" if language else ""


def _documented(ending: str, lines: list[str]) -> str:
    """`Router: matches paths`, of the first definition whose author says what it is for."""
    if ending not in _DOCUMENTED:
        return ""
    mark, definition = map(re.compile, _DOCUMENTED[ending])
    said: list[str] = []
    for line in lines:
        if match := mark.fullmatch(line.strip()):
            said.append(match[1])
        elif said and (match := definition.match(line)):
            first = next((one for one in said if len(one) > 12 and " " in one and one[0] not in "@{\\"), "")
            at = said.index(first) if first else 0
            paragraph = " ".join(said[at : at + 4]).partition("  ")[0]
            sentence = next(iter(split_sentences(remove_markup(paragraph, ending), limit=1)), "") if first else ""
            return f"Defines {match[1]}: {sentence}" if sentence else ""
        elif not line.startswith("@"):
            said = []
    return ""
