"""`codesum index`: bring indexes up to date, through the same Dagster job that the UI runs."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import typer
from msgspec import Struct, field

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.reports.kept_failures import read_failures
from codesum_pipeline.foundation.data_model.errors import CodesumError, ConfigurationError, LeaseHeld
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.lease import hold_repository
from codesum_pipeline.foundation.store.schemas import BOOKS
from codesum_pipeline.indexes.publishing.releases import refuse_older_release
from codesum_pipeline.ways_in.cli.build_report import (
    ModelReport,
    built_table,
    damage_lines,
    outcome_json,
    shut_out_line,
    standing_builds,
    standing_json,
    standing_line,
    tell_uncommitted,
)
from codesum_pipeline.ways_in.cli.entry_finding import EntryOptions, find_entry, place_of
from codesum_pipeline.ways_in.cli.forgetting import forget_unfetched, was_fetched
from codesum_pipeline.ways_in.cli.invocation import Invocation, make_home
from codesum_pipeline.ways_in.cli.left_out import lacking_lines
from codesum_pipeline.ways_in.cli.progress_bar import show_progress
from codesum_pipeline.ways_in.cli.render import (
    FAILED,
    complain,
    escape_text,
    exit_code_of_all,
    print_json,
    safe_json_of,
    show_parts,
    style_text,
    write_note,
)
from codesum_pipeline.ways_in.cli.troubles import unusable_indexes

if TYPE_CHECKING:
    from codesum_pipeline.builds.reports.build_values import RunOutcome

# The step after which a repository's files are here.
_FETCH = "repo_snapshot"


def index(
    invocation: Invocation,
    targets: list[str] | None = None,
    key: str | None = None,
    ref: str | None = None,
    subdir: str | None = None,
    include: list[str] | None = None,
    exclude: list[str] | None = None,
    worktree: bool | None = None,
    submodules: bool | None = None,
    force: bool = False,
    rebuild: bool = False,
    yes: bool = False,
    as_json: bool = False,
) -> None:
    """Bring repositories' indexes up to date, registering new locations.

    Only what changed since the last build is parsed, written and embedded again; without a change, nothing runs.

    codesum index .

    codesum index https://github.com/pallets/flask --ref main
    """
    options = EntryOptions(key, ref, subdir, include, exclude, worktree, submodules)
    home, new = invocation.home, NewEntries(invocation)
    home.check_choices()
    keys, unusable = _keys(new, targets or [], options)
    try:
        if rebuild:
            # What is published stays until the rebuild replaces it; so do the books.
            for each in keys:
                with hold_repository(home.layout, each, run_id="rebuild", wait_s=home.settings.lease_wait_s):
                    if not force:
                        refuse_older_release(home.layout, each)
                    home.tables.drop(each, keeping=BOOKS)
        with show_progress() as progress:
            progress("looking for changes", 0, 0)
            up_to_date = {} if force else standing_builds(home, keys, is_confirmed=yes)
        for each, last in up_to_date.items():
            typer.echo(safe_json_of(standing_json(home, each, last)) if as_json else standing_line(each, last))
            for line in lacking_lines(home, each):
                write_note(f"{each}: {line}")
        outcomes = _build(home, [key for key in keys if key not in up_to_date], force=force, confirm_llm=yes)
    except BaseException:
        new.take_back_new()
        raise
    _report(home, outcomes, as_json=as_json, debug=invocation.debug)
    failed = [outcome for outcome in outcomes if not outcome.succeeded]
    for outcome in failed:
        complain(f"{outcome.key} failed: {outcome.message} (run {outcome.run_id})")
    tell_uncommitted(home, [key for key in keys if key not in {outcome.key for outcome in failed}])
    _take_back_unfetched(home, new, failed)
    is_one_left_out = not targets and bool(invocation.registry.survey().problems)
    if failed and len(failed) == len(keys) and not is_one_left_out:
        errors = [*(outcome.error for outcome in failed), *map(type, unusable)]
        raise typer.Exit(exit_code_of_all(errors))
    if failed or unusable or is_one_left_out:
        raise typer.Exit(FAILED)


class NewEntries(Struct, eq=False):
    """The entries that one command registered or changed, with what they were before it."""

    invocation: Invocation
    _before: dict[str, RepositoryEntry | None] = field(default_factory=dict)

    def register(self, entry: RepositoryEntry) -> None:
        """Write an entry, and say so."""
        registry = self.invocation.registry
        before = next((known for known in registry.entries() if known.key == entry.key), None)
        make_home(self.invocation.settings)
        registry.add(entry)
        self._before.setdefault(entry.key, before)
        write_note(f"{entry.key}: {'registered' if before is None else 'registered anew'}, {place_of(entry)}")

    def take_back(self, keys: Iterable[str] | None = None) -> None:
        """Restore these entries (default: all) as they were before. A new one that was fetched at any time stays."""
        for key in list(self._before) if keys is None else [key for key in keys if key in self._before]:
            before = self._before.pop(key)
            if before is not None:
                self.invocation.registry.add(before)
                write_note(f"{key}: registered as it was before")
            elif not was_fetched(self.invocation.home, key):
                forget_unfetched(self.invocation.home, key)

    def take_back_new(self) -> None:
        """Take back those that nobody had registered before."""
        self.take_back([key for key, before in self._before.items() if before is None])


def _keys(new: NewEntries, targets: Sequence[str], options: EntryOptions) -> tuple[list[str], Sequence[CodesumError]]:
    """The keys to build, each once, and why others of several targets cannot be used. Targets that are not registered
    as described are registered."""
    if not targets:
        if options != EntryOptions():
            raise ConfigurationError(
                "--key, --ref, --subdir, --include, --exclude, --worktree and --submodules need a LOCATION"
            )
        keys = [entry.key for entry in new.invocation.entries() if entry.enabled]
        if not keys:
            raise ConfigurationError("no repository is registered: name one, as in `codesum index .`")
        return keys, ()
    options.check_fits(len(targets))
    found: dict[str, None] = {}
    unusable: list[CodesumError] = []
    try:
        for target in targets:
            try:
                found[_key_of(new, target, options)] = None
            except CodesumError as error:
                if len(targets) == 1:
                    raise
                unusable.append(error)
                complain(str(error))
    except BaseException:
        new.take_back()
        raise
    if not found:
        raise typer.Exit(exit_code_of_all(map(type, unusable)))
    return list(found), unusable


def _key_of(new: NewEntries, target: str, options: EntryOptions) -> str:
    """The key of one target."""
    entry, is_known = find_entry(new.invocation.registry, target, options)
    if not entry.enabled:
        raise ConfigurationError(f"repository {entry.key!r} is disabled: `codesum add {entry.key}` enables it")
    if not is_known:
        new.register(entry)
    return entry.key


def _build(home: Home, keys: Sequence[str], *, force: bool, confirm_llm: bool) -> "list[RunOutcome]":
    def tell(outcome: "RunOutcome") -> None:
        write_note(f"{outcome.key}: {'built' if outcome.succeeded else 'failed'} in {outcome.seconds:.1f} s")

    if not keys:
        return []
    with show_progress() as progress:
        from codesum_pipeline.builds.dagster.companion import index_repositories

        on_outcome = tell if len(keys) > 1 else None
        return index_repositories(
            home, keys, force=force, confirm_llm=confirm_llm, progress=progress, on_outcome=on_outcome
        )


def _report(home: Home, outcomes: "Sequence[RunOutcome]", *, as_json: bool, debug: bool) -> None:
    """Show the results of the runs; what somebody has to do about them goes to stderr."""
    reports = [ModelReport(home, outcome) for outcome in outcomes]
    if as_json:
        print_json(*(outcome_json(home, outcome) for outcome in outcomes))
    elif outcomes:
        show_parts(built_table(outcomes))
        for report in reports:
            name = f"{report.outcome.key}: " if len(outcomes) > 1 else ""
            show_parts(*(style_text(f"{name}{line}", "dim") for line in report.lines()))
    for report in reports:
        outcome, failures = report.outcome, read_failures(home.layout.memos(report.outcome.key))
        for line in (
            *([outcome.message] if outcome.is_held else ()),
            *unusable_indexes(home, outcome.key),
            *report.warnings(),
            *damage_lines(outcome),
            *lacking_lines(home, outcome.key, is_built=outcome.succeeded),
        ):
            write_note(f"{outcome.key}: {line}")
        for step, failure in [(step, failure) for step, some in failures.items() for failure in some] if debug else ():
            if failure.traceback:
                typer.echo(escape_text(f"{step}: {failure.item}\n{failure.traceback}"), err=True)
    if remark := shut_out_line(reports):
        write_note(remark)


def _take_back_unfetched(home: Home, new: NewEntries, failed: "Sequence[RunOutcome]") -> None:
    """A location that could not be fetched is not left registered by the command that registered it."""
    unfetched = [found for found in failed if _FETCH not in found.numbers and found.error is not LeaseHeld]
    new.take_back(outcome.key for outcome in unfetched)
    known = {entry.key for entry in home.registry.entries()}
    for outcome in unfetched:
        if outcome.key in known and not was_fetched(home, outcome.key):
            write_note(f"{outcome.key}: never fetched so far; `codesum remove {outcome.key} --purge` forgets it")
