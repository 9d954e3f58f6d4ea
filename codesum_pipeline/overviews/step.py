"""The step that writes a repository's page for the published version, where it is not up to date."""

import json

import pyarrow as pa
from msgspec import Struct

from codesum_pipeline.indexes.publish import published_version
from codesum_pipeline.model.errors import BrokenStore
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.overviews.overview import facts_of, make_overview
from codesum_pipeline.overviews.page import render
from codesum_pipeline.store.schemas import OVERVIEWS
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.store.views import write_serving_file
from codesum_pipeline.store.workspace import Workspace


class OverviewReport(Struct, frozen=True):
    """`written` is false where the page was up to date.

    `commit` is the page's; None where the published version has no page. `by_model` says that the page has a model's
    words, without sentences that had so many `unknown_names`.
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
        # The views were made when the index was published, without the table of a home's first page. A store of its own
        # keeps what views read out of the recorded inputs of the page.
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
