"""What stops a model from writing a text: the first gate that is shut, in one order."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from codesum_pipeline.model.documents import Gate


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of one document when it comes to the gates. `has_text`: a kept or recorded text would do."""

    is_placeholder: bool
    is_offline: bool
    is_enabled: bool
    is_trusted: bool
    has_text: bool
    is_within_cap: bool
    is_confirmed: bool


def gate_of(found: Standing) -> Gate | None:
    """The first gate that is shut; None: a model writes the text, or wrote it.

    A text that is there already is no call: being offline and the caps do not
    hold it back, but for the switch and for trust it counts as any other.
    """
    if found.is_placeholder:
        return Gate.PLACEHOLDER
    is_call = not found.has_text
    shut = (
        (Gate.OFFLINE, is_call and found.is_offline),
        (Gate.DISABLED, not found.is_enabled),
        (Gate.TRUST, not found.is_trusted),
        (Gate.CAP, is_call and not found.is_within_cap),
        (Gate.CONFIRM, is_call and not found.is_confirmed),
    )
    return next((gate for gate, is_shut in shut if is_shut), None)


@dataclass(frozen=True, slots=True)
class Caller:
    """A document that would be asked for: what it is worth and would cost, and whether it has a text already.

    `above` are the documents that hold it, nearest first. With `if_below` it is
    written again only where something in it is: its own text would stand.
    """

    id: Hashable
    importance: float
    is_new: bool
    predicted_usd: float
    above: tuple[Hashable, ...] = ()
    if_below: bool = False


def within_caps(callers: Iterable[Caller], *, most: int, most_usd: float | None) -> set[Hashable]:
    """The documents for which there is room: the most important first, then changed before new, then by id.

    Levels share the caps, so that the important are not all functions. With a
    document go those above it whose texts would otherwise be lost. The first is
    chosen though there be no room for all of these, or nothing would ever be.
    """
    ordered = in_order(callers)
    above = {caller.id: caller for caller in ordered if caller.if_below}
    chosen: dict[Hashable, Caller] = {}
    spent = 0.0
    for caller in ordered:
        if caller.if_below or caller.id in chosen:
            continue
        along = [caller, *(above[id_] for id_ in caller.above if id_ in above and id_ not in chosen)]
        for wanted in (along, [caller]) if not chosen else (along,):
            usd = sum(one.predicted_usd for one in wanted)
            if len(chosen) + len(wanted) <= most and (most_usd is None or spent + usd <= most_usd):
                spent += usd
                chosen |= {one.id: one for one in wanted}
                break
    return set(chosen)


def in_order(callers: Iterable[Caller]) -> list[Caller]:
    """The order in which documents are asked for."""
    return sorted(callers, key=lambda caller: (-caller.importance, caller.is_new, str(caller.id)))


def needs_confirmation(chosen: Iterable[Caller], existing: int, most: float) -> bool:
    """Whether a model is about to write more than this share of the `existing` texts again.

    Its own texts count, for what was paid for would be paid for again; not the
    first text of a document, which the caps let through, and not what is only
    written along with something in it.
    """
    rewritten = sum(not caller.is_new and not caller.if_below for caller in chosen)
    return rewritten > most * existing
