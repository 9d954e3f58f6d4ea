"""`codesum intent`: the standing questions, of which digests tell what changed."""

import os
from datetime import datetime
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import typer
from msgspec import to_builtins

from codesum_pipeline.cli.commands import CommandGroup
from codesum_pipeline.cli.failures import MISCONFIGURED
from codesum_pipeline.cli.intent_test import test
from codesum_pipeline.cli.invocation import Invocation, invocation, make_home
from codesum_pipeline.cli.options import argument, complete_intents, complete_keys, option, switch
from codesum_pipeline.cli.render import note, safe_json, show, table
from codesum_pipeline.digests.store import open_digests
from codesum_pipeline.intents.due import next_due
from codesum_pipeline.intents.fields import FieldProblem, intent_of
from codesum_pipeline.intents.file import Intents
from codesum_pipeline.intents.remarks import IntentContext
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.intents import DEFAULT_THRESHOLD, Cadence, Intent, Weekday
from codesum_pipeline.model.moments import iso_moment, utc_now
from codesum_pipeline.model.printable import counted, one_line

intent = CommandGroup("intent")
JsonOption = Annotated[bool, switch("--json", "Print one JSON object per intent.")]
# As much of a question as a table shows.
_SHOWN_TEXT = 70


@intent.command()
def add(
    ctx: typer.Context,
    name: Annotated[str, argument("NAME", "What to call it.")],
    text: Annotated[str, argument("TEXT", "What you want to be told about, in a sentence.")],
    repo: Annotated[
        list[str] | None,
        option(
            "GLOB",
            "Only these repositories, as in 'shop-*'. Can be repeated. Default: all, later ones too.",
            autocompletion=complete_keys,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        option(
            None, f"How well a change has to fit, from 0 (all) to 1. Default: {DEFAULT_THRESHOLD}, without --top-k."
        ),
    ] = None,
    top_k: Annotated[int | None, option("N", "The best N changes instead, however they fit.")] = None,
    every: Annotated[
        Cadence | None, option(None, "A digest with each build, or one a day or week. Default: build.")
    ] = None,
    on: Annotated[str | None, option("WEEKDAY", "The day of a weekly one. Default: monday.")] = None,
    at: Annotated[str | None, option("HH:MM", "Its time. Default: 07:00.")] = None,
    timezone: Annotated[str | None, option("ZONE", "As Europe/Berlin. Default: UTC.")] = None,
    language: Annotated[
        str | None, option(None, "What it is written in: a name or tag (German, de). Default: English.")
    ] = None,
    channel: Annotated[
        list[str] | None, option("NAME", "Where it is sent; `codesum digest channels`. Can be repeated.")
    ] = None,
    system: Annotated[str | None, option("NAME", "A digest_system template. Default: default.")] = None,
    instruction: Annotated[str | None, option("NAME", "A digest_instruction template. Default: default.")] = None,
    disabled: Annotated[bool, switch("--disabled", "Write it down without having it run.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Add a standing question to intents.yaml, if it can be used as it stands.

    codesum intent add login "How users log in, and what tokens may do" --repo 'shop-*' --every weekly --channel team
    """
    called = invocation(ctx)
    days = {"on": on, "at": at, "timezone": timezone}
    schedule = {"every": (every or Cadence.BUILD).value} | {key: value for key, value in days.items() if value}
    given = {
        "text": text,
        "repositories": repo,
        "threshold": threshold,
        "top_k": top_k,
        "schedule": schedule,
        "system": system,
        "instruction": instruction,
        "language": language,
        "channels": channel,
        "enabled": not disabled,
    }
    try:
        wanted = intent_of(name, {field: value for field, value in given.items() if value not in (None, [])})
    except FieldProblem as error:
        raise ConfigurationError(f"{name!r}: {error}") from error
    surroundings = _surroundings(called)
    surroundings.check(wanted)
    make_home(called.settings)
    written = _intents(called).add(wanted, check=surroundings.check)
    if as_json:
        typer.echo(safe_json(_row(written, surroundings)))
        return
    _tell_added(called, written, surroundings)


@intent.command("list")
def list_(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """List the intents: what each is about, when its next digest is, and what is wrong with it.

    They stand in intents.yaml in the home, which is also edited by hand. The exit code is 2 where one cannot be used.
    """
    called = invocation(ctx)
    survey = _intents(called).survey()
    surroundings = _surroundings(called)
    rows = [_row(each, surroundings) for each in survey.intents]
    rows += [{"name": name, "errors": [str(error)], "warnings": []} for name, error in survey.problems.items()]
    if as_json:
        for row in rows:
            typer.echo(safe_json(row))
    elif rows:
        columns = ("intent", "about", "repositories", "fits", "digest", "next", "channels", "state")
        shown = [(*_cells(each), _state(row)) for each, row in zip(survey.intents, rows, strict=False)]
        shown += [(name, *[None] * 6, str(error)) for name, error in survey.problems.items()]
        show(table(columns, shown))
    else:
        note("there are no intents: `codesum intent add NAME TEXT` adds one")
    if any(row["errors"] for row in rows):
        raise typer.Exit(MISCONFIGURED)


@intent.command()
def remove(
    ctx: typer.Context, name: Annotated[str, argument("NAME", "An intent.", autocompletion=complete_intents)]
) -> None:
    """Take a standing question out of intents.yaml. Its digests are kept; what waited for the next one is not.

    codesum intent remove login
    """
    intents = _intents(invocation(ctx))
    intents.remove(name)
    show(f"{name}: removed from {intents.file}")
    digests = invocation(ctx).layout.digests
    if digests.exists():
        with open_digests(digests, now=utc_now) as store:
            if forgotten := store.forget(name):
                show(f"forgotten: {counted(forgotten, 'change')} that waited for its next digest")
    show(f"its digests are kept: `codesum digest list --intent {name}`; an intent of the same name goes on from them")


intent.command()(test)


def _intents(called: Invocation) -> Intents:
    return Intents(called.settings.digests.intents_file)


def _surroundings(called: Invocation) -> IntentContext:
    settings = called.settings
    return IntentContext(
        home=settings.home,
        prompts_dir=settings.prompts_dir,
        repositories=[entry.key for entry in called.entries()],
        delivery=settings.delivery,
        environ=os.environ,
    )


def _row(each: Intent, surroundings: IntentContext) -> dict[str, Any]:
    """An intent as JSON has it."""
    schedule, due = each.schedule, next_due(each.schedule, utc_now())
    remarks = surroundings.remarks_on(each)
    timed = {"at": schedule.at.strftime("%H:%M"), "timezone": schedule.timezone} if due else {}
    weekday = {"on": _day(schedule.weekday)} if schedule.cadence is Cadence.WEEKLY else {}
    fields: dict[str, Any] = to_builtins(each)
    return fields | {
        "system": fields.pop("system_template"),
        "instruction": fields.pop("instruction_template"),
        "schedule": {"every": schedule.cadence.value, **weekday, **timed},
        "next_due": iso_moment(due) if due and each.enabled else None,
        "errors": [remark.text for remark in remarks if remark.is_error],
        "warnings": [remark.text for remark in remarks if not remark.is_error],
    }


def _cells(each: Intent) -> tuple[object, ...]:
    due = next_due(each.schedule, utc_now())
    return (
        each.name,
        _shortened(one_line(each.text)),
        ", ".join(each.repositories),
        f"the best {each.top_k}" if each.top_k else f"from {each.threshold:g}",
        _when(each),
        _local(due, each) if due and each.enabled else None,
        ", ".join(each.channels) or None,
    )


def _state(row: dict[str, Any]) -> str:
    said = [*row["errors"], *row["warnings"]]
    return "; ".join([*([] if row["enabled"] else ["off"]), *said]) or "ready"


def _when(each: Intent) -> str:
    schedule = each.schedule
    if schedule.cadence is Cadence.BUILD:
        return "with each build"
    every = "each day" if schedule.cadence is Cadence.DAILY else f"each {_day(schedule.weekday)}"
    return f"{every} at {schedule.at:%H:%M} {schedule.timezone}"


def _local(moment: datetime, each: Intent) -> str:
    return f"{moment.astimezone(ZoneInfo(each.schedule.timezone)):%Y-%m-%d %H:%M}"


def _day(weekday: Weekday) -> str:
    return weekday.name.lower()


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_TEXT else f"{text[: _SHOWN_TEXT - 1]}…"


def _tell_added(called: Invocation, written: Intent, surroundings: IntentContext) -> None:
    show(f"{written.name}: added to {_intents(called).file}")
    due = next_due(written.schedule, utc_now())
    first = f", first on {_local(due, written)}" if due else " that changes something about it"
    covered = sum(written.covers(key) for key in surroundings.repositories)
    known = counted(len(surroundings.repositories), "registered repository", "registered repositories")
    if written.enabled:
        show(f"a digest {_when(written)}{first}; it looks at {covered:,} of {known}, from their next builds on")
    else:
        show("it is off, as `enabled: false` in the file says")
    for remark in surroundings.remarks_on(written):
        note(f"note: {remark.text}")
    show(f"next: codesum intent test {written.name}")
