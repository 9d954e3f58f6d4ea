"""The index of the files that differ, and of nothing else.

It is built by the steps of any build, from a commit that holds these files alone, and no model is asked. Where a model
wrote texts, or vectors take long, what the files have in common with the base is carried over from its tables; else all
of it is made anew, which gives the same in less time than it takes to read the tables of a large repository.
"""

import shutil
import uuid
from dataclasses import replace
from pathlib import Path

from codesum_pipeline.evaluation.scratch import beside, index_texts, write_texts
from codesum_pipeline.graph.build import build_call_graph
from codesum_pipeline.indexes.embedders import StaticEmbedder, embedder_of, is_asked_over_the_network
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.progress import no_progress
from codesum_pipeline.parsing.symbols import parse_symbols
from codesum_pipeline.source.folders import FolderScan
from codesum_pipeline.source.mirror import make_scratch
from codesum_pipeline.source.snapshot import take_snapshot
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.store.workspace import Workspace

_REF = "refs/codesum/overlay"
ASIDE = ".aside-"
# Twenty work trees of a repository, each before and after an edit.
_MOST_KEPT = 40


def build_overlay(ws: Workspace, scan: FolderScan, folder: Path) -> None:
    """Index the files of a scan into `folder`, which is there whole or not at all.

    Raises `ConfigurationError` where the embedding model is one that is asked over the network, or the repository has
    ids of another kind than files of a folder get.
    """
    aside = folder.with_name(f"{ASIDE}{uuid.uuid4().hex}")
    aside.mkdir(parents=True)
    try:
        _build(ws, scan, aside)
        aside.rename(folder)
    except OSError:
        # Another process may have been faster.
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    _drop_oldest(folder)


def _build(ws: Workspace, scan: FolderScan, folder: Path) -> None:
    embedder = embedder_of(ws.options)
    if is_asked_over_the_network(ws.options):
        raise ConfigurationError(f"their vectors are by {ws.options.index.embedder!r}, which is not asked for them")
    scratch = beside(ws, folder)
    if not ws.options.llm.enabled and isinstance(embedder, StaticEmbedder):
        scratch = replace(scratch, tables=TableStore(scratch.layout.warehouse))
    mirror = make_scratch(ws.layout.mirror(ws.key), scratch.layout.mirror(ws.key))
    if mirror.object_format() != "sha1":
        raise ConfigurationError("the repository has sha256 ids")
    commit = scan.write(mirror.git_dir, ref=_REF, timeout_s=mirror.timeout_s).commit
    entry = replace(ws.entry, location=str(mirror.git_dir), ref=commit, worktree=False)
    scratch = replace(scratch, entry=entry)
    take_snapshot(scratch)
    parse_symbols(scratch)
    build_call_graph(scratch)
    write_texts(scratch, progress=no_progress)
    index_texts(scratch, progress=no_progress)
    shutil.rmtree(scratch.layout.warehouse)


def _drop_oldest(newest: Path) -> None:
    """Keep as many overlays of a repository as there is use for; what somebody has open stays readable to them."""
    found = [path for path in newest.parent.iterdir() if not path.name.startswith(ASIDE)]
    for path in sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)[_MOST_KEPT:]:
        shutil.rmtree(path, ignore_errors=True)
