"""Neighbourhoods are kept behind the hash of all that they are made of: which code is there, and how it is linked."""

from itertools import islice
from pathlib import Path

import pyarrow as pa
from msgspec import json
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.store.kept_rows import read_kept, write_kept
from codesum_pipeline.foundation.store.rows import from_table
from codesum_pipeline.foundation.store.table_parts import column_hash
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.search.overviews.found_in_parts import OVERVIEW_VERSION
from codesum_pipeline.search.overviews.parts import Community, find_neighbourhoods
from codesum_pipeline.search.overviews.ranked_documents import RankedDocument, RankedDocuments

# So many members of each are kept, as many as are shown.
MOST_MEMBERS = 10
_SCHEMA = pa.schema([("community", pa.string())])
# Texts and lines of members are looked up.
_MADE_FROM = ("id", "path", "rank", "community")


def neighbourhoods_of(ws: Workspace, documents: RankedDocuments) -> list[Community]:
    """The neighbourhoods of the sources, with their first members."""
    rows = documents.in_sources()
    hashes = [column_hash(rows[name].combine_chunks(), rows.schema.field(name)) for name in _MADE_FROM]
    state, last = hash_of([OVERVIEW_VERSION, hashes]).encode(), ws.last_build
    known = read_kept(_path(last), _SCHEMA, state) if last else _SCHEMA.empty_table()
    kept = [decode(community, Community) for community in known["community"].to_pylist()]
    if not kept:
        found = find_neighbourhoods(from_table(rows, RankedDocument))
        kept = [replace(each, members=each.members[:MOST_MEMBERS]) for each in found]
        if not ws.tables.is_scratch:
            write_kept(
                _path(ws), pa.table({"community": [json.encode(each).decode() for each in kept]}, _SCHEMA), state
            )
    ids = [member.id for each in kept for member in each.members]
    members = iter(documents.at([documents.numbers[id_] for id_ in ids]))
    return [replace(each, members=tuple(islice(members, len(each.members)))) for each in kept]


def _path(ws: Workspace) -> Path:
    return ws.layout.memos(ws.key) / "repo_overview.neighbourhoods.arrow"
