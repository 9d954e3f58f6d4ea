"""`codesum add`: register repositories, or one folder of each."""

import shlex
from collections.abc import Sequence
from typing import Annotated

import typer
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import CodesumError, ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.repositories.polling import look_at_remotes
from codesum_pipeline.ways_in.cli.entry_finding import EntryOptions, find_entry, place_of
from codesum_pipeline.ways_in.cli.invocation import Invocation, invocation_of, make_home
from codesum_pipeline.ways_in.cli.location_lists import GivenLocation, read_locations
from codesum_pipeline.ways_in.cli.options import (
    ExcludeOption,
    IncludeOption,
    KeyOption,
    RefOption,
    ScipCommandOption,
    ScipOption,
    SubdirOption,
    SubmodulesOption,
    WorktreeOption,
    argument,
    complete_keys,
    option,
)
from codesum_pipeline.ways_in.cli.render import FAILED, complain, exit_code_of_all, show_parts, write_note

# So many keys are named in one line.
_NAMED = 20


def add(
    ctx: typer.Context,
    locations: Annotated[
        list[str] | None,
        argument("[LOCATION]", "Paths or git URLs; a key that was removed is put back.", autocompletion=complete_keys),
    ] = None,
    listed: Annotated[
        str | None, option("FILE", "Also the locations in this file, one a line; - for standard input.", "--from")
    ] = None,
    key: KeyOption = None,
    ref: RefOption = None,
    subdir: SubdirOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    worktree: WorktreeOption = None,
    submodules: SubmodulesOption = None,
    scip: ScipOption = None,
    scip_command: ScipCommandOption = None,
) -> None:
    """Register repositories, or one folder of each.

    Nothing is fetched or indexed yet: [bold]codesum index[/] and the nightly schedule do that. Servers are asked
    whether they have the repository; one that cannot be read from this machine is registered all the same, and named.
    The options given here are those of each location, and replace those of a repository that is registered already. A
    location that cannot be registered does not stop the others.
    """
    from codesum_pipeline.builds.dagster.control import register_partitions

    invocation = invocation_of(ctx)
    given = [*map(GivenLocation, locations or ()), *(read_locations(listed) if listed is not None else ())]
    if not given:
        raise ConfigurationError("nothing to register: give a path or a URL, or a list of them with --from FILE")
    options = EntryOptions.of(key, ref, subdir, include, exclude, worktree, submodules, scip, scip_command)
    options.check_fits(len(given))
    written, failed = _register(invocation, given, options)
    keys = [entry.key for entry in written]
    if keys:
        register_partitions(invocation.home, keys)
        show_parts(*(f"{entry.key}: registered, {place_of(entry)}" for entry in written))
        _tell_what_cannot_be_read(invocation, written)
        show_parts(f"next: codesum index {shlex.join(keys)}" if len(keys) <= _NAMED else "next: codesum index")
    if failed:
        raise typer.Exit(FAILED if keys else exit_code_of_all(map(type, failed)))


def _register(
    invocation: Invocation, given: Sequence[GivenLocation], options: EntryOptions
) -> tuple[list[RepositoryEntry], list[CodesumError]]:
    """The entries as they are written, once each, and the errors, each of which is reported; one alone is raised."""
    found: dict[str, tuple[RepositoryEntry, str]] = {}
    failed: list[CodesumError] = []

    def note(error: CodesumError, origin: str) -> None:
        if len(given) == 1:
            raise error
        failed.append(error)
        complain(f"{origin}{error}")

    for each in given:
        try:
            pending = [entry for entry, _ in found.values()]
            entry, _ = find_entry(invocation.registry, each.text, options, pending=pending)
        except CodesumError as error:
            note(error, each.origin)
        else:
            found[entry.key] = (replace(entry, enabled=True), each.origin)
    if found:
        make_home(invocation.settings)
    written = []
    outcomes = invocation.registry.add_all([entry for entry, _ in found.values()]) if found else []
    for outcome, (_, origin) in zip(outcomes, found.values(), strict=True):
        if isinstance(outcome, CodesumError):
            note(outcome, origin)
        else:
            written.append(outcome)
    return written, failed


def _tell_what_cannot_be_read(invocation: Invocation, entries: Sequence[RepositoryEntry]) -> None:
    complaints, not_asked = look_at_remotes(entries, invocation.layout, invocation.settings)
    for key, complaint in sorted(complaints.items()):
        write_note(
            f"{key}: registered, but this machine cannot read it: {complaint}; if its address is wrong: "
            f"`codesum remove {key} --purge`"
        )
    if not_asked:
        named = ", ".join(not_asked[:_NAMED])
        more = f" and {len(not_asked) - _NAMED:,} more" if not_asked[_NAMED:] else ""
        write_note(f"registered, but there was no time to ask whether they can be read: {named}{more}")
