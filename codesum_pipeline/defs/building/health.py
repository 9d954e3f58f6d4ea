"""Whether the figures of a build lie within the thresholds of the settings. None of these checks stops a build.

A check that has nothing to look at says so and does not pass; one that is switched off says that, and passes.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow.compute as pc

from codesum_pipeline.building.failures import read_failures
from codesum_pipeline.defs.building.values import NO_DATA, OFF, OK, OUT_OF_BAND, STATE, CheckFinding, Value, Values
from codesum_pipeline.graph.build import GraphReport
from codesum_pipeline.llm.ledger import spent_today
from codesum_pipeline.model.documents import Level, WrittenBy
from codesum_pipeline.settings.operation import CheckName, CheckSettings
from codesum_pipeline.store.atomic import write_text_atomically
from codesum_pipeline.store.schemas import texts_table
from codesum_pipeline.store.workspace import Workspace

# Commits whose share of resolved calls is remembered.
REMEMBERED = 10
# Fewer say nothing about what is usual.
_LEAST_PAST = 3
_PAST_FILE = "coverage.json"


def find_health(step: str, ws: Workspace, settings: CheckSettings, report: object) -> tuple[CheckFinding, ...]:
    """The findings of the checks that belong to a step's asset."""
    found = _FINDERS.get(step)
    return tuple(found(ws, settings, report)) if found else ()


def in_band(
    name: CheckName,
    settings: CheckSettings,
    value: float,
    *,
    what: str,
    least: float | None = None,
    most: float | None = None,
    values: Values,
) -> CheckFinding:
    """Whether `value` lies between `least` and `most`, both of which count as in the band."""
    is_low, is_high = least is not None and value < least, most is not None and value > most
    limit = f", at least {least:.4g} is expected" if is_low else f", at most {most:.4g} is expected" if is_high else ""
    limits: dict[str, Value] = {
        key: round(limit, 6) for key, limit in (("least", least), ("most", most)) if limit is not None
    }
    passed = not (is_low or is_high)
    return CheckFinding(
        name.value,
        passed,
        f"{what}: {value:.4g}{limit}",
        {STATE: OK if passed else OUT_OF_BAND, "value": round(value, 6), **limits, **values},
        is_warning=name not in settings.errors,
    )


def without_data(name: CheckName, why: str) -> CheckFinding:
    """There was nothing to look at: that is no failure to be alarmed by, and no pass."""
    return CheckFinding(
        name.value, passed=False, description=f"no data: {why}", values={STATE: NO_DATA}, is_warning=True
    )


def switched_off(name: CheckName, why: str) -> CheckFinding:
    """Nobody wants to know."""
    return CheckFinding(
        name.value, passed=True, description=f"switched off: {why}", values={STATE: OFF}, is_warning=True
    )


def _calls(ws: Workspace, settings: CheckSettings, report: object) -> list[CheckFinding]:
    """The share of calls whose target is known, against a limit and the repository's own past."""
    if not isinstance(report, GraphReport) or not report.coverage.call_sites:
        return [without_data(CheckName.CALLS, "no indexed file calls anything")]
    coverage = report.coverage
    share = (coverage.resolved + coverage.external) / coverage.call_sites
    past = _past_shares(ws, share)
    least = settings.resolved_calls_least
    values: dict[str, Value] = {"call_sites": coverage.call_sites}
    if len(past) >= _LEAST_PAST:
        usual = median(past)
        values["usual"] = round(usual, 6)
        least = max(least, usual - settings.resolved_calls_drop)
    return [
        in_band(
            CheckName.CALLS, settings, share, what="share of calls whose target is known", least=least, values=values
        )
    ]


def known_share(ws: Workspace) -> float | None:
    """The share of calls whose target is known at the commit that was looked at last."""
    return next(reversed(_read(ws.layout.memos(ws.key) / _PAST_FILE).values()), None)


def _past_shares(ws: Workspace, share: float) -> list[float]:
    """The shares of commits before, newest last; that of this commit is added to them."""
    file = ws.layout.memos(ws.key) / _PAST_FILE
    commit = ws.tables.read("snapshot", ws.key, columns=["commit"]).column("commit")[0].as_py()
    known = _read(file)
    past = {name: value for name, value in known.items() if name != commit}
    kept = dict([*past.items(), (commit, round(share, 6))][-REMEMBERED:])
    if kept != known:
        write_text_atomically(file, json.dumps(kept))
    return list(past.values())


def _read(file: Path) -> dict[str, float]:
    with suppress(OSError, ValueError):
        found = json.loads(file.read_bytes())
        if isinstance(found, dict):
            return {str(name): float(value) for name, value in found.items()}
    return {}


def _documents(ws: Workspace, settings: CheckSettings, _report: object) -> list[CheckFinding]:
    """Who wrote the documents, and how much failed on the way to them."""
    writers: Mapping[str, int] = {
        row["values"]: row["counts"]
        for row in pc.value_counts(
            ws.tables.read("documents", ws.key, columns=["written_by"]).column("written_by")
        ).to_pylist()
    }
    documents = sum(writers.values())
    if not documents:
        why = "the repository has no document"
        return [without_data(name, why) for name in (CheckName.PLACEHOLDERS, CheckName.MODEL_TEXTS, CheckName.FAILURES)]
    placeholders = writers.get(WrittenBy.PLACEHOLDER, 0)
    failures = sum(map(len, read_failures(ws.layout.memos(ws.key)).values())) + _failed_texts(ws)
    return [
        in_band(
            CheckName.PLACEHOLDERS, settings, placeholders / documents, what="share of placeholders",
            most=settings.placeholders_most, values={"documents": documents},
        ),
        _model_texts(ws, settings, by_model=writers.get(WrittenBy.LLM, 0), texts=documents - placeholders),
        in_band(
            CheckName.FAILURES, settings, failures / documents, what="failures for each document",
            most=settings.failures_most, values={"failures": failures, "documents": documents},
        ),
    ]  # fmt: skip


def _model_texts(ws: Workspace, settings: CheckSettings, *, by_model: int, texts: int) -> CheckFinding:
    if not ws.settings.llm.enabled:
        return switched_off(CheckName.MODEL_TEXTS, "llm.enabled is false, so no model writes")
    if not texts:
        return without_data(CheckName.MODEL_TEXTS, "all documents are placeholders")
    return in_band(
        CheckName.MODEL_TEXTS, settings, by_model / texts, what="share of texts that a model wrote",
        least=settings.model_texts_least, values={"by_model": by_model, "texts": texts},
    )  # fmt: skip


def _failed_texts(ws: Workspace) -> int:
    """Texts that a model was asked for in vain; the extractive ones stand."""
    if not ws.settings.llm.enabled:
        return 0
    columns = [ws.tables.read(texts_table(level), ws.key, columns=["failure"]).column("failure") for level in Level]
    return sum(len(column) - column.null_count for column in columns)


def _cost(ws: Workspace, settings: CheckSettings, _report: object) -> list[CheckFinding]:
    """What the texts of the repository cost since midnight, UTC."""
    if settings.cost_usd_most is None:
        return [switched_off(CheckName.COST, "checks.cost_usd_most is not set")]
    spent = spent_today(ws.layout.state(ws.key), now=ws.now())
    return [
        in_band(CheckName.COST, settings, spent, what="US dollars today (UTC)", values={}, most=settings.cost_usd_most)
    ]


_FINDERS: Mapping[str, Callable[[Workspace, CheckSettings, Any], list[CheckFinding]]] = {
    "call_graph": _calls,
    "summary_documents": _documents,
    "published_index": _cost,
}
