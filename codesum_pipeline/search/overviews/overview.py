"""The facts about one repository at one commit, for its page, and as JSON for programs, each fact with its place.

The opening words are the README's, else those of the root folder's document. The page calls no model. A model's text
about the root folder is one of the summaries: planned, priced, gated, recorded and kept as any other, and rewritten
only where its inputs changed. Sentences that name code which the repository does not have are left out, with a note.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

from msgspec import Struct, to_builtins

from codesum_pipeline.evidence.author_texts.prose import Prose, read_prose
from codesum_pipeline.evidence.leaks import code_names, looks_like_code, names_in
from codesum_pipeline.foundation.data_model.document import WrittenBy
from codesum_pipeline.foundation.data_model.errors import RepositoryUnavailable
from codesum_pipeline.foundation.data_model.file import Snapshot
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE
from codesum_pipeline.foundation.language_facts.writing_systems import join_parts
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.search.overviews.frameworks import Framework, find_entry_points, find_frameworks
from codesum_pipeline.search.overviews.kept_neighbourhoods import MOST_MEMBERS, neighbourhoods_of
from codesum_pipeline.search.overviews.overview_inputs import RepositoryView, read_sources, read_text
from codesum_pipeline.search.overviews.package_manifests.manifest import EntryPoint
from codesum_pipeline.search.overviews.parts import (
    Community,
    Division,
    Start,
    divide_into_parts,
    theme_of,
    where_to_start,
)
from codesum_pipeline.search.overviews.ranked_documents import RankedDocument
from codesum_pipeline.search.overviews.started_code import MOST_STARTED, StartedCode, document_of, find_started_code
from codesum_pipeline.source.git.commit_history import history_of
from codesum_pipeline.source.git.git import run_git
from codesum_pipeline.source.git.mirror import FOLDER_LABEL
from codesum_pipeline.source.masking.secrets import mask_secrets
from codesum_pipeline.symbols.parsing.testing import read_test_files

_COLUMNS = ["id", "written_by", "summary", "responsibilities"]


class ModelWords(Struct, frozen=True):
    """A model's text about a repository; empty if no model wrote. Sentences with `unknown_names` were left out."""

    is_by_model: bool = False
    summary: str = ""
    responsibilities: tuple[str, ...] = ()
    unknown_names: tuple[str, ...] = ()


NO_WORDS = ModelWords()


def model_words(ws: Workspace, root: str, *, readme: str) -> ModelWords:
    """The words of the root folder's document; names in `readme` are known names, too."""
    parts = ws.tables.read_parts("documents", ws.key, columns=_COLUMNS, having=("id", root))
    row = next((row for part in parts for row in part.to_pylist() if row["written_by"] == WrittenBy.LLM), None)
    if row is None:
        return NO_WORDS
    known = _KnownNames(ws, readme)
    unknown = {text: tuple(known.lacking(text)) for text in (row["summary"], *row["responsibilities"])}
    return ModelWords(
        is_by_model=True,
        summary="" if unknown[row["summary"]] else row["summary"],
        responsibilities=tuple(text for text in row["responsibilities"] if not unknown[text]),
        unknown_names=tuple(sorted({name for names in unknown.values() for name in names})),
    )


class _KnownNames:
    """The names of a repository: those of its documents, of external code that it uses, and of its README. They are
    read where a text needs them, and remembered."""

    def __init__(self, ws: Workspace, readme: str) -> None:
        self._ws = ws
        self._readme = readme

    def lacking(self, text: str) -> Iterator[str]:
        """The names in a text that look like code and are unknown."""
        for found in code_names(text):
            name = found.group().removesuffix("()")
            is_code = looks_like_code(name) or name != found.group()
            if is_code and not names_in(name) <= self._own and not names_in(name) <= self._used:
                yield name

    @cached_property
    def _own(self) -> frozenset[str]:
        return names_in(self._readme, *self._column("documents", "id"))

    @cached_property
    def _used(self) -> frozenset[str]:
        return self._own | names_in(*self._column("edges", "dst"))

    def _column(self, table: str, column: str) -> Iterator[str]:
        for part in self._ws.tables.read_parts(table, self._ws.key, columns=[column]):
            yield from part.column(column).to_pylist()


_README = re.compile(r"readme(?:\.(?:md|markdown|rst|txt|adoc|org))?", re.IGNORECASE)
_SENTENCES = 3
_MOST_CHARS = 600
# So many words of a sentence find it again in the markup.
_WORDS_TO_FIND = 4
_INTRODUCES = re.compile(r"\b(?:(?:is|are) (?:an?|the|one)|provides|offers|implements|lets|allows|makes|helps|aims)\b")
# The introducing sentence may follow a badge, a notice and a release; later ones are about details.
_LATEST = 5
_LINK = re.compile(r"\[([^\[\]]+)\](?:\[[^\[\]]*\])?")
_SEPARATORS = re.compile(r" [•|·»] ")
_TELLING_TITLE = 4
_WORD = re.compile(r"[^\W_]+")


class OpeningText(Struct, frozen=True):
    """The words and their place in the README; without a line, they are the text of a document."""

    title: str
    text: str
    path: str | None = None
    line: int | None = None


def readme_path(root: str, paths: Mapping[str, object] | list[str]) -> str | None:
    """The README of the root folder, preferably in Markdown."""
    inside = "" if root == ROOT_MODULE else f"{root}/"
    found = [path for path in paths if path.startswith(inside) and _README.fullmatch(path[len(inside) :])]
    return min(found, key=lambda path: (not path.lower().endswith(".md"), path), default=None)


def opening_of(view: RepositoryView, readme: tuple[str, str] | None, words: ModelWords = NO_WORDS) -> OpeningText:
    """The opening from the README's path and text, else from the root folder's document; of a model's text, only known
    names are repeated."""
    if readme:
        path, text = readme
        prose = read_prose(text)
        first = _introducing(prose, view)
        kept = [one for one in prose.sentences[first : first + _SENTENCES] if not _is_navigation(one)]
        # The text of a link whose address is elsewhere.
        opening = _opening(prose.title, [_LINK.sub(r"\1", one) for one in kept])
        if opening:
            return OpeningText(prose.title, opening, path, _line_of(text, kept[0] if kept else prose.title))
    root = view.documents.get(view.root)
    return OpeningText("", words.summary if words.is_by_model else root.summary if root else "")


def _opening(title: str, sentences: Sequence[str]) -> str:
    """A title that is more than a name, and as many sentences as fit."""
    text = f"{title.rstrip('.')}." if len(_WORD.findall(title)) >= _TELLING_TITLE else ""
    for sentence in sentences:
        if len(text) + len(sentence) > _MOST_CHARS:
            break
        text = join_parts(text, sentence).strip()
    return text


def _introducing(prose: Prose, view: RepositoryView) -> int:
    """The number of the sentence that says what the repository is, `Name is a …`; else 0."""
    names = {*_WORD.findall(prose.title.lower())[:1], *_WORD.findall(view.name.lower())}
    for number, sentence in enumerate(prose.sentences[:_LATEST]):
        words = _WORD.findall(sentence.lower())
        if set(words[:2]) & names and _INTRODUCES.search(" ".join(words[:6])):
            return number
    return 0


def _is_navigation(sentence: str) -> bool:
    """Whether a sentence is only a row of links."""
    links = _LINK.findall(sentence)
    return bool(_SEPARATORS.search(sentence)) or (len(links) > 1 and not _WORD.search(_LINK.sub("", sentence)))


def _line_of(text: str, sentence: str) -> int:
    """The line on which a sentence begins, with any markup between its words; 1 where it is not found."""
    words = _WORD.findall(sentence)[:_WORDS_TO_FIND]
    found = re.search(r"[\W_]{1,40}".join(map(re.escape, words)), text) if words else None
    return text.count("\n", 0, found.start()) + 1 if found else 1


MOST_COMMITS = 10
# A commit that changes more files was made by a tool and does not count for single files.
_MOST_FILES = 60
_PULL_REQUEST = re.compile(r"Merge pull request (#\d+) from ")


class Commit(Struct, frozen=True):
    """One commit: its id, its day, its subject, and the indexed files it changed."""

    id: str
    day: str
    subject: str
    paths: tuple[str, ...]


def recent_commits(ws: Workspace, commit: str, ref: str) -> list[Commit]:
    """Newest first; none for a plain folder, whose commit is made from its content, or where git fails."""
    if ref == FOLDER_LABEL:
        return []
    found = history_of(ws, commit, commits=MOST_COMMITS).commits
    if not found:
        return []
    # With -m and --first-parent a merge lists the changes that it brought.
    form = "--format=%H%x00%cs%x00%s%x00%b%x00"
    arguments = ["log", "--no-walk=unsorted", "--first-parent", "-m", "--name-only", "--no-renames", "-z", form, *found]
    try:
        output = run_git(
            ["-c", "core.quotePath=false", *arguments, "--"],
            git_dir=ws.layout.mirror(ws.key),
            timeout_s=ws.settings.git_timeout_s,
        )
    except RepositoryUnavailable:
        return []
    inside = f"{ws.entry.subdir}/" if ws.entry.subdir else ""
    return _read(output.decode("utf-8", "replace").split("\0"), frozenset(found), inside)


def _read(fields: Sequence[str], known: frozenset[str], inside: str) -> list[Commit]:
    """Each commit is a run of fields: its id, day, subject and body, then a path each."""
    starts = [place for place, field in enumerate(fields) if field in known]
    found = []
    for start, end in pairwise([*starts, len(fields)]):
        id_, day, subject, body, *paths = (*fields[start:end], "", "", "")
        shown = tuple(path for field in paths if (path := field.strip("\n")) and path.startswith(inside))
        # The code host writes the title of a merged pull request into the body.
        title = next((line.strip() for line in body.splitlines() if line.strip()), "")
        if title and (merged := _PULL_REQUEST.match(subject)):
            subject = f"{title} ({merged[1]})"
        found.append(Commit(id_, day, mask_secrets(subject).text, shown))
    return found


def most_changed(commits: Sequence[Commit]) -> list[tuple[str, int]]:
    """The files that several of these commits changed, with the number of commits, most first."""
    counts = Counter(path for each in commits if len(each.paths) <= _MOST_FILES for path in each.paths)
    return sorted(((path, count) for path, count in counts.items() if count > 1), key=lambda pair: (-pair[1], pair[0]))


class Overview(Struct, frozen=True):
    """One repository at one commit; `definitions` counts its own functions and classes, `malformed` are manifests.

    `themes` are definitions that say what a part is about, `entry_texts` what the entry point at a place is for.
    """

    repo: str
    commit: str
    committed_at: str
    subject: str
    opening: OpeningText
    languages: Mapping[str, int]
    files: int
    definitions: int
    frameworks: Sequence[Framework]
    entry_points: Sequence[EntryPoint]
    division: Division
    part_texts: Mapping[str, str]
    neighbourhoods: Sequence[Community]
    starts: Sequence[Start]
    commits: Sequence[Commit]
    malformed: Mapping[str, str]
    words: ModelWords = NO_WORDS
    started: Sequence[StartedCode] = ()
    themes: Mapping[str, Sequence[RankedDocument]] = {}
    entry_texts: Mapping[tuple[str, int], str] = {}


def make_overview(ws: Workspace, namespaces: Collection[str]) -> Overview:
    """The overview of the snapshot that the tables were made from; `namespaces` are left out."""
    (snapshot,) = ws.tables.read_rows("snapshot", ws.key, Snapshot)
    tests = read_test_files(ws.tables, ws.key)
    view, sources = RepositoryView.of(ws, tests, namespaces), read_sources(ws, snapshot.commit, tests)
    readme = readme_path(view.root, list(sources.paths))
    text = read_text(ws, readme, snapshot.commit) if readme else None
    words = model_words(ws, view.root, readme=text or "")
    division, entries = divide_into_parts(view), find_entry_points(sources)
    themes = {part.name: theme_of(view, part) for part in division.parts}
    return Overview(
        repo=ws.key,
        commit=snapshot.commit,
        committed_at=snapshot.committed_at,
        subject=snapshot.subject,
        opening=opening_of(view, (readme, text) if readme and text else None, words),
        words=words,
        languages=view.languages,
        files=len(view.sources),
        definitions=sum(view.documents.counts.values()),
        frameworks=find_frameworks(sources),
        entry_points=entries,
        started=find_started_code(ws, view, entries),
        themes=themes,
        entry_texts={
            (entry.path, entry.line): place.purpose.text
            for entry in entries
            if (place := view.documents.get(document_of(view, entry) or ""))
            and place.purpose
            and not place.purpose.is_of_name
        },
        division=division,
        part_texts={
            part.name: place.summary
            for part in division.parts
            if (place := view.documents.get(part.folder or part.name))
            and place.summary
            # What was put together from the definitions is longer than the best of them.
            and (not themes[part.name] or (place.purpose and place.purpose.is_authors))
        },
        neighbourhoods=neighbourhoods_of(ws, view.documents),
        starts=where_to_start(view),
        commits=recent_commits(ws, snapshot.commit, snapshot.ref),
        malformed=sources.malformed,
    )


# Every answer from the facts reads all of them, so long lists are cut.
_MOST_NEIGHBOURHOODS = 300
_MOST_ENTRY_POINTS = 500


def facts_of(overview: Overview) -> dict[str, Any]:
    """The facts of a page as JSON, in longer lists; each cut list has a count of what was left out."""
    entries, groups = overview.entry_points, overview.neighbourhoods
    division: dict[str, Any] = to_builtins(overview.division)
    for part in division["parts"]:
        part["files"] = len(part.pop("paths"))
        told = overview.themes.get(part["name"], ())
        theme = "; ".join(f"{each.name}: {each.purpose.text}" for each in told if each.purpose)
        part["summary"] = overview.part_texts.get(part["name"], "") or theme
    return {
        **{name: getattr(overview, name) for name in ("repo", "commit", "committed_at", "files", "definitions")},
        "opening": to_builtins(overview.opening),
        "by_model": to_builtins(overview.words),
        "languages": dict(overview.languages),
        "frameworks": [
            {
                "name": each.name,
                "kind": each.kind,
                "constraint": each.constraint,
                "development_only": each.is_for_development,
                "importing_files": each.importing_files,
                "places": each.places,
                "evidence": [
                    {"place": one.place, "known_by": one.known_by.name.lower(), "said": one.name}
                    for one in each.evidence
                ],
            }
            for each in overview.frameworks
        ],
        "entry_points": [
            {
                "name": each.name,
                "kind": each.kind,
                "place": f"{each.path}:{each.line}",
                "target": each.target,
                "text": overview.entry_texts.get((each.path, each.line), ""),
            }
            for each in entries[:_MOST_ENTRY_POINTS]
        ],
        "entry_points_left_out": max(len(entries) - _MOST_ENTRY_POINTS, 0),
        "started": [to_builtins(each) for each in overview.started[:MOST_STARTED]],
        "started_left_out": max(len(overview.started) - MOST_STARTED, 0),
        "parts": division,
        "neighbourhoods": [
            {
                "name": each.name,
                "size": each.size,
                "folder": each.folder,
                "folder_share": each.folder_share,
                "words": list(each.words),
                "members": [_place_json(member) for member in each.members[:MOST_MEMBERS]],
            }
            for each in groups[:_MOST_NEIGHBOURHOODS]
        ],
        "neighbourhoods_left_out": max(len(groups) - _MOST_NEIGHBOURHOODS, 0),
        "where_to_start": [
            {**_place_json(each.file), "definitions": [_place_json(one) for one in each.definitions]}
            for each in overview.starts
        ],
        "commits": [to_builtins(each) for each in overview.commits],
        "unread_manifests": dict(overview.malformed),
    }


def _place_json(place: RankedDocument) -> dict[str, Any]:
    return {"id": place.id, "place": f"{place.path}:{place.line}", "level": place.level, "summary": place.summary}
