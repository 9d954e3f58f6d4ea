"""Figures of a build against the thresholds of the operator.

Such a check stops no build. One that has nothing to look at says so and does not pass; one that is switched off says
that, and passes.
"""

from statistics import median

import pyarrow.compute as pc

from codesum_pipeline.builds.reports.build_values import NO_DATA, OFF, OK, OUT_OF_BAND, STATE, CheckFinding, Value
from codesum_pipeline.builds.reports.kept_failures import read_failures
from codesum_pipeline.foundation.data_model.document import Level, WrittenBy
from codesum_pipeline.foundation.settings.operation_settings import CheckName, CheckSettings
from codesum_pipeline.foundation.store.atomic import read_json, write_json_atomically
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.graph.graph_step import GraphReport
from codesum_pipeline.texts.llm.ledger_readings import spent_today

# Commits whose share of resolved calls is remembered; fewer than the least say nothing about what is usual.
REMEMBERED = 10
_LEAST_PAST = 3
_PAST_FILE = "coverage.json"


def find_health(step: str, ws: Workspace, settings: CheckSettings, report: object) -> list[CheckFinding]:
    """The findings of the checks that belong to a step's asset."""
    match step:
        case "call_graph":
            return [_calls(ws, settings, report)]
        case "summary_documents":
            return _documents(ws, settings)
        case "published_index":
            if settings.cost_usd_most is None:
                return [_unjudged(CheckName.COST, OFF, "checks.cost_usd_most is not set")]
            spent, most = spent_today(ws.layout.state(ws.key), now=ws.now()), settings.cost_usd_most
            return [_judged(CheckName.COST, settings, "US dollars today (UTC)", spent, "at most", most)]
    return []


def _judged(
    name: CheckName, settings: CheckSettings, what: str, value: float, bound: str, limit: float, **values: float
) -> CheckFinding:
    """Whether `value` is "at least" or "at most" the limit, which itself is in the band."""
    passed = value >= limit if bound == "at least" else value <= limit
    description = f"{what}: {value:.4g}" + ("" if passed else f", {bound} {limit:.4g} is expected")
    shown: dict[str, Value] = {STATE: OK if passed else OUT_OF_BAND, "value": round(value, 6)}
    shown |= {bound.removeprefix("at "): round(limit, 6), **values}
    return CheckFinding(name.value, passed, description, shown, is_warning=name not in settings.errors)


def _unjudged(name: CheckName, state: str, why: str) -> CheckFinding:
    """What is switched off passes; where there was nothing to look at, that is no failure to be alarmed by, and no
    pass."""
    return CheckFinding(name.value, state == OFF, f"{state}: {why}", {STATE: state}, is_warning=True)


def _calls(ws: Workspace, settings: CheckSettings, report: object) -> CheckFinding:
    """The share of calls whose target is known, against a limit and the repository's own past."""
    if not isinstance(report, GraphReport) or not report.coverage.call_sites:
        return _unjudged(CheckName.CALLS, NO_DATA, "no indexed file calls anything")
    coverage, least = report.coverage, settings.resolved_calls_least
    share = (coverage.resolved + coverage.external) / coverage.call_sites
    values: dict[str, float] = {"call_sites": coverage.call_sites}
    # The shares of commits before, newest last; that of this commit is added to them.
    file = ws.layout.memos(ws.key) / _PAST_FILE
    commit = ws.tables.read("snapshot", ws.key, columns=["commit"])["commit"][0].as_py()
    known = read_json(file, dict[str, float]) or {}
    past = {name: value for name, value in known.items() if name != commit}
    kept = dict([*past.items(), (commit, round(share, 6))][-REMEMBERED:])
    if kept != known:
        write_json_atomically(file, kept)
    if len(past) >= _LEAST_PAST:
        usual = median(past.values())
        values["usual"] = round(usual, 6)
        least = max(least, usual - settings.resolved_calls_drop)
    what = "share of calls whose target is known"
    return _judged(CheckName.CALLS, settings, what, share, "at least", least, **values)


def known_share(ws: Workspace) -> float | None:
    """The share of calls whose target is known at the commit that was looked at last."""
    shares = read_json(ws.layout.memos(ws.key) / _PAST_FILE, dict[str, float]) or {}
    return next(reversed(shares.values()), None)


def _documents(ws: Workspace, settings: CheckSettings) -> list[CheckFinding]:
    """The shares of placeholders and of models' texts among the documents, and the failures for each document."""
    column = ws.tables.read("documents", ws.key, columns=["written_by"])["written_by"]
    writers = {row["values"]: row["counts"] for row in pc.value_counts(column).to_pylist()}
    documents = len(column)
    if not documents:
        names = (CheckName.PLACEHOLDERS, CheckName.MODEL_TEXTS, CheckName.FAILURES)
        return [_unjudged(name, NO_DATA, "the repository has no document") for name in names]
    placeholders = writers.get(WrittenBy.PLACEHOLDER, 0)
    texts, by_model = documents - placeholders, writers.get(WrittenBy.LLM, 0)
    failures = sum(map(len, read_failures(ws.layout.memos(ws.key)).values()))
    if not ws.settings.llm.enabled:
        written = _unjudged(CheckName.MODEL_TEXTS, OFF, "llm.enabled is false, so no model writes")
    else:
        # Texts that a model failed to write; the extractive ones are kept.
        for level in Level:
            failed = ws.tables.read(texts_table(level), ws.key, columns=["failure"])["failure"]
            failures += len(failed) - failed.null_count
        written = _unjudged(CheckName.MODEL_TEXTS, NO_DATA, "all documents are placeholders")
        if texts:
            written = _judged(
                CheckName.MODEL_TEXTS, settings, "share of texts that a model wrote", by_model / texts,
                "at least", settings.model_texts_least, by_model=by_model, texts=texts,
            )  # fmt: skip
    return [
        _judged(
            CheckName.PLACEHOLDERS, settings, "share of placeholders", placeholders / documents,
            "at most", settings.placeholders_most, documents=documents,
        ),
        written,
        _judged(
            CheckName.FAILURES, settings, "failures for each document", failures / documents,
            "at most", settings.failures_most, failures=failures, documents=documents,
        ),
    ]  # fmt: skip
