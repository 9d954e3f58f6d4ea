"""The manifest of a version: which commit it is of, how it was made, and what each of its files must be."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from codesum_pipeline.indexes.bm25 import K1, B
from codesum_pipeline.indexes.candidate_files import CandidateTables
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.version_folder import INDEX_SCHEMA_VERSION, Manifest, content_digest
from codesum_pipeline.llm.pins import Parameters, blake3_of
from codesum_pipeline.llm.prices import listed
from codesum_pipeline.model.documents import LEVELS, WrittenBy
from codesum_pipeline.model.files import Snapshot
from codesum_pipeline.model.hashing import HashPolicy, canonical_json, sha256_of_file
from codesum_pipeline.store.layout import BASE_STRATEGY
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
