"""What must hold before a step's rows are built upon, per repository.

A check that fails stops the run of its own repository, and no other.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import dagster as dg

from codesum_pipeline.defs.assets.indexes import dense_index
from codesum_pipeline.defs.assets.summaries import summary_documents
from codesum_pipeline.defs.metadata import table_of
from codesum_pipeline.defs.partitions import codesum_repos
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.steps import stage_failures
from codesum_pipeline.indexes.dense import vector_length
from codesum_pipeline.indexes.embedders import embedder_of
from codesum_pipeline.indexes.lanes import DENSE_LANES

if TYPE_CHECKING:
    import duckdb

# Examples shown of each kind of fault.
EXAMPLES = 5
# What squares of float32 lose when they are added up.
NORM_TOLERANCE = 1e-3

Faults = Mapping[str, list[str]]

# Each names a fault and selects the ids that have it.
ID_FAULTS = {
    "an id stands twice": "SELECT id FROM documents GROUP BY id HAVING count(*) > 1",
    "a symbol's id stands twice": "SELECT id FROM symbols GROUP BY id HAVING count(*) > 1",
    "an id or a file path is empty": "SELECT file_path FROM documents WHERE id = '' OR file_path = ''",
}

ORPHAN_FAULTS = {
    "its parent is no document": """
        SELECT id FROM documents d WHERE parent_id IS NOT NULL
        AND NOT EXISTS (FROM documents p WHERE p.id = d.parent_id)""",
    "its file is not indexed": """
        SELECT id FROM documents d WHERE type <> 'module'
        AND NOT EXISTS (FROM files f WHERE f.path = d.file_path AND f.status = 'indexed')""",
    "its symbol is gone": """
        SELECT id FROM documents d WHERE type IN ('function', 'class')
        AND NOT EXISTS (FROM symbols s WHERE s.id = d.id AND s.type = d.type)""",
    "a neighbour in its context is no document": """
        SELECT id FROM (SELECT id, unnest(list_concat(called_by, calls)) AS neighbour FROM documents)
        WHERE neighbour NOT IN (SELECT id FROM documents)""",
}

ROW_FAULTS = {
    "a symbol has no document": """
        SELECT id FROM symbols s WHERE NOT EXISTS (FROM documents d WHERE d.id = s.id AND d.type = s.type)""",
    "an indexed file has no document": """
        SELECT path FROM files f WHERE status = 'indexed'
        AND NOT EXISTS (FROM documents d WHERE d.id = f.path AND d.type = 'file')""",
    "a folder has no document": """
        SELECT DISTINCT module_path FROM documents d
        WHERE NOT EXISTS (FROM documents m WHERE m.id = d.module_path AND m.type = 'module')""",
    "a required field is empty": """
        SELECT id FROM documents WHERE summary = '' OR content_hash = '' OR summary_hash = '' OR text_hash = ''""",
}

VECTOR_FAULTS = {
    "a document lacks the vector of a lane": """
        SELECT d.id FROM documents d CROSS JOIN (SELECT unnest($lanes) AS lane) l WHERE NOT d.is_placeholder
        AND NOT EXISTS (FROM vectors v WHERE v.id = d.id AND v.lane = l.lane)""",
    "a vector stands twice": "SELECT id FROM vectors GROUP BY id, lane HAVING count(*) > 1",
    "a vector belongs to no document": "SELECT id FROM vectors WHERE id NOT IN (SELECT id FROM documents)",
    "a placeholder has a vector": "SELECT v.id FROM vectors v JOIN documents d USING (id) WHERE d.is_placeholder",
    "a vector of another model": "SELECT id FROM vectors WHERE model <> $model",
    "a vector of another length": "SELECT id FROM vectors WHERE len(vector) <> $dimensions",
    "a number that is not finite": "SELECT id FROM vectors WHERE NOT isfinite(list_sum(vector))",
    "a vector that is not of length one, nor of zeros": """
        SELECT id FROM (SELECT id, list_dot_product(vector, vector) AS square FROM vectors)
        WHERE isfinite(square) AND square <> 0 AND abs(square - 1) > $tolerance""",
}


DOCUMENT_FAULTS = {
    "ids_are_unique": ID_FAULTS,
    "no_orphans": ORPHAN_FAULTS,
    "every_source_has_its_document": ROW_FAULTS,
}

DOCUMENT_CHECKS = {
    "ids_are_unique": "No two documents and no two symbols share an id.",
    "no_orphans": "Every document's parent, file, symbol and neighbours are there.",
    "every_source_has_its_document": "Every symbol, indexed file and folder has its document, with a text.",
}


@dg.multi_asset_check(
    specs=[
        dg.AssetCheckSpec(
            name, asset=summary_documents.key, blocking=True, description=says, partitions_def=codesum_repos
        )
        for name, says in DOCUMENT_CHECKS.items()
    ]
)
def documents_are_whole(
    context: dg.AssetCheckExecutionContext, codesum: CodesumResource
) -> Iterator[dg.AssetCheckResult]:
    """The documents of a repository against its symbols and files."""
    with _tables(context, codesum, "documents", "symbols", "files") as connection:
        found = {name: find_faults(connection, queries) for name, queries in DOCUMENT_FAULTS.items()}
    yield from (_result(summary_documents.key, name, faults) for name, faults in found.items())


@dg.asset_check(asset=dense_index, blocking=True, partitions_def=codesum_repos)
def vectors_are_whole(context: dg.AssetCheckExecutionContext, codesum: CodesumResource) -> dg.AssetCheckResult:
    """One vector of the model's length per lane and document that is no placeholder, finite and normalised."""
    with _tables(context, codesum, "vectors", "documents") as connection:
        workspace = codesum.workspace(context.partition_key, run_id=context.run.run_id)
        embedder = embedder_of(workspace.options)
        faults = find_faults(
            connection,
            VECTOR_FAULTS,
            lanes=[str(lane) for lane in DENSE_LANES],
            model=embedder.model_id,
            dimensions=vector_length(workspace, embedder),
            tolerance=NORM_TOLERANCE,
        )
    return _result(dense_index.key, "vectors_are_whole", faults)


CHECKS = (documents_are_whole, vectors_are_whole)


def find_faults(connection: "duckdb.DuckDBPyConnection", queries: Mapping[str, str], **values: object) -> Faults:
    """The ids that each query selects, by the fault it looks for; faults that nothing has are left out."""
    found = {}
    for fault, query in queries.items():
        wanted = {name: value for name, value in values.items() if f"${name}" in query}
        ids = [str(row[0]) for row in connection.execute(query, wanted).fetchall()]
        if ids:
            found[fault] = sorted(ids)
    return found


@contextmanager
def _tables(
    context: dg.AssetCheckExecutionContext, codesum: CodesumResource, *tables: str
) -> "Iterator[duckdb.DuckDBPyConnection]":
    """The views over some tables of the partition at hand."""
    with stage_failures():
        workspace = codesum.workspace(context.partition_key, run_id=context.run.run_id)
        with workspace.connect(*tables) as connection:
            yield connection


def _result(asset_key: dg.AssetKey, check_name: str, faults: Faults) -> dg.AssetCheckResult:
    rows = [
        {"fault": fault, "ids": len(ids), "for example": ", ".join(ids[:EXAMPLES])} for fault, ids in faults.items()
    ]
    return dg.AssetCheckResult(
        check_name=check_name,
        asset_key=asset_key,
        passed=not faults,
        description="; ".join(f"{fault}: {len(ids)}" for fault, ids in faults.items()) or None,
        metadata={"faults": table_of(rows)} if rows else {},
    )
