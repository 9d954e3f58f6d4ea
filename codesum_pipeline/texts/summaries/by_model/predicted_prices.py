"""The predicted price of one call for a text, and the most tokens that the call can read.

A call's price is without the provider's prompt cache, so that a cap in dollars is shared out safely. The cache's
discount depends on all calls together, and is given beside it.

What texts by the same model really cost, beside what was predicted for one call each, is read off the ledger. Repairs,
another length of answers and the provider's prompt cache all are in that one figure, so it is what the next texts are
expected to cost.

The avoided-work meter: the calls that writing every text anew would take, by the reason why they were not made.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field
from msgspec.structs import astuple, replace

from codesum_pipeline.evidence.extractive.composing import MAX_SUMMARY
from codesum_pipeline.foundation.data_model.document import Gate, Level, PlanAction, PlanRow, TextRow, WrittenBy
from codesum_pipeline.foundation.data_model.model_call import (
    Amounts,
    AttemptOutcome,
    AvoidanceReason,
    AvoidedRow,
    CallTotals,
    LedgerRow,
)
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.foundation.store.rows import values_of
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.llm.answer_shapes import answer_tool
from codesum_pipeline.texts.llm.ledger_readings import add_up_calls
from codesum_pipeline.texts.llm.prices import predict_tokens, tokens_upper
from codesum_pipeline.texts.summaries.by_model.choosing import ModelSetup
from codesum_pipeline.texts.summaries.outline import Child, DocumentTree

# Measured on the worked examples in the packaged system prompt, at four characters a token.
_ANSWER_TOKENS = {Level.FUNCTION: 480, Level.CLASS: 280, Level.FILE: 280, Level.MODULE: 280}
# A child's line in its parent's prompt: its name, its level and its summary.
_CHILD_CHARS = 180
# No character has more.
BYTES_PER_CHAR = 4
# Around a child's name and level in its line, and the line about children that are not shown.
_AROUND_CHILD_BYTES = 40


class Estimate(CallTotals, frozen=True):
    """A call that is predicted, and at most how many tokens its prompt has."""

    prompt_tokens_upper: int = 0


class Estimator:
    """Predicts calls of one level: their tokens, and their price without a cache and without repairs."""

    def __init__(self, setup: ModelSetup, level: Level) -> None:
        template = setup.templates[level]
        self.price = setup.price
        self._written = min(_ANSWER_TOKENS[level], setup.llm.max_tokens)
        self._most = setup.max_prompt_chars
        self._at_once = setup.llm.concurrency
        self._sent = (template.system, answer_tool(level).schema_bytes.decode())
        self._always = predict_tokens(*self._sent)
        self._longest = tokens_upper(*self._sent) + BYTES_PER_CHAR * max(0, self._most - len(template.system))

    def of_prompt(self, prompt: str) -> Estimate:
        """A prompt that is known word for word."""
        return self._of(predict_tokens(prompt), tokens_upper(*self._sent, prompt))

    def of_parts(self, head: str, prompt: str, children: Sequence[Child]) -> Estimate:
        """A document whose children's texts are not written yet; `prompt` is the one without any child."""
        listed = sum(
            len(child.name.encode("utf-8", "surrogatepass")) + BYTES_PER_CHAR * MAX_SUMMARY + _AROUND_CHILD_BYTES
            for child in children
        )
        most = min(tokens_upper(*self._sent, prompt) + listed, self._longest)
        return self._of(predict_tokens(head) + len(children) * predict_tokens(" " * _CHILD_CHARS), most)

    def of_size(self, characters: int, children: int) -> CallTotals:
        """A document with only its size known: what it shows of its children, or else of itself."""
        shown = children * _CHILD_CHARS if children else min(characters, self._most)
        return self._of(predict_tokens(" " * shown))

    def spared_usd(self, calls: int) -> float:
        """What the provider's prompt cache takes off the price of calls, which all begin alike.

        Calls that are sent before the first answer find the cache empty and pay for filling it. 0 if the price of
        a cached token is not known.
        """
        rate = self.price.of_prompt(self._always)
        if rate.cached_input >= rate.input:
            return 0.0
        first = min(calls, self._at_once)
        spared = (calls - first) * (rate.input - rate.cached_input) - first * (rate.cache_write - rate.input)
        return self._always * spared

    def _of(self, tokens: int, most: int = 0) -> Estimate:
        read = self._always + tokens
        rate = self.price.of_prompt(read)
        return Estimate(1, read, self._written, read * rate.input + self._written * rate.output, most)


def predicted_call(row: PlanRow) -> CallTotals:
    """The predicted call for a planned document."""
    return CallTotals(1, row.predicted_input_tokens, row.predicted_output_tokens, row.predicted_usd)


def avoidance_of(
    planned: PlanRow, written_by: WrittenBy, gate: Gate | None, origin: AvoidanceReason | None
) -> AvoidanceReason:
    """Why a planned document took no call. Its text's writer and gate are those of the finished level, `origin` says
    where the level found its text: `CUT_OFF` where that of the last build is kept."""
    is_cut_off = origin is AvoidanceReason.CUT_OFF
    held = (
        (AvoidanceReason.PLACEHOLDER, written_by is WrittenBy.PLACEHOLDER),
        (origin, origin is not None and not is_cut_off),
        (origin, is_cut_off and planned.action is not PlanAction.KEEP),
        (AvoidanceReason.GATE, planned.gate is not None or gate is not None),
        (AvoidanceReason.GRAPH, planned.level is Level.FUNCTION and planned.context_changed),
    )
    return next((reason for reason, holds in held if reason and holds), AvoidanceReason.UNCHANGED)


def read_meter(
    workspace: Workspace,
    level: Level,
    outline: DocumentTree,
    estimator: Estimator,
    texts: pa.Table,
    origins: Mapping[str, AvoidanceReason],
) -> dict[AvoidanceReason, CallTotals]:
    """What calls for all documents of a level would take, by the reason why they took none, or `NOT_AVOIDED`."""
    # A store of its own: the step is no reader of this table, since no text is made from it.
    tables = workspace.tables.without_base()
    planned = {row.id: row for row in tables.read_rows("plan", workspace.key, PlanRow) if row.level is level}
    shown = _shown_characters(tables, workspace.key, level)
    totals: dict[AvoidanceReason, CallTotals] = {}
    for id_, by, gate in zip(*(values_of(texts, TextRow, n) for n in ("id", "written_by", "gate")), strict=True):
        row = planned[id_]
        children = outline.children.get(id_, ())
        saving = (
            predicted_call(row) if row.predicted_input_tokens else estimator.of_size(shown.get(id_, 0), len(children))
        )
        cause = avoidance_of(row, by, gate, origins.get(id_))
        totals[cause] = totals.get(cause, CallTotals()) + saving
    return dict(sorted(totals.items()))


def note_avoided(workspace: Workspace, level: Level, avoided: Mapping[AvoidanceReason, CallTotals]) -> None:
    """Write a level's meter into the table `avoided`; a level that is written again in the same run replaces it."""
    before = workspace.tables.read_rows_or_empty("avoided", workspace.key, AvoidedRow)
    kept = [row for row in before if (row.run_id, row.level) != (workspace.run_id, level)]
    moment = workspace.timestamp()
    rows = [AvoidedRow(workspace.run_id, moment, level, cause, *astuple(saving)) for cause, saving in avoided.items()]
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
        totals = add_up_calls(rows)
        return replace(
            self,
            attempts=len(rows),
            input_tokens=totals.prompt_tokens,
            output_tokens=totals.completion_tokens,
            cached_tokens=totals.cached_tokens,
            cost_usd=totals.cost_usd,
            latency_p50_s=totals.latency_p50_s,
            latency_p95_s=totals.latency_p95_s,
            failures=dict(sorted(totals.failures)),
        )


def calls_of_unchanged(before: LevelCalls) -> LevelCalls:
    """The report of a run that finds the level unchanged."""
    avoided: dict[AvoidanceReason, CallTotals] = {}
    for reason, saving in before.avoided.items():
        now = reason if reason in (AvoidanceReason.PLACEHOLDER, AvoidanceReason.GATE) else AvoidanceReason.UNCHANGED
        avoided[now] = avoided.get(now, CallTotals()) + saving
    return LevelCalls(before.pending, before.gates, avoided)


# Until something is measured: one text in ten is taken to need a second call.
DEFAULT_REPAIR_SHARE = 0.1
# A level with so many texts is judged by its own.
ENOUGH_OF_LEVEL = 20
# The newest runs count until they have so many texts: templates change, and what a model does is another thing then.
NEWEST_TEXTS = 1000


class CostScope(StrEnum):
    """Whose texts were measured."""

    REPOSITORY = "repository"
    HOME = "home"
    NOWHERE = "nowhere"


class MeasuredTexts(Amounts, frozen=True):
    """Documents for which a model answered: the answers beyond the first of each, what all calls for them cost, and the
    price that was predicted for one call each."""

    texts: int = 0
    repairs: int = 0
    spent_usd: float = 0.0
    predicted_usd: float = 0.0

    @property
    def repair_share(self) -> float:
        """Repairs a text; what is taken for it where nothing was measured."""
        return self.repairs / self.texts if self.texts else DEFAULT_REPAIR_SHARE

    @property
    def factor(self) -> float:
        """What a text costs, as a multiple of the price predicted for one call. Where that was no price, a repair is
        taken to cost as much as the first call."""
        return self.spent_usd / self.predicted_usd if self.predicted_usd else 1 + self.repair_share


class CostHistory(Struct, frozen=True):
    """What was measured, of all levels together and of each."""

    scope: CostScope = CostScope.NOWHERE
    levels: Mapping[Level, MeasuredTexts] = field(default_factory=dict)

    @property
    def whole(self) -> MeasuredTexts:
        return sum(self.levels.values(), MeasuredTexts())

    def factor_of(self, level: Level) -> float:
        """What a text of the level is expected to cost, as a multiple of the price predicted for one call."""
        own = self.levels.get(level, MeasuredTexts())
        return (own if own.texts >= ENOUGH_OF_LEVEL else self.whole).factor

    def describe(self) -> str:
        """In a sentence, where expected prices come from."""
        whole = self.whole
        if not whole.texts:
            return (
                f"expected: a guess that {whole.repair_share:.0%} of the texts take a second call; no text by this "
                "model was measured in this home yet"
            )
        return (
            f"expected: measured on the last {count_noun(whole.texts, 'text')} by this model in this "
            f"{self.scope.value}: {count_noun(whole.repairs, 'repair')} ({whole.repair_share:.0%}), and "
            f"{whole.factor:.2f} times the price predicted for one call each"
        )


def measure_costs(tables: TableStore, key: str, models: Collection[str]) -> CostHistory:
    """The measured costs of texts by these models in a repository; of all of the home, where it has none."""
    # A store of its own: no step is made anew since something was paid.
    store = (tables.base or tables).without_base()
    if levels := _measured_in(store, key, models):
        return CostHistory(CostScope.REPOSITORY, levels)
    found: dict[Level, MeasuredTexts] = {}
    for other in store.repositories("ledger"):
        for level, texts in _measured_in(store, other, models).items():
            found[level] = found.get(level, MeasuredTexts()) + texts
        if sum(texts.texts for texts in found.values()) >= NEWEST_TEXTS:
            break
    return CostHistory(CostScope.HOME, found) if found else CostHistory()


def _measured_in(tables: TableStore, key: str, models: Collection[str]) -> dict[Level, MeasuredTexts]:
    """By level, of the newest runs of a repository."""
    found: dict[Level, MeasuredTexts] = {}
    for level, texts in _runs_of(tables, key, models):
        if sum(each.texts for each in found.values()) >= NEWEST_TEXTS:
            break
        found[level] = found.get(level, MeasuredTexts()) + texts
    return found


def _runs_of(tables: TableStore, key: str, models: Collection[str]) -> Iterator[tuple[Level, MeasuredTexts]]:
    """What each run asked for at a level, the newest first; only runs whose prediction is noted can be compared."""
    attempts: dict[tuple[str, str], list[LedgerRow]] = defaultdict(list)
    for row in tables.read_rows_or_empty("ledger", key, LedgerRow):
        # Old rows are added up: how many texts were theirs is not known any more.
        if row.attempts is None:
            attempts[row.run_id, row.level].append(row)
    if not attempts:
        return
    predicted = {
        (row.run_id, row.level.value): row
        for row in tables.read_rows_or_empty("avoided", key, AvoidedRow)
        if row.cause is AvoidanceReason.NOT_AVOIDED
    }
    for name, noted in sorted(predicted.items(), key=lambda item: (item[1].noted_at, item[0]), reverse=True):
        rows = attempts.get(name, [])
        answered = [row for row in rows if row.outcome in (AttemptOutcome.GOOD, AttemptOutcome.INVALID)]
        texts = len({row.id for row in answered})
        if texts and {row.model for row in rows} <= {*models}:
            spent = sum(row.cost_usd for row in rows)
            yield noted.level, MeasuredTexts(texts, len(answered) - texts, spent, noted.usd)
