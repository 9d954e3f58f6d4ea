"""What a build leaves behind, in a form that two builds can be compared in."""

import hashlib
import json
from pathlib import Path
from typing import Any

from codesum_pipeline.foundation.store.workspace import Workspace

# Plan, texts, ledger and history are provenance or its carriers: they are not compared.
COMPARED_TABLES = (
    "files",
    "symbols",
    "file_facts",
    "edges",
    "aliases",
    "graph_stats",
    "contexts",
    "documents",
    "vectors",
    "terms",
)
PROVENANCE = ("last_updated", "cause", "cause_ids", "commit", "run_id")


def table_rows(workspace: Workspace) -> dict[str, list[dict[str, Any]]]:
    """The sorted rows of every compared table."""
    return {name: workspace.tables.read(name, workspace.key).to_pylist() for name in COMPARED_TABLES}


def published_files(workspace: Workspace) -> dict[str, Any]:
    """Every published file: documents and manifest without provenance, the rest by its hash."""
    folder = workspace.layout.published(workspace.key).resolve()
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = path.relative_to(folder).as_posix()
        if name == "summary.jsonl":
            lines = path.read_text(encoding="utf-8").splitlines()
            found[name] = [_without_provenance(json.loads(line)) for line in lines]
        elif name == "manifest.json":
            found[name] = _content_digest(path)
        elif name not in _OFFSET_FILES:
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    found["stats.json"] = (workspace.layout.graph_index(workspace.key) / "stats.json").read_text(encoding="utf-8")
    return found


# Byte offsets into summary.jsonl move with the length of its provenance fields.
_OFFSET_FILES = ("documents/offsets.npy",)


def _without_provenance(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in PROVENANCE}


def _content_digest(path: Path) -> dict[str, Any]:
    manifest = json.loads(path.read_text(encoding="utf-8"))
    return {name: manifest[name] for name in ("commit", "content_digest", "fingerprint", "counts") if name in manifest}


def first_difference(left: Any, right: Any, *, at: str = "") -> str | None:
    """Where two nested values differ first, and how; None where they are equal."""
    if type(left) is not type(right):
        return f"{at}: {left!r} is not {right!r}"
    if isinstance(left, dict):
        for key in sorted({*left, *right}):
            if key not in left or key not in right:
                return f"{at}/{key}: only on {'the left' if key in left else 'the right'}"
            if found := first_difference(left[key], right[key], at=f"{at}/{key}"):
                return found
        return None
    if isinstance(left, list):
        for place, (one, other) in enumerate(zip(left, right, strict=False)):
            if found := first_difference(one, other, at=f"{at}[{place}]"):
                return found
        return None if len(left) == len(right) else f"{at}: {len(left)} rows are not {len(right)}"
    return None if left == right else f"{at}: {left!r} is not {right!r}"
