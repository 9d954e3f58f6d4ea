"""The predicted price of one call and of a whole plan, and what each gate stops.

A call's price is without the provider's prompt cache, so that a cap in dollars is shared out safely. The cache's
discount depends on all calls together, and is given beside it.

The avoided-work meter: the calls that writing every text anew would take, by the reason why they were not made.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.llm.answers import answer_tool
from codesum_pipeline.llm.prices import predict_tokens
from codesum_pipeline.model.documents import Gate, Level, PlanAction, PlanRow, TextRow, WrittenBy
from codesum_pipeline.model.ledger import AttemptOutcome, AvoidanceReason, AvoidedRow, CallTotals, LedgerRow
from codesum_pipeline.settings.models import Settings
from codesum_pipeline.store.rows import values_of
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.by_model.setup import ModelSetup, templates_of
from codesum_pipeline.summaries.outline import DocumentTree

# Of the worked examples in the packaged system prompt, at four characters a token.
_ANSWER_TOKENS = {Level.FUNCTION: 480, Level.CLASS: 280, Level.FILE: 280, Level.MODULE: 280}
# A child's line in its parent's prompt: its name, its level and its summary.
_CHILD_CHARS = 180


class Estimator:
    """Predicts calls of one level: their tokens, and their price without a cache and without repairs."""

    def __init__(self, setup: ModelSetup, level: Level) -> None:
        template = setup.templates[level]
        self.price = setup.price
        self._written = min(_ANSWER_TOKENS[level], setup.llm.max_tokens)
        self._most = setup.max_prompt_chars
        self._at_once = setup.llm.concurrency
        self._always = predict_tokens(template.system, answer_tool(level).schema_bytes.decode())

    def of_prompt(self, prompt: str) -> CallTotals:
        """A prompt that is known word for word."""
        return self._of(predict_tokens(prompt))

    def of_parts(self, head: str, children: Sequence[object]) -> CallTotals:
        """A document whose children's texts are not written yet."""
        return self._of(predict_tokens(head) + len(children) * predict_tokens(" " * _CHILD_CHARS))

    def of_size(self, characters: int, children: int) -> CallTotals:
        """A document of which only the size is known: what it shows of its children, or else of itself."""
        shown = children * _CHILD_CHARS if children else min(characters, self._most)
        return self._of(predict_tokens(" " * shown))

    def spared_usd(self, calls: int) -> float:
        """What the provider's prompt cache takes off the price of calls, which all begin alike.

        Calls that are sent before the first answer find the cache empty and pay for filling it. 0 where the price of
        a cached token is not known.
        """
        rate = self.price.of_prompt(self._always)
        if rate.cached_input >= rate.input:
            return 0.0
        first = min(calls, self._at_once)
        spared = (calls - first) * (rate.input - rate.cached_input) - first * (rate.cache_write - rate.input)
        return self._always * spared

    def _of(self, tokens: int) -> CallTotals:
        read = self._always + tokens
        rate = self.price.of_prompt(read)
        return CallTotals(1, read, self._written, read * rate.input + self._written * rate.output)


_NO_MODEL = (Gate.PLACEHOLDER, Gate.DISABLED)


class PlanPrice(Struct):
    """Some planned documents: the calls for them (an upper bound above functions), how many texts are there already,
    and what each gate stops. `documented` counts documented ones among the calls and the stopped."""

    asked: CallTotals = field(default_factory=CallTotals)
    found: int = 0
    stopped: dict[Gate, CallTotals] = field(default_factory=dict)
    documented: CallTotals = field(default_factory=CallTotals)

    def add(self, row: PlanRow) -> None:
        """Count one document."""
        saving = predicted_call(row)
        if row.is_documented and row.predicted_input_tokens and row.gate not in _NO_MODEL:
            self.documented += saving
        if row.gate is not None:
            if row.gate not in _NO_MODEL:
                self.stopped[row.gate] = self.stopped.get(row.gate, CallTotals()) + saving
        elif row.action in (PlanAction.WRITE, PlanAction.MAYBE):
            if row.predicted_input_tokens:
                self.asked += saving
            else:
                self.found += (row.writer or "").startswith(f"{WrittenBy.LLM}/")

    def spared_usd(self, estimator: Estimator) -> tuple[float, float]:
        """The discount of the provider's prompt cache on the calls, and on what gates stop."""
        return estimator.spared_usd(self.asked.calls), estimator.spared_usd(self.all_stopped.calls)

    @property
    def all_stopped(self) -> CallTotals:
        return sum(self.stopped.values(), CallTotals())

    @property
    def trusted(self) -> CallTotals:
        """What passes the gate of trust, whether or not another gate stops it."""
        others = (saving for gate, saving in self.stopped.items() if gate not in (Gate.OFFLINE, Gate.TRUST))
        return sum(others, self.asked)

    @property
    def undocumented(self) -> CallTotals:
        """Undocumented documents, both those that get a call and those that a gate stops."""
        whole, told = self.asked + self.all_stopped, self.documented
        return CallTotals(
            whole.calls - told.calls,
            whole.input_tokens - told.input_tokens,
            whole.output_tokens - told.output_tokens,
            max(0.0, whole.usd - told.usd),
        )


def predicted_call(row: PlanRow) -> CallTotals:
    """What the call for a planned document would take."""
    return CallTotals(1, row.predicted_input_tokens, row.predicted_output_tokens, row.predicted_usd)


def price_levels(rows: Iterable[PlanRow]) -> dict[Level, PlanPrice]:
    """By level, all four of them."""
    levels = {level: PlanPrice() for level in Level}
    for row in rows:
        levels[row.level].add(row)
    return levels


def price_all(rows: Iterable[PlanRow]) -> PlanPrice:
    """All levels together."""
    found = PlanPrice()
    for row in rows:
        found.add(row)
    return found


def spared_by_cache(settings: Settings, levels: Mapping[Level, PlanPrice]) -> tuple[float, float]:
    """The discount of the provider's prompt cache over all levels: on the calls, and on what gates stop."""
    setup = ModelSetup(settings, templates_of(settings))
    spared = [found.spared_usd(Estimator(setup, level)) for level, found in levels.items()]
    return sum(asked for asked, _ in spared), sum(stopped for _, stopped in spared)


def ways_on(key: str, settings: Settings, priced: PlanPrice) -> list[str]:
    """For each gate that stops documents, what would let them pass; in the order of the gates."""
    return [_way_on(gate, key, settings, priced) for gate in _TOLD if gate in priced.stopped]


def held_back(tables: TableStore, key: str, settings: Settings) -> str | None:
    """What of the last plan waits to be confirmed, and its price; None where nothing does."""
    if not settings.llm.enabled:
        return None
    priced = price_all(tables.read_rows_or_empty("plan", key, PlanRow))
    return _way_on(Gate.CONFIRM, key, settings, priced) if Gate.CONFIRM in priced.stopped else None


_TOLD = (Gate.OFFLINE, Gate.TRUST, Gate.TESTS, Gate.DOCUMENTED, Gate.CAP, Gate.CONFIRM)


def _way_on(gate: Gate, key: str, settings: Settings, priced: PlanPrice) -> str:
    """What would let the documents pass that a gate stops."""
    llm, stopped = settings.llm, _so_much(priced.stopped[gate])
    match gate:
        case Gate.OFFLINE:
            return f"offline = true keeps {stopped} from being asked for"
        case Gate.TRUST:
            return (
                f"llm.trust = {llm.trust.value!r} lets {_so_much(priced.trusted)} pass, and {stopped} wait: no edge "
                "that a compiler's index confirms touches them"
            )
        case Gate.TESTS:
            return f"llm.tests = false leaves out test code: {stopped}. llm.tests = true asks for it"
        case Gate.DOCUMENTED:
            return (
                f"llm.documented = false leaves {stopped} to their authors' words: llm.documented = true asks for them"
            )
        case Gate.CAP if not llm.max_summaries_per_run:
            return (
                f"llm.max_summaries_per_run = 0 asks for nothing: it would be {stopped}. Set it to a number, and "
                "llm.max_cost_usd_per_run to a price, to let a build ask"
            )
        case Gate.CAP:
            dollars = "" if llm.max_cost_usd_per_run is None else f" and ${llm.max_cost_usd_per_run:,.2f}"
            return (
                f"the caps ({llm.max_summaries_per_run:,} texts{dollars} a run) leave {stopped} to later runs: "
                f"`codesum index {key}` again goes on"
            )
        case _:
            return (
                f"held: {stopped}, since the model would write more than {settings.max_rewrite_fraction:.0%} of the "
                f"index again: `codesum index {key} --yes` confirms"
            )


def _so_much(saving: CallTotals) -> str:
    tokens = saving.input_tokens + saving.output_tokens
    return f"{saving.calls:,} texts, about {tokens:,} tokens, ${saving.usd:,.4f}"


class TextOrigins(Struct):
    """The documents of a level by where their text came from: a call, the cache, the last build."""

    asked: set[str] = field(default_factory=set)
    cached: set[str] = field(default_factory=set)
    same_body: set[str] = field(default_factory=set)
    standing: set[str] = field(default_factory=set)

    def cause_of(self, planned: PlanRow, written_by: WrittenBy, gate: Gate | None) -> AvoidanceReason:
        """Why a planned document took no call; its text's writer and gate are those of the finished level."""
        is_function, id_ = planned.level is Level.FUNCTION, planned.id
        held = (
            (AvoidanceReason.PLACEHOLDER, written_by is WrittenBy.PLACEHOLDER),
            (AvoidanceReason.ASKED, id_ in self.asked),
            (AvoidanceReason.CACHE, id_ in self.cached),
            (AvoidanceReason.SAME_BODY, id_ in self.same_body),
            (AvoidanceReason.CUT_OFF, id_ in self.standing and planned.action is not PlanAction.KEEP),
            (AvoidanceReason.GATE, planned.gate is not None or gate is not None),
            (AvoidanceReason.GRAPH, is_function and planned.context_changed),
        )
        return next((cause for cause, holds in held if holds), AvoidanceReason.UNCHANGED)


def read_meter(
    workspace: Workspace, level: Level, outline: DocumentTree, estimator: Estimator, texts: pa.Table, seen: TextOrigins
) -> dict[AvoidanceReason, CallTotals]:
    """What calls for all documents of a level would take, by the reason why they took none, or `ASKED`."""
    # A store of its own: the step is no reader of this table, since no text is made from it.
    tables = TableStore(workspace.tables.root)
    planned = {row.id: row for row in tables.read_rows("plan", workspace.key, PlanRow) if row.level is level}
    shown = _shown_characters(tables, workspace.key, level)
    found: dict[AvoidanceReason, CallTotals] = {}
    for id_, written_by, gate in zip(
        *(values_of(texts, TextRow, n) for n in ("id", "written_by", "gate")), strict=True
    ):
        row = planned[id_]
        children = outline.children.get(id_, ())
        saving = (
            predicted_call(row) if row.predicted_input_tokens else estimator.of_size(shown.get(id_, 0), len(children))
        )
        cause = seen.cause_of(row, written_by, gate)
        found[cause] = found.get(cause, CallTotals()) + saving
    return dict(sorted(found.items()))


def idle(found: Mapping[AvoidanceReason, CallTotals]) -> dict[AvoidanceReason, CallTotals]:
    """The same level in a next run that finds nothing changed."""
    settled: dict[AvoidanceReason, CallTotals] = {}
    for cause, saving in found.items():
        now = cause if cause in (AvoidanceReason.PLACEHOLDER, AvoidanceReason.GATE) else AvoidanceReason.UNCHANGED
        settled[now] = settled.get(now, CallTotals()) + saving
    return settled


def note_avoided(workspace: Workspace, level: Level, found: Mapping[AvoidanceReason, CallTotals]) -> None:
    """Write a level's meter into the table `avoided`; a level that is written again in the same run replaces it."""
    before = workspace.tables.read_rows_or_empty("avoided", workspace.key, AvoidedRow)
    kept = [row for row in before if (row.run_id, row.level) != (workspace.run_id, level)]
    moment = workspace.timestamp()
    rows = [
        AvoidedRow(
            run_id=workspace.run_id,
            noted_at=moment,
            level=level,
            cause=cause,
            calls=saving.calls,
            input_tokens=saving.input_tokens,
            output_tokens=saving.output_tokens,
            usd=saving.usd,
        )
        for cause, saving in found.items()
    ]
    workspace.tables.write_rows("avoided", workspace.key, [*kept, *rows], AvoidedRow)


def _shown_characters(tables: TableStore, key: str, level: Level) -> dict[str, int]:
    """About how much of its own a document shows; of classes, folders and parsed files it is their children."""
    if level is Level.FUNCTION:
        table, id_, column = "symbols", "id", "canonical_source"
    elif level is Level.FILE:
        table, id_, column = "files", "path", "size"
    else:
        return {}
    rows = tables.read(table, key, columns=[id_, column])
    values = rows.column(column)
    lengths = pc.utf8_length(values) if level is Level.FUNCTION else values
    return dict(zip(rows.column(id_).to_pylist(), lengths.to_pylist(), strict=True))


class LevelCalls(Struct, frozen=True):
    """Sums over the attempts of a run at one level.

    `texts` were written by calls, `found` came from the cache. `pending` are documents that a later run may write.
    `predicted_usd` and `predicted_usd_with_cache` are the plan's prices of the documents that took a call, without the
    provider's prompt cache and with it; `avoided` is what the other documents would have taken, by reason.
    """

    pending: int
    gates: Mapping[Gate, int]
    avoided: Mapping[AvoidanceReason, CallTotals]
    texts: int = 0
    found: int = 0
    predicted_usd: float = 0.0
    predicted_usd_with_cache: float = 0.0
    secrets_masked: Mapping[str, int] = field(default_factory=dict)
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float = 0.0
    latency_p50_s: float = 0.0
    latency_p95_s: float = 0.0
    failures: Mapping[str, int] = field(default_factory=dict)

    def with_attempts(self, rows: Sequence[LedgerRow]) -> "LevelCalls":
        """With the sums over the attempts of one run at the level."""
        heard = [row.latency_s for row in rows if row.outcome in (AttemptOutcome.GOOD, AttemptOutcome.INVALID)] or [0.0]
        failures = Counter(row.failure or "interrupted" for row in rows if row.outcome is not AttemptOutcome.GOOD)
        return replace(
            self,
            attempts=len(rows),
            input_tokens=sum(row.prompt_tokens for row in rows),
            output_tokens=sum(row.completion_tokens for row in rows),
            cached_tokens=sum(row.cached_tokens for row in rows),
            cost_usd=sum(row.cost_usd for row in rows),
            latency_p50_s=float(np.percentile(heard, 50)),
            latency_p95_s=float(np.percentile(heard, 95)),
            failures=dict(sorted(failures.items())),
        )


def calls_of_unchanged(before: LevelCalls) -> LevelCalls:
    """The report of a run that finds the level unchanged."""
    return LevelCalls(before.pending, before.gates, idle(before.avoided))
