"""What a plan costs, by level and by what each gate stops: expected, and at most.

*Expected* is the price predicted for one call, times what texts by the model were measured to cost beside it. *At most*
is what no run can pass: each text takes all calls that the settings allow, at the highest price of each; a cap that is
lower is that bound.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.document import Gate, Level, PlanAction, PlanRow, WrittenBy
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.texts.llm.answer_shapes import answer_tool
from codesum_pipeline.texts.llm.budgets import prompt_chars
from codesum_pipeline.texts.llm.call_bounds import TextCeiling
from codesum_pipeline.texts.llm.prices import tokens_upper
from codesum_pipeline.texts.summaries.by_model.choosing import ModelSetup
from codesum_pipeline.texts.summaries.by_model.measured_costs import CostHistory, measure_costs
from codesum_pipeline.texts.summaries.by_model.predicted_prices import BYTES_PER_CHAR, Estimator
from codesum_pipeline.texts.summaries.decide import kind_of_writer

# A function without a name of its own is written for nothing.
_NO_MODEL = (Gate.PLACEHOLDER, Gate.DISABLED, Gate.UNNAMED)


class PlannedCalls(Struct, frozen=True):
    """Texts that a model would be asked for: the tokens and price predicted for one call each, and what they are
    expected to cost and cost at most."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    predicted_usd: float = 0.0
    expected_usd: float = 0.0
    at_most_usd: float = 0.0

    def __add__(self, other: "PlannedCalls") -> "PlannedCalls":
        return PlannedCalls(*(own + more for own, more in zip(self._values(), other._values(), strict=True)))

    def __sub__(self, part: "PlannedCalls") -> "PlannedCalls":
        """What is left without a part; floating point must not make a price negative."""
        return PlannedCalls(*(max(0, own - less) for own, less in zip(self._values(), part._values(), strict=True)))

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__struct_fields__)

    @property
    def prices(self) -> str:
        """Both prices in words."""
        return prices_in_words(self.expected_usd, self.at_most_usd)


def prices_in_words(expected_usd: float, at_most_usd: float) -> str:
    """`expected $0.0123, at most $0.4567`."""
    return f"expected ${expected_usd:,.4f}, at most ${at_most_usd:,.4f}"


class PlanPricing(Struct, dict=True):
    """Prices planned documents under settings; raises `ConfigurationError` for a model without a known price."""

    llm: LlmSettings
    history: CostHistory

    @classmethod
    def of(cls, tables: TableStore, key: str, settings: Settings) -> "PlanPricing":
        llm = settings.llm
        return cls(llm, measure_costs(tables, key, (llm.model, *llm.fallback_models)))

    def of_row(self, row: PlanRow) -> PlannedCalls:
        """The calls for a planned document."""
        expected = row.predicted_usd * self._factors[row.level]
        tokens = row.prompt_tokens_upper
        if tokens is None:
            # Planned by an earlier version, which did not note it.
            tokens = self._longest_prompt
        most = self._ceiling.usd(tokens)
        return PlannedCalls(
            1, row.predicted_input_tokens, row.predicted_output_tokens, row.predicted_usd, min(expected, most), most
        )

    @cached_property
    def _factors(self) -> Mapping[Level, float]:
        return {level: self.history.factor_of(level) for level in Level}

    @cached_property
    def _ceiling(self) -> TextCeiling:
        return TextCeiling.of(self.llm, max_tokens=self.llm.max_tokens, retries=self.llm.max_retries)

    @cached_property
    def _longest_prompt(self) -> int:
        schemas = (answer_tool(level).schema_bytes.decode() for level in Level)
        return tokens_upper(*schemas) + BYTES_PER_CHAR * prompt_chars(self.llm)

    def describe(self) -> list[str]:
        """How both prices come about, in a sentence each."""
        llm, ceiling = self.llm, self._ceiling
        forms = f" and {ceiling.other_forms} in other forms (llm.form = {llm.form!r})" if ceiling.other_forms else ""
        models = f" of each of {len(ceiling.prices)} models" if len(ceiling.prices) > 1 else ""
        way_out = "; llm.max_cost_usd_per_run sets a lower limit" if llm.max_cost_usd_per_run is None else ""
        return [
            self.history.describe(),
            f"at most: every text takes {count_noun(llm.max_attempts, 'answer')} (llm.max_attempts){forms}{models}, "
            f"each asked for {count_noun(ceiling.sends, 'time')} (llm.max_retries), each time at its highest price"
            f"{way_out}",
        ]


class PlanPrice(Struct):
    """Some planned documents: the calls for them (above functions perhaps fewer), how many texts the cache has and how
    many are kept, and what each gate stops. `documented` counts documented ones among the calls and the stopped."""

    asked: PlannedCalls = field(default_factory=PlannedCalls)
    found: int = 0
    stopped: dict[Gate, PlannedCalls] = field(default_factory=dict)
    documented: PlannedCalls = field(default_factory=PlannedCalls)
    kept: int = 0

    def add(self, row: PlanRow, pricing: PlanPricing) -> None:
        """Count one document."""
        calls = pricing.of_row(row) if row.predicted_input_tokens else PlannedCalls(1)
        if row.is_documented and row.predicted_input_tokens and row.gate not in _NO_MODEL:
            self.documented += calls
        if row.gate is not None:
            if row.gate not in _NO_MODEL:
                self.stopped[row.gate] = self.stopped.get(row.gate, PlannedCalls()) + calls
        elif row.predicted_input_tokens and row.action in (PlanAction.WRITE, PlanAction.MAYBE):
            self.asked += calls
        elif row.writer and kind_of_writer(row.writer) is WrittenBy.LLM:
            self.found += row.action is not PlanAction.KEEP
            self.kept += row.action is PlanAction.KEEP

    def __add__(self, other: "PlanPrice") -> "PlanPrice":
        gates = {**self.stopped, **other.stopped}
        stopped = {
            gate: self.stopped.get(gate, PlannedCalls()) + other.stopped.get(gate, PlannedCalls()) for gate in gates
        }
        return PlanPrice(
            self.asked + other.asked,
            self.found + other.found,
            stopped,
            self.documented + other.documented,
            self.kept + other.kept,
        )

    @property
    def all_stopped(self) -> PlannedCalls:
        return sum(self.stopped.values(), PlannedCalls())

    @property
    def waiting(self) -> PlannedCalls:
        """The calls that wait for an edge that can be trusted."""
        return self.stopped.get(Gate.TRUST, PlannedCalls())

    @property
    def trusted(self) -> PlannedCalls:
        """The calls that pass the gate of trust, whether or not another gate stops them."""
        others = (saving for gate, saving in self.stopped.items() if gate not in (Gate.OFFLINE, Gate.TRUST))
        return sum(others, self.asked)

    @property
    def undocumented(self) -> PlannedCalls:
        """Undocumented documents, both those that get a call and those that a gate stops."""
        return self.asked + self.all_stopped - self.documented


class NextBuild(Struct, frozen=True):
    """What the next build asks for and spends, within its caps; `bound_by` is the cap that makes `at_most_usd` lower
    than all calls for these texts; empty if none does."""

    texts: int
    expected_usd: float
    at_most_usd: float
    bound_by: str = ""

    @property
    def prices(self) -> str:
        """Both prices in words, and what bounds the second."""
        return prices_in_words(self.expected_usd, self.at_most_usd) + (f" ({self.bound_by})" if self.bound_by else "")


def price_levels(rows: Iterable[PlanRow], pricing: PlanPricing) -> dict[Level, PlanPrice]:
    """By level, all four of them."""
    levels = {level: PlanPrice() for level in Level}
    for row in rows:
        levels[row.level].add(row, pricing)
    return levels


def price_all(rows: Iterable[PlanRow], pricing: PlanPricing) -> PlanPrice:
    """All levels together."""
    return sum(price_levels(rows, pricing).values(), PlanPrice())


def price_next_build(rows: Iterable[PlanRow], pricing: PlanPricing, *, usd_left: float | None = None) -> NextBuild:
    """What a build of the plan spends, of which `usd_left` is left of a day's cap (None: the day has none).

    Calls that cost less than predicted leave room for documents that the plan leaves to later runs, so these count in
    what is spent at most.
    """
    llm = pricing.llm
    open_rows = [row for row in rows if row.predicted_input_tokens and row.gate in (None, Gate.CAP)]
    asked = [row for row in open_rows if row.gate is None and row.action in (PlanAction.WRITE, PlanAction.MAYBE)]
    dearest = sorted((pricing.of_row(row).at_most_usd for row in open_rows), reverse=True)
    most, bound_by = sum(dearest[: llm.max_summaries_per_run]), ""
    if llm.max_summaries_per_run < len(dearest):
        bound_by = f"llm.max_summaries_per_run = {llm.max_summaries_per_run:,}"
    of_run = llm.max_cost_usd_per_run
    caps = ((of_run, f"llm.max_cost_usd_per_run = {of_run}"), (usd_left, "the rest of llm.max_cost_usd_per_day"))
    for cap, setting in caps:
        if cap is not None and cap < most:
            most, bound_by = cap, setting
    expected = sum(pricing.of_row(row).expected_usd for row in asked)
    return NextBuild(len(asked), min(expected, most), most, bound_by)


def spared_by_cache(setup: ModelSetup, levels: Mapping[Level, PlanPrice]) -> tuple[float, float]:
    """The discount of the provider's prompt cache over all levels: on the calls, and on what gates stop."""
    estimated = [(Estimator(setup, level), found) for level, found in levels.items()]
    on_calls = sum(estimator.spared_usd(found.asked.calls) for estimator, found in estimated)
    return on_calls, sum(estimator.spared_usd(found.all_stopped.calls) for estimator, found in estimated)


def describe_ways_on(key: str, settings: Settings, priced: PlanPrice) -> list[str]:
    """For each gate that stops documents, what would let them pass; in the order of the gates."""
    return [way for gate, way in _ways_on(key, settings, priced).items() if gate in priced.stopped]


def describe_held_back(tables: TableStore, key: str, settings: Settings) -> str | None:
    """What of the last plan waits to be confirmed, and its price; None if nothing does."""
    if not settings.llm.enabled:
        return None
    held = [row for row in tables.read_rows_or_empty("plan", key, PlanRow) if row.gate is Gate.CONFIRM]
    if not held:
        return None
    return _ways_on(key, settings, price_all(held, PlanPricing.of(tables, key, settings)))[Gate.CONFIRM]


def _ways_on(key: str, settings: Settings, priced: PlanPrice) -> dict[Gate, str]:
    """What would let the documents pass that each gate stops."""
    llm, most = settings.llm, settings.llm.max_cost_usd_per_run
    stopped = {gate: _so_much(priced.stopped.get(gate, PlannedCalls())) for gate in Gate}
    caps = (
        f"the caps ({llm.max_summaries_per_run:,} texts{'' if most is None else f' and ${most:,.2f}'} a run) leave "
        f"{stopped[Gate.CAP]} to later runs: `codesum index {key}` again goes on"
        if llm.max_summaries_per_run
        else f"llm.max_summaries_per_run = 0 asks for nothing: it would be {stopped[Gate.CAP]}. Set it to a number, "
        "and llm.max_cost_usd_per_run to a price, to let a build ask"
    )
    return {
        Gate.OFFLINE: f"offline = true keeps {stopped[Gate.OFFLINE]} from being asked for",
        Gate.TRUST: f"llm.trust = {llm.trust.value!r} lets {_so_much(priced.trusted)} pass, and {stopped[Gate.TRUST]} "
        "wait: no edge that a compiler's index confirms touches them",
        Gate.TESTS: f"llm.tests = false leaves out test code: {stopped[Gate.TESTS]}. llm.tests = true asks for it",
        Gate.DOCUMENTED: f"llm.documented = false leaves {stopped[Gate.DOCUMENTED]} to their authors' words: "
        "llm.documented = true asks for them",
        Gate.CAP: caps,
        Gate.CONFIRM: f"held: {stopped[Gate.CONFIRM]}, since the model would write more than "
        f"{settings.max_rewrite_fraction:.0%} of the index again: `codesum index {key} --yes` confirms",
    }


def _so_much(calls: PlannedCalls) -> str:
    tokens = calls.input_tokens + calls.output_tokens
    return f"{count_noun(calls.calls, 'text')} (about {tokens:,} tokens in one call each, {calls.prices})"
