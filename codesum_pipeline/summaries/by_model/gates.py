"""What stops a model from writing a text: the first gate that is shut, in one order."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from codesum_pipeline.model.documents import Gate


@dataclass(frozen=True, slots=True)
class GateInput:
    """What is known of one document when it comes to the gates.

    `has_text`: a kept or recorded text would do. What is left out has no kept text, though a recording may hold one.
    """

    is_placeholder: bool
    is_offline: bool
    is_enabled: bool
    is_trusted: bool
    is_left_out_test: bool
    is_left_to_author: bool
    has_text: bool
    is_within_cap: bool
    is_confirmed: bool


def gate_of(found: GateInput) -> Gate | None:
    """The first gate that is shut; None: a model writes the text, or wrote it.

    A text that is there already is no call: only the switch and trust hold it
    back.
    """
    if found.is_placeholder:
        return Gate.PLACEHOLDER
    is_call = not found.has_text
    shut = (
        (Gate.OFFLINE, is_call and found.is_offline),
        (Gate.DISABLED, not found.is_enabled),
        (Gate.TRUST, not found.is_trusted),
        (Gate.TESTS, found.is_left_out_test),
        (Gate.DOCUMENTED, found.is_left_to_author),
        (Gate.CAP, is_call and not found.is_within_cap),
        (Gate.CONFIRM, is_call and not found.is_confirmed),
    )
    return next((gate for gate, is_shut in shut if is_shut), None)


@dataclass(frozen=True, slots=True)
class CallCandidate:
    """A document that would be asked for: what it is worth and would cost, and whether it has a text already.

    `above` are the documents that hold it, nearest first, and `layer` is lower than theirs. With `if_below` it is
    written again only where something in it is: its own text would stand.
    """

    id: Hashable
    importance: float
    is_new: bool
    predicted_usd: float
    above: tuple[Hashable, ...] = ()
    if_below: bool = False
    layer: tuple[int, int] = (0, 0)
    is_documented: bool = False


def within_caps(callers: Iterable[CallCandidate], *, most: int, most_usd: float | None) -> set[Hashable]:
    """The documents for which there is room, in their order; what is too dear leaves the room to what is cheaper.

    A document waits while something in it is left to a later run: its text would be written, and paid, again then.
    """
    chosen: set[Hashable] = set()
    waiting: set[Hashable] = set()
    spent = 0.0
    for caller in in_order(callers):
        has_room = len(chosen) < most and (most_usd is None or spent + caller.predicted_usd <= most_usd)
        if has_room and caller.id not in waiting:
            spent += caller.predicted_usd
            chosen.add(caller.id)
        else:
            waiting.update(caller.above)
    return chosen


def in_order(callers: Iterable[CallCandidate]) -> list[CallCandidate]:
    """The order in which documents are asked for.

    From the bottom up, what nobody documented first, then the most important, changed before new, and by id.
    """
    return sorted(
        callers,
        key=lambda caller: (caller.layer, caller.is_documented, -caller.importance, caller.is_new, str(caller.id)),
    )


def needs_confirmation(chosen: Iterable[CallCandidate], existing: int, most: float) -> bool:
    """Whether a model is about to write more than this share of the `existing` texts again.

    Its own texts count, for what was paid for would be paid for again; not the
    first text of a document, which the caps let through, and not what is only
    written along with something in it.
    """
    rewritten = sum(not caller.is_new and not caller.if_below for caller in chosen)
    return rewritten > most * existing
