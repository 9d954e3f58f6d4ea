"""What the tables hold becomes one version folder, ready to be published, with its manifest.

It is written aside and renamed when every byte is on the disk, so that a folder named by a digest is always whole; a
scratch folder, which can be made again, is not flushed. The same tables give the same bytes.
"""

import os
import shutil
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.indexes.bm25 import K1, B
from codesum_pipeline.indexes.candidate_files import CandidateTables, read_candidate_tables, write_files
from codesum_pipeline.indexes.candidate_parts import Parts, link_or_copy
from codesum_pipeline.indexes.embedders.named import embedder_of
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.version_folder import (
    ASIDE,
    INDEX_SCHEMA_VERSION,
    MANIFEST,
    Manifest,
    Version,
    content_digest,
    manifest_bytes,
    read_version,
)
from codesum_pipeline.llm.pins import Parameters, blake3_of
from codesum_pipeline.llm.prices import listed
from codesum_pipeline.model.documents import LEVELS, WrittenBy
from codesum_pipeline.model.errors import BrokenIndex
from codesum_pipeline.model.files import Snapshot
from codesum_pipeline.model.hashing import HashPolicy, canonical_json, sha256_hex, sha256_of_file
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.store.layout import BASE_STRATEGY
from codesum_pipeline.store.refusals import writing
from codesum_pipeline.store.schemas import TABLES
from codesum_pipeline.store.workspace import Workspace

# Parsing decides what a hash covers, so its version is part of the policy.
_HASHING_VERSIONS = ("parser", "extractive", "placeholder")

_CONTENT_RULES = {HashPolicy.CANONICAL: "sha1(canonical source)", HashPolicy.RAW: "sha256(raw span)"}


def build_manifest(
    ws: Workspace,
    snapshot: Snapshot,
    tables: CandidateTables,
    embedder: Embedder,
    files: dict[str, dict[str, Any]],
) -> Manifest:
    """Every field of the manifest; `files` maps a file's name to its `sha256` and `bytes`."""
    scan = ws.settings
    manifest: Manifest = {
        "schema_version": INDEX_SCHEMA_VERSION,
        "repo": ws.key,
        "slug": ws.slug,
        "commit": snapshot.commit,
        "tree": snapshot.tree,
        "fingerprint": ws.fingerprint(snapshot.commit, snapshot.index_state),
        "summary_levels": [str(level) for level in LEVELS],
        "base_strategy": BASE_STRATEGY,
        **model_fields(ws),
        "graph_version": ws.versions.get("graph"),
        "hash_policy": _hash_policy(ws),
        "lang_allowlist": list(scan.lang_allowlist),
        "skip_patterns": list(scan.skip_patterns),
        "max_file_size_mb": scan.max_file_size_mb,
        "embedder": {
            "name": ws.settings.embedder,
            "model_id": embedder.model_id,
            "dimensions": tables.dimensions,
            "query_prompt": embedder.query_prompt,
            "max_tokens": min(ws.settings.summary_embed_max_tokens, embedder.max_tokens),
        },
        "bm25": {"k1": K1, "b": B, "variant": "lucene"},
        "versions": dict(ws.versions),
        "counts": _counts(tables),
        "files": files,
    }
    manifest["content_digest"] = content_digest(manifest)
    return manifest


def describe_files(
    folder: Path, without_provenance: Mapping[str, str], *, known: Mapping[str, str] | None = None
) -> dict[str, dict[str, Any]]:
    """The size and sha256 of every file of a folder, and its `content_sha256` where that leaves provenance out.

    A sha256 that is `known` is not computed again.
    """
    files = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        files[name] = {"bytes": path.stat().st_size, "sha256": (known or {}).get(name) or sha256_of_file(path)}
        if name in without_provenance:
            files[name]["content_sha256"] = without_provenance[name]
    return files


def _hash_policy(ws: Workspace) -> dict[str, Any]:
    return {
        "policy": str(ws.settings.hash_policy),
        "content": _CONTENT_RULES[ws.settings.hash_policy],
        "graph": "sha1(called_by=a|b\\ncalls=c|d), sorted and without duplicates",
        "summary": "sha1(writer + newline + what the writer was shown)",
        "versions": {name: ws.versions[name] for name in _HASHING_VERSIONS if name in ws.versions},
    }


def _counts(tables: CandidateTables) -> dict[str, Any]:
    levels = Counter(tables.heads.column("type").to_pylist())
    return {
        "documents": tables.heads.num_rows,
        "levels": {str(level): levels[str(level)] for level in LEVELS},
        "placeholders": tables.heads.num_rows - len(tables.dense_rows),
        "vectors": len(tables.dense_rows),
    }


_COLUMNS = ["written_by", "model", "prompt_version"]


def model_fields(ws: Workspace) -> dict[str, Any]:
    """Null where no model wrote anything.

    An index has texts of several models or prompt versions where one model
    failed, or a cap left some texts: models are listed, and the hash covers
    all versions. There is no seed: no provider promises one.
    """
    documents = ws.tables.read("documents", ws.key, columns=_COLUMNS)
    texts = documents.filter(pc.equal(documents.column("written_by"), WrittenBy.LLM.value))
    models, versions = (sorted(pc.unique(texts.column(name)).to_pylist()) for name in _COLUMNS[1:])
    return {
        "prompt_template_hash": blake3_of(canonical_json(versions)) if versions else None,
        "summary_llm_provider": ", ".join(sorted({_provider(model) for model in models})) or None,
        "summary_llm_model": ", ".join(models) or None,
        "summary_llm_temperature": Parameters().temperature if models else None,
        "summary_llm_seed": None,
    }


def _provider(model: str) -> str:
    """As LiteLLM names it."""
    prefix, slash, _ = model.partition("/")
    return prefix if slash else str((listed(model) or {}).get("litellm_provider", "unknown"))


class CandidateReport(Struct, frozen=True):
    """`table_hash` is the content digest: what the folder holds, provenance apart."""

    digest: str
    content_digest: str
    folder: str
    bytes: int
    files: int
    documents: int
    placeholders: int
    levels: dict[str, int]
    table_hash: str


def write_candidate(ws: Workspace, *, progress: Progress = no_progress) -> CandidateReport:
    """Write `.versions/<key>/<digest>/` and the table `candidate` that names it."""
    embedder = embedder_of(ws.settings)
    snapshot = ws.tables.read_rows("snapshot", ws.key, Snapshot)[0]
    tables = read_candidate_tables(ws, embedder)
    versions = ws.layout.versions(ws.key)
    with _folder_aside(versions) as folder:
        parts = Parts.of(ws, folder)
        files = describe_files(folder, write_files(parts, tables, progress=progress), known=parts.shared)
        manifest = build_manifest(ws, snapshot, tables, embedder, files)
        data = manifest_bytes(manifest)
        (folder / MANIFEST).write_bytes(data)
        version = Version(folder=versions / sha256_hex(data), digest=sha256_hex(data), manifest=manifest)
        shared = _share_files(parts, ws.layout.published(ws.key), manifest)
        for path in (*sorted(folder.rglob("*")), folder):
            if path not in shared and not ws.tables.is_scratch:
                _flush(path)
        _put_in_place(folder, version, read_content=ws.force)
    if not ws.tables.is_scratch:
        parts.keep(ws, version.digest)
    _name_candidate(ws, version)
    return CandidateReport(
        digest=version.digest,
        content_digest=manifest["content_digest"],
        folder=str(version.folder),
        bytes=sum(entry["bytes"] for entry in files.values()),
        files=len(files),
        documents=manifest["counts"]["documents"],
        placeholders=manifest["counts"]["placeholders"],
        levels=manifest["counts"]["levels"],
        table_hash=manifest["content_digest"],
    )


@contextmanager
def _folder_aside(versions: Path) -> Iterator[Path]:
    with writing(versions):
        versions.mkdir(parents=True, exist_ok=True)
        # Its mode is that of the home's other folders, which no folder of `tempfile` has.
        folder = versions / f"{ASIDE}{uuid.uuid4().hex}"
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _share_files(parts: Parts, published: Path, manifest: Manifest) -> set[Path]:
    """Replace files that the published version has too by hard links to its files; returns all shared files.

    K versions then cost little more than one. Contents are compared, so that damage is not passed on.
    """
    shared = {parts.folder / name for name in parts.shared}
    known = _files_of(published)
    for name, entry in manifest["files"].items():
        theirs, ours = published / name, parts.folder / name
        if (
            ours not in shared
            and known.get(name, {}).get("sha256") == entry["sha256"]
            and theirs.is_file()
            and sha256_of_file(theirs) == entry["sha256"]
        ):
            ours.unlink()
            link_or_copy(theirs, ours)
            shared.add(ours)
    return shared


def _files_of(published: Path) -> Mapping[str, Mapping[str, Any]]:
    try:
        files: Mapping[str, Mapping[str, Any]] = read_version(published.resolve()).manifest["files"]
    except (BrokenIndex, OSError):
        return {}
    return files


def _put_in_place(folder: Path, version: Version, *, read_content: bool) -> None:
    """Give the folder its name; a whole folder of that name is kept."""
    if version.folder.exists():
        if not _is_damaged(version.folder, read_content=read_content):
            return
        version.folder.replace(version.folder.with_name(f"{ASIDE}{uuid.uuid4().hex}"))
    folder.replace(version.folder)
    _flush(version.folder.parent)


def _is_damaged(folder: Path, *, read_content: bool) -> bool:
    try:
        return bool(read_version(folder).damaged_files(read_content=read_content))
    except (BrokenIndex, FileNotFoundError):
        return True


def _name_candidate(ws: Workspace, version: Version) -> None:
    row = {
        "digest": version.digest,
        "content_digest": version.manifest["content_digest"],
        "commit": version.manifest["commit"],
        "fingerprint": version.manifest["fingerprint"],
    }
    ws.tables.write("candidate", ws.key, pa.Table.from_pylist([row], schema=TABLES["candidate"].schema))


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
