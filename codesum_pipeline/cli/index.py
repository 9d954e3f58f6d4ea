"""`codesum index`: bring indexes up to date, through the same Dagster job that the UI runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from codesum_pipeline.cli.built import built_table, outcome_json, standing_json, standing_line
from codesum_pipeline.cli.completion import complete_keys
from codesum_pipeline.cli.failed_items import failure_lines, failures_json, failures_of, tracebacks
from codesum_pipeline.cli.failures import FAILED, complain, exit_code_of_all
from codesum_pipeline.cli.freshness import LastBuild, standing_builds
from codesum_pipeline.cli.index_health import unusable_indexes
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.model_report import model_lines, model_report, model_warnings, shut_out
from codesum_pipeline.cli.new_entries import NewEntries, was_fetched
from codesum_pipeline.cli.progress_bar import progress_bar
from codesum_pipeline.cli.registration import (
    EntryOptions,
    ExcludeOption,
    IncludeOption,
    KeyOption,
    RefOption,
    SubdirOption,
    WorktreeOption,
    find_entry,
)
from codesum_pipeline.cli.render import note, show, styled
from codesum_pipeline.cli.safe_text import escaped, safe_json
from codesum_pipeline.cli.uncommitted import tell_uncommitted, uncommitted_json
from codesum_pipeline.indexes.version_folder import read_published
from codesum_pipeline.model.errors import ConfigurationError, LeaseHeld
from codesum_pipeline.store.lease import hold_repository
from codesum_pipeline.store.schemas import BOOKS
from codesum_pipeline.wiring import Home

if TYPE_CHECKING:
    from codesum_pipeline.defs.building.values import RunOutcome

# The step after which a repository's files are here.
_FETCH = "repo_snapshot"


def index(
    ctx: typer.Context,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="LOCATION|KEY",
            autocompletion=complete_keys,
            show_default=False,
            help="Paths, git URLs or registered keys. Without any: every enabled repository.",
        ),
    ] = None,
    key: KeyOption = None,
    ref: RefOption = None,
    subdir: SubdirOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    worktree: WorktreeOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Run every step and write every text again, also where nothing changed.")
    ] = False,
    rebuild: Annotated[
        bool,
        typer.Option(
            "--rebuild", help="Drop the tables first: the way out where they were written by another version."
        ),
    ] = False,
    yes: Annotated[
        bool,
        typer.Option("--yes", help="Let a language model write more of an index again than `max_rewrite_fraction`."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per repository.")] = False,
) -> None:
    """Bring repositories' indexes up to date, registering what is not known yet.

    Only what changed since the last time is parsed, written and embedded again, and where nothing did nothing is run.

    codesum index .

    codesum index https://github.com/pallets/flask --ref main
    """
    called = invocation(ctx)
    options = EntryOptions.of(key=key, ref=ref, subdir=subdir, include=include, exclude=exclude, worktree=worktree)
    home = Home(called.settings)
    home.check_choices()
    new = NewEntries(called)
    keys = _keys(new, targets or [], options)
    try:
        if rebuild:
            _drop_tables(home, keys)
        with progress_bar() as progress:
            progress("looking for changes", 0, 0)
            standing = {} if force else standing_builds(home, keys, is_confirmed=yes)
        for found, last in standing.items():
            typer.echo(_standing_json(home, found, last) if as_json else standing_line(found, last))
        outcomes = _build(home, [key for key in keys if key not in standing], force=force, confirm_llm=yes)
    except BaseException:
        new.take_back_new()
        raise
    _report(home, outcomes, as_json=as_json, debug=bool(ctx.find_root().params.get("debug")))
    failed = [outcome for outcome in outcomes if not outcome.succeeded]
    for outcome in failed:
        complain(f"{outcome.key} failed: {outcome.message} (run {outcome.run_id})")
    tell_uncommitted(home, [key for key in keys if key not in {outcome.key for outcome in failed}])
    _take_back_unfetched(home, new, failed)
    is_one_left_out = not targets and bool(called.registry.survey().problems)
    if failed and len(failed) == len(keys) and not is_one_left_out:
        raise typer.Exit(exit_code_of_all(outcome.error for outcome in failed))
    if failed or is_one_left_out:
        raise typer.Exit(FAILED)


def _standing_json(home: Home, key: str, last: LastBuild) -> str:
    return safe_json(standing_json(key, last) | uncommitted_json(home, key))


def _report(home: Home, outcomes: "Sequence[RunOutcome]", *, as_json: bool, debug: bool) -> None:
    """What came of the runs; what somebody has to do about them goes to stderr."""
    if as_json:
        for outcome in outcomes:
            published = read_published(home.layout, outcome.key)
            numbers = outcome_json(outcome, commit=published.commit if published else None)
            told = {"llm": model_report(home, outcome), "failures": failures_json(failures_of(home, outcome.key))}
            typer.echo(safe_json(numbers | told | uncommitted_json(home, outcome.key)))
    elif outcomes:
        show(built_table(outcomes))
        for outcome in outcomes:
            name = f"{outcome.key}: " if len(outcomes) > 1 else ""
            show(*(styled(f"{name}{line}", "dim") for line in model_lines(home, outcome)))
    for outcome in outcomes:
        if outcome.is_held:
            note(f"{outcome.key}: {outcome.message}")
        for line in unusable_indexes(home, outcome.key):
            note(f"{outcome.key}: {line}")
        for warning in model_warnings(home, outcome):
            note(f"{outcome.key}: {warning}")
        failures = failures_of(home, outcome.key)
        for line in failure_lines(outcome.key, failures):
            note(f"{outcome.key}: {line}")
        for trace in tracebacks(failures) if debug else ():
            typer.echo(escaped(trace), err=True)
    if said := shut_out(home, outcomes):
        note(said)


def _keys(new: NewEntries, targets: Sequence[str], options: EntryOptions) -> list[str]:
    """The keys to build, each once; targets that are not registered as described are."""
    if not targets:
        if options.any_given:
            raise ConfigurationError("--key, --ref, --subdir, --include, --exclude and --worktree need a LOCATION")
        keys = [entry.key for entry in new.called.entries() if entry.enabled]
        if not keys:
            raise ConfigurationError("no repository is registered: name one, as in `codesum index .`")
        return keys
    if options.key and len(targets) > 1:
        raise ConfigurationError(f"--key {options.key} names one repository, {len(targets)} are given")
    try:
        return list(dict.fromkeys(_registered(new, target, options) for target in targets))
    except BaseException:
        new.take_back()
        raise


def _registered(new: NewEntries, target: str, options: EntryOptions) -> str:
    entry, is_known = find_entry(new.called.registry, target, options)
    if not entry.enabled:
        raise ConfigurationError(f"repository {entry.key!r} is disabled: `codesum add {entry.key}` enables it")
    if not is_known:
        new.register(entry)
    return entry.key


def _take_back_unfetched(home: Home, new: NewEntries, failed: "Sequence[RunOutcome]") -> None:
    """A location that could not be fetched is not left registered by the command that registered it."""
    unfetched = [found for found in failed if _FETCH not in found.numbers and found.error is not LeaseHeld]
    new.take_back(outcome.key for outcome in unfetched)
    known = {entry.key for entry in home.registry.entries()}
    for outcome in unfetched:
        if outcome.key in known and not was_fetched(home, outcome.key):
            note(f"{outcome.key}: never fetched so far; `codesum remove {outcome.key} --purge` forgets it")


def _drop_tables(home: Home, keys: Sequence[str]) -> None:
    """What is published stays until the rebuild replaces it; so do the books."""
    for key in keys:
        with hold_repository(home.layout, key, run_id="rebuild", wait_s=home.settings.lease_wait_s):
            home.tables.drop(key, keeping=BOOKS)


def _build(home: Home, keys: Sequence[str], *, force: bool, confirm_llm: bool) -> "list[RunOutcome]":
    if not keys:
        return []
    with progress_bar() as progress:
        from codesum_pipeline.defs.companion import index_repositories

        tell = _tell if len(keys) > 1 else None
        return index_repositories(home, keys, force=force, confirm_llm=confirm_llm, progress=progress, on_outcome=tell)


def _tell(outcome: "RunOutcome") -> None:
    """One of several is finished."""
    note(f"{outcome.key}: {'built' if outcome.succeeded else 'failed'} in {outcome.seconds:.1f} s")
