"""Evaluations and calls of models as builds write them down."""

from pathlib import Path

import pyarrow as pa

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome, LedgerRow
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.tables import TableStore


def write_evaluations(home: Path, repo: str, means: list[tuple[float, float]]) -> None:
    """Of all lanes, and of code alone, one evaluation a day."""
    rows = [
        {
            "sequence": day,
            "run_id": f"run{day}",
            "evaluated_at": f"2026-01-{day:02}T00:00:00.000Z",
            "commit": f"{day:02}" * 20,
            "content_digest": f"digest{day}",
            "asked": "asked",
            "setup": setup,
            "category": category,
            "metric": metric,
            "questions": 50,
            "mean": mean,
            "low": mean - 0.08,
            "high": min(1.0, mean + 0.08),
        }
        for day, both in enumerate(means, start=1)
        for setup, mean in zip(("all lanes", "code only"), both, strict=True)
        for category in ("all", "docstring")
        for metric in ("ndcg@10", "file_mrr@10")
    ]
    table = pa.Table.from_pylist(rows, schema=TABLES["evaluations"].schema)
    TableStore(HomeLayout(home).warehouse).write("evaluations", repo, table)


def write_ledger(home: Path, repo: str, spent: list[tuple[str, Level, float]]) -> None:
    """One call for each day, level and price."""
    rows = [
        LedgerRow(
            sequence=number,
            run_id="run",
            id="zoo/keeper.py::feed",
            level=level,
            request_hash=f"hash{number}",
            model="openai/gpt-4o-mini",
            attempt=1,
            started_at=f"{day}T12:00:00.000Z",
            reserved_usd=1.0,
            outcome=AttemptOutcome.GOOD,
            failure=None,
            error=None,
            prompt_tokens=1000,
            completion_tokens=100,
            cached_tokens=0,
            cost_usd=usd,
            is_estimated=False,
            latency_s=1.0,
            answer=None,
        )
        for number, (day, level, usd) in enumerate(spent, start=1)
    ]
    TableStore(HomeLayout(home).warehouse).write_rows("ledger", repo, rows, LedgerRow)
