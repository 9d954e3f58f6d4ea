"""Two builds of one commit are compared: what a bundle gave, and what a build from scratch gives."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow.compute as pc

from codesum_pipeline.foundation.data_model.document import WrittenBy
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.file_formats.version_folder import OFFSETS, read_version
from codesum_pipeline.indexes.publishing.candidate import write_candidate

# Without those of texts, plan and history, which say when and why.
_BEFORE_TEXTS = ("files", "symbols", "file_facts", "edges", "aliases", "graph_stats", "contexts")
_AFTER_TEXTS = ("documents", "vectors", "terms")


def differing_parts(one: Workspace, other: Workspace) -> tuple[list[str], int]:
    """The tables and published files in which two builds differ, and how many were compared.

    Where a model wrote texts, which none writes again, what is made of texts is not compared.
    """
    tables = _BEFORE_TEXTS if has_model_texts(one) else (*_BEFORE_TEXTS, *_AFTER_TEXTS)
    hashes = [{name: ws.tables.content_hash(name, ws.key) for name in tables} for ws in (one, other)]
    compared = [{f"table {name}": found for name, found in each.items()} for each in hashes]
    if tables != _BEFORE_TEXTS:
        for each, ws in zip(compared, (one, other), strict=True):
            each.update(_published_files(ws))
    left, right = compared
    return sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name)), len(left)


def has_model_texts(ws: Workspace) -> bool:
    """Whether a model wrote texts of an index."""
    written_by = ws.tables.read("documents", ws.key, columns=["written_by"])["written_by"]
    return bool(pc.any(pc.equal(written_by, WrittenBy.LLM.value), min_count=0).as_py())


def _published_files(ws: Workspace) -> Mapping[str, str | None]:
    """The hash of each file that would be published, provenance apart."""
    files = read_version(Path(write_candidate(ws).folder)).manifest["files"]
    # Offsets into the documents' file move with the length of its provenance.
    return {
        f"file {name}": file.get("content_sha256", file["sha256"]) for name, file in files.items() if name != OFFSETS
    }
