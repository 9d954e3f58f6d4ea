"""The facts about one repository at one commit, for its page, and as JSON for programs, each fact with its place."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, to_builtins

from codesum_pipeline.model.files import Snapshot
from codesum_pipeline.overviews.frameworks import Framework, find_entry_points, find_frameworks
from codesum_pipeline.overviews.loading import RankedDocument, View, read_sources, read_text
from codesum_pipeline.overviews.manifests.manifest import EntryPoint
from codesum_pipeline.overviews.opening import (
    NO_WORDS,
    Commit,
    ModelWords,
    OpeningText,
    model_words,
    opening_of,
    readme_path,
    recent_commits,
)
from codesum_pipeline.overviews.parts import Community, Division, Start, divide, find_neighbourhoods, where_to_start
from codesum_pipeline.store.workspace import Workspace


class Overview(Struct, frozen=True):
    """One repository at one commit; `definitions` counts its own functions and classes, `malformed` are manifests."""

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


def make_overview(ws: Workspace) -> Overview:
    """The overview of the snapshot that the tables were made from."""
    (snapshot,) = ws.tables.read_rows("snapshot", ws.key, Snapshot)
    view, sources = View.of(ws), read_sources(ws, snapshot.commit)
    readme = readme_path(view.root, list(sources.paths))
    text = read_text(ws, readme, snapshot.commit) if readme else None
    words = model_words(ws, view.root, readme=text or "")
    division = divide(view)
    return Overview(
        repo=ws.key,
        commit=snapshot.commit,
        committed_at=snapshot.committed_at,
        subject=snapshot.subject,
        opening=opening_of(view, (readme, text) if readme and text else None, words),
        words=words,
        languages=view.languages,
        files=len(view.sources),
        definitions=sum(map(len, view.definitions.values())),
        frameworks=find_frameworks(sources),
        entry_points=find_entry_points(sources),
        division=division,
        part_texts={
            part.name: place.summary
            for part in division.parts
            if (place := view.places.get(part.folder or part.name)) and place.summary
        },
        neighbourhoods=find_neighbourhoods(place for place in view.places.values() if place.path in view.definitions),
        starts=where_to_start(view),
        commits=recent_commits(ws, snapshot.commit, snapshot.ref),
        malformed=sources.malformed,
    )


# Every answer from the facts reads all of them, so long lists are cut.
_MOST_MEMBERS = 10
_MOST_NEIGHBOURHOODS = 300
_MOST_ENTRY_POINTS = 500


def facts_of(overview: Overview) -> dict[str, Any]:
    """The facts of a page as JSON, in longer lists; each cut list has a count of what was left out."""
    entries, groups = overview.entry_points, overview.neighbourhoods
    division: dict[str, Any] = to_builtins(overview.division)
    for part in division["parts"]:
        part["files"] = len(part.pop("paths"))
        part["summary"] = overview.part_texts.get(part["name"], "")
    return {
        "repo": overview.repo,
        "commit": overview.commit,
        "committed_at": overview.committed_at,
        "opening": to_builtins(overview.opening),
        "by_model": to_builtins(overview.words),
        "languages": dict(overview.languages),
        "files": overview.files,
        "definitions": overview.definitions,
        "frameworks": [
            {
                "name": each.name,
                "kind": each.kind,
                "constraint": each.constraint,
                "development_only": each.is_for_development,
                "importing_files": each.importing_files,
                "places": each.places,
                "evidence": [
                    {"place": one.place, "known_by": one.known_by.name.lower(), "said": one.said}
                    for one in each.evidence
                ],
            }
            for each in overview.frameworks
        ],
        "entry_points": [
            {"name": each.name, "kind": each.kind, "place": f"{each.path}:{each.line}", "target": each.target}
            for each in entries[:_MOST_ENTRY_POINTS]
        ],
        "entry_points_left_out": max(len(entries) - _MOST_ENTRY_POINTS, 0),
        "parts": division,
        "neighbourhoods": [
            {
                "name": each.name,
                "size": each.size,
                "folder": each.folder,
                "folder_share": each.folder_share,
                "words": list(each.words),
                "members": [_place_json(member) for member in each.members[:_MOST_MEMBERS]],
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
