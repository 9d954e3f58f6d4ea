"""What classes, files and folders are about where no author says it: the headlines of what they hold.

A headline is the first sentence of a text. One that only spells the name says nothing, and is left out.
"""

import re
from collections.abc import Sequence

from codesum_pipeline.evidence.author_texts.plain_sentences import (
    clip_text,
    make_printable,
    make_sentence,
    split_sentences,
)
from codesum_pipeline.evidence.extractive.composing import (
    bare_name,
    is_chosen_name,
    is_public,
    lower_first,
    rank_children,
)
from codesum_pipeline.evidence.extractive.words import (
    capitalize,
    name_in_words,
    name_words,
    split_identifier,
    stem_of,
)
from codesum_pipeline.evidence.inputs import ChildText
from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.language_facts.writing_systems import has_words, without_end

_TABLES = packaged_table(__package__, "themes")
_DETAILS, _FILE_DETAILS, _COMMON = (tuple(_TABLES[name]) for name in ("details", "file_details", "common"))
_OF_ANY = re.compile("|".join(_TABLES["of_any"]))
_KINDS_SAID = _TABLES["kinds_said"].split()
# Folders that only say where their language puts code.
PLACES = frozenset(
    ("src", "main", "java", "kotlin", "scala", "lib", "com", "org", "source", "commonMain", "androidMain")
)
_STYLES = (".css", ".scss", ".less", ".sass", ".svg")
# What such a text names are its words.
_OF_WORDS = " that names "
_MAX_HEADLINES = 3
# Of more functions than these so many must say what they do: one in four.
_FEW, _LEAST_SHARE = 6, 4
# What follows the first sentence of a function that does not do it, or that is the data of a test.
_NOT_DONE = re.compile(r"\. (?:(?:Always )?[Rr]aises (?:a )?(?:not supported|not implemented)|Gives the cases )", re.I)
# A longer lead before a colon is no name.
_NAME_WORDS = 4
_MAX_CHARS = 120


def headline_of(child: ChildText) -> str:
    """The first sentence of a child's text, without the mark at its end; "" where it only spells the name or says a
    detail. Of what is itself about several things it is the first."""
    if child.is_placeholder or child.name.endswith(_STYLES):
        return ""
    if child.level is Level.FUNCTION and _NOT_DONE.search(child.summary):
        return ""
    whole = without_end(next(iter(split_sentences(make_printable(child.summary), limit=1)), ""))
    first, several, _ = whole.partition("; ")
    if several and child.level is Level.MODULE:
        # One thing of many in a folder is not what that is about.
        return ""
    if child.level in (Level.FILE, Level.MODULE) and first[:1].isupper():
        # `Router: matches a path` of a file: the name of the only class says no more.
        name, _, rest = first.partition(": ")
        is_told = name_words(name) == name_words(_name_of(child)) or child.level is Level.MODULE
        first = capitalize(rest) if rest and is_told and name.count(" ") < _NAME_WORDS else first
    said, name_said = split_identifier(first), split_identifier(_name_of(child))
    is_bare = not has_words(first) or said == name_said or not set(said) - {*name_said, *_KINDS_SAID}
    is_file_detail = child.level in (Level.FILE, Level.MODULE) and whole.startswith((*_DETAILS, *_FILE_DETAILS))
    is_detail = is_file_detail or first.startswith(_DETAILS) or _OF_WORDS in first or first == "Style sheet"
    is_detail = is_detail or _OF_ANY.match(first) is not None
    return "" if is_bare or is_detail else clip_text(first, _MAX_CHARS)


def theme_of(children: Sequence[ChildText], *levels: Level, own_name: str) -> str:
    """Up to three headlines of the children at these levels as one sentence; "" without any. Functions are said by what
    they do, all others by their names, too."""
    found = [
        (one, headline) for one in rank_children(children) if one.level in levels and (headline := headline_of(one))
    ]
    found = [pair for pair in found if not _is_constructor(pair[0], own_name)]
    functions = sum(one.level is Level.FUNCTION for one in children)
    if len(found) * _LEAST_SHARE < functions and functions > _FEW:
        # A few of many are not what it is about.
        return ""
    found = [pair for pair in found if is_public(pair[0])] or found
    found.sort(key=lambda pair: pair[0].level is Level.FUNCTION and pair[1].startswith(_COMMON))
    if len(children) == 1 and children[0].level is Level.MODULE:
        # A folder that only holds another one is about the same.
        return make_sentence(next(iter(split_sentences(make_printable(children[0].summary), limit=1)), ""))
    said = dict.fromkeys(_said(one, headline, own_name) for one, headline in found[:_MAX_HEADLINES])
    if not said:
        return ""
    return make_sentence(capitalize("; ".join(said)))


def _is_constructor(child: ChildText, owner: str) -> bool:
    """Whether a method has its name from the language or from its class."""
    return child.level is Level.FUNCTION and (bare_name(child) == owner or not is_chosen_name(bare_name(child)))


_LEAD = re.compile(r"this (?:method|function|class|module|file) (?:is (?:responsible|used) (?:for|to) )?", re.I)


def _said(child: ChildText, headline: str, own_name: str) -> str:
    text = lower_first(_LEAD.sub("", headline, count=1) if _LEAD.match(headline) else headline)
    name = name_in_words(_name_of(child))
    lead, _, rest = text.partition(": ")
    is_named = bool(rest) and lead.count(" ") < _NAME_WORDS
    is_known = (
        is_named
        or bare_name(child) in PLACES
        or name.lower() in text.lower()
        or name_words(name) == name_words(own_name)
    )
    return text if child.level is Level.FUNCTION or is_known else f"{name}: {text}"


def _name_of(child: ChildText) -> str:
    return stem_of(bare_name(child)) if child.level is Level.FILE else bare_name(child)
