"""The text of a folder: its README's words, then what it holds."""

from codesum_pipeline.model.documents import Level, PurposeSource, WrittenText
from codesum_pipeline.model.ids import ROOT_MODULE
from codesum_pipeline.summaries.documentation.opening import further_sentence, joined
from codesum_pipeline.summaries.documentation.plain import join_sentences, printable
from codesum_pipeline.summaries.documentation.prose import read_prose
from codesum_pipeline.summaries.extractive.children import bare_name, ranked, responsibilities, voices
from codesum_pipeline.summaries.extractive.keywords import DOCSTRING, NAME, PARAMETER, merge_keywords
from codesum_pipeline.summaries.extractive.naming import fact, plainly
from codesum_pipeline.summaries.extractive.places import folder_of, stem_of
from codesum_pipeline.summaries.extractive.words import split_identifier
from codesum_pipeline.summaries.extractive.written import MAX_SUMMARY, Written, finished
from codesum_pipeline.summaries.inputs import ChildText, ModuleInput
from codesum_pipeline.summaries.own_names import own_names

_OPENING_CHARS = 360
_MAX_FILES = 12
_MAX_FOLDERS = 8
# The files that speak for their folder.
_ENTRIES = ("__init__.py", "mod.rs", "lib.rs", "doc.go", "package-info.java", "index.js", "index.ts", "init.lua")


def write_module(given: ModuleInput) -> Written:
    """Write one folder's text from its README and its children's texts."""
    prose = read_prose(given.readme or "")
    title = prose.title.rstrip(".:")
    opening = joined(*([f"{title}: {prose.sentences[0]}"] if prose.sentences and title else prose.sentences[:1]),
                     *prose.sentences[1:2], limit=_OPENING_CHARS) or joined(title, limit=_OPENING_CHARS)  # fmt: skip
    told = opening or _from_entry(given)
    files = [name for child in _of(given, Level.FILE) if _is_word(name := stem_of(bare_name(child)))]
    folders = [bare_name(child) for child in _of(given, Level.MODULE)]
    is_root = given.id in ("", ROOT_MODULE)
    facts = [
        fact("Folders:", plainly(folders, _MAX_FOLDERS)),
        fact("Files:", plainly(files, _MAX_FILES)),
    ]
    summary = join_sentences([told or f"Folder {plainly([given.name], 1)}.", *facts], MAX_SUMMARY)
    own = [(given.name, NAME), (title, PARAMETER), *((name, PARAMETER) for name in folders)]
    own.extend((word, DOCSTRING) for one in prose.sentences[:4] for word in one.split())
    text = WrittenText(
        summary=summary,
        business_intent=further_sentence(prose.sentences[1:5], summary)
        or ("The repository's root folder." if is_root else folder_of(given.id)),
        keywords=merge_keywords(own, voices(given.children), fallback=[*split_identifier(given.id), "folder", "files"]),
        responsibilities=responsibilities(given.children),
    )
    return finished(text, PurposeSource.DOCSTRING if told else PurposeSource.CHILDREN, own=own_names(given))


def _of(given: ModuleInput, level: Level) -> list[ChildText]:
    return [child for child in ranked(given.children) if child.level is level]


def _is_word(name: str) -> bool:
    """Whether a name was given by a person: no number, no digest."""
    return sum(map(str.isdigit, name)) * 3 < len(name)


def _from_entry(given: ModuleInput) -> str:
    """The words of the file that speaks for its folder, where an author wrote them."""
    for child in _of(given, Level.FILE):
        summary = printable(child.text.summary)
        if bare_name(child) in _ENTRIES and not child.is_placeholder and not summary.startswith("File "):
            return joined(summary.partition(". ")[0], limit=_OPENING_CHARS)
    return ""
