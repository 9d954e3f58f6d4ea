"""The four levels of texts, from functions up to modules.

Each level keeps the texts whose input is unchanged, and decides once its
children's texts are known: a child whose new text equals its old one causes
no rewrite above it.
"""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.model.documents import Level, PlanAction
from codesum_pipeline.model.errors import BrokenStore
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.store.rows import from_table
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries import shown as shows
from codesum_pipeline.summaries.decide import Rewrite
from codesum_pipeline.summaries.functions import summary_hashes
from codesum_pipeline.summaries.inputs import UpperInput
from codesum_pipeline.summaries.level_build import LevelBuild, LevelReport
from codesum_pipeline.summaries.outline import DocumentTree, read_outline
from codesum_pipeline.summaries.writers import want_unless_it_fails
from codesum_pipeline.workers.pool import Pool, worker_count

# With fewer functions, starting workers takes longer (most of a second) than they save.
LEAST_FUNCTIONS = 2_000


def write_functions(workspace: Workspace, *, progress: Progress = no_progress) -> LevelReport:
    """Write the functions that the plan names; the rest keep their text."""
    planned = _planned(workspace)
    writers = dict(zip(*(planned.column(name).to_pylist() for name in ("id", "writer")), strict=True))
    _must_match(workspace, summary_hashes(workspace, writers), planned)
    rewrites = _rewrites(planned)
    build = LevelBuild.open(workspace, Level.FUNCTION, progress)
    if build.model:
        # Where no model writes, nothing of it is imported.
        from codesum_pipeline.summaries.by_model.flow import functions_by_model

        writers, rewrites = functions_by_model(build, build.model, writers, rewrites)
    with Pool(worker_count() if len(rewrites) >= LEAST_FUNCTIONS else 0) as pool:
        build.write_functions(pool, writers, rewrites)
    return build.finish()


def write_classes(workspace: Workspace, *, progress: Progress = no_progress) -> LevelReport:
    """Write each class from its head and its methods' and nested classes' texts."""
    outline = read_outline(workspace)
    build = LevelBuild.open(workspace, Level.CLASS, progress, outline)
    texts = shows.Texts(workspace, Level.FUNCTION, previous=build.previous)
    for layer in shows.class_layers(shows.read_classes(workspace), outline):
        _write_layer(build, layer, outline, texts)
    return build.finish()


def write_files(workspace: Workspace, *, progress: Progress = no_progress) -> LevelReport:
    """Write each file from its head and its top-level symbols' texts, or from its own text."""
    texts = shows.Texts(workspace, Level.FUNCTION, Level.CLASS)
    outline = read_outline(workspace)
    build = LevelBuild.open(workspace, Level.FILE, progress, outline)
    _write_layer(build, shows.read_files(workspace), outline, texts)
    return build.finish()


def write_modules(workspace: Workspace, *, progress: Progress = no_progress) -> LevelReport:
    """Write each folder from its README and the texts of its files and sub-folders."""
    outline = read_outline(workspace)
    readmes = shows.read_readmes(workspace, outline)
    build = LevelBuild.open(workspace, Level.MODULE, progress, outline)
    texts = shows.Texts(workspace, Level.FILE, previous=build.previous)
    for layer in shows.module_layers(outline):
        _write_layer(build, [shows.module_head(path, workspace, readmes) for path in layer], outline, texts)
    return build.finish()


def _write_layer(build: LevelBuild, heads: Sequence[UpperInput], outline: DocumentTree, texts: shows.Texts) -> None:
    """Decide and write documents that do not depend on one another; `texts` take in what is written."""
    left = heads
    if build.model:
        from codesum_pipeline.summaries.by_model.flow import layer_by_model

        left = layer_by_model(build, build.model, heads, outline, texts)
    wanted = [want_unless_it_fails(head, texts.heads(head.id, outline), build.guard) for head in left]
    rewrites = build.last.decide(wanted, force=build.workspace.force)
    children = texts.children([rewrite.id for rewrite in rewrites], outline)
    shown = [shows.with_children(head, children[head.id]) for head in left if head.id in children]
    texts.add(build.write_upper(shown, wanted, rewrites))


def _planned(workspace: Workspace) -> pa.Table:
    """What `summary_plan` decided about the functions that must exist."""
    plan = workspace.tables.read("plan", workspace.key)
    is_removed = pc.equal(plan.column("action"), PlanAction.REMOVE.value)
    is_function = pc.equal(plan.column("level"), Level.FUNCTION.value)
    return plan.filter(pc.and_not(is_function, is_removed))


def _rewrites(planned: pa.Table) -> list[Rewrite]:
    is_written = pc.equal(planned.column("action"), PlanAction.WRITE.value)
    rows = planned.filter(pc.and_(is_written, pc.is_valid(planned.column("cause"))))
    return from_table(rows, Rewrite)


def _must_match(workspace: Workspace, hashes: Mapping[str, str], planned: pa.Table) -> None:
    """Raise `BrokenStore` where the plan was made from other functions than `symbols` has now."""
    if hashes != dict(zip(*(planned.column(name).to_pylist() for name in ("id", "summary_hash")), strict=True)):
        raise BrokenStore(
            f"repository {workspace.key!r}: the plan was made from other functions than the table `symbols` has now: "
            "run the step summary_plan again"
        )
