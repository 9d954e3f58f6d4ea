"""`codesum digest list` and `show`: what was told, what was paid for it, and how it stands in the outbox."""

import difflib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Annotated, Any

import typer
from msgspec import to_builtins

from codesum_pipeline.cli.compact import compaction_as_json
from codesum_pipeline.cli.invocation import Invocation, invocation
from codesum_pipeline.cli.options import JsonOption, SinceOption, UntilOption, argument, complete_keys, option
from codesum_pipeline.cli.render import TableView, escaped, fields, note, safe_json, show, table
from codesum_pipeline.compaction.attestation import Attestation
from codesum_pipeline.delivery.outbox import Delivery, open_outbox
from codesum_pipeline.digests.rows import DigestKind, DigestRow, DigestState
from codesum_pipeline.digests.store import DigestStore, open_digests
from codesum_pipeline.model.digests import SummaryResult
from codesum_pipeline.model.documents import CompactionRecord
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.intents import IntentMatch
from codesum_pipeline.model.moments import iso_moment, utc_now
from codesum_pipeline.model.printable import clean, counted


def list_digests(
    ctx: typer.Context,
    intent: Annotated[str | None, option("NAME", "Only those of this intent.")] = None,
    repo: Annotated[
        str | None, option("KEY", "Only those about this repository.", autocompletion=complete_keys)
    ] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    state: Annotated[list[DigestState] | None, option(None, "Only what stands so. Can be repeated.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the digests and roll-ups, the newest first, with what each cost, and compactions in the place of old ones.

    codesum digest list --intent billing --since 2026-10-01
    """
    called = invocation(ctx)
    first, end = window(since, until)
    with opened_digests(called) as store:
        everything = store.digests()
        found = store.digests(intent, first, end)
        compacted = store.compactions()
    if not compacted:
        check_intent_was_told(intent, everything)
    inside = [each for each in compacted if _is_asked_for(each, intent, first) and not state]
    rows = [
        each
        for each in reversed(found)
        if (repo is None or repo in each.repositories) and (not state or each.state in state)
    ]
    if as_json:
        for each in rows:
            typer.echo(safe_json(to_builtins(each)))
        for record in inside:
            typer.echo(safe_json(compaction_as_json(record)))
    elif rows or inside:
        show(_listed(rows, inside))
        note(f"{counted(len(rows), 'digest')}, ${sum(each.cost_usd for each in rows):.4f}")
    else:
        note("no digest fits these filters" if everything else "there are no digests yet")


def show_digest(
    ctx: typer.Context,
    digest: Annotated[str, argument("ID", "A digest, as the list names it.")],
    as_json: JsonOption = False,
) -> None:
    """Show one digest: its text, its sources, where it was sent, and how that stands.

    codesum digest show ID
    """
    called = invocation(ctx)
    with opened_digests(called) as store:
        row = digest_of(store, digest)
        matches = store.matches_of(row.id)
    with open_outbox(called.settings.home, now=utc_now) as outbox:
        deliveries = outbox.deliveries(post=row.id)
    if as_json:
        typer.echo(safe_json(_as_json(row, matches, deliveries)))
        return
    show(fields(_told(row)))
    typer.echo()
    show_text(row.result)
    if deliveries:
        show(_deliveries(deliveries))
    else:
        note(_why_nowhere(row))


def show_text(result: SummaryResult) -> None:
    """The text of a digest, and what its numbers stand for."""
    typer.echo(f"{escaped(result.summary).strip()}\n")
    if result.citations:
        show(_sources(result))


def opened_digests(called: Invocation) -> AbstractContextManager[DigestStore]:
    """The home's digests."""
    return open_digests(called.layout.digests, now=utc_now)


def window(since: datetime | None, until: datetime | None) -> tuple[str | None, str | None]:
    """The moments that two days of the command line mean; raises `ConfigurationError` for an empty window."""
    if since and until and since >= until:
        raise ConfigurationError(
            f"--since {since:%Y-%m-%d} --until {until:%Y-%m-%d}: no day is from the first on and before the second"
        )
    first, end = (iso_moment(each.replace(tzinfo=UTC)) if each else None for each in (since, until))
    return first, end


def check_intent_was_told(intent: str | None, digests: Sequence[DigestRow]) -> None:
    """Raise `ConfigurationError` for a name that no digest has, with the nearest one."""
    names = sorted({each.intent_name for each in digests})
    if intent is None or not names or intent in names:
        return
    near = difflib.get_close_matches(intent, names, n=1, cutoff=0.0)[0]
    raise ConfigurationError(f"--intent {intent!r}: no digest is of an intent of that name; the nearest is {near!r}")


def digest_of(store: DigestStore, id_: str) -> DigestRow:
    """A digest, by its id or the beginning of it that no other has; raises `ConfigurationError` with the nearest."""
    known = [each.id for each in store.digests()]
    found = [each for each in known if each.startswith(id_)]
    if id_ in known or len(found) == 1:
        return store.digest(id_ if id_ in known else found[0])
    if found:
        raise ConfigurationError(f"{len(found)} digests begin with {id_!r}: {', '.join(found[:3])}: write more of it")
    near = difflib.get_close_matches(id_, known, n=1, cutoff=0.0)
    hint = f"the nearest is {near[0]!r}, and `codesum digest list` shows all" if near else "there are none yet"
    raise ConfigurationError(f"there is no digest {id_!r}: {hint}")


def _is_asked_for(record: CompactionRecord, intent: str | None, since: str | None) -> bool:
    """Whether digests that a compaction stands in place of can be among those that are asked for."""
    selection = Attestation.of(record.attestation.encode()).selection
    is_of_intent = intent is None or fnmatchcase(intent, selection.ids or "*")
    return is_of_intent and (since is None or since < (selection.before or ""))


def _listed(rows: Sequence[DigestRow], compacted: Sequence[CompactionRecord]) -> TableView:
    """Newest first; a compaction stands where its digests end."""
    columns = ("on (UTC)", "intent", "kind", "repositories", "items", "by", "cost", "state", "id")
    said = [(each.created_at, _row(each)) for each in rows]
    said += [_compaction(each) for each in reversed(compacted)]
    ordered = sorted(said, key=lambda pair: pair[0], reverse=True)
    return table(columns, [row for _, row in ordered], right=("items", "cost"))


def _row(row: DigestRow) -> tuple[object, ...]:
    return (
        row.created_at[:16].replace("T", " "),
        row.intent_name,
        row.kind.value,
        ", ".join(row.repositories),
        row.items,
        row.model or "no model",
        _cost(row),
        row.state.value,
        row.id,
    )


def _compaction(record: CompactionRecord) -> tuple[str, tuple[object, ...]]:
    found = Attestation.of(record.attestation.encode())
    before = found.selection.before or ""
    return before, (
        f"before {before[:10]}",
        found.selection.ids or "all",
        "compaction",
        "",
        len(found.sources),
        record.model_name_echoed,
        f"${record.cost_usd:.4f}",
        found.policy.value,
        record.job_id,
    )


def _cost(row: DigestRow) -> str:
    return f"${row.cost_usd:.4f}" if row.cost_usd else ""


def _told(row: DigestRow) -> dict[str, Any]:
    things = "digest" if row.kind is DigestKind.ROLLUP else "match"
    plural = "digests" if row.kind is DigestKind.ROLLUP else "matches"
    return {
        "id": row.id,
        "intent": row.intent_name,
        "kind": f"a {row.kind.value} of {counted(row.matches, things, plural)}, {counted(row.items, 'item')}",
        "repositories": ", ".join(row.repositories),
        "written": f"{row.created_at}, in {row.language}, by {row.model or 'no model'}",
        "about": f"{row.from_at} to {row.to_at}",
        "cost": _cost(row),
        "left out": f"{counted(row.dropped_claims, 'claim')} without a quote from its source"
        if row.dropped_claims
        else "",
        "state": row.state.value,
        "channels": ", ".join(row.channels),
    }


def _sources(result: SummaryResult) -> TableView:
    said = [
        (
            f"[{number}]",
            each.name,
            each.place,
            each.source_name or f"{each.repository} (gone)",
            (each.date or "")[:10],
            "" if each.score is None else f"{each.score:.2f}",
        )
        for number, each in enumerate(result.citations, start=1)
    ]
    return table(("", "source", "place", "repository", "date", "score"), said, right=("score",))


def _deliveries(found: Sequence[Delivery]) -> TableView:
    said = [
        (each.channel, each.state.value, each.tries, each.sent_at or each.due_at, clean(each.detail)) for each in found
    ]
    return table(("channel", "state", "tries", "sent or due (UTC)", "answer"), said, right=("tries",))


def _why_nowhere(row: DigestRow) -> str:
    return {
        DigestState.VETOED: "a hook did not allow it: it is sent nowhere",
        DigestState.UNSENT: "its intent has no channel: it is sent nowhere",
        DigestState.WRITTEN: "it is not in the outbox yet: the next `codesum digest run` or build puts it there",
        DigestState.QUEUED: "the outbox knows nothing of it any more",
    }[row.state]


def _as_json(row: DigestRow, matches: Sequence[IntentMatch], deliveries: Sequence[Delivery]) -> dict[str, Any]:
    return {
        **to_builtins(row),
        "matched": list(_matched(matches)),
        "deliveries": [to_builtins(each) for each in deliveries],
    }


def _matched(matches: Sequence[IntentMatch]) -> Iterator[dict[str, Any]]:
    for each in matches:
        yield {
            "repository": each.change.repository,
            "document_id": each.change.document_id,
            "change": each.change.kind.value,
            "score": each.score,
        }
