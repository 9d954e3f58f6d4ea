"""`codesum add`: register a repository, or one folder of it."""

from typing import Annotated

import typer
from msgspec.structs import replace

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
    WorktreeOption,
    argument,
    complete_keys,
)
from codesum_pipeline.ways_in.cli.render import show_parts


def add(
    ctx: typer.Context,
    location: Annotated[
        str,
        argument("LOCATION", "A path or git URL; a key that was removed is put back.", autocompletion=complete_keys),
    ],
    key: KeyOption = None,
    ref: RefOption = None,
    subdir: SubdirOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    worktree: WorktreeOption = None,
    scip: ScipOption = None,
    scip_command: ScipCommandOption = None,
) -> None:
    """Register a repository, or one folder of it.

    Nothing is fetched or indexed yet: [bold]codesum index[/] and the nightly schedule do that. The options given here
    replace those of a repository that is registered already.
    """
    from codesum_pipeline.builds.dagster.control import register_partitions

    invocation = invocation_of(ctx)
    options = EntryOptions.of(key, ref, subdir, include, exclude, worktree, scip, scip_command)
    entry, _ = find_entry(invocation.registry, location, options)
    make_home(invocation.settings)
    written = invocation.registry.add(replace(entry, enabled=True))
    register_partitions(invocation.home, [written.key])
    show_parts(f"{written.key}: registered, {place_of(written)}", f"next: codesum index {written.key}")
