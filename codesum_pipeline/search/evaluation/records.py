"""The tables of evaluations: figures and lift over time, and the last answers question by question.

Figures and the lift ledger are appended; answers are those of the last evaluated index and of the published one, which
the gate compares.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from importlib import metadata
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import to_builtins

from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.search.evaluation.evaluate import (
    ALL,
    FUNCTION_MRR,
    NDCG,
    QuestionResult,
    interval_of,
    score_of_answer,
)
from codesum_pipeline.search.evaluation.lift import Lift
from codesum_pipeline.search.evaluation.questions import Question

EVERY_CATEGORY = "all"
# One for lists, files and functions each, and the recalls of one page.
METRICS = (NDCG, "file_mrr@10", "file_recall@10", FUNCTION_MRR, "function_recall@10")
# How many evaluations keep their figures: years of nightly ones.
KEPT = 1_000
# Bounds to three digits need no more.
_RESAMPLED = 2_000
_TOP_KEPT = 5
# What of the lift ledger has an interval.
_OF_LIFT = ("score", "gain")
# The one row of an evaluation without questions.
_NOTHING = {"setup": ALL.name, "category": EVERY_CATEGORY, "metric": NDCG, "questions": 0} | dict.fromkeys(
    ("mean", "low", "high"), 0.0
)
# Figures without their time and run.
_CONTENT = ["sequence", "content_digest", "asked", "setup", "category", "metric", "questions", "mean", "low", "high"]


def question_key(question: Question) -> str:
    """A hash that is equal for the same query, with the same answers, to the same search."""
    places = [[target.file_path, target.symbol] for target in (*question.relevant, *question.cited_symbols)]
    return hash_of([question.query, question.level, places, metadata.version("codesum-pipeline")])


def ensure_tables(ws: Workspace) -> None:
    """Write empty tables for a repository that was never evaluated."""
    for name in ("evaluations", "evaluation_answers", "evaluation_lift"):
        if ws.tables.readable_path(name, ws.key) is None:
            ws.tables.write(name, ws.key, TABLES[name].schema.empty_table())


def add_figures(
    ws: Workspace,
    answers: Sequence[QuestionResult],
    lift: Lift,
    *,
    commit: str,
    content_digest: str,
    questions_hash: str,
) -> None:
    """Append one evaluation's figures and its lift ledger."""
    table = ws.tables.read("evaluations", ws.key)
    sequence = (pc.max(table["sequence"]).as_py() or 0) + 1
    when = {
        "sequence": sequence,
        "run_id": ws.run_id,
        "evaluated_at": ws.timestamp(),
        "commit": commit,
        "content_digest": content_digest,
        "asked": questions_hash,
    }
    rows = pa.Table.from_pylist([when | row for row in _figures(answers) or [_NOTHING]], schema=table.schema)
    kept = table.filter(pc.greater(table["sequence"], sequence - KEPT))
    _add_lift(ws, lift, sequence)
    # Last, since its rows mean that the evaluation is complete.
    ws.tables.write("evaluations", ws.key, pa.concat_tables([kept, rows]))


def last_figures(ws: Workspace) -> list[dict[str, Any]]:
    """The rows of the last evaluation; none if there was none."""
    table = ws.tables.read("evaluations", ws.key)
    last = table.filter(pc.equal(table["sequence"], pc.max(table["sequence"])))
    rows: list[dict[str, Any]] = last.to_pylist()
    return rows


def last_lift(ws: Workspace) -> Lift:
    """The lift ledger of the last evaluation; without rows where there was none."""
    table = ws.tables.read("evaluation_lift", ws.key)
    last = pc.max(ws.tables.read("evaluations", ws.key, columns=["sequence"])["sequence"])
    rows = table.filter(pc.equal(table["sequence"], last)).to_pylist()
    return convert({"rows": [{**row, **{name: _interval(row, name) for name in _OF_LIFT}} for row in rows]}, Lift)


def _interval(row: dict[str, Any], name: str) -> dict[str, Any] | None:
    """A number and its bounds, which are three columns."""
    if row[name] is None:
        return None
    return {"mean": row[name], "low": row[f"{name}_low"], "high": row[f"{name}_high"]}


def figures_hash(ws: Workspace) -> str:
    """A hash of all figures without their times and runs."""
    return ws.tables.content_hash("evaluations", ws.key, columns=_CONTENT) or ""


def answer_rows(answers: Iterable[QuestionResult], *, content_digest: str) -> list[dict[str, Any]]:
    """The rows for the answers of all lanes together."""
    return [
        {
            "content_digest": content_digest,
            "question": answer.question.id,
            "category": answer.question.category,
            "query": answer.question.query,
            "asked": question_key(answer.question),
            "files": sorted({target.file_path for target in answer.question.relevant}),
            "score": score_of_answer(answer),
            "top": list(answer.top[:_TOP_KEPT]),
        }
        for answer in answers
        if answer.setup == ALL.name
    ]


def stored_answers(ws: Workspace, content_digest: str) -> list[dict[str, Any]]:
    """The answers of one index, as far as they are kept."""
    table = ws.tables.read("evaluation_answers", ws.key)
    rows: list[dict[str, Any]] = table.filter(pc.equal(table["content_digest"], content_digest)).to_pylist()
    return rows


def keep_answers(ws: Workspace, rows: Sequence[dict[str, Any]]) -> None:
    """Replace the answers that are kept."""
    schema = TABLES["evaluation_answers"].schema
    ws.tables.write("evaluation_answers", ws.key, pa.Table.from_pylist(list(rows), schema=schema))


def _add_lift(ws: Workspace, lift: Lift, sequence: int) -> None:
    table = ws.tables.read("evaluation_lift", ws.key)
    # A build that was killed after it wrote this table takes the same number again.
    kept = table.filter(pc.and_(pc.greater(table["sequence"], sequence - KEPT), pc.less(table["sequence"], sequence)))
    rows = []
    for line, row in enumerate(to_builtins(lift)["rows"], start=1):
        for name in _OF_LIFT:
            found = row.pop(name) or {}
            row |= {name: found.get("mean"), f"{name}_low": found.get("low"), f"{name}_high": found.get("high")}
        rows.append({"sequence": sequence, "line": line, **row})
    added = pa.Table.from_pylist(rows, schema=table.schema)
    ws.tables.write("evaluation_lift", ws.key, pa.concat_tables([kept, added]))


def _figures(answers: Sequence[QuestionResult]) -> list[dict[str, Any]]:
    """One row per setup, category and measure."""
    values: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
    for answer in answers:
        for metric in METRICS:
            if metric in answer.measures:
                for category in dict.fromkeys((EVERY_CATEGORY, answer.question.category or EVERY_CATEGORY)):
                    values[answer.setup, category, metric].append(answer.measures[metric])
    bounds = {key: interval_of(found, samples=_RESAMPLED) for key, found in values.items()}
    return [
        {
            "setup": setup,
            "category": category,
            "metric": metric,
            "questions": len(values[setup, category, metric]),
            **to_builtins(bounds[setup, category, metric]),
        }
        for setup, category, metric in sorted(values)
    ]
