"""What the definitions say of the stages: each asset's code version and the columns of its table.

Reading them imports every stage. A process that only records what another one
builds is given them instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass

# The table that each step's asset stands for.
MAIN_TABLES = {
    "repo_snapshot": "files",
    "symbols": "symbols",
    "call_graph": "edges",
    "summary_plan": "plan",
    "function_summaries": "texts_function",
    "class_summaries": "texts_class",
    "file_summaries": "texts_file",
    "module_summaries": "texts_module",
    "summary_documents": "documents",
    "dense_index": "vectors",
    "sparse_index": "terms",
    "index_candidate": "candidate",
    "retrieval_evaluation": "evaluations",
    "published_index": "candidate",
    "repo_overview": "overviews",
    "intent_matches": "intent_matches",
    "intent_digests": "digests",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the UI lists it."""

    name: str
    type: str
    description: str | None
    is_nullable: bool


@dataclass(frozen=True, slots=True)
class StageFacts:
    """Code versions by asset, and columns by table."""

    code_versions: Mapping[str, str]
    columns: Mapping[str, tuple[Column, ...]]


_known: list[StageFacts] = []


def use_facts(facts: StageFacts) -> None:
    """Take another process's word for what the stages are."""
    _known[:] = [facts]


def stage_facts() -> StageFacts:
    """Those that were given, else those of the stages."""
    if not _known:
        from codesum_pipeline.defs.building.read_facts import read_facts

        use_facts(read_facts())
    return _known[0]
