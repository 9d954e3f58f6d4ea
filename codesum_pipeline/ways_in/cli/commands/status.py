"""`codesum status`: one line per repository, or all that is known of one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec import Struct
from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.answers.agent_tools.fleet_reading import behind_for, read_fleet, remark_of, state_json
from codesum_pipeline.answers.agent_tools.skipped_files import read_skipped
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.reports.kept_failures import read_failures
from codesum_pipeline.builds.steps.fleet_states import RepositoryState
from codesum_pipeline.builds.steps.freshness import IndexState
from codesum_pipeline.foundation.data_model.document import LEVELS
from codesum_pipeline.foundation.data_model.errors import BucketUnavailable, CodesumError
from codesum_pipeline.foundation.data_model.model_call import LedgerRow
from codesum_pipeline.foundation.data_model.moments import age_in_words, moment_at, utc_now
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.indexes.file_formats.version_folder import PublishedState, read_published
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline.source.files.work_trees import TreeState, state_of_entry
from codesum_pipeline.source.git.git_addresses import shown_location
from codesum_pipeline.texts.llm.ledger_readings import add_up_calls, spent_today
from codesum_pipeline.ways_in.cli.build_report import listed_counts
from codesum_pipeline.ways_in.cli.entry_finding import NO_REPOSITORY
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.left_out import (
    broken_files_of,
    failure_lines,
    failures_json,
    left_out_lines,
    unread_json,
)
from codesum_pipeline.ways_in.cli.render import (
    SHORT_COMMIT,
    complain,
    make_fields,
    make_table,
    present_rows,
    show_parts,
    style_text,
    write_note,
)
from codesum_pipeline.ways_in.cli.troubles import IndexedFiles, digest_troubles, edges_line, last_disagreement

_RUNS_SHOWN = 5
_DOUBTS_SHOWN = 10
_STYLED = {
    "green": (IndexState.FRESH,),
    "cyan": (IndexState.BUILDING, IndexState.QUEUED),
    "yellow": (
        IndexState.BEHIND, IndexState.CHANGED, IndexState.UPGRADED, IndexState.OTHER_INDEXES, IndexState.UNFINISHED,
        IndexState.STOPPED, IndexState.WAITING,
    ),
    "red": (IndexState.BROKEN, IndexState.UNKNOWN, IndexState.FAILED, IndexState.UNREADABLE),
}  # fmt: skip
_STYLES: dict[str, str] = {state: style for style, states in _STYLED.items() for state in states}
# Columns that are not shown where no row has them.
_MAY_LACK = ("documents", "placeholders", "behind for", "work tree", "remark")
# Of more repositories than this, neither indexes nor work trees are opened.
_OPENED = 100
# Of more than this, those are listed that may need something, and so many of them.
_SHOWN = 200
_NEEDS_NOTHING = (IndexState.FRESH, IndexState.DISABLED, IndexState.RETIRED)
# Waiting for git and for other machines, not computing.
_READERS = 16


class Freshness(Struct, frozen=True):
    """How fresh one repository's index is: what the fleet knows of it, and what was seen in its index and work tree.
    `tree` is the state of its work tree, if there is one, `left_out` what is not indexed."""

    known: RepositoryState
    published: PublishedState | None = None
    tree: TreeState | None = None
    left_out: tuple[str, ...] = ()

    @property
    def entry(self) -> RepositoryEntry:
        return self.known.entry


def look_at(home: Home, states: Sequence[RepositoryState]) -> list[Freshness]:
    """What is seen in the index and the work tree of each repository, unless they are many."""
    if len(states) > _OPENED:
        return [Freshness(state) for state in states]
    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(lambda state: _look_at(home, state), states))


def _look_at(home: Home, state: RepositoryState) -> Freshness:
    published, tree = None, None
    left_out: tuple[str, ...] = ()
    with suppress(CodesumError):
        published = read_published(home.layout, state.key)
    with suppress(CodesumError):
        tree = state_of_entry(state.entry)
    with suppress(CodesumError):
        left_out = tuple(left_out_lines(home, state.key))
    return Freshness(state, published, tree, left_out)


def status(invocation: Invocation, key: str | None = None, remote: bool = False, as_json: bool = False) -> None:
    """Show how fresh each repository's index is.

    [bold]behind[/]: the repository has a newer commit. [bold]settings changed[/]: the settings that the remark names
    would give another index. [bold]compilers' indexes changed[/]: a SCIP index came, changed or went.
    [bold]build unfinished[/]: the last build stopped half-way.
    [bold]made by an earlier version[/]: a new version of codesum would give another index.
    In all these cases [bold]codesum index KEY[/] brings it up to date.

    Where a daemon looks after the home, its last look at each repository counts, on every machine; the remark
    says what failed, how often, and when the next build is tried. A part that cannot be reached (bucket,
    database, broker) is named on stderr.
    """
    home = invocation.home
    fleet = read_fleet(home, [home.registry.get(key)] if key else invocation.entries(), ask_remotes=remote)
    for trouble in fleet.troubles:
        complain(trouble)
    found = look_at(home, fleet.repositories)
    if key and not as_json:
        show_parts(*_details(home, found[0]), *_runs(home, key))
        return
    values: Sequence[Any] = found
    if as_json:
        read = partial(_read_json, home, is_alone=bool(key))
        values = [_as_json(each) | (read(each.entry.key) if len(found) <= _OPENED else {}) for each in found]
    shown = [each for each in found if len(found) <= _SHOWN or each.known.state not in _NEEDS_NOTHING]
    present_rows(values, lambda: _overview(shown[:_SHOWN]) if shown else "", as_json=as_json, otherwise=NO_REPOSITORY)
    if len(found) > _SHOWN and not as_json:
        write_note(_counts(found, more=len(shown) - _SHOWN))
    if found and not as_json and (troubles := [*digest_troubles(home)]):
        more = f"; and {len(troubles) - 1:,} more: `codesum doctor` names all" if troubles[1:] else ""
        write_note(f"digests: {troubles[0].what}{more}")


def _as_json(found: Freshness) -> dict[str, Any]:
    out = found.published
    return {
        **state_json(found.known),
        "documents": out and out.count("documents"),
        "placeholders": out and out.count("placeholders"),
        "tree": found.tree,
        "left_out": [*found.left_out],
    }


def _read_json(home: Home, key: str, *, is_alone: bool) -> dict[str, Any]:
    """What is read from a repository's tables; null where a bucket cannot be reached and they are not here."""
    try:
        troubles = {"failures": failures_json(home, key), "unread": unread_json(home, key)}
        return troubles | (_files_json(home, key) if is_alone else {})
    except BucketUnavailable:
        return {"failures": None, "unread": None}


def _counts(found: Sequence[Freshness], *, more: int) -> str:
    states = Counter(each.known.state for each in found).most_common()
    counts = ", ".join(f"{number:,} {state}" for state, number in states)
    left_out = f"; {more:,} more are not shown" if more > 0 else ""
    return f"{len(found):,} repositories: {counts}{left_out}; `codesum status --json` lists all"


def _overview(found: Sequence[Freshness]) -> RenderableType:
    # Where every tree is clean, none is spoken of.
    has_dirty = any(each.tree not in (None, TreeState.CLEAN) for each in found)
    rows = []
    for each in found:
        out, known, tree = each.published, each.known, each.tree if has_dirty else None
        rows.append(
            {
                "repository": known.key,
                "state": Text(known.state, style=_STYLES.get(known.state, "dim")),
                "indexed": known.commit and style_text(known.commit[:SHORT_COMMIT], "cyan"),
                "head": known.head and style_text(known.head[:SHORT_COMMIT], "cyan"),
                "behind for": behind_for(known),
                "documents": out and out.count("documents"),
                "placeholders": out and out.count("placeholders"),
                "published": f"{age_in_words(known.published_at)} ago" if known.published_at else None,
                "work tree": tree and Text(tree, style="yellow" if tree is TreeState.DIRTY else "dim"),
                "remark": "; ".join(filter(None, [remark_of(known), *each.left_out])),
            }
        )
    numbers = ("documents", "placeholders")
    return make_table([*rows[0]], [[*row.values()] for row in rows], right=numbers, may_lack=_MAY_LACK)


def _details(home: Home, found: Freshness) -> Iterator[RenderableType]:
    entry, known = found.entry, found.known
    gone = ", which is gone" if known.holder and known.holder.is_gone() else ""
    seen = f", seen {age_in_words(known.head_at)} ago" if known.head_at else ""
    at = known.published_at
    last = f"; the last, run {known.failed_run}: {known.failure}" if known.failed_run else ""
    try:
        built = _built(home, found)
    except BucketUnavailable as error:
        built = {"not shown": str(error)}
    yield Text.assemble((entry.key, "bold"), ("  ", ""), (known.state, _STYLES.get(known.state, "dim")))
    yield make_fields(
        {
            "location": shown_location(entry.location),
            "ref": "work tree" if entry.worktree else entry.ref or "HEAD",
            "submodules": "indexed at their pinned commits" if entry.submodules else "",
            "subdir": entry.subdir,
            "include": ", ".join(entry.include),
            "exclude": ", ".join(entry.exclude),
            "head": known.head and f"{known.head}{seen}",
            "indexed": known.commit,
            "published": at and f"{moment_at(at)}, {age_in_words(at)} ago",
            "behind for": behind_for(known),
            "run": known.run and f"{known.run}, by {known.run.started_by}",
            "failures": f"{known.failures:,} in a row{last}" if known.failures else "",
            "next try": known.next_try,
            "held by": known.held_by,
            **built,
            "lease": known.holder and f"{known.holder}{gone}",
            "problem": known.why,
        }
    )


def _built(home: Home, found: Freshness) -> dict[str, Any]:
    """The fields that are read from the repository's index and tables; of a home in a bucket they are fetched."""
    key, out = found.entry.key, found.published
    counts = out.manifest.get("counts") if out else {}
    documents = ""
    if counts:
        levels = ", ".join(f"{counts['levels'][level]:,} {level}" for level in LEVELS)
        documents = f"{counts['documents']:,} ({levels}), of them {counts['placeholders']:,} placeholders"
    files = IndexedFiles.of(home, key)
    calls = add_up_calls(home.tables.read_rows_or_empty("ledger", key, LedgerRow))
    today = spent_today(home.layout.state(key), now=utc_now()) if calls.calls else 0
    return {
        "documents": documents,
        "texts": _texts(home, key) if home.settings.llm.enabled else "",
        "calls": f"{calls.calls:,} for ${calls.cost_usd:,.4f}, of that ${today:,.4f} today" if calls.calls else "",
        "files": _files(home, key),
        **_encodings(home, key),
        "left out": [*found.left_out],
        "work tree": found.tree,
        "not parsed": broken_files_of(home, key),
        "index": f"{files}; {edges_line(last_disagreement(home, key))}" if files else "",
        "failed": [*failure_lines(key, read_failures(home.layout.memos(key)))],
        "digests": _waiting(home, key),
    }


def _files(home: Home, key: str) -> str:
    """How many are indexed, and for which reasons others are not."""
    reasons = Counter(home.tables.read_or_empty("files", key, columns=["reason"]).column("reason").to_pylist())
    indexed = reasons.pop(None, 0)
    skipped = f"; skipped: {listed_counts(dict(sorted(reasons.items())))}" if reasons else ""
    return f"{indexed:,} indexed{skipped}" if indexed or skipped else ""


def _files_json(home: Home, key: str) -> dict[str, Any]:
    """The skipped files by path, each with its reason; and what others were read as."""
    found = read_skipped(home.layout, key)
    return {
        "skipped": {path: str(reason) for path, (reason, _) in found.reasons.items()},
        "read_as": dict(found.read_as),
        "in_doubt": list(found.in_doubt),
    }


def _encodings(home: Home, key: str) -> dict[str, str | list[str]]:
    """What files were read as that are not in UTF-8, and which of them not as declared, or not in full."""
    found = read_skipped(home.layout, key)
    doubts = [*found.in_doubt[:_DOUBTS_SHOWN]]
    if len(found.in_doubt) > _DOUBTS_SHOWN:
        doubts.append(f"and {len(found.in_doubt) - _DOUBTS_SHOWN:,} more: `codesum sql` has them in the table files")
    return {"encodings": "; ".join(f"{number:,} {name}" for name, number in found.read_as.items()), "in doubt": doubts}


def _texts(home: Home, key: str) -> str:
    """By which writers, and what kept the model from the others."""
    rows = home.tables.read_or_empty("documents", key, columns=["written_by", "model", "gate"]).to_pylist()
    writers = Counter(row["model"] or row["written_by"] for row in rows).most_common()
    gates = Counter(row["gate"] for row in rows if row["gate"]).most_common()
    by_writer = ", ".join(f"{number:,} by {name}" for name, number in writers)
    return f"{by_writer}; not by the model: {listed_counts(dict(gates))}" if gates else by_writer


def _waiting(home: Home, key: str) -> str:
    """The matches that wait for a digest, by standing question."""
    if not home.layout.digests.exists():
        return ""
    with open_digests(home.layout.digests, now=utc_now) as digests:
        waiting, written = digests.count_pending(key), digests.count(key)
    by_intent = ", ".join(f"{changes:,} for {name}" for name, changes in waiting.items())
    return f"{written:,} written; {f'changes that wait: {by_intent}' if by_intent else 'no change waits'}"


def _runs(home: Home, key: str) -> Iterator[RenderableType]:
    """The last runs, where Dagster has any."""
    if not home.layout.dagster_home.is_dir():
        return
    from codesum_pipeline.builds.dagster.control import run_history

    try:
        runs = run_history(home, key, limit=_RUNS_SHOWN)
    except CodesumError as error:
        yield style_text(f"\nno runs are shown: {error}", "dim")
        return
    rows = []
    for run in runs:
        began, ended = run.started_at, run.ended_at
        took = f"{ended - began:.1f}" if began and ended else None
        rows.append(
            (run.run_id[:SHORT_COMMIT], run.status.lower(), moment_at(began) if began else None, took, run.started_by)
        )
    if rows:
        yield Text("\nLast runs", style="bold")
        yield make_table(("run", "result", "started", "seconds", "by"), rows, right=("seconds",))
