"""The four levels of texts, from functions up to modules: each is decided, written and stored by one call.

A level decides once its children's texts are known: a child whose new text equals its old one causes no rewrite above
it. Where a model writes, it takes the documents that it may write first; the other writers take the rest.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.evidence.inputs import UpperInput
from codesum_pipeline.foundation.data_model.document import Level, PlanAction
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.store.rows import from_table, tuples_of
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.foundation.worker_processes.limits import work_limits
from codesum_pipeline.foundation.worker_processes.pool import Pool, worker_count
from codesum_pipeline.texts.summaries.by_model.choosing import ModelSetup
from codesum_pipeline.texts.summaries.decide import LastTexts, RequiredDocument, Rewrite
from codesum_pipeline.texts.summaries.function_texts import choose_writers, want_functions
from codesum_pipeline.texts.summaries.level_build import KNOWN_OF_TEXTS, LevelBuild, LevelReport
from codesum_pipeline.texts.summaries.outline import (
    DocumentTree,
    head_layers,
    read_outline,
    with_children,
)
from codesum_pipeline.texts.summaries.text_changes import changed_files, note_files
from codesum_pipeline.texts.summaries.texts_below import OF_HEADS, Texts
from codesum_pipeline.texts.summaries.wanted_texts import PLACEHOLDER, want_unless_it_fails
from codesum_pipeline.texts.summaries.writers import Stamp

# The writing by a model is imported where a model writes: it needs asyncio and the callers of providers, which take
# 20 ms that a build without a model does without.
if TYPE_CHECKING:
    from codesum_pipeline.texts.summaries.by_model.model_level import ModelLevel

_OF_TEXTS = pa.schema([("id", pa.string()), ("summary_hash", pa.string())])
_OF_PLAN = ["id", "level", "action", "cause", "cause_ids", "writer", "summary_hash"]
# With fewer functions, starting workers takes longer (most of a second) than they save.
LEAST_FUNCTIONS = 2_000


# The levels whose texts a level's writers are shown.
_BELOW = {Level.CLASS: (Level.FUNCTION,), Level.FILE: (Level.FUNCTION, Level.CLASS), Level.MODULE: (Level.FILE,)}


def write_level(workspace: Workspace, level: Level, *, progress: Progress = no_progress) -> LevelReport:
    """Write the texts of a level that are not kept; those of the levels below are there.

    Functions are written from their own code, by a model as the plan says. A class is written from its head and the
    texts of its methods and nested classes, a file from its head and its top-level symbols' texts, or from its own
    text, a folder from its README and the texts of its files and sub-folders.
    """
    if level is Level.FUNCTION:
        return _write_functions(workspace, progress)
    files = changed_files(workspace, level)
    outline = read_outline(workspace, () if level is Level.MODULE and not workspace.settings.llm.enabled else files)
    build, model = _open(workspace, level, progress, files, outline)
    shown, known = files, build.previous
    if level is Level.MODULE and files is not None:
        # What is directly in the folders, which may be other folders that nobody looks at.
        shown = {child.id for folder in files for child in outline.children.get(folder, ())}
        columns = [*OF_HEADS]
        known = workspace.tables.read_files(texts_table(level), workspace.key, shown, columns=columns)
    texts = Texts(workspace, *_BELOW[level], own=level, previous=known, of_files=shown)
    for layer in head_layers(workspace, level, outline, files):
        _write_layer(build, model, layer, outline, texts)
    return _finish(build, model)


def _write_functions(workspace: Workspace, progress: Progress) -> LevelReport:
    files = changed_files(workspace, Level.FUNCTION)
    build, model = _open(workspace, Level.FUNCTION, progress, files)
    if model:
        from codesum_pipeline.texts.summaries.by_model.flow import write_functions_by_model

        writers, rewrites = write_functions_by_model(model, *_planned_functions(workspace))
    else:
        writers = choose_writers(workspace, files)
        rewrites = build.last.decide(want_functions(workspace, writers, files), force=workspace.force)
    # A model may take hours for the levels above.
    # Placeholders take no time.
    written = sum(writers.get(rewrite.id) != PLACEHOLDER for rewrite in rewrites)
    count = worker_count() if written >= LEAST_FUNCTIONS else 0
    with Pool(count, keep=model is None, limits=work_limits(workspace.settings)) as pool:
        build.write_functions(pool, writers, rewrites)
    return _finish(build, model)


def _planned_functions(workspace: Workspace) -> tuple[dict[str, str], list[Rewrite]]:
    """By function the writer that the plan gives it, and what is to be written; where a model writes, the plan shares
    out its caps."""
    plan = workspace.tables.read("plan", workspace.key, columns=_OF_PLAN)
    is_removed = pc.equal(plan.column("action"), PlanAction.REMOVE.value)
    planned = plan.filter(pc.and_not(pc.equal(plan.column("level"), Level.FUNCTION.value), is_removed))
    writers = dict(tuples_of(planned, ("id", "writer")))
    _must_match(workspace, want_functions(workspace, writers), planned)
    is_written = pc.equal(planned.column("action"), PlanAction.WRITE.value)
    return writers, from_table(planned.filter(pc.and_(is_written, pc.is_valid(planned.column("cause")))), Rewrite)


def _open(
    workspace: Workspace,
    level: Level,
    progress: Progress,
    files: Collection[str] | None,
    outline: DocumentTree | None = None,
) -> "tuple[LevelBuild, ModelLevel | None]":
    """A level before anything is written, and the model's part of it; without an `outline`, one is read if needed."""
    setup = ModelSetup.of(workspace)
    previous = workspace.tables.read_files(texts_table(level), workspace.key, files, columns=KNOWN_OF_TEXTS)
    last, stamp = LastTexts(workspace, level, previous), Stamp.of(workspace, level)
    build = LevelBuild(workspace, level, progress, last, previous, stamp, setup is not None, files)
    if setup is None:
        return build, None
    from codesum_pipeline.texts.summaries.by_model.model_level import ModelLevel

    return build, ModelLevel(build, setup, outline or read_outline(workspace))


def _finish(build: LevelBuild, model: "ModelLevel | None") -> LevelReport:
    texts = build.collect_texts()
    report = build.finish(texts, model.finish(texts) if model else None)
    if not report.failed:
        note_files(build.workspace, build.level)
    return report


def _write_layer(
    build: LevelBuild, model: "ModelLevel | None", heads: Sequence[UpperInput], outline: DocumentTree, texts: Texts
) -> None:
    """Decide and write documents that do not depend on one another; `texts` take in what is written."""
    others = heads
    if model:
        from codesum_pipeline.texts.summaries.by_model.flow import write_layer_by_model

        others = write_layer_by_model(model, heads, outline, texts)
    wanted = [want_unless_it_fails(head, texts.heads(head.id, outline), build.guard) for head in others]
    rewrites = build.last.decide(wanted, force=build.workspace.force)
    children = texts.children([rewrite.id for rewrite in rewrites], outline)
    inputs = [with_children(head, children[head.id]) for head in others if head.id in children]
    texts.add_written(build.write_upper(inputs, wanted, rewrites))


def _must_match(workspace: Workspace, wanted: Sequence[RequiredDocument], planned: pa.Table) -> None:
    """Raise `BrokenStore` if the plan was made from other functions than these."""
    names = ["id", "summary_hash"]
    found = pa.table([[getattr(document, name) for document in wanted] for name in names], schema=_OF_TEXTS)
    if found.sort_by("id") != planned.select(names).cast(_OF_TEXTS).sort_by("id"):
        raise BrokenStore(
            f"repository {workspace.key!r}: the plan was made from other functions than the table `symbols` has "
            "now: run the step summary_plan again"
        )
