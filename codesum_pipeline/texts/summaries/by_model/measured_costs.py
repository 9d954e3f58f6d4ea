"""What texts by the same model really cost beside what was predicted for one call each, by the ledger.

Repairs, another length of answers and the provider's prompt cache all are in that one figure, so it is what the next
texts are expected to cost.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum

from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.model_call import (
    AttemptOutcome,
    AvoidanceReason,
    AvoidedRow,
    LedgerRow,
)
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.foundation.store.tables import TableStore

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


class MeasuredTexts(Struct, frozen=True):
    """Documents for which a model answered: the answers beyond the first of each, what all calls for them cost, and the
    price that was predicted for one call each."""

    texts: int = 0
    repairs: int = 0
    spent_usd: float = 0.0
    predicted_usd: float = 0.0

    def __add__(self, other: "MeasuredTexts") -> "MeasuredTexts":
        return MeasuredTexts(
            self.texts + other.texts,
            self.repairs + other.repairs,
            self.spent_usd + other.spent_usd,
            self.predicted_usd + other.predicted_usd,
        )

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
