"""The text of a folder: its README's words, then what it holds."""

from codesum_pipeline.model.documents import Level, PurposeSource
from codesum_pipeline.model.ids import ROOT_MODULE
from codesum_pipeline.summaries.documentation.opening import joined
from codesum_pipeline.summaries.documentation.plain import printable
from codesum_pipeline.summaries.documentation.prose import read_prose
from codesum_pipeline.summaries.extractive.children import bare_name, ranked
from codesum_pipeline.summaries.extractive.composing import composed
from codesum_pipeline.summaries.extractive.keywords import NAME, PARAMETER
from codesum_pipeline.summaries.extractive.naming import fact, plainly
from codesum_pipeline.summaries.extractive.places import folder_of, stem_of
from codesum_pipeline.summaries.extractive.written import ExtractiveText
from codesum_pipeline.summaries.inputs import ChildText, ModuleInput
from codesum_pipeline.summaries.own_names import own_names

_OPENING_CHARS = 360
_MAX_FILES = 12
_MAX_FOLDERS = 8
# The files that speak for their folder.
_FACTS = ("File ", "Classes:", "Functions:", "Tests:", "Constants:", "Defines ", "Re-exports ", "Mentions ", "Imports ")
_ENTRIES = ("__init__.py", "mod.rs", "lib.rs", "doc.go", "package-info.java", "index.js", "index.ts", "init.lua")


def write_module(given: ModuleInput) -> ExtractiveText:
    """Write one folder's text from its README and its children's texts."""
    prose = read_prose(given.readme or "")
    told = joined(*prose.opening, limit=_OPENING_CHARS) or _from_entry(given)
    files = [name for child in _of(given, Level.FILE) if _is_word(name := stem_of(bare_name(child)))]
    folders = [bare_name(child) for child in _of(given, Level.MODULE)]
    is_root = given.id in ("", ROOT_MODULE)
    return composed(
        given,
        told,
        [
            fact("Folders:", plainly(folders, _MAX_FOLDERS)),
            fact("Files:", plainly(files, _MAX_FILES)),
        ],
        name=f"Folder {plainly([given.name], 1)}.",
        part="The repository's root folder." if is_root else folder_of(given.id),
        source=PurposeSource.DOCSTRING if told else PurposeSource.CHILDREN,
        words=[(given.name, NAME), *((name, PARAMETER) for name in (prose.title, *folders))],
        prose=prose.sentences,
        used=1,
        own=own_names(given),
    )


def _of(given: ModuleInput, level: Level) -> list[ChildText]:
    return [child for child in ranked(given.children) if child.level is level]


def _is_word(name: str) -> bool:
    """Whether a name was given by a person: no number, no digest."""
    return sum(map(str.isdigit, name)) * 3 < len(name)


def _from_entry(given: ModuleInput) -> str:
    """The words of the file that speaks for its folder, where an author wrote them."""
    for child in _of(given, Level.FILE):
        summary = printable(child.text.summary)
        if bare_name(child) in _ENTRIES and not child.is_placeholder and not summary.startswith(_FACTS):
            return joined(summary.partition(". ")[0], limit=_OPENING_CHARS)
    return ""
