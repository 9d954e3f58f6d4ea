"""`codesum digest aggregate` and `send`: the digests of a while in one, to be looked at or sent."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import typer
from msgspec import Struct, to_builtins

from codesum_pipeline.cli.failures import FAILED, complain
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.next_digest import IntentArgument
from codesum_pipeline.cli.past_digests import JsonOption, SinceOption, UntilOption, show_text, window
from codesum_pipeline.cli.render import count, note
from codesum_pipeline.cli.safe_text import safe_json
from codesum_pipeline.digests.desk import DigestDesk, deliver, one_at_a_time
from codesum_pipeline.digests.rollups import RollupPlan, Window, plan_rollup, send_rollup, write_rollup
from codesum_pipeline.digests.rows import DigestRow, DigestState, DigestWriter
from codesum_pipeline.digests.store import DigestStore, open_digests
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.intents import Intent
from codesum_pipeline.model.moments import utc_now
from codesum_pipeline.wiring import Home


class _RollupRequest(Struct, frozen=True):
    """A roll-up that a command is about."""

    desk: DigestDesk
    store: DigestStore
    intent: Intent
    plan: RollupPlan


def aggregate(
    ctx: typer.Context,
    intent: IntentArgument,
    since: SinceOption = None,
    until: UntilOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the digests of a while in one, as [bold]codesum digest send[/] would send it. Nothing is sent.

    A language model writes it, if one is set up; what a call may cost is said before, and what was paid here is not
    paid again by [bold]send[/].

    codesum digest aggregate billing --since 2026-10-01 --until 2026-11-01
    """
    with _asked(ctx, intent, since, until) as asked:
        if asked.plan.problem and as_json:
            typer.echo(safe_json(_nothing(asked.plan)))
        _tell_price(asked.plan)
        with one_at_a_time(asked.store, asked.intent.name):
            found = write_rollup(asked.desk, asked.store, asked.intent, asked.plan)
    if as_json:
        typer.echo(safe_json(_as_json(found, asked.plan)))
        return
    show_text(found.result)
    _tell_paid(found)


def send(
    ctx: typer.Context,
    intent: IntentArgument,
    since: SinceOption = None,
    until: UntilOption = None,
    as_json: JsonOption = False,
) -> None:
    """Send the digests of a while in one to the intent's channels: each such roll-up once.

    codesum digest send billing --since 2026-10-01 --until 2026-11-01
    """
    with _asked(ctx, intent, since, until) as asked:
        if not asked.intent.channels:
            raise ConfigurationError(f"intent {asked.intent.name!r} has no channels: there is nobody to send it to")
        _tell_price(asked.plan)
        found, is_new = send_rollup(asked.desk, asked.store, asked.intent, asked.plan)
    report = deliver(asked.desk)
    for why in report.unusable.values():
        complain(why)
    if as_json:
        typer.echo(safe_json(_as_json(found, asked.plan) | {"is_new": is_new}))
    elif not is_new:
        note(
            f"{found.id} was made at {found.created_at}: it is not paid for or sent again; `codesum digest show` tells"
        )
    elif found.state is DigestState.VETOED:
        note(f"{found.id}: a hook did not allow it: it is sent nowhere")
    else:
        note(f"{found.id} to {', '.join(found.channels)}: `codesum digest show {found.id}` tells how that stands")
        _tell_paid(found)
    mine = [each for each in report.tried if each.post_id == found.id]
    if report.unusable or any(each.state != "sent" for each in mine):
        raise typer.Exit(FAILED)


@contextmanager
def _asked(ctx: typer.Context, intent: str, since: datetime | None, until: datetime | None) -> Iterator[_RollupRequest]:
    called = invocation(ctx)
    home = Home(called.settings)
    desk, wanted = home.digest_desk(), home.intents.survey().named(intent)
    first, end = window(since, until)
    with open_digests(called.layout.digests, now=utc_now) as store:
        yield _RollupRequest(desk, store, wanted, plan_rollup(desk, store, wanted, Window(first, end)))


def _tell_price(plan: RollupPlan) -> None:
    shown = f"{plan.rows_shown:,} of {count(len(plan.rows), 'digest')}"
    if plan.cost_usd is not None:
        note(f"{plan.model} is shown {shown}: at most ${plan.cost_usd:.4f} a call")
    elif plan.without_model:
        note(f"{count(len(plan.rows), 'digest')}, without a model: {plan.without_model}")


def _tell_paid(found: DigestRow) -> None:
    if found.written_by is DigestWriter.MODEL:
        dropped = f"; {count(found.dropped_claims, 'claim')} without a quote left out" if found.dropped_claims else ""
        note(f"{found.model}: {found.items:,} of {count(found.matches, 'digest')}, ${found.cost_usd:.4f}{dropped}")


def _as_json(found: DigestRow, plan: RollupPlan) -> dict[str, Any]:
    return {
        **to_builtins(found),
        "rows_used": found.items,
        "rows_total": found.matches,
        "rows": [row.id for row in plan.rows],
    }


def _nothing(plan: RollupPlan) -> dict[str, Any]:
    return {"summary": "", "rows_used": 0, "rows_total": len(plan.rows), "problem": plan.problem}
