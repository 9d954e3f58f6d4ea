"""`codesum digest`: what was told; what is to be sent, what became of it, and whether channels work."""

import os
from typing import Annotated

import typer
from msgspec import to_builtins

from codesum_pipeline.cli.commands import CommandGroup
from codesum_pipeline.cli.digest_making import aggregate, preview_digest, run_digests, send
from codesum_pipeline.cli.failures import FAILED, complain
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.options import JsonOption, argument, option
from codesum_pipeline.cli.past_digests import list_digests, show_digest
from codesum_pipeline.cli.render import fields, note, safe_json, show, table
from codesum_pipeline.delivery.channels import open_channel
from codesum_pipeline.delivery.outbox import Delivery, DeliveryState, Outbox, open_outbox
from codesum_pipeline.delivery.sending import OutboxSender
from codesum_pipeline.digests.desk import deliver as deliver_due
from codesum_pipeline.model.digests import PostId
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.moments import utc_now
from codesum_pipeline.model.printable import clean, counted
from codesum_pipeline.wiring import Home

digest = CommandGroup("digest")
digest.command("list")(list_digests)
digest.command("show")(show_digest)
digest.command("preview")(preview_digest)
digest.command("run")(run_digests)
digest.command()(aggregate)
digest.command()(send)


@digest.command()
def channels(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """List the channels: whether each can be used, and what it promises about sending something twice.

    codesum digest channels
    """
    settings = invocation(ctx).settings
    found = [
        {"channel": name, "kind": each.kind, "problem": _problem(ctx, name), "promise": each.promise}
        for name, each in sorted(settings.delivery.channels.items())
    ]
    if as_json:
        for each in found:
            typer.echo(safe_json(each))
    elif found:
        rows = [(each["channel"], each["kind"], each["problem"] or "ready", each["promise"]) for each in found]
        show(table(("channel", "kind", "state", "each message is sent"), rows))
    else:
        note("there are no channels: docs/delivery.md shows how codesum.toml names one")


@digest.command()
def outbox(
    ctx: typer.Context,
    post: Annotated[str | None, argument("[ID]", "A post, with each try and its text.")] = None,
    state: Annotated[list[DeliveryState] | None, option(None, "Only what stands so. Can be repeated.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List what is to be sent and what was, the newest first; with an ID, show one post.

    codesum digest outbox --state given_up
    """
    with open_outbox(invocation(ctx).settings.home, now=utc_now) as opened:
        if post is not None:
            _show_post(opened, post, as_json=as_json)
            return
        found = opened.deliveries(states=state or ())
    if as_json:
        for each in found:
            typer.echo(safe_json(to_builtins(each)))
        return
    if not found:
        note("the outbox has nothing of that kind" if state else "the outbox is empty")
        return
    _show_deliveries(found)


@digest.command()
def deliver(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Send what is due now. What fails is tried again later, by the next call or tick.

    codesum digest deliver
    """
    report = deliver_due(Home(invocation(ctx).settings).digest_desk())
    for why in report.unusable.values():
        complain(why)
    if as_json:
        for each in report.tried:
            typer.echo(safe_json(to_builtins(each)))
    elif report.tried:
        _show_deliveries(report.tried)
    else:
        note("nothing is due")
    if report.unusable or any(each.state is not DeliveryState.SENT for each in report.tried):
        raise typer.Exit(FAILED)


@digest.command()
def retry(
    ctx: typer.Context,
    post: Annotated[str, argument("ID", "The post, as the outbox lists it.")],
    channel: Annotated[str | None, option(None, "Only on this channel. Default: wherever it was given up.")] = None,
) -> None:
    """Have what was given up sent again, at the next `codesum digest deliver` or tick.

    codesum digest retry digest-1
    """
    settings = invocation(ctx).settings
    with open_outbox(settings.home, now=utc_now) as opened:
        found = opened.retry(PostId(post), channel=channel, tries=settings.delivery.max_attempts)
    note(f"to be sent again: {', '.join(each.channel for each in found)}")


@digest.command("try")
def try_(ctx: typer.Context, channel: Annotated[str, argument("CHANNEL", "A name in delivery.channels.")]) -> None:
    """Send a short message over a channel, to see whether it works.

    codesum digest try team
    """
    note(f"{channel}: {clean(_sender(ctx).try_channel(channel))}")


def _problem(ctx: typer.Context, name: str) -> str:
    settings = invocation(ctx).settings
    try:
        open_channel(name, settings.delivery, home=settings.home, environ=os.environ)
    except ConfigurationError as error:
        return str(error)
    return ""


def _sender(ctx: typer.Context) -> OutboxSender:
    settings = invocation(ctx).settings
    return OutboxSender(settings.home, settings.delivery, utc_now, offline=settings.offline)


def _show_deliveries(found: list[Delivery] | tuple[Delivery, ...]) -> None:
    rows = [
        (
            each.post_id,
            each.channel,
            each.state.value,
            each.tries,
            each.sent_at or (each.due_at if each.state is not DeliveryState.GIVEN_UP else ""),
            "may have arrived before" if each.may_have_arrived else "",
            clean(each.detail),
        )
        for each in found
    ]
    show(table(("post", "channel", "state", "tries", "sent or due (UTC)", "repeat", "answer"), rows, right=("tries",)))


def _show_post(opened: Outbox, id_: str, *, as_json: bool) -> None:
    post = opened.post(id_)
    found = opened.deliveries(post=id_)
    attempts = {each.channel: opened.attempts(post.id, each.channel) for each in found}
    if as_json:
        tried = [
            to_builtins(each) | {"attempts": [to_builtins(attempt) for attempt in attempts[each.channel]]}
            for each in found
        ]
        typer.echo(safe_json(to_builtins(post) | {"deliveries": tried}))
        return
    show(fields({"subject": post.subject, "kind": post.kind.value, "created": post.created_at, "text": post.text}))
    _show_deliveries(found)
    rows = [
        (channel, each.number, each.started_at, each.ended_at or "", each.state.value, clean(each.detail))
        for channel, tries in attempts.items()
        for each in tries
    ]
    if rows:
        note(counted(len(rows), "try", "tries"))
        show(table(("channel", "try", "from (UTC)", "to", "state", "answer"), rows, right=("try",)))
