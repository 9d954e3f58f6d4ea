"""`codesum add`: register repositories, or one folder of each."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import typer
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import CodesumError, ConfigurationError
from codesum_pipeline.foundation.data_model.printable import some_of
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.repositories.polling import look_at_remotes
from codesum_pipeline.ways_in.cli.entry_finding import EntryOptions, find_entry, place_of
from codesum_pipeline.ways_in.cli.invocation import Invocation, make_home
from codesum_pipeline.ways_in.cli.render import FAILED, complain, exit_code_of_all, show_parts, write_note

# So many keys are named in one line.
_NAMED = 20
STANDARD_INPUT = "-"
# As many repositories as one home is measured with.
MOST_LOCATIONS = 10_000
LARGEST_BYTES = 4 * 1024 * 1024
# A location, and how a message about it begins if it comes from a list: `FILE line 3: `.
GivenLocation = tuple[str, str]


def add(
    invocation: Invocation,
    locations: list[str] | None = None,
    listed: str | None = None,
    key: str | None = None,
    ref: str | None = None,
    subdir: str | None = None,
    include: list[str] | None = None,
    exclude: list[str] | None = None,
    worktree: bool | None = None,
    submodules: bool | None = None,
    scip: list[str] | None = None,
    scip_command: str | None = None,
) -> None:
    """Register repositories, or one folder of each.

    Nothing is fetched or indexed yet: [bold]codesum index[/] and the nightly schedule do that. Servers are asked
    whether they have the repository; one that cannot be read from this machine is registered all the same, and named.
    The options given here are those of each location, and replace those of a repository that is registered already. A
    location that cannot be registered does not stop the others.
    """
    from codesum_pipeline.builds.dagster.control import register_partitions

    given = [*((each, "") for each in locations or ()), *(_read_locations(listed) if listed is not None else ())]
    if not given:
        raise ConfigurationError("nothing to register: give a path or a URL, or a list of them with --from FILE")
    options = EntryOptions(key, ref, subdir, include, exclude, worktree, submodules, scip, scip_command)
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


def _read_locations(file: str) -> list[GivenLocation]:
    """The locations of a list, one a line; empty lines and those that begin with `#` count for nothing. A relative path
    begins at the current folder. Raises `ConfigurationError` for a list that cannot be read or is too long."""
    name = "standard input" if file == STANDARD_INPUT else file
    try:
        if file == STANDARD_INPUT:
            data = sys.stdin.buffer.read(LARGEST_BYTES + 1)
        else:
            with Path(file).expanduser().open("rb") as opened:
                data = opened.read(LARGEST_BYTES + 1)
        is_too_long = len(data) > LARGEST_BYTES
        lines = [] if is_too_long else data.decode("utf-8-sig").split("\n")
    except OSError as error:
        raise ConfigurationError(f"--from {file}: it cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"--from {file}: {name} is not UTF-8: {error.reason} at byte {error.start}") from error
    numbered = enumerate(map(str.strip, lines), start=1)
    given = [(text, f"{name} line {number}: ") for number, text in numbered if text and not text.startswith("#")]
    if is_too_long or len(given) > MOST_LOCATIONS:
        most = f"{MOST_LOCATIONS:,} locations and {LARGEST_BYTES // 2**20} MB"
        raise ConfigurationError(f"--from {file}: {name} is too long: a list has at most {most}; divide it")
    if not given:
        raise ConfigurationError(f"--from {file}: {name} has no location: write one a line")
    return given


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

    for text, origin in given:
        try:
            pending = [entry for entry, _ in found.values()]
            entry, _ = find_entry(invocation.registry, text, options, pending=pending)
        except CodesumError as error:
            note(error, origin)
        else:
            found[entry.key] = (replace(entry, enabled=True), origin)
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
        named = some_of(not_asked, _NAMED)
        write_note(f"registered, but there was no time to ask whether they can be read: {named}")
