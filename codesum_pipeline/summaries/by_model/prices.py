"""The predicted price of one call and of a whole plan, and what each gate stops.

A call's price is without the provider's prompt cache, so that a cap in dollars is shared out safely. The cache's
discount depends on all calls together, and is given beside it.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from codesum_pipeline.llm.answers import answer_tool
from codesum_pipeline.llm.prices import predict_tokens
from codesum_pipeline.model.documents import Gate, Level, PlanAction, PlanRow, WrittenBy
from codesum_pipeline.model.ledger import CallTotals
from codesum_pipeline.settings.models import Settings
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.summaries.by_model.setup import ModelSetup, templates_of

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
    return [way(key, settings, priced) for gate, way in _WAYS.items() if gate in priced.stopped]


def held_back(tables: TableStore, key: str, settings: Settings) -> str | None:
    """What of the last plan waits to be confirmed, and its price; None where nothing does."""
    if not settings.llm.enabled:
        return None
    priced = price_all(tables.read_rows_or_empty("plan", key, PlanRow))
    return _confirm(key, settings, priced) if Gate.CONFIRM in priced.stopped else None


def _offline(key: str, settings: Settings, priced: PlanPrice) -> str:
    return f"offline = true keeps {_so_much(priced.stopped[Gate.OFFLINE])} from being asked for"


def _trust(key: str, settings: Settings, priced: PlanPrice) -> str:
    return (
        f"llm.trust = {settings.llm.trust.value!r} lets {_so_much(priced.trusted)} pass, and "
        f"{_so_much(priced.stopped[Gate.TRUST])} wait: no edge that a compiler's index confirms touches them"
    )


def _tests(key: str, settings: Settings, priced: PlanPrice) -> str:
    return (
        f"llm.tests = false leaves out test code: {_so_much(priced.stopped[Gate.TESTS])}. llm.tests = true asks for it"
    )


def _documented(key: str, settings: Settings, priced: PlanPrice) -> str:
    return (
        f"llm.documented = false leaves {_so_much(priced.stopped[Gate.DOCUMENTED])} to their authors' words: "
        "llm.documented = true asks for them"
    )


def _cap(key: str, settings: Settings, priced: PlanPrice) -> str:
    llm, stopped = settings.llm, priced.stopped[Gate.CAP]
    if not llm.max_summaries_per_run:
        return (
            f"llm.max_summaries_per_run = 0 asks for nothing: it would be {_so_much(stopped)}. Set it to a number, and "
            "llm.max_cost_usd_per_run to a price, to let a build ask"
        )
    dollars = "" if llm.max_cost_usd_per_run is None else f" and ${llm.max_cost_usd_per_run:,.2f}"
    return (
        f"the caps ({llm.max_summaries_per_run:,} texts{dollars} a run) leave {_so_much(stopped)} to later runs: "
        f"`codesum index {key}` again goes on"
    )


def _confirm(key: str, settings: Settings, priced: PlanPrice) -> str:
    return (
        f"held: {_so_much(priced.stopped[Gate.CONFIRM])}, since the model would write more than "
        f"{settings.max_rewrite_fraction:.0%} of the index again: `codesum index {key} --yes` confirms"
    )


_WAYS = {
    Gate.OFFLINE: _offline,
    Gate.TRUST: _trust,
    Gate.TESTS: _tests,
    Gate.DOCUMENTED: _documented,
    Gate.CAP: _cap,
    Gate.CONFIRM: _confirm,
}


def _so_much(saving: CallTotals) -> str:
    tokens = saving.input_tokens + saving.output_tokens
    return f"{saving.calls:,} texts, about {tokens:,} tokens, ${saving.usd:,.4f}"
