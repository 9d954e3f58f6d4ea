"""An overview as a page of Markdown: short, for a reader who sees the repository for the first time.

Text of the repository is put into code spans or escaped; each fact has the place that it was read from. A diagram of
the parts is Mermaid, whose labels no name can break out of.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np
import pyarrow as pa
from msgspec import Struct

from codesum_pipeline.evidence.author_texts.plain_sentences import split_sentences
from codesum_pipeline.evidence.extractive.words import split_identifier
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, without_suffix
from codesum_pipeline.foundation.data_model.markdown import code_span, escape_prose
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.language_facts.language_profiles import profile_of
from codesum_pipeline.foundation.store.schemas import OVERVIEWS
from codesum_pipeline.foundation.store.workspace import Workspace, write_serving_file
from codesum_pipeline.indexes.file_formats.index_files import StringTable
from codesum_pipeline.indexes.file_formats.stored_zip import map_npz
from codesum_pipeline.indexes.file_formats.version_folder import DOCUMENT_ARRAYS, Version
from codesum_pipeline.indexes.publishing.namespaces import find_namespaces
from codesum_pipeline.indexes.publishing.publish import published_version
from codesum_pipeline.search.overviews.frameworks import Framework, KnownBy
from codesum_pipeline.search.overviews.overview import MOST_COMMITS, Overview, facts_of, make_overview, most_changed
from codesum_pipeline.search.overviews.parts import Division, Start, common_folder
from codesum_pipeline.search.overviews.published_starts import PublishedStarts
from codesum_pipeline.search.overviews.ranked_documents import RankedDocument
from codesum_pipeline.search.overviews.started_code import start_names_of

# Characters without a meaning in Mermaid's quotes; others are written as their numbers.
_HARMLESS = re.compile(r"[^\w ./*-]")
_LONGEST_LABEL = 40


def draw_mermaid(division: Division, folder: str) -> str:
    """The parts as boxes and the links as arrows; names are without `folder`. Empty without links."""
    if not division.links:
        return ""
    linked = {name for link in division.links for name in (link.source, link.target)}
    numbers = {part.name: number for number, part in enumerate(division.parts) if part.name in linked}
    boxes = [f'  p{number}["{label_of_box(name.removeprefix(folder))}"]' for name, number in numbers.items()]
    pairs = {(link.source, link.target) for link in division.links}
    arrows = [
        f"  p{numbers[source]} {'<-->' if (target, source) in pairs else '-->'} p{numbers[target]}"
        for source, target in ((link.source, link.target) for link in division.links)
        if (target, source) not in pairs or source < target
    ]
    return "\n".join(["graph LR", *boxes, *arrows])


def label_of_box(name: str) -> str:
    """A name as the text of a box."""
    shown = name if len(name) <= _LONGEST_LABEL else f"{name[: _LONGEST_LABEL - 1]}…"
    return _HARMLESS.sub(lambda found: f"#{ord(found[0])};", shown)


# Kinds that are obviously not part of the product.
_DEVELOPING = frozenset({"test runner", "build system", "CI", "code quality", "documentation"})
_SHORT = 10
_LANGUAGES = 5
_PER_KIND = 6
_ENTRIES = 12
_USES = 4
_NEIGHBOURHOODS = 6
_MEMBERS = 4
_CHANGED = 5
_UNREAD = 5
_SENTENCE = 200
_OPENING = 700
# With fewer folders among a repository's parts, communities are shown.
_FEW_FOLDERS = 4
# Beginnings and words of texts that describe nothing but what a folder or file holds.
_OF_ANYTHING = frozenset({
    "a", "an", "the", "class", "enum", "file", "folder", "function", "interface", "method", "module", "object",
    "protocol", "struct", "trait", "type",
})  # fmt: skip
_SAYS_LITTLE = (
    "Folder ",
    "Folders: ",
    "Files: ",
    "File ",
    "Defines ",
    "Classes: ",
    "Functions: ",
    "Imports ",
    "Mentions ",
)


def render_page(overview: Overview) -> str:
    blocks = [
        _head(overview),
        _section("Parts", _parts(overview)),
        _section("What belongs together", _neighbourhoods(overview)),
        _section("Entry points", _entry_points(overview)),
        _section("Frameworks and tools", _frameworks(overview.frameworks)),
        _section("Where to start reading", _starts(overview.starts)),
        _section("What changed lately", _changes(overview)),
        _section("Not read", _unread(overview)),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _section(title: str, lines: Iterable[str]) -> str:
    body = "\n".join(lines)
    return f"## {title}\n\n{body}" if body else ""


def _head(overview: Overview) -> str:
    opening = overview.opening
    opening_words = escape_prose(opening.text, limit=_OPENING)
    where = f" ({_at(opening.path, opening.line or 1)})" if opening.path else ""
    languages = sorted(overview.languages.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = [f"{profile_of(name).title} ({count_noun(number, 'file')})" for name, number in languages[:_LANGUAGES]]
    if len(languages) > _LANGUAGES:
        shown.append(f"{len(languages) - _LANGUAGES} other languages")
    definitions = count_noun(overview.definitions, "function and class", "functions and classes")
    not_counted = "Tests, examples and copies of others' code are not counted."
    size = f"{', '.join(shown)}; {definitions}. {not_counted}" if shown else "No programs."
    subject = f": {escape_prose(overview.subject)}" if overview.subject else ""
    state = f"Commit {code_span(overview.commit[:_SHORT])} of {overview.committed_at[:10]}{subject}"
    words = overview.words
    # A model's text about the whole repository, unless it is the opening already.
    summary = escape_prose(words.summary, limit=_OPENING) if words.summary != opening.text else ""
    responsibilities = "\n".join(f"- {escape_prose(each, limit=_SENTENCE)}" for each in words.responsibilities)
    source = "(By a model, from the texts of its parts.)" if summary or responsibilities else ""
    blocks = (
        f"# {escape_prose(overview.repo)}",
        f"{opening_words}{where}",
        summary,
        responsibilities,
        source,
        state,
        size,
    )
    return "\n\n".join(part for part in blocks if part)


def _frameworks(frameworks: Sequence[Framework]) -> Iterator[str]:
    for kind, group in groupby(frameworks, key=lambda each: each.kind):
        every = sorted(group, key=lambda each: each.is_for_development)
        shown = "; ".join(_framework(each) for each in every[:_PER_KIND])
        more = f"; {len(every) - _PER_KIND} more" if len(every) > _PER_KIND else ""
        yield f"- {kind[:1].upper()}{kind[1:]}: {shown}{more}"


def _framework(framework: Framework) -> str:
    best = next((each for each in framework.evidence if each.constraint), framework.evidence[0])
    constraint = framework.constraint
    versions = f" {code_span(constraint)}" if constraint and constraint != "*" else ""
    notes = [_at(best.path, best.line)]
    if framework.importing_files and best.known_by is KnownBy.MANIFEST:
        notes.append(f"imported by {count_noun(framework.importing_files, 'file')}")
    elif best.known_by is KnownBy.IMPORT:
        notes[0] = f"imported at {notes[0]}" + _and_more(framework.importing_files - 1, "file")
    elif framework.places > 1 and best.known_by is KnownBy.FILE:
        notes[0] += _and_more(framework.places - 1, "file")
    if framework.is_for_development and framework.kind not in _DEVELOPING:
        notes.append("for development")
    return f"**{escape_prose(framework.name)}**{versions} ({', '.join(notes)})"


def _entry_points(overview: Overview) -> Iterator[str]:
    entries = overview.entry_points
    for entry in entries[:_ENTRIES]:
        text = overview.entry_texts.get((entry.path, entry.line), "")
        said = f": {escape_prose(text, limit=_SENTENCE)}" if text else ""
        target = f" → {code_span(entry.target, limit=80)}" if entry.target else ""
        yield f"- {code_span(entry.name)}, {entry.kind}{target} ({_at(entry.path, entry.line)}){said}"
    if len(entries) > _ENTRIES:
        yield f"- {len(entries) - _ENTRIES} more"


def _parts(overview: Overview) -> Iterator[str]:
    division = overview.division
    if not division.parts:
        return
    folder = common_folder(division.parts)
    if folder:
        yield f"In {code_span(folder)}:\n"
    if drawn := draw_mermaid(division, folder):
        yield f"```mermaid\n{drawn}\n```\n"
    for part in division.parts:
        text = _first_sentence(overview.part_texts.get(part.name, ""), part.name) or _theme(overview, part.name)
        used = division.uses_of(part.name)
        named = ", ".join(code_span(each.removeprefix(folder)) for each in used[:_USES])
        # What a part uses says nothing of a part of which nothing else is said.
        uses = f"Uses {named}{_and_more(len(used) - _USES)}." if used and text else ""
        size = "" if not part.folder else f", {count_noun(len(part.paths), 'file')}"
        description = " ".join(filter(None, (text, uses)))
        yield f"- {code_span(part.name.removeprefix(folder) or './')}{size}{': ' if description else ''}{description}"
    if division.others:
        yield f"- {count_noun(division.others, 'smaller part')}"


def _theme(overview: Overview, part: str) -> str:
    """What a part is about, by the purposes of its definitions; one that is only the name in words stands alone."""
    told = []
    for each in overview.themes.get(part, ()):
        if purpose := each.purpose:
            said = escape_prose(purpose.text)
            told.append(said if purpose.is_of_name else f"{_name(each)}: {said}")
    return f"{'; '.join(told)}." if told else ""


def _neighbourhoods(overview: Overview) -> Iterator[str]:
    """The communities of the graph, for a repository with few folders."""
    folders = [part for part in overview.division.parts if part.folder]
    if len(folders) >= _FEW_FOLDERS or len(overview.neighbourhoods) < 2:
        return
    for each in overview.neighbourhoods[:_NEIGHBOURHOODS]:
        members = ", ".join(
            f"{code_span(member.name)} ({_at(member.path, member.line)})" for member in each.members[:_MEMBERS]
        )
        yield f"- **{escape_prose(each.name)}**, {each.size} members, most in {code_span(each.folder)}: {members}"


def _starts(starts: Sequence[Start]) -> Iterator[str]:
    for number, start in enumerate(starts, start=1):
        first, *others = start.definitions
        text = _first_sentence(start.file.summary, start.file.name) or _first_sentence(first.summary, first.name)
        description = f": {text.rstrip('.')}" if text else ""
        also = f"; also {', '.join(f'{_name(each)} (line {each.line})' for each in others)}" if others else ""
        yield f"{number}. {_at(first.path, first.line)} {_name(first)}{description}{also}."


def _name(place: RankedDocument) -> str:
    return code_span(without_suffix(place.id).partition(SEPARATOR)[2].replace(SEPARATOR, "."))


def _changes(overview: Overview) -> Iterator[str]:
    for commit in overview.commits[:MOST_COMMITS]:
        files = f" ({count_noun(len(commit.paths), 'file')})" if commit.paths else ""
        yield f"- {commit.day} {code_span(commit.id[:_SHORT])} {escape_prose(commit.subject, limit=100)}{files}"
    if changed := most_changed(overview.commits)[:_CHANGED]:
        shown = ", ".join(f"{code_span(path)} ({count})" for path, count in changed)
        yield f"\nChanged most by the last {len(overview.commits)} commits: {shown}."


def _unread(overview: Overview) -> Iterator[str]:
    for path, why in list(overview.malformed.items())[:_UNREAD]:
        yield f"- {code_span(path)}: {escape_prose(why.partition(': ')[2], limit=80)}"
    if len(overview.malformed) > _UNREAD:
        yield f"- {len(overview.malformed) - _UNREAD} more"


def _first_sentence(summary: str, name: str) -> str:
    """The first sentence of a text; empty if the text only lists contents or repeats the name."""
    if summary.startswith(_SAYS_LITTLE) or not summary[:1].isalnum():
        return ""
    first = next(iter(split_sentences(" ".join(summary.split()), limit=1)), "")
    of_name = {word.lower() for word in split_identifier(name)} | _OF_ANYTHING
    if {word.lower() for word in split_identifier(first)} <= of_name:
        return ""
    return escape_prose(first, limit=_SENTENCE)


def _at(path: str, line: int) -> str:
    return code_span(f"{path}:{line}")


def _and_more(number: int, noun: str = "") -> str:
    if number <= 0:
        return ""
    return f" and {count_noun(number, f'more {noun}')}" if noun else f" and {number} more"


class OverviewReport(Struct, frozen=True):
    """`written` is false where the page was up to date. `commit` is the page's; None if the published version has no
    page. `by_model` says that the page has a model's words, without sentences that had so many `unknown_names`."""

    written: bool
    commit: str | None
    frameworks: int
    entry_points: int
    parts: int
    neighbourhoods: int
    characters: int
    by_model: bool
    unknown_names: int
    table_hash: str


def _namespaces_of(ws: Workspace, published: Version) -> Collection[str]:
    """The namespaces, which the published version knows."""
    if not published.is_whole(DOCUMENT_ARRAYS, read_content=True):
        return find_namespaces(ws.tables, ws.key)
    arrays = map_npz(published.folder / DOCUMENT_ARRAYS)
    ids = StringTable(arrays["ids"], arrays["id_offsets"])
    return [ids[row] for row in np.flatnonzero(arrays["is_namespace"]).tolist()]


def write_overview(ws: Workspace, *, progress: Progress = no_progress) -> OverviewReport:
    """Write the page of the published version into the table `overviews`."""
    progress("writing the overview", 0, 1)
    candidate = ws.tables.read("candidate", ws.key).to_pylist()[0]
    published = published_version(ws.layout, ws.key)
    if published is None or any(published.manifest[name] != candidate[name] for name in ("content_digest", "commit")):
        raise BrokenStore(f"repository {ws.key!r}: what was built is not published: run `codesum index {ws.key}` again")
    overview = make_overview(ws, _namespaces_of(ws, published))
    facts = facts_of(overview)
    row = {
        "commit": published.manifest["commit"],
        "content_digest": published.manifest["content_digest"],
        "page": render_page(overview),
        "facts": json.dumps(facts, ensure_ascii=False, sort_keys=True),
    }
    if not ws.tables.is_scratch:
        names = start_names_of(overview.started)
        PublishedStarts(row["commit"], row["content_digest"], names).write(ws.layout, ws.key)
    before = ws.tables.read_or_empty("overviews", ws.key).to_pylist()
    written = before != [row]
    if not written and not ws.force:
        ws.tables.keep("overviews", ws.key)
    else:
        ws.tables.write("overviews", ws.key, pa.Table.from_pylist([row], schema=OVERVIEWS))
    if ws.tables.base is None:
        # The views were made when the index was published, without the table of a home's first page. A store of its own
        # keeps what views read out of the recorded inputs of the page.
        write_serving_file(ws.tables.without_base(), ws.layout.duckdb_file)
    progress("writing the overview", 1, 1)
    words = overview.words
    return OverviewReport(
        written=written,
        commit=row["commit"],
        parts=len(facts["parts"]["parts"]),
        characters=len(row["page"]),
        by_model=bool(words.summary or words.responsibilities),
        unknown_names=len(words.unknown_names),
        table_hash=ws.tables.content_hash("overviews", ws.key) or "",
        **{name: len(facts[name]) for name in ("frameworks", "entry_points", "neighbourhoods")},
    )
