"""Indexes of a work tree that differs from what is published, made by the steps of any build; no model is asked.

The *overlay* holds the files that differ and nothing else, from a commit of these alone. Where a model wrote texts, or
vectors take long, the whole of the base's tables stands behind its own; else the little that `carried` finds.

The *settled* index holds the whole tree. All that did not change is carried over, so that it costs what an incremental
build costs, and it equals a clean build of the tree.
"""

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from codesum_pipeline.evaluation.scratch import beside, index_texts, write_texts
from codesum_pipeline.graph.build import build_call_graph
from codesum_pipeline.graph.resolution import Resolution
from codesum_pipeline.indexes.embedders.named import embedder_of, is_asked_over_the_network
from codesum_pipeline.indexes.embedders.static import StaticEmbedder
from codesum_pipeline.model.errors import ConfigurationError, RepositoryUnavailable
from codesum_pipeline.model.progress import no_progress
from codesum_pipeline.overlays.carried import carried_tables, keep_tables
from codesum_pipeline.overlays.kept import ASIDE, drop_oldest
from codesum_pipeline.parsing.symbols import parse_symbols
from codesum_pipeline.source.folders import FolderScan
from codesum_pipeline.source.mirror import Head, Mirror, make_borrowing
from codesum_pipeline.source.snapshot import snapshot_of
from codesum_pipeline.store.workspace import Workspace

_REF = "refs/codesum/overlay"


def build_overlay(ws: Workspace, scan: FolderScan, folder: Path) -> None:
    """Index the files of a scan, and these alone, into `folder`, which is there whole or not at all.

    Raises `ConfigurationError` where the embedding model is one that is asked over the network, or the repository has
    ids of another kind than files of a folder get; `RepositoryUnavailable` where files were written meanwhile.
    """
    _check(ws)
    with _aside(folder) as aside:
        scratch = beside(ws, aside)
        mirror = Mirror(scratch.layout.mirror(ws.key), ws.settings.git_timeout_s)
        mirror.create("sha1")
        if ws.settings.llm.enabled or not isinstance(embedder_of(ws.settings), StaticEmbedder):
            _build(scratch, mirror, scan)
        else:
            tables = carried_tables(ws, scan, folder.parent)
            _build(replace(scratch, tables=tables), mirror, scan)
            keep_tables(tables, scan, ws.key, aside)
    drop_oldest(folder.parent)


def build_settled(ws: Workspace, scan: FolderScan, folder: Path) -> None:
    """Index a whole tree: `scan` has all its files, of which those that the mirror lacks are read. Raises as
    `build_overlay`."""
    _check(ws)
    with _aside(folder) as aside:
        scratch = beside(ws, aside)
        mirror = make_borrowing(ws.layout.mirror(ws.key), scratch.layout.mirror(ws.key))
        _build(scratch, mirror, scan, last=Resolution.standing(ws))
    drop_oldest(folder.parent)


def _check(ws: Workspace) -> None:
    if is_asked_over_the_network(ws.settings):
        raise ConfigurationError(f"their vectors are by {ws.settings.embedder!r}, which is not asked for them")
    if Mirror(ws.layout.mirror(ws.key)).object_format() != "sha1":
        raise ConfigurationError("the repository has sha256 ids")


def _build(scratch: Workspace, mirror: Mirror, scan: FolderScan, *, last: Resolution | None = None) -> None:
    """`last` is what the graph of the tables behind the scratch's was made from."""
    written = scan.write(mirror.git_dir, ref=_REF, timeout_s=mirror.timeout_s)
    if written.files != scan.files:
        raise RepositoryUnavailable(f"files in {scan.root} were written while they were read")
    entry = replace(scratch.entry, location=str(mirror.git_dir), ref=written.commit, worktree=False)
    scratch = replace(scratch, entry=entry)
    snapshot_of(scratch, mirror, Head(written.commit, written.commit))
    parse_symbols(scratch)
    if last:
        # Where a repository lies, which is another place here, decides no edge.
        last.model_copy(update={"settings": scratch.fingerprint("")}).write(scratch)
    build_call_graph(scratch)
    write_texts(scratch, progress=no_progress)
    index_texts(scratch, progress=no_progress)
    shutil.rmtree(scratch.layout.warehouse, ignore_errors=True)


@contextmanager
def _aside(folder: Path) -> Iterator[Path]:
    """A new folder that gets the name of `folder` after the block, unless another process was faster."""
    aside = folder.with_name(f"{ASIDE}{uuid.uuid4().hex}")
    aside.mkdir(parents=True)
    try:
        yield aside
        aside.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
