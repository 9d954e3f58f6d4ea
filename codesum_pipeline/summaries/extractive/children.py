"""What an upper level says of its children: which ones, in which order, in which words.

The order that children are listed in never matters: public before private,
placeholders last, what has more to say first, then by name.
"""

import re
from collections.abc import Sequence

from codesum_pipeline.model.documents import Level
from codesum_pipeline.summaries.extractive.phrases import verb_phrase
from codesum_pipeline.summaries.extractive.plain import clip, enumerate_words, printable
from codesum_pipeline.summaries.extractive.sentences import sentences
from codesum_pipeline.summaries.extractive.verbs import MOSTLY_NOUNS
from codesum_pipeline.summaries.extractive.words import fold_plural, spoken
from codesum_pipeline.summaries.extractive.written import MAX_ITEM, MAX_RESPONSIBILITIES, MIN_ITEM
from codesum_pipeline.summaries.inputs import ChildText

_MAX_NAME_CHARS = 80
# How a folder's text opens that only its contents describe.
FOLDER_OPENING = "The folder "
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_NOT_NOUNS = ("is_", "has_", "can_", "to_", "from_", "as_", "on_", "test", "__", "main")


def bare_name(child: ChildText) -> str:
    """The child's own name."""
    is_symbol = child.level in (Level.FUNCTION, Level.CLASS)
    return printable(child.name.rpartition("::")[2].rpartition(".")[2] if is_symbol else child.name)


def is_public(child: ChildText) -> bool:
    return not bare_name(child).startswith("_")


def ranked(children: Sequence[ChildText]) -> list[ChildText]:
    """Children by what a reader should hear of first."""
    return sorted(
        children,
        key=lambda child: (child.is_placeholder, not is_public(child), -_richness(child), child.name, child.id),
    )


def _richness(child: ChildText) -> int:
    """Coarse, so that a few more words do not reorder everything."""
    text = child.text
    return (
        min(4, (len(text.summary) + len(text.business_intent)) // 120)
        + min(3, len(text.inputs) + len(text.responsibilities))
        + (child.level is Level.CLASS) * 3
    )


def voices(children: Sequence[ChildText]) -> list[tuple[str, ...]]:
    """The keywords of the children that say what the parent is about: tests only where there is nothing else."""
    told = [child for child in children if not child.is_placeholder]
    own = [child for child in told if not bare_name(child).lower().startswith(("test", "conftest"))]
    return [child.text.keywords for child in own or told]


def first_sentence(child: ChildText) -> str:
    return next(iter(sentences(child.text.summary, limit=1)), child.text.summary)


def gist(child: ChildText, limit: int) -> str:
    """The child in a few words, to stand in brackets after its name."""
    text = first_sentence(child)
    if text.startswith(FOLDER_OPENING):
        return f"on {enumerate_words(child.text.keywords[:3])}"
    bare = _BRACKETS.sub("", text).rstrip(". ")
    text = clip(bare if len(bare) > MIN_ITEM else text, limit)
    first = text.split(" ", 1)[0]
    return text[0].lower() + text[1:] if first[1:].islower() or len(first) == 1 else text


def responsibilities(children: Sequence[ChildText]) -> tuple[str, ...]:
    """The main children, each with its name and its first sentence."""
    told: dict[str, str] = {}
    for child in ranked([child for child in children if not child.is_placeholder]):
        name = bare_name(child)[:_MAX_NAME_CHARS] or "part"
        if name not in told:
            opening = first_sentence(child)
            said = f"Folder {gist(child, MAX_ITEM)}." if opening.startswith(FOLDER_OPENING) else opening
            text = clip(f"{name}: {said}", MAX_ITEM)
            told[name] = text if len(text) >= MIN_ITEM else f"{text} (see there)"
        if len(told) == MAX_RESPONSIBILITIES:
            break
    return tuple(told.values())


def abilities(children: Sequence[ChildText], *, limit: int) -> list[str]:
    """Infinitives of what the functions among the children do: `parse a header`."""
    found: dict[str, str] = {}
    for child in ranked([child for child in children if child.level is Level.FUNCTION]):
        name = bare_name(child)
        if not name.startswith("__") and (is_public(child) or len(found) < 2):
            phrase = "run the program" if name == "main" else verb_phrase(name)
            if phrase and _is_confirmed(phrase, child):
                found.setdefault(" ".join(map(fold_plural, phrase.split())), phrase)
    return list(found.values())[:limit]


def _is_confirmed(phrase: str, child: ChildText) -> bool:
    """Whether the child's text opens with the verb, for a verb that is more often a noun: `group`, `index`."""
    verb = phrase.partition(" ")[0]
    return verb not in MOSTLY_NOUNS or fold_plural(child.text.summary.partition(" ")[0].lower()) == fold_plural(verb)


def noun_names(children: Sequence[ChildText], *, limit: int) -> list[str]:
    """Spoken names of public functions that are no verbs: properties and the like."""
    kept = []
    for child in ranked(children):
        name = bare_name(child)
        if child.level is Level.FUNCTION and is_public(child) and not name.startswith(_NOT_NOUNS):
            phrase = verb_phrase(name)
            if phrase is None or not _is_confirmed(phrase, child):
                kept.append(spoken(name))
    return list(dict.fromkeys(filter(None, kept)))[:limit]
