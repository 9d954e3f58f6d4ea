"""The last answer of a model about a document that could not be taken, and why."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.cli.render import fields, indented
from codesum_pipeline.cli.safe_text import clean, one_line
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.ledger import AttemptOutcome

_TOLD = ("model", "started_at", "run_id", "attempt", "cost_usd", "error", "answer")


def refused_answer(warehouse: Path, key: str, id_: str) -> dict[str, Any]:
    """What the ledger keeps of it, and whether a later answer was taken; raises `ConfigurationError` without one."""
    from codesum_pipeline.store.tables import TableStore

    ledger = TableStore(warehouse).read_or_empty("ledger", key, columns=["id", "sequence", "outcome", *_TOLD])
    attempts = sorted((row for row in ledger.to_pylist() if row["id"] == id_), key=lambda row: int(row["sequence"]))
    refused = [row for row in attempts if row["outcome"] == AttemptOutcome.INVALID and row["answer"]]
    if not refused:
        asked = f"of {len(attempts)} attempts none" if attempts else "no model was asked, so none"
        raise ConfigurationError(f"{id_!r}: no answer of a model was refused ({asked} has one)")
    last = refused[-1]
    later = [row for row in attempts if row["sequence"] > last["sequence"]]
    was_taken = any(row["outcome"] == AttemptOutcome.GOOD for row in later)
    return {name: last[name] for name in _TOLD} | {"a_later_answer_was_taken": was_taken}


def answer_sections(repo: str, id_: str, found: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The same for a person: the reasons line by line, the answer as JSON where it is some."""
    yield Text.assemble((one_line(id_), "bold"), (f"  refused answer · {repo}", "dim"))
    later = "yes" if found["a_later_answer_was_taken"] else "no"
    yield fields(
        {
            "model": found["model"],
            "asked at": found["started_at"],
            "run": found["run_id"],
            "attempt": str(found["attempt"]),
            "price": f"${found['cost_usd']:.4f}",
            "a later answer was taken": later,
        }
    )
    yield Text("\nWhy it was refused", style="bold")
    yield indented(Text(clean(found["error"] or "")), 2)
    yield Text("\nThe answer", style="bold")
    yield indented(Text(clean(_laid_out(found["answer"]))), 2)


def _laid_out(answer: str) -> str:
    try:
        return json.dumps(json.loads(answer), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return answer
