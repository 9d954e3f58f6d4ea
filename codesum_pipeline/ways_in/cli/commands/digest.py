"""`codesum digest`: past digests, messages to be sent and their outcome, and whether channels work."""

import difflib
import os
from collections.abc import Sequence
from datetime import datetime
from fnmatch import fnmatchcase

import typer
from msgspec import to_builtins

from codesum_pipeline.builds.compaction.attestation import Attestation
from codesum_pipeline.foundation.data_model.digest_record import PostId
from codesum_pipeline.foundation.data_model.document import CompactionRecord
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.printable import clean_text, count_noun
from codesum_pipeline.notifications.delivery.outbox import Delivery, DeliveryState, Outbox, open_outbox
from codesum_pipeline.notifications.delivery.sending import open_channel
from codesum_pipeline.notifications.digests.desk import deliver_digests as deliver_due
from codesum_pipeline.notifications.digests.digest_rows import DigestKind, DigestRow, DigestState
from codesum_pipeline.notifications.digests.digest_store import DigestStore, open_digests
from codesum_pipeline.ways_in.cli.cli_app import CommandGroup
from codesum_pipeline.ways_in.cli.commands.digest_making import (
    aggregate,
    parse_window,
    preview_digest,
    run_digests,
    send,
    show_digest_text,
)
from codesum_pipeline.ways_in.cli.compaction_views import compaction_as_json
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import (
    FAILED,
    TableView,
    complain,
    make_fields,
    make_table,
    present_rows,
    print_json,
    show_parts,
    write_note,
)

digest = CommandGroup("digest")


@digest.command("list")
def list_digests(
    invocation: Invocation,
    intent: str | None = None,
    repo: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    state: list[DigestState] | None = None,
    as_json: bool = False,
) -> None:
    """List the digests and roll-ups, newest first, with the cost of each, and the compactions that replaced old ones.

    codesum digest list --intent billing --since 2026-10-01
    """
    first, end = parse_window(since, until)
    with open_digests(invocation.layout.digests, now=utc_now) as store:
        everything = store.digests()
        found = store.digests(intent, first, end)
        compacted = store.compactions()
    names = sorted({each.intent_name for each in everything})
    if intent is not None and names and intent not in names and not compacted:
        near = difflib.get_close_matches(intent, names, n=1, cutoff=0.0)[0]
        raise ConfigurationError(
            f"--intent {intent!r}: no digest is of an intent of that name; the nearest is {near!r}"
        )
    inside = [each for each in compacted if _may_replace_requested(each, intent, first) and not state]
    about = [each for each in reversed(found) if repo is None or repo in each.repositories]
    rows = [each for each in about if not state or each.state in state]
    none = "no digest fits these filters" if everything else "there are no digests yet"
    values = [*rows, *map(compaction_as_json, inside)]
    present_rows(values, lambda: _listed(rows, inside), as_json=as_json, otherwise=none)
    if values and not as_json:
        write_note(f"{count_noun(len(rows), 'digest')}, ${sum(each.cost_usd for each in rows):.4f}")


@digest.command("show")
def show_digest(invocation: Invocation, digest: str, as_json: bool = False) -> None:
    """Show one digest: its text, its sources, where it was sent, and whether it arrived.

    codesum digest show ID
    """
    with open_digests(invocation.layout.digests, now=utc_now) as store:
        row = _digest_of(store, digest)
        matches = store.matches_of(row.id)
    with open_outbox(invocation.settings.home, now=utc_now) as outbox:
        deliveries = outbox.deliveries(post=row.id)
    if as_json:
        matched = [
            {
                "repository": each.change.repository,
                "document_id": each.change.document_id,
                "change": each.change.kind.value,
                "score": each.score,
            }
            for each in matches
        ]
        print_json({**to_builtins(row), "matched": matched, "deliveries": deliveries})
        return
    is_rollup = row.kind is DigestKind.ROLLUP
    of = count_noun(row.matches, "digest") if is_rollup else count_noun(row.matches, "match", "matches")
    dropped = count_noun(row.dropped_claims, "claim")
    facts = {
        "id": row.id,
        "intent": row.intent_name,
        "kind": f"a {row.kind.value} of {of}, {count_noun(row.items, 'item')}",
        "repositories": ", ".join(row.repositories),
        "written": f"{row.created_at}, in {row.language}, by {row.model or 'no model'}",
        "about": f"{row.from_at} to {row.to_at}",
        "cost": _cost(row),
        "left out": f"{dropped} without a quote from its source" if row.dropped_claims else "",
        "state": row.state.value,
        "channels": ", ".join(row.channels),
    }
    show_parts(make_fields(facts))
    typer.echo()
    show_digest_text(row.result)
    tries = [
        (each.channel, each.state.value, each.tries, each.sent_at or each.due_at, clean_text(each.detail))
        for each in deliveries
    ]
    if tries:
        show_parts(make_table(("channel", "state", "tries", "sent or due (UTC)", "answer"), tries, right=("tries",)))
    else:
        write_note(_NOWHERE[row.state])


digest.command("preview")(preview_digest)
digest.command("run")(run_digests)
digest.command()(aggregate)
digest.command()(send)


@digest.command()
def channels(invocation: Invocation, as_json: bool = False) -> None:
    """List the channels: whether each can be used, and whether it may deliver a message twice.

    codesum digest channels
    """
    settings = invocation.settings
    found = []
    for name, each in sorted(settings.delivery.channels.items()):
        problem = ""
        try:
            open_channel(name, settings.delivery, home=settings.home, environ=os.environ)
        except ConfigurationError as error:
            problem = str(error)
        found.append({"channel": name, "kind": each.kind, "problem": problem, "promise": each.promise})
    rows = [(each["channel"], each["kind"], each["problem"] or "ready", each["promise"]) for each in found]
    none = "there are no channels: docs/delivery.md shows how codesum.toml names one"
    columns = ("channel", "kind", "state", "each message is sent")
    present_rows(found, lambda: make_table(columns, rows), as_json=as_json, otherwise=none)


@digest.command()
def outbox(
    invocation: Invocation, post: str | None = None, state: list[DeliveryState] | None = None, as_json: bool = False
) -> None:
    """List the messages to be sent and those that were sent, newest first; with an ID, show one.

    codesum digest outbox --state given_up
    """
    with open_outbox(invocation.settings.home, now=utc_now) as opened:
        if post is not None:
            _show_post(opened, post, as_json=as_json)
            return
        found = opened.deliveries(states=state or ())
    none = "the outbox has nothing of that kind" if state else "the outbox is empty"
    present_rows(found, lambda: _deliveries(found), as_json=as_json, otherwise=none)


@digest.command()
def deliver(invocation: Invocation, as_json: bool = False) -> None:
    """Send the messages that are due now. The next call or tick tries a failed one again.

    codesum digest deliver
    """
    report = deliver_due(invocation.home.digest_desk())
    for why in report.unusable.values():
        complain(why)
    present_rows(report.tried, lambda: _deliveries(report.tried), as_json=as_json, otherwise="nothing is due")
    if report.unusable or any(each.state is not DeliveryState.SENT for each in report.tried):
        raise typer.Exit(FAILED)


@digest.command()
def retry(invocation: Invocation, post: str, channel: str | None = None) -> None:
    """Send a message once more after delivery was given up, at the next `codesum digest deliver` or tick.

    codesum digest retry digest-1
    """
    settings = invocation.settings
    with open_outbox(settings.home, now=utc_now) as opened:
        found = opened.retry(PostId(post), channel=channel, tries=settings.delivery.max_attempts)
    write_note(f"to be sent again: {', '.join(each.channel for each in found)}")


@digest.command("try")
def try_(invocation: Invocation, channel: str) -> None:
    """Send a short message over a channel, to see whether it works.

    codesum digest try team
    """
    write_note(f"{channel}: {clean_text(invocation.home.digest_desk().sender.try_channel(channel))}")


def _deliveries(found: Sequence[Delivery]) -> TableView:
    rows = []
    for each in found:
        when = each.sent_at or (each.due_at if each.state is not DeliveryState.GIVEN_UP else "")
        repeat = "may have arrived before" if each.may_have_arrived else ""
        rows.append((each.post_id, each.channel, each.state.value, each.tries, when, repeat, clean_text(each.detail)))
    return make_table(
        ("post", "channel", "state", "tries", "sent or due (UTC)", "repeat", "answer"), rows, right=("tries",)
    )


def _show_post(opened: Outbox, id_: str, *, as_json: bool) -> None:
    post, found = opened.post(id_), opened.deliveries(post=id_)
    attempts = {each.channel: opened.attempts(post.id, each.channel) for each in found}
    if as_json:
        tried = [to_builtins(each) | {"attempts": attempts[each.channel]} for each in found]
        print_json(to_builtins(post) | {"deliveries": tried})
        return
    facts = {"subject": post.subject, "kind": post.kind.value, "created": post.created_at, "text": post.text}
    show_parts(make_fields(facts), _deliveries(found))
    rows = [
        (channel, each.number, each.started_at, each.ended_at or "", each.state.value, clean_text(each.detail))
        for channel, tries in attempts.items()
        for each in tries
    ]
    if rows:
        write_note(count_noun(len(rows), "try", "tries"))
        show_parts(make_table(("channel", "try", "from (UTC)", "to", "state", "answer"), rows, right=("try",)))


# Why a digest is in no outbox.
_NOWHERE = {
    DigestState.VETOED: "a hook did not allow it: it is sent nowhere",
    DigestState.UNSENT: "its intent has no channel: it is sent nowhere",
    DigestState.WRITTEN: "it is not in the outbox yet: the next `codesum digest run` or build puts it there",
    DigestState.QUEUED: "the outbox knows nothing of it any more",
}


def _digest_of(store: DigestStore, id_: str) -> DigestRow:
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


def _may_replace_requested(record: CompactionRecord, intent: str | None, since: str | None) -> bool:
    """Whether the requested digests may include some that a compaction replaced."""
    selection = Attestation.of_record(record).selection
    is_of_intent = intent is None or fnmatchcase(intent, selection.ids or "*")
    return is_of_intent and (since is None or since < (selection.before or ""))


def _listed(rows: Sequence[DigestRow], compacted: Sequence[CompactionRecord]) -> TableView:
    """Newest first; a compaction is placed where its digests end."""
    lines: list[tuple[str, tuple[object, ...]]] = []
    for row in rows:
        when, repositories = row.created_at[:16].replace("T", " "), ", ".join(row.repositories)
        about = (row.intent_name, row.kind.value, repositories, row.items, row.model or "no model")
        lines.append((row.created_at, (when, *about, _cost(row), row.state.value, row.id)))
    for record in reversed(compacted):
        found = Attestation.of_record(record)
        before, cost = found.selection.before or "", f"${record.cost_usd:.4f}"
        about = (found.selection.ids or "all", "compaction", "", len(found.sources), record.model_name_echoed)
        lines.append((before, (f"before {before[:10]}", *about, cost, found.policy.value, record.job_id)))
    columns = ("on (UTC)", "intent", "kind", "repositories", "items", "by", "cost", "state", "id")
    ordered = sorted(lines, key=lambda pair: pair[0], reverse=True)
    return make_table(columns, [row for _, row in ordered], right=("items", "cost"))


def _cost(row: DigestRow) -> str:
    return f"${row.cost_usd:.4f}" if row.cost_usd else ""
