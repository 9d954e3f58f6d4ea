"""`codesum status`: one line per repository, or all that is known of one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Annotated, Any

import typer
from msgspec import Struct
from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.reports.kept_failures import read_failures
from codesum_pipeline.builds.steps.freshness import IndexState, judge_freshness
from codesum_pipeline.foundation.data_model.document import LEVELS
from codesum_pipeline.foundation.data_model.errors import BrokenStore, CannotWrite, CodesumError
from codesum_pipeline.foundation.data_model.model_call import LedgerRow
from codesum_pipeline.foundation.data_model.moments import age_in_words, moment_at, utc_now
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.lease import LeaseHolder
from codesum_pipeline.indexes.file_formats.version_folder import PublishedState, read_published
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline.source.files.dirty_trees import TreeState, state_of_entry
from codesum_pipeline.source.git.git_addresses import shown_location
from codesum_pipeline.source.git.locations import is_url
from codesum_pipeline.source.git.mirror import Mirror
from codesum_pipeline.texts.llm.ledger_readings import spent_today
from codesum_pipeline.texts.llm.totals import add_up_calls
from codesum_pipeline.ways_in.agent_tools.skipped_files import read_skipped
from codesum_pipeline.ways_in.cli.build_report import failure_lines, failures_json, listed_counts
from codesum_pipeline.ways_in.cli.entry_finding import NO_REPOSITORY
from codesum_pipeline.ways_in.cli.invocation import invocation_of
from codesum_pipeline.ways_in.cli.left_out import left_out_lines
from codesum_pipeline.ways_in.cli.options import JsonOfRepositories, key_argument, switch
from codesum_pipeline.ways_in.cli.render import (
    SHORT_COMMIT,
    make_fields,
    make_table,
    present_rows,
    show_parts,
    style_text,
    write_note,
)
from codesum_pipeline.ways_in.cli.troubles import IndexedFiles, digest_troubles, edges_line, last_disagreement
from codesum_pipeline.ways_in.cli.unread_definitions import broken_files_of, unread_json

_RUNS_SHOWN = 5
_DOUBTS_SHOWN = 10
_STYLES = {
    IndexState.FRESH: "green",
    IndexState.BUILDING: "cyan",
    **dict.fromkeys((IndexState.BEHIND, IndexState.CHANGED, IndexState.OTHER_INDEXES, IndexState.UNFINISHED), "yellow"),
    **dict.fromkeys((IndexState.BROKEN, IndexState.UNKNOWN), "red"),
}


# Columns that are not shown where no row has them.
_MAY_LACK = ("work tree", "remark")
# Waiting for git and for other machines, not computing.
_READERS = 16


class Freshness(Struct, frozen=True):
    """How fresh one repository's index is. `head` is the commit that a build would be of; `why` says why the state or
    the commit is not known. `tree` is the state of its work tree, if there is one, `left_out` what is not indexed."""

    entry: RepositoryEntry
    state: IndexState
    published: PublishedState | None
    head: str | None
    holder: LeaseHolder | None
    why: str = ""
    tree: TreeState | None = None
    left_out: tuple[str, ...] = ()


def look_at(home: Home, entries: Sequence[RepositoryEntry], *, ask_remotes: bool) -> list[Freshness]:
    """The freshness of each entry, in their order. Servers are asked only with `ask_remotes`, folders always."""
    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(lambda entry: _look_at(home, entry, ask_remotes=ask_remotes), entries))


def _look_at(home: Home, entry: RepositoryEntry, *, ask_remotes: bool) -> Freshness:
    """An index that cannot be read is a state of its own, so that the other repositories are shown all the same."""
    published, head, why = read_published(home.layout, entry.key), None, ""
    mirror = Mirror(home.layout.mirror(entry.key), timeout_s=home.settings.planner.ls_remote_timeout_s)
    is_offline = home.settings.offline or not ask_remotes
    if entry.enabled:
        try:
            head = mirror.head_commit(entry, offline=is_offline and is_url(entry.location))
        except CodesumError as error:
            why = str(error)
    tree = None
    with suppress(CodesumError):
        tree = state_of_entry(entry)
    try:
        found = judge_freshness(home.workspace(entry, run_id="look"), head=head)
        left_out = tuple(left_out_lines(home, entry.key))
    except BrokenStore as error:
        return Freshness(entry, IndexState.BROKEN, published, None, None, str(error), tree)
    return Freshness(entry, found.state, published, head, found.holder, found.why or why, tree, left_out)


def status(
    ctx: typer.Context,
    key: Annotated[str | None, key_argument("Tell all about this repository.")] = None,
    remote: Annotated[
        bool,
        switch(
            "--remote",
            "Ask servers for their newest commit, instead of comparing with the commit that was fetched last.",
        ),
    ] = False,
    as_json: JsonOfRepositories = False,
) -> None:
    """Show how fresh each repository's index is.

    [bold]behind[/]: the repository has a newer commit. [bold]settings changed[/]: a setting or a new version
    of codesum would give another index. [bold]compilers' indexes changed[/]: a SCIP index came, changed or went.
    [bold]build unfinished[/]: the last build stopped half-way.
    In all four cases [bold]codesum index KEY[/] brings it up to date.
    """
    invocation = invocation_of(ctx)
    home = invocation.home
    found = look_at(home, [home.registry.get(key)] if key else invocation.entries(), ask_remotes=remote)
    if key and not as_json:
        show_parts(*_details(home, found[0]), *_runs(home, key))
        return
    values: Sequence[Any] = found
    if as_json:
        values = [
            _as_json(each) | _troubles_json(home, each.entry.key) | (_files_json(home, each.entry.key) if key else {})
            for each in found
        ]
    present_rows(values, lambda: _overview(found), as_json=as_json, otherwise=NO_REPOSITORY)
    if found and not as_json and (troubles := [*digest_troubles(home)]):
        more = f"; and {len(troubles) - 1:,} more: `codesum doctor` names all" if troubles[1:] else ""
        write_note(f"digests: {troubles[0].what}{more}")


def _as_json(found: Freshness) -> dict[str, Any]:
    out = found.published
    return {
        "repo": found.entry.key,
        "state": found.state,
        "commit": out and out.commit,
        "head": found.head,
        "documents": out and out.count("documents"),
        "placeholders": out and out.count("placeholders"),
        "published_at": out and moment_at(out.published_at),
        "lease": str(found.holder) if found.holder else None,
        "why": found.why or None,
        "tree": found.tree,
        "left_out": [*found.left_out],
    }


def _troubles_json(home: Home, key: str) -> dict[str, Any]:
    return {"failures": failures_json(home, key), "unread": unread_json(home, key)}


def _overview(found: Sequence[Freshness]) -> RenderableType:
    rows = []
    # Where every tree is clean, none is spoken of.
    has_dirty = any(each.tree not in (None, TreeState.CLEAN) for each in found)
    for each in found:
        out, remark = each.published, each.why
        if each.holder and each.state is IndexState.BUILDING:
            remark = f"by {each.holder}"
        elif each.holder and each.holder.is_gone():
            remark = "its last build was killed"
        remark = "; ".join(filter(None, [remark, *each.left_out]))
        rows.append(
            (
                each.entry.key,
                Text(each.state, style=_STYLES.get(each.state, "dim")),
                *(
                    style_text(commit[:SHORT_COMMIT], "cyan") if commit else None
                    for commit in (out and out.commit, each.head)
                ),
                out and out.count("documents"),
                out and out.count("placeholders"),
                f"{age_in_words(out.published_at)} ago" if out else None,
                each.tree and has_dirty and Text(each.tree, style="yellow" if each.tree is TreeState.DIRTY else "dim"),
                remark,
            )
        )
    columns = (
        "repository",
        "state",
        "indexed",
        "head",
        "documents",
        "placeholders",
        "published",
        "work tree",
        "remark",
    )
    shown = [place for place, name in enumerate(columns) if name not in _MAY_LACK or any(row[place] for row in rows)]
    cells = [[row[place] for place in shown] for row in rows]
    return make_table([columns[place] for place in shown], cells, right=("documents", "placeholders"))


def _details(home: Home, found: Freshness) -> Iterator[RenderableType]:
    entry, out, tables = found.entry, found.published, home.tables
    counts = out.manifest.get("counts") if out else {}
    documents = ""
    if counts:
        levels = ", ".join(f"{counts['levels'][level]:,} {level}" for level in LEVELS)
        documents = f"{counts['documents']:,} ({levels}), of them {counts['placeholders']:,} placeholders"
    files = IndexedFiles.of(home, entry.key)
    calls = add_up_calls(tables.read_rows_or_empty("ledger", entry.key, LedgerRow))
    today = spent_today(home.layout.state(entry.key), now=utc_now()) if calls.calls else 0
    gone = ", which is gone" if found.holder and found.holder.is_gone() else ""
    yield Text.assemble((entry.key, "bold"), ("  ", ""), (found.state, _STYLES.get(found.state, "dim")))
    yield make_fields(
        {
            "location": shown_location(entry.location),
            "ref": "work tree" if entry.worktree else entry.ref or "HEAD",
            "submodules": "indexed at their pinned commits" if entry.submodules else "",
            "subdir": entry.subdir,
            "include": ", ".join(entry.include),
            "exclude": ", ".join(entry.exclude),
            "head": found.head,
            "indexed": out and out.commit,
            "published": out and f"{moment_at(out.published_at)}, {age_in_words(out.published_at)} ago",
            "documents": documents,
            "texts": _texts(home, entry.key) if home.settings.llm.enabled else "",
            "calls": f"{calls.calls:,} for ${calls.cost_usd:,.4f}, of that ${today:,.4f} today" if calls.calls else "",
            "files": _files(home, entry.key),
            **_encodings(home, entry.key),
            "left out": [*found.left_out],
            "work tree": found.tree,
            "not parsed": broken_files_of(home, entry.key),
            "index": f"{files}; {edges_line(last_disagreement(home, entry.key))}" if files else "",
            "failed": [*failure_lines(entry.key, read_failures(home.layout.memos(entry.key)))],
            "digests": _waiting(home, entry.key),
            "lease": found.holder and f"{found.holder}{gone}",
            "problem": found.why,
        }
    )


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
    except CannotWrite as error:
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
