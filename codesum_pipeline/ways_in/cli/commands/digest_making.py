"""`codesum digest preview`, `run`, `aggregate` and `send`: the next digests, and the roll-up of a period."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import typer
from msgspec import to_builtins
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.digest_record import SummaryResult
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.moments import iso_moment, utc_now
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line
from codesum_pipeline.foundation.data_model.standing_question import Intent
from codesum_pipeline.notifications.digests.asking_again import AskAgain
from codesum_pipeline.notifications.digests.desk import DigestDesk, deliver_digests, one_at_a_time
from codesum_pipeline.notifications.digests.digest_rows import DigestRow, DigestState, DigestWriter, TickOutcome
from codesum_pipeline.notifications.digests.digest_store import DigestStore, open_digests
from codesum_pipeline.notifications.digests.rollups import (
    RollupPlan,
    Window,
    plan_rollup,
    run_monthly,
    send_rollup,
    write_rollup,
)
from codesum_pipeline.notifications.digests.tick import preview_digest as preview_tick
from codesum_pipeline.notifications.digests.tick import run_due, run_now
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import (
    FAILED,
    complain,
    escape_text,
    make_table,
    print_json,
    show_parts,
    write_note,
)


def preview_digest(
    invocation: Invocation, intent: str, repo: str | None = None, with_model: bool = False, as_json: bool = False
) -> None:
    """Show the next digest of an intent, as it would be with the matches that wait now. Nothing is sent.

    codesum digest preview billing
    """
    if repo is not None:
        repo = invocation.registry.get(repo).key
    desk, wanted = invocation.home.digest_desk(), invocation.home.intents.survey().named(intent)
    with open_digests(invocation.layout.digests, now=utc_now) as store, one_at_a_time(store, wanted.name):
        if with_model and (planned := preview_tick(desk, store, wanted, repository=repo)) and planned.model:
            write_note(f"{planned.model} is asked: at most ${planned.most_usd:.4f} for all calls")
        found = preview_tick(desk, store, wanted, repository=repo, with_model=with_model)
    if as_json:
        print_json({"intent": wanted.name, "waits": found is not None} | (to_builtins(found) if found else {}))
    elif found is None:
        write_note(f"nothing waits for {one_line(wanted.name)}")
    else:
        show_digest_text(found.result)
        price = "no model: nothing is paid"
        if found.model and with_model:
            price = f"{found.model}: ${found.cost_usd:.4f}"
        elif found.model:
            price = f"{found.model} would write it, at most ${found.most_usd:.4f} for all calls: --model has it do so"
        write_note(f"{count_noun(found.matches, 'match', 'matches')}, {count_noun(found.items, 'item')}; {price}")


def run_digests(
    invocation: Invocation, intent: list[str] | None = None, again: bool = False, as_json: bool = False
) -> None:
    """Write the digests that are due and the roll-ups of the previous month, and send all waiting messages. For a cron
    job where the Dagster daemon does not run.

    codesum digest run
    """
    home = invocation.home
    survey = home.intents.survey()
    for problem in survey.problems.values():
        complain(f"left out: {problem}")
    names = [survey.named(name).name for name in intent or ()]
    desk = replace(home.digest_desk(), asks_again=again)
    rows = run_now(desk, names) if names else run_due(desk)
    rolled_up = [] if names else run_monthly(desk)
    for each in rolled_up:
        what = f"the roll-up of {one_line(each.intent_name)} for {each.month}"
        complain(f"{what}: {each.problem}") if each.problem else write_note(f"{what}: {each.digest_id}")
    if as_json:
        print_json(*rows, *rolled_up)
    elif rows:
        shown = [
            (row.intent_name, row.outcome.value, row.matches, row.items, row.digest_id or "", row.reason)
            for row in rows
        ]
        columns = ("intent", "came of it", "matches", "items", "digest", "why")
        show_parts(make_table(columns, shown, right=("matches", "items")))
    elif not rolled_up:
        write_note("nothing waits for these intents" if names else "no digest is due")
    is_held = any(row.outcome is TickOutcome.HELD for row in rows) or any(each.problem for each in rolled_up)
    if survey.problems or is_held:
        raise typer.Exit(FAILED)


def aggregate(
    invocation: Invocation,
    intent: str,
    since: datetime | None = None,
    until: datetime | None = None,
    again: bool = False,
    as_json: bool = False,
) -> None:
    """Show the digests of a period as one roll-up, as [bold]codesum digest send[/] would send it. Nothing is sent.

    If a language model is set up, it writes the roll-up. The most that all calls may cost is shown first. What was paid
    here is not paid again by [bold]send[/].

    codesum digest aggregate billing --since 2026-10-01 --until 2026-11-01
    """
    with _open_rollup(invocation, "aggregate", intent, since, until, asks_again=again) as (desk, store, wanted, plan):
        if plan.problem and as_json:
            nothing = {"summary": "", "rows_used": 0, "rows_total": len(plan.rows)}
            print_json(nothing | {"problem": plan.problem})
        _tell_price(plan)
        with one_at_a_time(store, wanted.name):
            found = write_rollup(desk, store, wanted, plan)
    if as_json:
        print_json(_rollup_json(found, plan))
        return
    show_digest_text(found.result)
    _tell_paid(found)


def send(
    invocation: Invocation,
    intent: str,
    since: datetime | None = None,
    until: datetime | None = None,
    again: bool = False,
    as_json: bool = False,
) -> None:
    """Send the digests of a period as one roll-up to the intent's channels. Each roll-up is sent once.

    codesum digest send billing --since 2026-10-01 --until 2026-11-01
    """
    with _open_rollup(invocation, "send", intent, since, until, asks_again=again) as (desk, store, wanted, plan):
        if not wanted.channels:
            raise ConfigurationError(f"intent {wanted.name!r} has no channels: name them in intents.yaml")
        _tell_price(plan)
        found, is_new = send_rollup(desk, store, wanted, plan)
    report = deliver_digests(desk)
    for why in report.unusable.values():
        complain(why)
    if as_json:
        print_json(_rollup_json(found, plan) | {"is_new": is_new})
    elif not is_new:
        write_note(
            f"{found.id} was made at {found.created_at}: it is not paid for or sent again; `codesum digest show` tells"
        )
    elif found.state is DigestState.VETOED:
        write_note(f"{found.id}: a hook did not allow it: it is sent nowhere")
    else:
        write_note(
            f"{found.id} to {', '.join(found.channels)}: `codesum digest show {found.id}` shows whether it arrived"
        )
        _tell_paid(found)
    if report.unusable or any(each.state != "sent" for each in report.tried if each.post_id == found.id):
        raise typer.Exit(FAILED)


@contextmanager
def _open_rollup(
    invocation: Invocation,
    command: str,
    intent: str,
    since: datetime | None,
    until: datetime | None,
    *,
    asks_again: bool,
) -> Iterator[tuple[DigestDesk, DigestStore, Intent, RollupPlan]]:
    home = invocation.home
    desk, wanted = replace(home.digest_desk(), asks_again=asks_again), home.intents.survey().named(intent)
    span = Window(*parse_window(since, until))
    days = [f"{name} {day:%Y-%m-%d}" for name, day in (("--since", since), ("--until", until)) if day]
    again = " ".join([f"codesum digest {command} {shlex.quote(wanted.name)}", *days, "--again"])
    with open_digests(home.layout.digests, now=utc_now) as store:
        plan = plan_rollup(desk, store, wanted, span, AskAgain("digests", again, is_scheduled=False))
        yield desk, store, wanted, plan


def _tell_price(plan: RollupPlan) -> None:
    digests = count_noun(len(plan.rows), "digest")
    if plan.cost_usd is not None:
        write_note(
            f"{plan.model} is shown {plan.rows_shown:,} of {digests}: at most ${plan.cost_usd:.4f} for all calls"
        )
    elif plan.without_model:
        write_note(f"{digests}, without a model: {plan.without_model}")


def _tell_paid(found: DigestRow) -> None:
    if found.written_by is DigestWriter.MODEL:
        dropped = f"; {count_noun(found.dropped_claims, 'claim')} without a quote left out"
        of = f"{found.items:,} of {count_noun(found.matches, 'digest')}"
        write_note(f"{found.model}: {of}, ${found.cost_usd:.4f}{dropped if found.dropped_claims else ''}")


def _rollup_json(found: DigestRow, plan: RollupPlan) -> dict[str, Any]:
    numbers = {"rows_used": found.items, "rows_total": found.matches, "rows": [row.id for row in plan.rows]}
    return {**to_builtins(found), **numbers}


def show_digest_text(result: SummaryResult) -> None:
    """The text of a digest, and the sources that its numbers cite."""
    typer.echo(f"{escape_text(result.summary).strip()}\n")
    rows = [
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
    if rows:
        show_parts(make_table(("", "source", "place", "repository", "date", "score"), rows, right=("score",)))


def parse_window(since: datetime | None, until: datetime | None) -> tuple[str | None, str | None]:
    """The moments that two days of the command line mean; raises `ConfigurationError` for an empty window."""
    if since and until and since >= until:
        raise ConfigurationError(
            f"--since {since:%Y-%m-%d} --until {until:%Y-%m-%d}: the period is empty: give a later --until"
        )
    first, end = (iso_moment(each.replace(tzinfo=UTC)) if each else None for each in (since, until))
    return first, end
