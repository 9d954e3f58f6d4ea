"""A second index of a repository, built beside the first from tables that differ in some rows.

It reads what the home holds and writes nothing there. What its rows have in
common with the home's is carried over, so that it costs what an incremental
build costs. No model is asked for anything: what one wrote stands where it is
carried over, and all else is put together from the code.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from codesum_pipeline.indexes.candidate import write_candidate
from codesum_pipeline.indexes.dense import embed_documents
from codesum_pipeline.indexes.sparse import index_terms
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.options import BackendName, ModelPrice, Options
from codesum_pipeline.model.progress import Progress
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.scip.taking import lend_indexes
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.schemas import TABLES, texts_table
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.documents import assemble_documents
from codesum_pipeline.summaries.levels import write_classes, write_files, write_functions, write_modules
from codesum_pipeline.summaries.plan import plan_summaries


@contextmanager
def scratch_of(ws: Workspace) -> Iterator[Workspace]:
    """The same repository, written to a folder that goes with the block."""
    with tempfile.TemporaryDirectory(prefix="codesum-eval-") as folder:
        yield beside(ws, Path(folder))


def beside(ws: Workspace, folder: Path) -> Workspace:
    """The same repository, written to a folder, for which no model is asked."""
    layout = HomeLayout(folder)
    tables = TableStore(layout.warehouse, base=ws.tables.root)
    scratch = replace(ws, layout=layout, tables=tables, force=False, options=_asking_nobody(ws.options))
    lend_indexes(ws, scratch)
    return scratch


def write_texts(scratch: Workspace, *, progress: Progress) -> None:
    """Write the texts that the scratch's symbols and facts ask for; the others are carried over."""
    plan_summaries(scratch, progress=progress)
    for write in (write_functions, write_classes, write_files, write_modules):
        write(scratch, progress=progress)


def index_texts(scratch: Workspace, *, progress: Progress) -> PublishedIndex:
    """Put the scratch's texts into documents and those into an index."""
    assemble_documents(scratch, progress=progress)
    embed_documents(scratch, progress=progress)
    index_terms(scratch, progress=progress)
    return PublishedIndex.of_version(Path(write_candidate(scratch, progress=progress).folder))


@contextmanager
def extractive_copy(ws: Workspace, *, progress: Progress) -> Iterator[PublishedIndex]:
    """The index as it would be if no model had written any text."""
    with scratch_of(ws) as scratch:
        options = scratch.options
        scratch = replace(scratch, options=replace(options, llm=replace(options.llm, enabled=False)))
        for level in Level:
            table = texts_table(level)
            scratch.tables.write(table, ws.key, TABLES[table].schema.empty_table())
        write_texts(scratch, progress=progress)
        yield index_texts(scratch, progress=progress)


def _asking_nobody(options: Options) -> Options:
    """With a cap of no calls, which is put to a provider's backend alone; no price is needed for none."""
    llm = options.llm
    free = (ModelPrice(llm.model, 0.0, 0.0),)
    return replace(options, llm=replace(llm, backend=BackendName.LITELLM, max_summaries_per_run=0, prices=free))
