"""All that a page says of one repository at one commit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codesum_pipeline.model.files import Snapshot
from codesum_pipeline.overviews.entry_points import find_entry_points
from codesum_pipeline.overviews.frameworks import Framework, find_frameworks
from codesum_pipeline.overviews.loading import read_sources, read_text
from codesum_pipeline.overviews.manifests.manifest import EntryPoint
from codesum_pipeline.overviews.model_words import NO_WORDS, ModelWords, model_words
from codesum_pipeline.overviews.neighbourhoods import Community, find_neighbourhoods
from codesum_pipeline.overviews.opening import OpeningText, opening_of, readme_path
from codesum_pipeline.overviews.parts import Division, divide
from codesum_pipeline.overviews.recent import Commit, recent_commits
from codesum_pipeline.overviews.starts import Start, where_to_start
from codesum_pipeline.overviews.view import View
from codesum_pipeline.store.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Overview:
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
    """Of the snapshot that the tables stand for."""
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
        part_texts=_part_texts(view, division),
        neighbourhoods=find_neighbourhoods(place for place in view.places.values() if place.path in view.definitions),
        starts=where_to_start(view),
        commits=recent_commits(ws, snapshot.commit, snapshot.ref),
        malformed=sources.malformed,
    )


def _part_texts(view: View, division: Division) -> dict[str, str]:
    """What the document of each part's folder or file says."""
    found = {}
    for part in division.parts:
        place = view.places.get(part.folder or part.name)
        if place and place.summary:
            found[part.name] = place.summary
    return found
