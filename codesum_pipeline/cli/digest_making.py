"""`codesum digest preview` and `run`: what the next digests are, and having those that are due."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any

import typer
from msgspec import Struct, to_builtins

from codesum_pipeline.cli.failures import FAILED, complain
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.options import (
    IntentArgument,
    JsonOption,
    SinceOption,
    UntilOption,
    complete_intents,
    complete_keys,
    option,
    switch,
)
from codesum_pipeline.cli.past_digests import show_text, window
from codesum_pipeline.cli.render import note, safe_json, show, table
from codesum_pipeline.digests.desk import DigestDesk, deliver, one_at_a_time
from codesum_pipeline.digests.rollups import (
    MonthlyRollup,
    RollupPlan,
    Window,
    plan_rollup,
    run_monthly,
    send_rollup,
    write_rollup,
)
from codesum_pipeline.digests.rows import DigestRow, DigestState, DigestWriter, TickOutcome, TickRow
from codesum_pipeline.digests.running import run_due, run_now
from codesum_pipeline.digests.store import DigestStore, open_digests
from codesum_pipeline.digests.tick import DigestPreview
from codesum_pipeline.digests.tick import preview as preview_tick
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.intents import Intent
from codesum_pipeline.model.moments import utc_now
from codesum_pipeline.model.printable import counted, one_line
from codesum_pipeline.wiring import Home


def preview_digest(
    ctx: typer.Context,
    intent: IntentArgument,
    repo: Annotated[
        str | None,
        option("KEY", "Only of this repository, as after a build. Default: of all.", autocompletion=complete_keys),
    ] = None,
    with_model: Annotated[
        bool, switch("--model", "Have the model write it: it is paid for, and not paid again by the digest.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what the next digest of an intent would be, of what waits for it now. Nothing is sent.

    codesum digest preview billing
    """
    called = invocation(ctx)
    if repo is not None:
        repo = called.registry.get(repo).key
    home = Home(called.settings)
    desk, wanted = home.digest_desk(), home.intents.survey().named(intent)
    with open_digests(called.layout.digests, now=utc_now) as store, one_at_a_time(store, wanted.name):
        if with_model and (planned := preview_tick(desk, store, wanted, repository=repo)) and planned.model:
            note(f"{planned.model} is asked: at most ${planned.most_usd:.4f} a call")
        found = preview_tick(desk, store, wanted, repository=repo, with_model=with_model)
    if as_json:
        typer.echo(
            safe_json({"intent": wanted.name, "waits": found is not None} | (to_builtins(found) if found else {}))
        )
    elif found is None:
        note(f"nothing waits for {one_line(wanted.name)}")
    else:
        show_text(found.result)
        _tell_preview(found, with_model=with_model)


def run_digests(
    ctx: typer.Context,
    intent: Annotated[
        list[str] | None,
        option(
            "NAME",
            "A digest of this intent now, whatever its schedule says. Can be repeated.",
            autocompletion=complete_intents,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Have the digests that are due and the roll-ups of the month before, and send what waits: for a cron job where the
    Dagster daemon does not run.

    codesum digest run
    """
    home = Home(invocation(ctx).settings)
    survey = home.intents.survey()
    for problem in survey.problems.values():
        complain(f"left out: {problem}")
    names = [survey.named(name).name for name in intent or ()]
    desk = home.digest_desk()
    rows = run_now(desk, names) if names else run_due(desk)
    rolled_up = [] if names else run_monthly(desk)
    for each in rolled_up:
        _tell_month(each)
    if as_json:
        for said in [to_builtins(row) for row in rows] + [to_builtins(each) for each in rolled_up]:
            typer.echo(safe_json(said))
    elif rows:
        show(table(("intent", "came of it", "matches", "items", "digest", "why"), map(_row, rows), right=_NUMBERS))
    elif not rolled_up:
        note("nothing waits for these intents" if names else "no digest is due")
    failed = [row for row in rows if row.outcome is TickOutcome.HELD] + [each for each in rolled_up if each.problem]
    if survey.problems or failed:
        raise typer.Exit(FAILED)


_NUMBERS = ("matches", "items")


def _row(row: TickRow) -> tuple[object, ...]:
    return row.intent_name, row.outcome.value, row.matches, row.items, row.digest_id or "", row.reason


def _tell_month(found: MonthlyRollup) -> None:
    what = f"the roll-up of {one_line(found.intent_name)} for {found.month}"
    if found.problem:
        complain(f"{what}: {found.problem}")
    else:
        note(f"{what}: {found.digest_id}")


def _tell_preview(found: DigestPreview, *, with_model: bool) -> None:
    made = f"{counted(found.matches, 'match', 'matches')}, {counted(found.items, 'item')}"
    if found.model is None:
        note(f"{made}; no model: nothing is paid")
    elif with_model:
        note(f"{made}; {found.model}: ${found.cost_usd:.4f}")
    else:
        note(f"{made}; {found.model} would write it, at most ${found.most_usd:.4f} a call: --model has it do so")


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
    with _asked_rollup(ctx, intent, since, until) as asked:
        if asked.plan.problem and as_json:
            typer.echo(safe_json(_nothing(asked.plan)))
        _tell_price(asked.plan)
        with one_at_a_time(asked.store, asked.intent.name):
            found = write_rollup(asked.desk, asked.store, asked.intent, asked.plan)
    if as_json:
        typer.echo(safe_json(_rollup_json(found, asked.plan)))
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
    with _asked_rollup(ctx, intent, since, until) as asked:
        if not asked.intent.channels:
            raise ConfigurationError(f"intent {asked.intent.name!r} has no channels: there is nobody to send it to")
        _tell_price(asked.plan)
        found, is_new = send_rollup(asked.desk, asked.store, asked.intent, asked.plan)
    report = deliver(asked.desk)
    for why in report.unusable.values():
        complain(why)
    if as_json:
        typer.echo(safe_json(_rollup_json(found, asked.plan) | {"is_new": is_new}))
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
def _asked_rollup(
    ctx: typer.Context, intent: str, since: datetime | None, until: datetime | None
) -> Iterator[_RollupRequest]:
    called = invocation(ctx)
    home = Home(called.settings)
    desk, wanted = home.digest_desk(), home.intents.survey().named(intent)
    first, end = window(since, until)
    with open_digests(called.layout.digests, now=utc_now) as store:
        yield _RollupRequest(desk, store, wanted, plan_rollup(desk, store, wanted, Window(first, end)))


def _tell_price(plan: RollupPlan) -> None:
    shown = f"{plan.rows_shown:,} of {counted(len(plan.rows), 'digest')}"
    if plan.cost_usd is not None:
        note(f"{plan.model} is shown {shown}: at most ${plan.cost_usd:.4f} a call")
    elif plan.without_model:
        note(f"{counted(len(plan.rows), 'digest')}, without a model: {plan.without_model}")


def _tell_paid(found: DigestRow) -> None:
    if found.written_by is DigestWriter.MODEL:
        dropped = f"; {counted(found.dropped_claims, 'claim')} without a quote left out" if found.dropped_claims else ""
        note(f"{found.model}: {found.items:,} of {counted(found.matches, 'digest')}, ${found.cost_usd:.4f}{dropped}")


def _rollup_json(found: DigestRow, plan: RollupPlan) -> dict[str, Any]:
    return {
        **to_builtins(found),
        "rows_used": found.items,
        "rows_total": found.matches,
        "rows": [row.id for row in plan.rows],
    }


def _nothing(plan: RollupPlan) -> dict[str, Any]:
    return {"summary": "", "rows_used": 0, "rows_total": len(plan.rows), "problem": plan.problem}
