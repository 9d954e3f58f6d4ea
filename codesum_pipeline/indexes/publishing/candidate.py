"""Writes the tables' content as one version folder, ready to be published, with its manifest.

It is written aside and renamed when every byte is on the disk, so that a folder named by a digest is always whole; a
scratch folder, which can be made again, is not flushed. The same tables give the same bytes.
"""

import os
import shutil
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.document import LEVELS, WrittenBy
from codesum_pipeline.foundation.data_model.errors import BrokenIndex
from codesum_pipeline.foundation.data_model.file import Snapshot, Submodule
from codesum_pipeline.foundation.data_model.hashing import (
    HashPolicy,
    canonical_json,
    hash_of,
    sha256_hex,
    sha256_of_file,
)
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.store.atomic import (
    explain_refused_writes,
    flush_to_disk,
)
from codesum_pipeline.foundation.store.layout import BASE_STRATEGY
from codesum_pipeline.foundation.store.memory import may_run_beside
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.workspace import Workspace, hashes_of_entry, hashes_of_settings
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.file_formats.bm25 import K1, B
from codesum_pipeline.indexes.file_formats.version_folder import (
    ASIDE,
    INDEX_SCHEMA_VERSION,
    MANIFEST,
    Manifest,
    Version,
    content_digest,
    manifest_bytes,
    read_version,
)
from codesum_pipeline.indexes.publishing.candidate_files import candidate_parts
from codesum_pipeline.indexes.publishing.candidate_tables import CandidateTables, FilePart, read_candidate_tables
from codesum_pipeline.indexes.publishing.last_version import LastVersion, RowOrigins, keep_origins
from codesum_pipeline.texts.llm.pins import Parameters, blake3_of
from codesum_pipeline.texts.llm.prices import find_listed_model

# Parsing decides what a hash covers, so its version is part of the policy.
_HASHING_VERSIONS = ("parser", "extractive", "placeholder")

_CONTENT_RULES = {HashPolicy.CANONICAL: "sha1(canonical source)", HashPolicy.RAW: "sha256(raw span)"}


# Parts that are written at one time: what they do is Arrow's and numpy's.
_AT_ONCE = 2


def build_manifest(
    ws: Workspace, snapshot: Snapshot, tables: CandidateTables, embedder: Embedder, files: dict[str, dict[str, Any]]
) -> Manifest:
    """Every field of the manifest; `files` maps a file's name to its `sha256` and `bytes`."""
    settings, levels = ws.settings, Counter(tables.heads.column("type").to_pylist())
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
        "hash_policy": {
            "policy": str(settings.hash_policy),
            "content": _CONTENT_RULES[settings.hash_policy],
            "graph": "sha1(called_by=a|b\\ncalls=c|d), sorted and without duplicates",
            "summary": "sha1(writer + newline + what the writer was shown)",
            "versions": {name: ws.versions[name] for name in _HASHING_VERSIONS if name in ws.versions},
        },
        "lang_allowlist": list(settings.lang_allowlist),
        "skip_patterns": list(settings.skip_patterns),
        "max_file_size_mb": settings.max_file_size_mb,
        "embedder": {
            "name": settings.embedder,
            "model_id": embedder.model_id,
            "dimensions": tables.dimensions,
            "query_prompt": embedder.query_prompt,
            "max_tokens": min(settings.summary_embed_max_tokens, embedder.max_tokens),
        },
        "bm25": {"k1": K1, "b": B, "variant": "lucene"},
        "versions": dict(ws.versions),
        "settings": hashes_of_settings(settings) | hashes_of_entry(ws.entry),
        "counts": {
            "documents": tables.heads.num_rows,
            "levels": {str(level): levels[str(level)] for level in LEVELS},
            "placeholders": tables.heads.num_rows - len(tables.dense_rows),
            "vectors": len(tables.dense_rows),
        },
        "files": files,
    }
    if encodings := other_encodings(ws):
        manifest["encodings"] = encodings
    if submodules := indexed_submodules(ws):
        manifest["submodules"] = submodules
    manifest["content_digest"] = content_digest(manifest)
    return manifest


def other_encodings(ws: Workspace) -> dict[str, str]:
    """The encodings of the indexed files that are not in UTF-8, by path: their sources are read again to be shown."""
    facts = ws.tables.read("file_facts", ws.key, columns=["file_path", "encoding"])
    others = facts.filter(pc.is_valid(facts["encoding"]))
    return dict(zip(*(column.to_pylist() for column in others.columns), strict=True))


def indexed_submodules(ws: Workspace) -> dict[str, str]:
    """The submodules in the index, by folder, with the address of each: not every token opens them."""
    rows = ws.tables.read_rows_or_empty("submodules", ws.key, Submodule)
    return {each.path: each.address for each in rows if each.is_indexed}


def describe_files(
    folder: Path, without_provenance: Mapping[str, str], *, known: Mapping[str, str] | None = None
) -> dict[str, dict[str, Any]]:
    """The size and sha256 of every file of a folder, and its `content_sha256` where that leaves provenance out. A
    sha256 that is `known` is not computed again."""
    files = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        files[name] = {"bytes": path.stat().st_size, "sha256": (known or {}).get(name) or sha256_of_file(path)}
        if name in without_provenance:
            files[name]["content_sha256"] = without_provenance[name]
    return files


_COLUMNS = ["written_by", "model", "prompt_version"]


def model_fields(ws: Workspace) -> dict[str, Any]:
    """Null where no model wrote anything. An index has texts of several models or prompt versions where one model
    failed, or a cap left some texts: models are listed, and the hash covers all versions. There is no seed: no provider
    promises one."""
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
    return prefix if slash else str((find_listed_model(model) or {}).get("litellm_provider", "unknown"))


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
    tables = read_candidate_tables(ws, embedder, LastVersion.of(ws))
    versions = ws.layout.versions(ws.key)
    with _folder_aside(versions) as folder:
        parts, without_provenance = FolderParts(folder, tables.origins), dict[str, str]()
        every = candidate_parts(tables)
        with ThreadPoolExecutor(_AT_ONCE if may_run_beside(tables.heads.num_rows) else 1) as threads:
            for done, (part, found) in enumerate(zip(every, threads.map(parts.make, every), strict=True)):
                progress(f"writing {part.doing}", done, len(every))
                without_provenance |= found
        progress("writing the index", len(every), len(every))
        files = describe_files(folder, without_provenance, known=parts.shared)
        manifest = build_manifest(ws, snapshot, tables, embedder, files)
        data = manifest_bytes(manifest)
        (folder / MANIFEST).write_bytes(data)
        version = Version(folder=versions / sha256_hex(data), digest=sha256_hex(data), manifest=manifest)
        shared = _share_files(parts, ws.layout.published(ws.key), manifest)
        for path in (*sorted(folder.rglob("*")), folder):
            if path not in shared and not ws.tables.is_scratch:
                flush_to_disk(path)
        _put_in_place(folder, version, read_content=ws.force)
    keep_origins(ws, version.digest, parts.made, tables.origins)
    row = {"digest": version.digest, **{name: manifest[name] for name in ("content_digest", "commit", "fingerprint")}}
    ws.tables.write("candidate", ws.key, pa.Table.from_pylist([row], schema=TABLES["candidate"].schema))
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
    with explain_refused_writes(versions):
        versions.mkdir(parents=True, exist_ok=True)
        # Its mode is that of the home's other folders, which no folder of `tempfile` has.
        folder = versions / f"{ASIDE}{uuid.uuid4().hex}"
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


class FolderParts(Struct):
    """The parts of the version that is written to `folder`, as they are made; `rows` say what of the last one may be
    taken over.

    The hash of what a part is made from is known before the part is written. Where it is that of the last version's
    part, under the same settings and versions, the part's files become hard links to that version's: nothing is
    computed, written or flushed again. Their contents are compared with the last manifest first, so that damage is not
    passed on. `made` is what each part was made from, `shared` the sha256 of each file that is the last version's.
    """

    folder: Path
    rows: RowOrigins
    made: dict[str, str] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)

    def make(self, part: FilePart) -> Mapping[str, str]:
        """Share the files of a part, or write them, as where a hash of what it is made from is unknown; returns the
        sha256 without provenance of those that hold provenance."""
        for name in part.files:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        if None not in part.made_from:
            self.made[part.name], last = hash_of(part.made_from), self.rows.last
            if last and last.parts.get(part.name) == self.made[part.name] and last.has(*part.files):
                return self._share(last, part)
        return part.write(self.folder) or {}

    def _share(self, last: LastVersion, part: FilePart) -> Mapping[str, str]:
        known = last.version.manifest["files"]
        for name in part.files:
            _link_or_copy(last.file(name), self.folder / name)
            self.shared[name] = known[name]["sha256"]
        self.rows.keep_last(part.name)
        return {name: known[name]["content_sha256"] for name in part.files if "content_sha256" in known[name]}


def _share_files(parts: FolderParts, published: Path, manifest: Manifest) -> set[Path]:
    """Replace files that the published version has too by hard links to its files; returns all shared files. K versions
    then cost little more than one. Contents are compared, so that damage is not passed on."""
    shared = {parts.folder / name for name in parts.shared}
    try:
        theirs = read_version(published.resolve())
    except (BrokenIndex, OSError):
        return shared
    for name, entry in manifest["files"].items():
        ours = parts.folder / name
        is_same = theirs.manifest["files"].get(name, {}).get("sha256") == entry["sha256"]
        if ours not in shared and is_same and theirs.is_whole(name, read_content=True):
            ours.unlink()
            _link_or_copy(theirs.folder / name, ours)
            shared.add(ours)
    return shared


def _link_or_copy(theirs: Path, ours: Path) -> None:
    """Give a file a second name, or a durable copy where the file system has no more links for it."""
    try:
        os.link(theirs, ours)
    except OSError:
        shutil.copyfile(theirs, ours)
        flush_to_disk(ours)


def _put_in_place(folder: Path, version: Version, *, read_content: bool) -> None:
    """Give the folder its name; a whole folder of that name is kept."""
    if version.folder.exists():
        with suppress(BrokenIndex, FileNotFoundError):
            if not read_version(version.folder).damaged_files(read_content=read_content):
                return
        version.folder.replace(version.folder.with_name(f"{ASIDE}{uuid.uuid4().hex}"))
    folder.replace(version.folder)
    flush_to_disk(version.folder.parent)
