"""`codesum add`: one more entry of the registry."""

from typing import Annotated

import typer
from msgspec.structs import replace

from codesum_pipeline.cli.completion import complete_keys
from codesum_pipeline.cli.home_folder import make_home
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.registration import (
    EntryOptions,
    ExcludeOption,
    IncludeOption,
    KeyOption,
    RefOption,
    ScipCommandOption,
    ScipOption,
    SubdirOption,
    WorktreeOption,
    find_entry,
)
from codesum_pipeline.cli.render import show
from codesum_pipeline.source.locations import redact
from codesum_pipeline.wiring import Home


def add(
    ctx: typer.Context,
    location: Annotated[
        str,
        typer.Argument(
            metavar="LOCATION",
            autocompletion=complete_keys,
            help="A path or git URL; a key that was removed is put back.",
        ),
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

    Nothing is fetched or indexed yet: [bold]codesum index[/] and the nightly schedule do that.
    What is registered already gets the options that are given here.
    """
    from codesum_pipeline.defs.control import register_partitions

    called = invocation(ctx)
    options = EntryOptions.of(
        key=key,
        ref=ref,
        subdir=subdir,
        include=include,
        exclude=exclude,
        worktree=worktree,
        scip=scip,
        scip_command=scip_command,
    )
    entry, _ = find_entry(called.registry, location, options)
    make_home(called.settings)
    written = called.registry.add(replace(entry, enabled=True))
    register_partitions(Home(called.settings), [written.key])
    show(f"{written.key}: registered, {redact(written.location)}{f' ({written.subdir})' if written.subdir else ''}")
    show(f"next: codesum index {written.key}")
