"""A second index of a repository, built beside the first from tables that differ in some rows.

It reads the home's tables and writes nothing there. Rows that equal the home's are carried over, so that it costs as
much as an incremental build. No model is called: texts by a model are carried over, all others are extractive.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.progress import Progress
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.llm_settings import BackendName, ModelPrice
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.repository_record import FOLDER_RECORD
from codesum_pipeline.foundation.store.schemas import TABLES, texts_table
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.lanes.dense import embed_documents
from codesum_pipeline.indexes.lanes.sparse import index_terms
from codesum_pipeline.indexes.publishing.candidate import write_candidate
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.symbols.scip.taking import lend_indexes
from codesum_pipeline.texts.summaries.documents_step import assemble_documents
from codesum_pipeline.texts.summaries.level_step import write_level
from codesum_pipeline.texts.summaries.rewrite_plan import plan_summaries


@contextmanager
def scratch_of(ws: Workspace) -> Iterator[Workspace]:
    """The same repository, written to a folder that is deleted after the block."""
    with tempfile.TemporaryDirectory(prefix="codesum-eval-") as folder:
        yield scratch_in(ws, Path(folder))


def scratch_in(ws: Workspace, folder: Path) -> Workspace:
    """The same repository, written to a folder, with settings that call no model."""
    layout = HomeLayout(folder)
    tables = TableStore(layout.warehouse, base=ws.tables)
    # With a cap of no calls; only a provider's backend has a cap, and it needs a price.
    model = ws.settings.llm.model
    free = (ModelPrice(model=model, input=0.0, output=0.0),) if model else ()
    settings = _with_llm(ws.settings, backend=BackendName.LITELLM, max_summaries_per_run=0, prices=free)
    scratch = replace(ws, layout=layout, tables=tables, force=False, settings=settings, record=FOLDER_RECORD)
    lend_indexes(ws, scratch)
    return scratch


def write_texts(scratch: Workspace, *, progress: Progress) -> None:
    """Write the texts of changed symbols and facts; the others are carried over."""
    plan_summaries(scratch, progress=progress)
    for level in Level:
        write_level(scratch, level, progress=progress)


def index_texts(scratch: Workspace, *, progress: Progress) -> PublishedIndex:
    """Make documents of the scratch's texts, and an index of these."""
    assemble_documents(scratch, progress=progress)
    embed_documents(scratch, progress=progress)
    index_terms(scratch, progress=progress)
    return PublishedIndex.of_version(Path(write_candidate(scratch, progress=progress).folder))


@contextmanager
def extractive_copy(ws: Workspace, *, progress: Progress) -> Iterator[PublishedIndex]:
    """The index with extractive texts in place of all texts by a model."""
    with scratch_of(ws) as scratch:
        settings = scratch.settings
        scratch = replace(scratch, settings=_with_llm(settings, enabled=False))
        for level in Level:
            table = texts_table(level)
            scratch.tables.write(table, ws.key, TABLES[table].schema.empty_table())
        write_texts(scratch, progress=progress)
        yield index_texts(scratch, progress=progress)


def _with_llm(settings: Settings, **changes: Any) -> Settings:
    return settings.model_copy(update={"llm": settings.llm.model_copy(update=changes)})
