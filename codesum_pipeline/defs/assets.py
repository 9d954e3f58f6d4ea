"""The assets: one for each step of a build, whose upstream assets are those that write what the step reads."""

import dagster as dg

from codesum_pipeline.defs.building.facts import stage_facts
from codesum_pipeline.defs.building.values import ANSWERED, AT_HEAD, NOT_WORSE
from codesum_pipeline.defs.metadata import table_metadata
from codesum_pipeline.defs.partitions import codesum_repos
from codesum_pipeline.defs.resource import BuildRequest, CodesumResource
from codesum_pipeline.defs.steps import OWNER, run_step
from codesum_pipeline.settings.operation import CheckName


def _check(asset: str, name: str, description: str, *, blocking: bool = False) -> dg.AssetCheckSpec:
    """A check that the step itself carries out."""
    # Dagster stores names, and no enumeration of ours.
    return dg.AssetCheckSpec(
        str(name), asset=asset, partitions_def=codesum_repos, description=description, blocking=blocking
    )


OWN_CHECKS = (
    _check(
        "call_graph",
        CheckName.CALLS,
        "The share of calls whose target is known is not below `checks.resolved_calls_least`, nor by "
        "`checks.resolved_calls_drop` below what the repository's last commits had.",
    ),
    _check(
        "summary_documents",
        CheckName.PLACEHOLDERS,
        "The share of placeholders among the documents is at most `checks.placeholders_most`.",
    ),
    _check(
        "summary_documents",
        CheckName.MODEL_TEXTS,
        "Of the texts, placeholders aside, a model wrote at least `checks.model_texts_least`.",
    ),
    _check(
        "summary_documents",
        CheckName.FAILURES,
        "There are at most `checks.failures_most` failures of files and texts for each document.",
    ),
    _check(
        "retrieval_evaluation",
        NOT_WORSE,
        "By the questions that both answered, the candidate is not worse than the published index by more than "
        "`evaluation.margin`, with 95 % confidence. Where it is, it is not published, and the run ends.",
        blocking=True,
    ),
    _check(
        "published_index",
        AT_HEAD,
        "Set by each publication, and taken back by the sensor when it sees a newer state.",
    ),
    _check(
        "published_index",
        ANSWERED,
        "The model gave something at every level that it was asked at. Where not, the index is published with "
        "extractive texts, and the run fails.",
        blocking=True,
    ),
    _check(
        "published_index",
        CheckName.COST,
        "The texts of the repository cost at most `checks.cost_usd_most` on this day (UTC).",
    ),
)


def _asset(name: str, group: str, kinds: set[str], description: str) -> dg.AssetsDefinition:
    """The asset of the step with this name."""
    facts = stage_facts().assets[name]

    @dg.asset(
        name=name,
        description=description,
        partitions_def=codesum_repos,
        group_name=group,
        kinds=kinds,
        owners=[OWNER],
        code_version=facts.code_version,
        deps=facts.deps,
        check_specs=[check for check in OWN_CHECKS if check.asset_key == dg.AssetKey(name)],
        metadata=table_metadata(facts.table),
    )
    def step(context: dg.AssetExecutionContext, codesum: CodesumResource, request: BuildRequest):  # type: ignore[no-untyped-def]
        return run_step(context, codesum, request)

    return step


_TEXTS = {"python", "parquet"}
ASSETS = (
    _asset(
        "repo_snapshot",
        "source",
        {"git", "parquet"},
        "The commit that a build stands for. One row is one file of it: indexed, or skipped for a reason.",
    ),
    _asset(
        "symbols",
        "source",
        {"treesitter", "parquet"},
        "What the indexed files define. One row is one function, method or class.",
    ),
    _asset(
        "call_graph",
        "graph",
        {"numpy", "parquet"},
        "Who uses whom. One row is one caller, importer or heir with the target it uses, and how that was found.",
    ),
    _asset(
        "summary_plan",
        "summaries",
        {"duckdb", "parquet"},
        "What is about to be rewritten and why. One row is one document; above functions the plan is an upper bound.",
    ),
    _asset(
        "function_summaries",
        "summaries",
        _TEXTS,
        "One row is the text of one function or method, with what it was written from and why.",
    ),
    _asset(
        "class_summaries",
        "summaries",
        _TEXTS,
        "One row is the text of one class, written from its head and its members' texts.",
    ),
    _asset(
        "file_summaries",
        "summaries",
        _TEXTS,
        "One row is the text of one file, written from its head and its top-level symbols' texts.",
    ),
    _asset(
        "module_summaries",
        "summaries",
        _TEXTS,
        "One row is the text of one folder, written from its README and its files' and sub-folders' texts.",
    ),
    _asset(
        "summary_documents",
        "summaries",
        _TEXTS,
        "The levels put together. One row is one document with its lines, signature and context as they are now.",
    ),
    _asset(
        "dense_index",
        "indexes",
        {"numpy", "parquet"},
        "One row is the vector of one document in one dense lane; placeholders have none.",
    ),
    _asset("sparse_index", "indexes", _TEXTS, "One row is the words of one document in one BM25 lane."),
    _asset(
        "index_candidate",
        "publishing",
        {"numpy", "json"},
        "A version folder, ready to be published. Its one row is the digest that names it.",
    ),
    _asset(
        "retrieval_evaluation",
        "publishing",
        {"numpy", "parquet"},
        "How well the candidate answers questions. One row is one measure of one evaluation, with its interval.",
    ),
    _asset(
        "published_index",
        "publishing",
        {"file"},
        "What search reads: the repository's name points at its candidate, and the last versions are kept.",
    ),
    _asset(
        "repo_overview",
        "publishing",
        {"markdown", "parquet"},
        "What a newcomer is told of the repository. One row is the page of the published version.",
    ),
    _asset(
        "intent_matches",
        "digests",
        {"python", "sqlite"},
        "Which changes wait for a digest. One row is one document that changed, and one standing question that it "
        "concerns.",
    ),
    _asset(
        "intent_digests",
        "digests",
        {"markdown", "sqlite"},
        "What is told of a build, and sent: the answers to those questions that have one with each build. One row is "
        "one digest about the repository.",
    ),
)
