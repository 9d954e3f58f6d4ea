"""What must hold before a step's rows are built upon, per repository.

A check that fails stops the run of its own repository, and no other.
"""

from collections.abc import Mapping

import dagster as dg

from codesum_pipeline.defs.partitions import codesum_repos
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.steps import check_results, stage_failures


def _checks(name: str, asset: str, specs: Mapping[str, str]) -> dg.AssetChecksDefinition:
    """Blocking checks of an asset that are looked at together, each with its description."""
    key = dg.AssetKey(asset)

    @dg.multi_asset_check(
        name=name,
        specs=[
            dg.AssetCheckSpec(each, asset=key, blocking=True, description=says, partitions_def=codesum_repos)
            for each, says in specs.items()
        ],
    )
    def look(context: dg.AssetCheckExecutionContext, codesum: CodesumResource):  # type: ignore[no-untyped-def]
        with stage_failures():
            builder = codesum.builder(context.partition_key, context.run.run_id, context.log)
            yield from check_results(key, builder.check(name))

    return look


CHECKS = (
    _checks(
        "documents_are_whole",
        "summary_documents",
        {
            "ids_are_unique": "No two documents and no two symbols share an id.",
            "no_orphans": "Every document's parent, file, symbol and neighbours are there.",
            "every_source_has_its_document": "Every symbol, indexed file and folder has its document, with a text.",
            "citations_hold": "Every filled field of a function is cited, by lines of the function.",
            "no_names_leak": "No text names a caller or callee that the graph knows, besides its subject's own "
            "names. A warning where only extractive texts do, whose writer sees no caller.",
        },
    ),
    _checks(
        "vectors_are_whole",
        "dense_index",
        {
            "vectors_are_whole": "One vector of the model's length per lane and document that is no placeholder, "
            "finite and normalised.",
        },
    ),
)
