"""`codesum cost`: what calls of models cost, over time, and what builds did not have to ask a model for."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import Literal

from msgspec import to_builtins
from rich.console import RenderableType

from codesum_pipeline.answers.question_answering.past_questions import calls_of_questions
from codesum_pipeline.answers.question_answering.question_store import STORE_FILE
from codesum_pipeline.builds.compaction.compacting import LEDGER_FILE
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.model_call import AvoidedRow, CallTotals, LedgerRow
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.foundation.store.atomic import replace_durably
from codesum_pipeline.foundation.store.tables import tables_of
from codesum_pipeline.notifications.digests.digest_store import calls_of_digests
from codesum_pipeline.texts.llm.ledger_readings import (
    Totals,
    add_up_calls,
    add_up_calls_by,
    avoided_by_cause,
    calls_since,
    every_attempt,
)
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import (
    SHORT_COMMIT,
    make_table,
    present_rows,
    print_json,
    show_parts,
    write_note,
)

_DAY = len("2026-01-31")
# Each with the repositories that it was about.
Calls = list[tuple[tuple[str, ...], LedgerRow]]
# How the first column is called, that of good calls, and that of the others.
_HEADS = {
    "texts": ("{by}", "texts", "without a text"),
    "questions": ("questions by {by}", "answers", "without an answer"),
    "digests": ("digests by {by}", "answers", "without an answer"),
}


# What the lines of the table are for.
By = Literal["day", "run", "model", "level", "repo"]


def cost(
    invocation: Invocation,
    keys: list[str] | None = None,
    by: By = "day",
    since: datetime | None = None,
    avoided: bool = False,
    as_json: bool = False,
    plot: Path | None = None,
) -> None:
    """Show what calls of models cost, by day, run, model, level or repository.

    The texts of builds come first; below are tables for the questions of [bold]codesum ask[/] and for digests.

    codesum cost --since 2026-01-01 --plot cost.svg
    """
    if plot is not None and plot.suffix != ".svg":
        raise ConfigurationError(f"--plot draws SVG: name a file that ends in .svg, not {plot.name!r}")
    invocation, keys = invocation, keys or []
    begin = f"{since:%Y-%m-%d}" if since else ""
    if avoided:
        show_avoided(invocation, keys, begin, as_json=as_json)
        return
    rows = _rows(invocation, keys, begin)
    questions = _about(keys, calls_of_questions(invocation.layout.home / STORE_FILE, since=begin))
    digests = _about(keys, calls_of_digests(invocation.layout.digests, since=begin))
    named = {
        "texts": rows,
        "questions": [(", ".join(repos), row) for repos, row in questions],
        # A digest that was not written is about no repository: it is listed under its question.
        "digests": [(", ".join(repos) or row.id, row) for repos, row in digests],
    }
    if plot is not None:
        days = add_up_calls_by((row.started_at[:_DAY], row) for calls in named.values() for _, row in calls)
        with invocation.with_modes_of_the_caller():
            write_plot(plot, {day: found.cost_usd for day, found in days.items()})
    totals = {
        what: add_up_calls_by((_name(by, repo, row), row) for repo, row in calls) for what, calls in named.items()
    }
    if as_json:
        for what, found in totals.items():
            for name, each in found.items():
                more = {"cached_share": each.cached_share, "failures": dict(each.failures)}
                print_json({"what": what, by: name, **to_builtins(each), **more})
        return
    for what, found in totals.items():
        if found:
            show_parts(_table(by, {**found, "all": add_up_calls(row for _, row in named[what])}, _HEADS[what]))
    compacting, usd = (0, 0.0) if keys else calls_since(invocation.layout.home / LEDGER_FILE, begin)
    if compacting:
        write_note(f"`codesum compact`, which is not among these: {count_noun(compacting, 'call')}, ${usd:.4f}")
    elif not any(totals.values()):
        write_note(
            "no call of a model is on the books: `llm.enabled` and `llm.max_summaries_per_run` let builds make some, "
            "`codesum ask` makes others"
        )


def _rows(invocation: Invocation, keys: Sequence[str], since: str) -> list[tuple[str, LedgerRow]]:
    """Each attempt with its repository; a repository that was removed keeps its books until it is purged."""
    store = tables_of(invocation.layout)
    known = _known(invocation, keys, store.repositories("ledger"))
    names = keys or sorted({*known, *(entry.key for entry in invocation.entries())})
    attempts = ((repo, row) for repo in names for row in every_attempt(store, invocation.layout.state(repo), repo))
    return [(repo, row) for repo, row in attempts if row.started_at >= since]


def _known(invocation: Invocation, keys: Sequence[str], on_the_books: Collection[str]) -> Collection[str]:
    """The keys, or all on the books; raises `UnknownRepository` for one that is neither there nor registered."""
    for key in keys:
        if key not in on_the_books:
            invocation.registry.get(key)
    return keys or on_the_books


def _about(keys: Sequence[str], calls: Calls) -> Calls:
    """The calls about any of some repositories."""
    return [(repos, row) for repos, row in calls if not keys or {*keys} & {*repos}]


def _name(by: By, repo: str, row: LedgerRow) -> str:
    """The line of the table that a row counts in."""
    names = {"day": row.started_at[:_DAY], "run": row.run_id, "model": row.model, "level": row.level, "repo": repo}
    return names[by]


def _table(by: By, totals: Mapping[str, Totals], heads: tuple[str, str, str]) -> RenderableType:
    head, good, bad = heads
    numbers = ("calls", good, "read", "of that cached", "written", "US dollars", "estimated", "p50 s", "p95 s")
    rows = []
    for name, found in totals.items():
        tokens = (found.prompt_tokens, f"{found.cached_share:.0%}", found.completion_tokens)
        prices = (f"{found.cost_usd:.4f}", f"{found.estimated_usd:.4f}")
        latency = (f"{found.latency_p50_s:.1f}", f"{found.latency_p95_s:.1f}")
        failures = ", ".join(f"{number:,} {kind}" for kind, number in found.failures)
        shown = name[:SHORT_COMMIT] if by == "run" else name
        rows.append((shown, found.calls, found.texts, *tokens, *prices, *latency, failures))
    return make_table((head.format(by=by), *numbers, bad), rows, right=numbers)


_COLOR = "#4f43dd"
_SUM_COLOR = "#d9822b"
# In pixels; the labels of both axes and of the days lie in the margins.
_WIDTH, _HEIGHT, _MARGIN = 800, 320, 50
# More names would run into each other.
_NAMED_DAYS = 12


def write_plot(path: Path, usd_by_day: Mapping[str, float]) -> None:
    """Write an SVG: a bar for each day that had calls, and a line for all up to then; days are ISO dates."""
    days = sorted(usd_by_day)
    sums = [*accumulate(usd_by_day[day] for day in days)]
    most, whole = max(usd_by_day.values(), default=0.0), sums[-1] if sums else 0.0
    floor, height = _HEIGHT - _MARGIN, _HEIGHT - 2 * _MARGIN
    step = (_WIDTH - 2 * _MARGIN) / max(1, len(days))
    middles = [_MARGIN + step * (place + 0.5) for place in range(len(days))]
    parts = [_label(_MARGIN, _MARGIN / 2, "US dollars a day (bars), and all so far (line)", "start")]
    for share in (0.0, 0.5, 1.0):
        y = floor - share * height
        parts.append(f'<path d="M{_MARGIN} {y}H{_WIDTH - _MARGIN}" stroke="#ddd"/>')
        parts.append(_label(_MARGIN - 5, y + 4, f"{share * most:.4g}", "end", _COLOR))
        parts.append(_label(_WIDTH - _MARGIN + 5, y + 4, f"{share * whole:.4g}", "start", _SUM_COLOR))
    points = []
    for x, day, total in zip(middles, days, sums, strict=True):
        tall = height * usd_by_day[day] / (most or 1)
        parts.append(
            f'<rect x="{x - 0.4 * step:.1f}" y="{floor - tall:.1f}" width="{0.8 * step:.1f}" height="{tall:.1f}" '
            f'fill="{_COLOR}"><title>{day}: {usd_by_day[day]:.4f}</title></rect>'
        )
        points.append(f"{x:.1f},{floor - height * total / (whole or 1):.1f}")
    parts.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="{_SUM_COLOR}" stroke-width="2"/>')
    every = max(1, -(-len(days) // _NAMED_DAYS))
    parts += [_label(x, floor + 20, day, "middle") for x, day in [*zip(middles, days, strict=True)][::every]]
    with replace_durably(path) as file:
        file.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" '
            f'font-size="11"><rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'.encode()
        )


def _label(x: float, y: float, text: str, anchor: str, color: str = "#333") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{text}</text>'


_NUMBERS = ("calls", "tokens", "US dollars", "share")


def show_avoided(invocation: Invocation, keys: Sequence[str], since: str, *, as_json: bool) -> None:
    """The meters of these repositories' runs, or of all, from a day on, by cause; the share is of the dollars that
    writing everything anew in every run would have cost."""
    store = tables_of(invocation.layout)
    names = _known(invocation, keys, store.repositories("avoided"))
    rows = [row for key in names for row in store.read_rows_or_empty("avoided", key, AvoidedRow)]
    found = avoided_by_cause(row for row in rows if row.noted_at >= since)
    everything = sum(found.values(), CallTotals())
    lines = [(cause.value, *_cells(saving, everything)) for cause, saving in found.items()]
    present_rows(
        [{"cause": cause.value, **to_builtins(saving)} for cause, saving in found.items()],
        lambda: make_table(("cause", *_NUMBERS), [*lines, ("all", *_cells(everything, everything))], right=_NUMBERS),
        as_json=as_json,
        otherwise="no build with a model is on the books: `llm.enabled` lets builds keep them",
    )


def _cells(saving: CallTotals, everything: CallTotals) -> tuple[object, ...]:
    share = saving.usd / everything.usd if everything.usd else saving.calls / everything.calls
    return saving.calls, saving.input_tokens + saving.output_tokens, f"{saving.usd:.4f}", f"{share:.1%}"
