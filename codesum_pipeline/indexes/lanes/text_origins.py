"""What the texts of the lanes are made from, by file and folder, and which rows of a lane are new or gone."""

from collections.abc import Callable, Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.foundation.data_model.document import WrittenBy
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE
from codesum_pipeline.foundation.store.made_from import MadeFrom, hash_files
from codesum_pipeline.foundation.store.rows import join_by_row
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.table_parts import paths_of
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.summaries.text_changes import hash_documents

_KEY = ("id", "lane", "text_hash")


def lane_origins(ws: Workspace) -> MadeFrom:
    """What the texts of the documents of each file, and of each folder, are made from in all lanes; unknown where that
    is not all in hashes. With another policy than the canonical one, the same hash may be of another canonical source;
    and beside a model's text there are the author's words. Hashes are of code with its secrets, and what is masked in a
    document follows from all of its file: so all that is of a file counts together. A folder's text has the names in
    it."""
    documents = hash_documents(ws)
    paths, hashes = documents.rows.columns
    rows = pc.index_in(_folders_of(paths), value_set=paths.combine_chunks())
    within = join_by_row(rows, pc.binary_join_element_wise(paths, hashes, " "), len(paths), "\n")
    aliases = hash_files(ws, "aliases", TABLES["aliases"].schema.names).at(paths)
    found = MadeFrom.of_columns(paths, hashes, within, aliases)
    if ws.settings.hash_policy is not HashPolicy.CANONICAL:
        return found.besides(paths)
    by_model = ws.tables.read_or_empty("documents", ws.key, columns=["written_by"])["written_by"]
    rows = np.flatnonzero(pc.equal(by_model, WrittenBy.LLM.value).to_numpy())
    if not len(rows):
        return found
    return found.besides(paths_of(ws.tables.read_at("documents", ws.key, rows, columns=["id"])["id"]))


def _folders_of(paths: pa.ChunkedArray) -> pa.ChunkedArray:
    """As `module_path_of` each path; null of the root."""
    folders = pc.replace_substring_regex(paths, r"(?s)(^|/)[^/]*$", "")
    named = pc.if_else(pc.equal(folders, ""), pa.scalar(ROOT_MODULE), folders)
    return pc.if_else(pc.equal(paths, ROOT_MODULE), pa.scalar(None, pa.string()), named)


def with_children(paths: Collection[str] | None, origins: Callable[[], MadeFrom]) -> set[str] | None:
    """These paths, and those of what is in a folder among them."""
    if paths is None:
        return None
    known = origins().rows["id"]
    within = known.filter(pc.is_in(_folders_of(known), value_set=pa.array([*paths], pa.string())))
    return {*paths, *within.to_pylist()}


def differing_paths(before: pa.Table, now: pa.Table) -> set[str]:
    """The paths of rows (id, lane, text_hash) that are new or gone."""
    keys = [pc.binary_join_element_wise(*(rows[name] for name in _KEY), "\n") for rows in (before, now)]
    found = set[str]()
    for rows, own, others in zip((before, now), keys, reversed(keys), strict=True):
        is_other = pc.invert(pc.is_in(own, value_set=others.combine_chunks()))
        found.update(paths_of(rows["id"].filter(is_other)).to_pylist())
    return found
