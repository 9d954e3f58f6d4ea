"""The step that writes a repository's page: of the version that is published, and only where that is another one."""

import json
from dataclasses import dataclass

import pyarrow as pa

from codesum_pipeline.indexes.publish import published_version
from codesum_pipeline.model.errors import BrokenStore
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.overviews.facts import facts_of
from codesum_pipeline.overviews.overview import make_overview
from codesum_pipeline.overviews.page import render
from codesum_pipeline.store.schemas import OVERVIEWS
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.store.views import write_serving_file
from codesum_pipeline.store.workspace import Workspace


@dataclass(frozen=True, slots=True)
class OverviewReport:
    """`written` is false where the page is that of an earlier build.

    `commit` is that which the page stands for; none where the version that is published has no page. `by_model`:
    words of a model are on it; for so many `unknown_names` others were left out.
    """

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


def write_overview(ws: Workspace, *, progress: Progress = no_progress) -> OverviewReport:
    """Write the page of the published version into the table `overviews`."""
    progress("writing the overview", 0, 1)
    candidate = ws.tables.read("candidate", ws.key).to_pylist()[0]
    published = published_version(ws.layout.published(ws.key), ws.layout.versions(ws.key))
    if published is None or any(published.manifest[name] != candidate[name] for name in ("content_digest", "commit")):
        raise BrokenStore(f"repository {ws.key!r}: what was built is not published: run `codesum index {ws.key}` again")
    overview = make_overview(ws)
    row = {
        "commit": published.manifest["commit"],
        "content_digest": published.manifest["content_digest"],
        "page": render(overview),
        "facts": json.dumps(facts_of(overview), ensure_ascii=False, sort_keys=True),
    }
    before = ws.tables.read_or_empty("overviews", ws.key).to_pylist()
    if before == [row] and not ws.force:
        ws.tables.keep("overviews", ws.key)
    else:
        ws.tables.write("overviews", ws.key, pa.Table.from_pylist([row], schema=OVERVIEWS))
    if ws.tables.base is None:
        # The first page of a home is a file that no view knew when the index was published. What is looked at to make
        # views is no input of the page.
        write_serving_file(TableStore(ws.tables.root), ws.layout.duckdb_file)
    progress("writing the overview", 1, 1)
    return _report(ws, written=before != [row])


def _report(ws: Workspace, *, written: bool) -> OverviewReport:
    rows = ws.tables.read("overviews", ws.key).to_pylist()
    facts = json.loads(rows[0]["facts"]) if rows else {}
    words = facts.get("by_model", {})
    counts = {name: len(facts.get(name, ())) for name in ("frameworks", "entry_points", "neighbourhoods")}
    return OverviewReport(
        written=written,
        commit=rows[0]["commit"] if rows else None,
        parts=len(facts["parts"]["parts"]) if facts else 0,
        characters=len(rows[0]["page"]) if rows else 0,
        by_model=bool(words.get("summary") or words.get("responsibilities")),
        unknown_names=len(words.get("unknown_names", ())),
        table_hash=ws.tables.content_hash("overviews", ws.key) or "",
        **counts,
    )
