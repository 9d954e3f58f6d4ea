"""What must hold before a step's rows are built upon, per repository.

A check that fails stops the run of its own repository, and no other.
"""

import dagster as dg

from codesum_pipeline.defs.assets.indexes import dense_index
from codesum_pipeline.defs.assets.summaries import summary_documents
from codesum_pipeline.defs.partitions import codesum_repos
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.steps import check_results, stage_failures

DOCUMENT_CHECKS = {
    "ids_are_unique": "No two documents and no two symbols share an id.",
    "no_orphans": "Every document's parent, file, symbol and neighbours are there.",
    "every_source_has_its_document": "Every symbol, indexed file and folder has its document, with a text.",
    "citations_hold": "Every filled field of a function is cited, by lines of the function.",
    "no_names_leak": "No text names a caller or callee that the graph knows, besides its subject's own names.",
}


@dg.multi_asset_check(
    specs=[
        dg.AssetCheckSpec(
            name, asset=summary_documents.key, blocking=True, description=says, partitions_def=codesum_repos
        )
        for name, says in DOCUMENT_CHECKS.items()
    ]
)
def documents_are_whole(context: dg.AssetCheckExecutionContext, codesum: CodesumResource):  # type: ignore[no-untyped-def]
    """The documents of a repository against its symbols and files."""
    yield from _results(context, codesum, summary_documents.key, "documents_are_whole")


@dg.asset_check(asset=dense_index, blocking=True, partitions_def=codesum_repos)
def vectors_are_whole(context: dg.AssetCheckExecutionContext, codesum: CodesumResource) -> dg.AssetCheckResult:
    """One vector of the model's length per lane and document that is no placeholder, finite and normalised."""
    (result,) = _results(context, codesum, dense_index.key, "vectors_are_whole")
    return result


CHECKS = (documents_are_whole, vectors_are_whole)


def _results(
    context: dg.AssetCheckExecutionContext, codesum: CodesumResource, asset: dg.AssetKey, check: str
) -> list[dg.AssetCheckResult]:
    with stage_failures():
        builder = codesum.builder(context.partition_key, context.run.run_id, context.log)
        return check_results(asset, builder.check(check))
