"""`codesum add`: register repositories, or one folder of each."""

import shlex
from typing import Annotated

import typer
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.ways_in.cli.entry_finding import EntryOptions, find_entry, place_of
from codesum_pipeline.ways_in.cli.invocation import invocation_of, make_home
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
)
from codesum_pipeline.ways_in.cli.render import FAILED, complain, exit_code_of_all, show_parts


def add(
    ctx: typer.Context,
    locations: Annotated[
        list[str],
        argument("LOCATION", "Paths or git URLs; a key that was removed is put back.", autocompletion=complete_keys),
    ],
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

    Nothing is fetched or indexed yet: [bold]codesum index[/] and the nightly schedule do that. The options given here
    are those of each location, and replace those of a repository that is registered already. A location that cannot be
    registered does not stop the others.
    """
    from codesum_pipeline.builds.dagster.control import register_partitions

    invocation = invocation_of(ctx)
    options = EntryOptions.of(key, ref, subdir, include, exclude, worktree, submodules, scip, scip_command)
    options.check_fits(len(locations))
    written = []
    failed: list[CodesumError] = []
    for location in locations:
        try:
            entry, _ = find_entry(invocation.registry, location, options)
            make_home(invocation.settings)
            written.append(invocation.registry.add(replace(entry, enabled=True)))
        except CodesumError as error:
            if len(locations) == 1:
                raise
            failed.append(error)
            complain(str(error))
    keys = list(dict.fromkeys(entry.key for entry in written))
    if keys:
        register_partitions(invocation.home, keys)
        lines = dict.fromkeys(f"{entry.key}: registered, {place_of(entry)}" for entry in written)
        show_parts(*lines, f"next: codesum index {shlex.join(keys)}")
    if failed:
        raise typer.Exit(FAILED if keys else exit_code_of_all(map(type, failed)))
