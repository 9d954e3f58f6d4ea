"""`codesum digest preview` and `run`: what the next digests are, and having those that are due."""

from typing import Annotated

import typer
from msgspec import to_builtins

from codesum_pipeline.cli.completion import complete_intents, complete_keys
from codesum_pipeline.cli.failures import FAILED, complain
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.past_digests import JsonOption, show_text
from codesum_pipeline.cli.render import count, note, show, table
from codesum_pipeline.cli.safe_text import one_line, safe_json
from codesum_pipeline.digests.desk import one_at_a_time
from codesum_pipeline.digests.rollups import MonthlyRollup, run_monthly
from codesum_pipeline.digests.rows import TickOutcome, TickRow
from codesum_pipeline.digests.running import run_due, run_now
from codesum_pipeline.digests.store import open_digests
from codesum_pipeline.digests.tick import DigestPreview
from codesum_pipeline.digests.tick import preview as preview_tick
from codesum_pipeline.model.moments import utc_now
from codesum_pipeline.wiring import Home

IntentArgument = Annotated[
    str,
    typer.Argument(
        metavar="INTENT", autocompletion=complete_intents, show_default=False, help="A name in the intents."
    ),
]


def preview_digest(
    ctx: typer.Context,
    intent: IntentArgument,
    repo: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            autocompletion=complete_keys,
            show_default=False,
            help="Only of this repository, as after a build. Default: of all.",
        ),
    ] = None,
    with_model: Annotated[
        bool, typer.Option("--model", help="Have the model write it: it is paid for, and not paid again by the digest.")
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
        _tell(found, with_model=with_model)


def run_digests(
    ctx: typer.Context,
    intent: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            autocompletion=complete_intents,
            show_default=False,
            help="A digest of this intent now, whatever its schedule says. Can be repeated.",
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


def _tell(found: DigestPreview, *, with_model: bool) -> None:
    made = f"{count(found.matches, 'match', 'matches')}, {count(found.items, 'item')}"
    if found.model is None:
        note(f"{made}; no model: nothing is paid")
    elif with_model:
        note(f"{made}; {found.model}: ${found.cost_usd:.4f}")
    else:
        note(f"{made}; {found.model} would write it, at most ${found.most_usd:.4f} a call: --model has it do so")
