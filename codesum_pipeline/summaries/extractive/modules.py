"""The text of a folder: its README, else what its files are for."""

from codesum_pipeline.model.documents import Level, PurposeSource, WrittenText
from codesum_pipeline.summaries.extractive.children import (
    FOLDER_OPENING,
    bare_name,
    first_sentence,
    gist,
    ranked,
    responsibilities,
    voices,
)
from codesum_pipeline.summaries.extractive.intent import further_sentence
from codesum_pipeline.summaries.extractive.keywords import DOCSTRING, NAME, merge_keywords
from codesum_pipeline.summaries.extractive.places import area_of
from codesum_pipeline.summaries.extractive.plain import (
    clip,
    enumerate_first,
    enumerate_words,
    join_sentences,
    printable,
    sentence,
)
from codesum_pipeline.summaries.extractive.prose import Prose, read_prose
from codesum_pipeline.summaries.extractive.words import split_identifier, spoken
from codesum_pipeline.summaries.extractive.written import MAX_INTENT, MAX_SUMMARY, MIN_SUMMARY, Written, finished
from codesum_pipeline.summaries.inputs import ChildText, ModuleInput
from codesum_pipeline.summaries.own_names import own_names

_OPENING_CHARS = 420
_CHILD_CHARS = 130
_MAX_TOLD = 3
_MAX_NAMED = 6
_FURTHER_CHARS = 200
# Openings of file texts that came from a template: they say nothing of the package.
_TEMPLATE_OPENINGS = ("Entry of the package", "Defines ", "Sets the constant", "Empty file")


def write_module(given: ModuleInput) -> Written:
    """Write one folder's text from its README and its files' and sub-folders' texts."""
    prose = read_prose(given.readme) if given.readme else Prose()
    opening, source = _opening(given, prose)
    contents = _contents(given, is_opening=not opening)
    summary = join_sentences([opening, contents], MAX_SUMMARY)
    if len(summary) < MIN_SUMMARY:
        summary = join_sentences([summary, f"The folder {printable(given.name)} of the repository."], MAX_SUMMARY)
    own = [(given.name, NAME), (prose.title, NAME)]
    own.extend((word, DOCSTRING) for one in prose.sentences[:4] for word in one.split())
    text = WrittenText(
        summary=summary,
        business_intent=_intent(given, prose, summary),
        keywords=merge_keywords(
            own,
            voices(given.children),
            fallback=[*split_identifier(given.id), given.name, "folder"],
        ),
        responsibilities=responsibilities(given.children),
    )
    return finished(text, source, own=own_names(given))


def _opening(given: ModuleInput, prose: Prose) -> tuple[str, PurposeSource]:
    if prose.sentences:
        lead = prose.sentences[0]
        title = prose.title
        if (
            title
            and len(title) < 80
            and not lead.lower().startswith(title.lower()[:20])
            and spoken(title) != spoken(given.name)
        ):
            lead = f"{title.rstrip('.:')}: {lead}"
        return join_sentences(
            [clip(sentence(lead), _OPENING_CHARS), *map(sentence, prose.sentences[1:2])], _OPENING_CHARS
        ), PurposeSource.TEXT
    package = next(
        (child for child in given.children if child.name == "__init__.py" and not child.is_placeholder), None
    )
    if package and not package.text.summary.startswith(_TEMPLATE_OPENINGS):
        return clip(first_sentence(package), _OPENING_CHARS), PurposeSource.CHILDREN
    if prose.title:
        return sentence(prose.title), PurposeSource.TEXT
    return "", PurposeSource.CHILDREN if _telling(given) else PurposeSource.NAME


def _telling(given: ModuleInput) -> list[ChildText]:
    return [child for child in ranked(given.children) if not child.is_placeholder]


def _contents(given: ModuleInput, *, is_opening: bool) -> str:
    folders = [child for child in ranked(given.children) if child.level is Level.MODULE]
    files = [child for child in ranked(given.children) if child.level is Level.FILE]
    counts = [
        f"{len(group)} {word}{'s' if len(group) != 1 else ''}"
        for group, word in ((folders, "folder"), (files, "file"))
        if group
    ]
    told = [child for child in _telling(given) if bare_name(child) != "__init__.py"]
    if not told:
        return (
            sentence(f"{_name(given)} holds {enumerate_words(counts)}")
            if counts
            else sentence(f"{_name(given)} is an empty folder")
        )
    if is_opening:
        parts = [f"{bare_name(child)} ({gist(child, _CHILD_CHARS)})" for child in told[:_MAX_TOLD]]
        return sentence(
            f"{_name(given)} holds {enumerate_words(counts)}, among them {'; '.join(parts)}"
            if len(told) > 1
            else f"{_name(given)} holds {parts[0]}"
        )
    names = [bare_name(child) for child in told]
    return sentence(f"Holds {enumerate_words(counts)}: {enumerate_first(names, _MAX_NAMED)}")


def _name(given: ModuleInput) -> str:
    name = printable(given.name) or "."
    return f"The repository {name}" if given.id in (".", "") else f"{FOLDER_OPENING}{name}"


def _intent(given: ModuleInput, prose: Prose, summary: str) -> str:
    further = further_sentence(prose.sentences[1:], summary)
    shared: dict[str, int] = {}
    for keywords in voices(given.children):
        for word in keywords[:6]:
            shared[word] = shared.get(word, 0) + 1
    topics = [
        word
        for word in sorted(shared, key=lambda word: (-shared[word], word))
        if word not in split_identifier(given.name)
    ][:4]
    about = f": {enumerate_words(topics)}" if topics else ""
    where = "The repository as a whole" if given.id in (".", "") else f"Groups what belongs to {area_of(given.id)}"
    return join_sentences([clip(further, _FURTHER_CHARS), sentence(f"{where}{about}")], MAX_INTENT)
