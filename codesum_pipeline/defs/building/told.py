"""What came of matching and telling, as values. An error in it ends the part that it is in and nothing else."""

import logging
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct, field

from codesum_pipeline.defs.building.report_values import rows_of
from codesum_pipeline.defs.building.values import StepOutcome, Value
from codesum_pipeline.delivery.outbox import OUTBOX_FILE, Delivery, DeliveryState, open_outbox
from codesum_pipeline.digests.rows import DigestRow, TickOutcome, TickRow
from codesum_pipeline.digests.store import open_digests
from codesum_pipeline.intents.file import IntentSurvey
from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.model.guard import Failure

if TYPE_CHECKING:
    from codesum_pipeline.digests.desk import DigestDesk

_log = logging.getLogger(__name__)
# What went wrong with a delivery: it is tried again, or a person has to look.
_UNSENT = (DeliveryState.FAILED, DeliveryState.UNKNOWN, DeliveryState.GIVEN_UP)


class StepNotes(Struct):
    """One step at work: what it found, and what went wrong in it."""

    values: dict[str, Value] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    rows: int = 0
    table_hash: str = ""
    did_something: bool = False
    begun: float = field(default_factory=time.perf_counter)

    @contextmanager
    def guarded(self, item: str) -> Iterator[None]:
        """The one guard around what is told: an error in the block is reported, and the build goes on."""
        try:
            yield
        except CodesumError as error:
            self.failures.append(Failure(item, str(error)))
        except Exception as error:
            _log.exception("%s", item)
            self.failures.append(Failure.of(item, error))

    def note_problems(self, survey: IntentSurvey) -> None:
        """Intents that cannot be used; the others go on."""
        self.failures += [Failure(name, str(problem)) for name, problem in survey.problems.items()]

    def note_ticks(self, desk: "DigestDesk", ticks: Sequence[TickRow]) -> None:
        """What came of each question that was due, and how what was written stands with its channels."""
        outcomes = Counter(tick.outcome for tick in ticks)
        digests = _written(desk, ticks)
        self.did_something |= bool(ticks)
        self.values |= {"digests": len(digests), "cost_usd": round(sum(each.cost_usd for each in digests), 6)}
        self.values |= {outcome.value: outcomes[outcome] for outcome in TickOutcome if outcomes[outcome]}
        self.failures += [Failure(tick.intent_name, tick.reason) for tick in ticks if tick.outcome is TickOutcome.HELD]
        if ticks:
            self.values["ticks"] = rows_of([_tick_row(tick) for tick in ticks])
        with self.guarded("the outbox"):
            self._note_unsent(desk)

    def outcome(self, *, built_from: str = "") -> StepOutcome:
        """All of it."""
        return StepOutcome(
            table_hash=self.table_hash,
            built_from=built_from,
            seconds=round(time.perf_counter() - self.begun, 3),
            is_reused=not self.did_something,
            rows=self.rows,
            values=self.values,
            failures=tuple(self.failures),
            warnings=tuple(self.warnings),
        )

    def _note_unsent(self, desk: "DigestDesk") -> None:
        home, now = desk.sender.home, desk.sender.now
        if not (home / OUTBOX_FILE).exists():
            return
        with open_outbox(home, now=now) as outbox:
            unsent = outbox.deliveries(states=_UNSENT)
        self.values["messages_not_sent"] = len(unsent)
        if unsent:
            self.values["not_sent"] = rows_of([_delivery_row(each) for each in unsent])
            self.warnings += [
                f"{each.post_id} on {each.channel}: {each.state.value} after {each.tries} tries: {each.detail}"
                for each in unsent
            ]


def _written(desk: "DigestDesk", ticks: Sequence[TickRow]) -> list[DigestRow]:
    ids = [tick.digest_id for tick in ticks if tick.digest_id is not None]
    if not ids:
        return []
    with open_digests(desk.layout.digests, now=desk.sender.now) as store:
        return [store.digest(id_) for id_ in ids]


def _tick_row(tick: TickRow) -> dict[str, object]:
    return {
        "question": tick.intent_name,
        "outcome": tick.outcome.value,
        "changes": tick.matches,
        "items": tick.items,
        "why": tick.reason,
        "digest": tick.digest_id or "",
    }


def _delivery_row(each: Delivery) -> dict[str, object]:
    return {
        "post": each.post_id,
        "channel": each.channel,
        "state": each.state.value,
        "tries": each.tries,
        "answer": each.detail,
    }
