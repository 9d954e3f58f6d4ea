"""`codesum intent`: the standing questions, of which digests tell what changed."""

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import typer
from msgspec import to_builtins
from msgspec.structs import replace
from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, MissingTable
from codesum_pipeline.foundation.data_model.moments import iso_moment, utc_now
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line
from codesum_pipeline.foundation.data_model.standing_question import Cadence, Intent, IntentMatch
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline.notifications.intents.due_moments import next_due
from codesum_pipeline.notifications.intents.intent_fields import FieldProblem, intent_of
from codesum_pipeline.notifications.intents.intents_file import Intents
from codesum_pipeline.notifications.intents.remarks import IntentContext
from codesum_pipeline.notifications.matching.past_matches import PastMatches, past_matches
from codesum_pipeline.notifications.matching.scores import score_of
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.ways_in.cli.cli_app import CommandGroup
from codesum_pipeline.ways_in.cli.invocation import Invocation, make_home
from codesum_pipeline.ways_in.cli.progress_bar import show_progress
from codesum_pipeline.ways_in.cli.render import (
    MISCONFIGURED,
    SHORT_COMMIT,
    complain,
    indent_part,
    make_table,
    present_rows,
    print_json,
    show_parts,
    write_note,
)

intent = CommandGroup("intent")
# What a text is called that is no intent yet.
_NOT_SAVED = "text"
_COMMITS = 20
# How many matches of one commit are shown, and how many below the threshold line.
_SHOWN = 8
_SHOWN_BELOW = 5
_DAY = 10
# As much of a question as a table shows.
_SHOWN_TEXT = 70


@intent.command()
def add(
    invocation: Invocation,
    name: str,
    text: str,
    repo: list[str] | None = None,
    threshold: float | None = None,
    top_k: int | None = None,
    every: Cadence | None = None,
    on: str | None = None,
    at: str | None = None,
    timezone: str | None = None,
    language: str | None = None,
    channel: list[str] | None = None,
    system: str | None = None,
    instruction: str | None = None,
    disabled: bool = False,
    as_json: bool = False,
) -> None:
    """Add a standing question to intents.yaml, if it is valid.

    codesum intent add login "How users log in, and what tokens may do" --repo 'shop-*' --every weekly --channel team
    """
    days = {"on": on, "at": at, "timezone": timezone}
    fields = {
        "text": text,
        "repositories": repo,
        "threshold": threshold,
        "top_k": top_k,
        "schedule": {"every": (every or Cadence.BUILD).value} | {key: value for key, value in days.items() if value},
        "system": system,
        "instruction": instruction,
        "language": language,
        "channels": channel,
        "enabled": not disabled,
    }
    wanted = _intent(name, {field: value for field, value in fields.items() if value not in (None, [])})
    surroundings, intents = _surroundings(invocation), intents_of(invocation)
    surroundings.check(wanted)
    make_home(invocation.settings)
    written = intents.add(wanted, check=surroundings.check)
    if as_json:
        print_json(_row(written, surroundings))
        return
    due = next_due(written.schedule, utc_now())
    first = f", first on {_local(due, written)}" if due else " that changes something about it"
    covered = sum(written.covers(key) for key in surroundings.repositories)
    known = count_noun(len(surroundings.repositories), "registered repository", "registered repositories")
    show_parts(f"{written.name}: added to {intents.file}")
    if written.enabled:
        show_parts(f"a digest {_when(written)}{first}; it looks at {covered:,} of {known}, from their next builds on")
    else:
        show_parts("it is off, as `enabled: false` in the file says")
    for remark in surroundings.remarks_on(written):
        write_note(f"note: {remark.text}")
    show_parts(f"next: codesum intent test {written.name}")


@intent.command("list")
def list_(invocation: Invocation, as_json: bool = False) -> None:
    """List the intents: what each is about, when its next digest is, and what is wrong with it.

    They are kept in intents.yaml in the home, which can also be edited by hand. The exit code is 2 if one of them
    cannot be used.
    """
    survey, surroundings = intents_of(invocation).survey(), _surroundings(invocation)
    rows = [_row(each, surroundings) for each in survey.intents]
    shown = [_cells(each, row) for each, row in zip(survey.intents, rows, strict=True)]
    for name, error in survey.problems.items():
        rows.append({"name": name, "errors": [str(error)], "warnings": []})
        shown.append((name, *[None] * 6, str(error)))
    columns = ("intent", "about", "repositories", "fits", "digest", "next", "channels", "state")
    none = "there are no intents: `codesum intent add NAME TEXT` adds one"
    present_rows(rows, lambda: make_table(columns, shown), as_json=as_json, otherwise=none)
    if any(row["errors"] for row in rows):
        raise typer.Exit(MISCONFIGURED)


@intent.command()
def remove(invocation: Invocation, name: str) -> None:
    """Take a standing question out of intents.yaml. Its digests are kept; the matches that wait for its next digest
    are deleted.

    codesum intent remove login
    """
    intents = intents_of(invocation)
    intents.remove(name)
    show_parts(f"{name}: removed from {intents.file}")
    if invocation.layout.digests.exists():
        with open_digests(invocation.layout.digests, now=utc_now) as store:
            if forgotten := store.forget_pending(name):
                show_parts(f"forgotten: {count_noun(forgotten, 'change')} that waited for its next digest")
    show_parts(
        f"its digests are kept: `codesum digest list --intent {name}`; an intent of the same name goes on from them"
    )


def _surroundings(invocation: Invocation) -> IntentContext:
    settings, keys = invocation.settings, [entry.key for entry in invocation.entries()]
    return IntentContext(settings.home, settings.prompts_dir, keys, settings.delivery, os.environ)


def _row(each: Intent, surroundings: IntentContext) -> dict[str, Any]:
    """An intent as JSON has it."""
    schedule, due = each.schedule, next_due(each.schedule, utc_now())
    remarks = surroundings.remarks_on(each)
    timed = {"at": schedule.at.strftime("%H:%M"), "timezone": schedule.timezone} if due else {}
    weekday = {"on": schedule.weekday.name.lower()} if schedule.cadence is Cadence.WEEKLY else {}
    fields: dict[str, Any] = to_builtins(each)
    return fields | {
        "system": fields.pop("system_template"),
        "instruction": fields.pop("instruction_template"),
        "schedule": {"every": schedule.cadence.value, **weekday, **timed},
        "next_due": iso_moment(due) if due and each.enabled else None,
        "errors": [remark.text for remark in remarks if remark.is_error],
        "warnings": [remark.text for remark in remarks if not remark.is_error],
    }


def _cells(each: Intent, row: Mapping[str, Any]) -> tuple[object, ...]:
    """An intent as the table has it, of the fields of its JSON."""
    due, text = next_due(each.schedule, utc_now()), one_line(each.text)
    return (
        each.name,
        text if len(text) <= _SHOWN_TEXT else f"{text[: _SHOWN_TEXT - 1]}…",
        ", ".join(each.repositories),
        f"the best {each.top_k}" if each.top_k else f"from {each.threshold:g}",
        _when(each),
        _local(due, each) if due and each.enabled else None,
        ", ".join(each.channels) or None,
        "; ".join([*([] if each.enabled else ["off"]), *row["errors"], *row["warnings"]]) or "ready",
    )


def _when(each: Intent) -> str:
    schedule = each.schedule
    if schedule.cadence is Cadence.BUILD:
        return "with each build"
    day = "day" if schedule.cadence is Cadence.DAILY else schedule.weekday.name.lower()
    return f"each {day} at {schedule.at:%H:%M} {schedule.timezone}"


def _local(moment: datetime, each: Intent) -> str:
    return f"{moment.astimezone(ZoneInfo(each.schedule.timezone)):%Y-%m-%d %H:%M}"


@intent.command()
def test(
    invocation: Invocation,
    name: str | None = None,
    text: str | None = None,
    threshold: float | None = None,
    commits: int = _COMMITS,
    repo: list[str] | None = None,
    as_json: bool = False,
) -> None:
    """Show which changes of the last commits an intent would have matched. Nothing is changed or paid for.

    codesum intent test login --commits 50

    codesum intent test --text "how users log in" --repo shop
    """
    tested = _intent_to_test(invocation, name, text, threshold)
    for key in _repositories(invocation, tested, repo):
        try:
            index = PublishedIndex.open(invocation.layout.published(key), files=invocation.layout.files)
        except MissingTable as error:
            complain(f"left out: {error}")
            continue
        workspace = invocation.home.workspace(index.repo, run_id="intent test")
        embedder = embedder_of(invocation.settings)
        found: list[PastMatches] = []
        with show_progress() as report:
            for past in past_matches(workspace, tested, index, embedder, commits=commits):
                found.append(past)
                report(f"looking at {index.repo}", len(found), commits)
        if as_json:
            print_json(_test_row(tested, key, found))
        else:
            show_parts(*_test_lines(tested, key, found))


def intents_of(invocation: Invocation) -> Intents:
    return Intents(invocation.settings.digests.intents_file, invocation.layout.files)


def _intent_to_test(invocation: Invocation, name: str | None, text: str | None, threshold: float | None) -> Intent:
    if (name is None) == (text is None):
        raise ConfigurationError('give the NAME of an intent, or --text "…"')
    tested = intents_of(invocation).survey().named(name) if name is not None else _intent(_NOT_SAVED, {"text": text})
    if threshold is None:
        return tested
    checked = _intent(tested.name, {"text": tested.text, "threshold": threshold})
    return replace(tested, threshold=checked.threshold, top_k=None)


def _intent(name: str, fields: dict[str, Any]) -> Intent:
    try:
        return intent_of(name, fields)
    except FieldProblem as error:
        raise ConfigurationError(f"{name!r}: {error}") from error


def _repositories(invocation: Invocation, tested: Intent, named: Sequence[str] | None) -> list[str]:
    if named:
        return [invocation.registry.get(key).key for key in dict.fromkeys(named)]
    covered = [entry.key for entry in invocation.entries() if entry.enabled and tested.covers(entry.key)]
    if not covered:
        write_note(f"{tested.name}: no registered repository is one of {', '.join(tested.repositories)}")
    return covered


def _test_row(tested: Intent, key: str, found: Sequence[PastMatches]) -> dict[str, Any]:
    def documents(matches: Sequence[IntentMatch]) -> list[dict[str, Any]]:
        return [
            {
                "id": each.change.document_id,
                "level": each.change.level,
                "change": each.change.kind,
                "renamed_from": each.change.renamed_from,
                "score": each.score,
            }
            for each in matches
        ]

    return {
        "intent": tested.name,
        "text": tested.text,
        "repo": key,
        "threshold": tested.threshold,
        "top_k": tested.top_k,
        "commits": [
            {
                "commit": past.commit.id,
                "committed_at": past.commit.committed_at,
                "subject": past.commit.subject,
                "matched": documents(past.matched),
                "others": documents(past.others),
            }
            for past in found
        ],
    }


def _test_lines(tested: Intent, key: str, found: Sequence[PastMatches]) -> Iterator[RenderableType]:
    """The commits that match, what was nearly matched, and a last line that sums up."""
    line = f"the best {tested.top_k} of each commit" if tested.threshold is None else f"threshold {tested.threshold:g}"
    matching = [past for past in found if past.matched]
    for past in matching:
        commit = past.commit
        yield Text.assemble(
            (commit.id[:SHORT_COMMIT], "yellow"),
            (f" {commit.committed_at[:_DAY]}", "dim"),
            (f" {one_line(commit.subject)}", "bold"),
        )
        yield from (_line(match) for match in past.matched[:_SHOWN])
        if (left := len(past.matched) - _SHOWN) > 0:
            yield indent_part(Text(f"and {count_noun(left, 'more document')}", style="dim"), 2)
    if below := _best_of_each_document(found):
        yield Text(f"below the line ({line}), the best:", style="dim")
        yield from (_line(match, of=past) for match, past in below[:_SHOWN_BELOW])
    documents = count_noun(sum(len(past.matched) for past in matching), "document")
    commits = f"{len(matching):,} of {count_noun(len(found), 'commit')} of {key}"
    yield Text(one_line(f"{tested.name}: {documents} in {commits}, {line}"), style="bold")


def _best_of_each_document(found: Sequence[PastMatches]) -> list[tuple[IntentMatch, PastMatches]]:
    """The best of what does not match, each document at its best and latest."""
    best: dict[str, tuple[IntentMatch, PastMatches]] = {}
    for past in found:
        for match in past.others:
            known = best.get(match.change.document_id)
            if known is None or score_of(known[0]) < score_of(match):
                best[match.change.document_id] = match, past
    return sorted(best.values(), key=lambda pair: (-score_of(pair[0]), pair[0].change.document_id))


def _line(match: IntentMatch, *, of: PastMatches | None = None) -> RenderableType:
    change = match.change
    when = f" {of.commit.id[:SHORT_COMMIT]} {of.commit.committed_at[:_DAY]}" if of else ""
    line = Text.assemble(
        (f"{score_of(match):.2f}", "cyan"),
        (f" {'moved' if change.renamed_from else change.kind}", "dim"),
        f" {one_line(change.document_id)}",
        (when, "dim"),
    )
    return indent_part(line, 2)
