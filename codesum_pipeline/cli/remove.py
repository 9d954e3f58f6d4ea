"""`codesum remove`: stop indexing a repository, or forget it altogether."""

from typing import Annotated

import typer

from codesum_pipeline.cli.completion import complete_keys
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.render import show
from codesum_pipeline.store.lease import hold_repository
from codesum_pipeline.wiring import Home


def remove(
    ctx: typer.Context,
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY",
            autocompletion=complete_keys,
            help="The repository, as [bold]codesum repos[/] lists it.",
        ),
    ],
    purge: Annotated[
        bool, typer.Option("--purge", help="Delete its index, tables, mirror and registration as well.")
    ] = False,
) -> None:
    """Stop indexing a repository; with --purge, delete all that is kept of it.

    Without --purge its index stays and can be asked with --repo, and [bold]codesum add KEY[/] puts it back.
    With it, KEY may also be one that was taken out of repos.yaml by hand. The repository itself is never touched.
    """
    called = invocation(ctx)
    home = Home(called.settings)
    if purge and key in home.unregistered_keys():
        forget(home, key, is_registered=False)
        show(f"{key}: deleted")
        return
    entry = called.registry.get(key)
    if not purge:
        called.registry.remove(entry.key)
        show(f"{entry.key}: no longer indexed; `codesum add {entry.key}` puts it back")
        return
    forget(home, entry.key, is_registered=True)
    show(f"{entry.key}: deleted")


def forget(home: Home, key: str, *, is_registered: bool) -> None:
    """Delete what is kept of a repository while no build of it runs. The registration goes last: what was
    interrupted can be repeated. Raises `LeaseHeld`."""
    state = home.layout.state(key)
    with hold_repository(home.layout, key, run_id="purge"):
        home.purge(key)
        if home.layout.dagster_home.exists():
            from codesum_pipeline.defs.control import forget_partition

            forget_partition(home, key)
        if is_registered:
            home.registry.purge(key)
    for path in state.parent.glob(f"{state.name}*"):
        path.unlink(missing_ok=True)
