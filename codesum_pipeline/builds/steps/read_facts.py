"""The facts of the stages, from the stages themselves."""

from typing import Any

import pyarrow as pa

from codesum_pipeline.builds.reports.build_values import AssetFacts, Column, StageFacts
from codesum_pipeline.builds.steps.digest_steps import DIGEST_STEPS, DigestStep
from codesum_pipeline.builds.steps.reuse import PUBLISHED, Step
from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.foundation.store.columns import describe_column
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.graph.graph_step import GRAPH_VERSION
from codesum_pipeline.indexes.file_formats.version_folder import INDEX_FILES_VERSION
from codesum_pipeline.indexes.lanes.lane_texts import AUTHOR_WORDS_VERSION, LANES_VERSION
from codesum_pipeline.notifications.digests.sql_tables import SQL_TABLES
from codesum_pipeline.search.evaluation.evaluation_step import EVALUATION_VERSION
from codesum_pipeline.search.overviews.found_in_parts import OVERVIEW_VERSION
from codesum_pipeline.source.files.path_rules import RULES_VERSION
from codesum_pipeline.symbols.parsing.symbols_step import PARSER_VERSION
from codesum_pipeline.texts.summaries.wanted_texts import EXTRACTIVE, PLACEHOLDER

# The version of matching and reporting changes; no index depends on it.
DIGESTS_VERSION = "2"
_WRITERS_VERSION = f"{EXTRACTIVE} {PLACEHOLDER}"
_LANES_VERSION = f"{LANES_VERSION}/{AUTHOR_WORDS_VERSION}"
_CODE_VERSIONS = {
    "repo_snapshot": RULES_VERSION,
    "symbols": PARSER_VERSION,
    "call_graph": GRAPH_VERSION,
    "dense_index": _LANES_VERSION,
    "sparse_index": _LANES_VERSION,
    "index_candidate": INDEX_FILES_VERSION,
    "retrieval_evaluation": EVALUATION_VERSION,
    "published_index": INDEX_FILES_VERSION,
    "repo_overview": OVERVIEW_VERSION,
    "intent_matches": DIGESTS_VERSION,
    "intent_digests": DIGESTS_VERSION,
}


def read_facts() -> StageFacts:
    """Every asset's facts, and every table's columns."""
    columns = {name: _columns(name, table.schema) for name, table in TABLES.items()}
    columns |= {name: _columns(name, schema) for name, (schema, _) in SQL_TABLES.items()}
    assets: dict[str, AssetFacts] = {}
    written: dict[str, str] = {}
    steps: tuple[Step[Any] | DigestStep, ...] = (*STEPS, *DIGEST_STEPS.values())
    for step in steps:
        # A table that no step before has written is what the build before left.
        before = {written[name] for name in step.reads if name in written}
        assets[step.name] = AssetFacts(
            code_version=_CODE_VERSIONS.get(step.name, _WRITERS_VERSION),
            # What is published is the candidate that readers see.
            table="candidate" if step.writes == (PUBLISHED,) else step.writes[0],
            deps=tuple(name for name in assets if name in before),
        )
        written |= dict.fromkeys(step.writes, step.name)
    return StageFacts(assets, columns)


def _columns(table: str, schema: pa.Schema) -> tuple[Column, ...]:
    """Some schemas say themselves what their columns hold."""
    columns = []
    for field in schema:
        own_description = (field.metadata or {}).get(b"description")
        description = own_description.decode() if own_description else describe_column(table, field.name)
        columns.append(Column(field.name, _type_name(field.type), description, field.nullable))
    return tuple(columns)


def _type_name(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list<{_type_name(kind.value_type)}>"
    return "struct" if pa.types.is_struct(kind) else str(kind)
