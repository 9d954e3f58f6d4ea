"""`codesum add`, `remove` and `repos`: the entries of the registry."""

from typing import Annotated

import typer
from msgspec import to_builtins
from msgspec.structs import replace

from codesum_pipeline.cli.invocation import invocation, make_home
from codesum_pipeline.cli.options import (
    ExcludeOption,
    IncludeOption,
    JsonOfRepositories,
    KeyOption,
    RefOption,
    ScipCommandOption,
    ScipOption,
    SubdirOption,
    WorktreeOption,
    argument,
    complete_keys,
    key_argument,
    switch,
)
from codesum_pipeline.cli.registration import EntryOptions, find_entry, forget, place_of
from codesum_pipeline.cli.render import SHORT_COMMIT, present, show, table
from codesum_pipeline.indexes.version_folder import read_published
from codesum_pipeline.model.moments import age, moment_at
from codesum_pipeline.source.locations import redact

NO_REPOSITORY = "no repository is registered: `codesum index PATH|URL` registers and indexes one"


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
    from codesum_pipeline.defs.control import register_partitions

    called = invocation(ctx)
    options = EntryOptions.of(key, ref, subdir, include, exclude, worktree, scip, scip_command)
    entry, _ = find_entry(called.registry, location, options)
    make_home(called.settings)
    written = called.registry.add(replace(entry, enabled=True))
    register_partitions(called.home, [written.key])
    show(f"{written.key}: registered, {place_of(written)}", f"next: codesum index {written.key}")


def remove(
    ctx: typer.Context,
    key: Annotated[str, key_argument("The repository, as [bold]codesum repos[/] lists it.")],
    purge: Annotated[bool, switch("--purge", "Delete its index, tables, mirror and registration as well.")] = False,
) -> None:
    """Stop indexing a repository; with --purge, delete all that is kept of it.

    Without --purge, its index stays and can be searched with --repo, and [bold]codesum add KEY[/] puts it back. With
    --purge, KEY may also be a repository that was taken out of repos.yaml by hand. The repository itself is never
    touched.
    """
    called = invocation(ctx)
    is_registered = not (purge and key in called.home.unregistered_keys())
    if is_registered:
        key = called.registry.get(key).key
    if purge:
        forget(called.home, key, is_registered=is_registered)
        show(f"{key}: deleted")
    else:
        called.registry.remove(key)
        show(f"{key}: no longer indexed; `codesum add {key}` puts it back")


def repos(ctx: typer.Context, as_json: JsonOfRepositories = False) -> None:
    """List the registered repositories.

    They are kept in repos.yaml in the home, which can also be edited by hand.
    """
    called = invocation(ctx)
    rows, values, indexes = [], [], []
    for entry in called.entries():
        out = read_published(called.layout, entry.key)
        ref = "work tree" if entry.worktree else entry.ref or "HEAD"
        state = "retired" if entry.retired else entry.enabled
        built = (out.commit, out.count("documents"), moment_at(out.published_at)) if out else None
        commit, documents, published_at = built or (None, None, None)
        ago = f"{age(out.published_at)} ago" if out else None
        rows.append((entry.key, place_of(entry), ref, state, commit and commit[:SHORT_COMMIT], documents, ago))
        published = built and {"commit": commit, "documents": documents, "published_at": published_at}
        shown = {"location": redact(entry.location), "scip_command": redact(entry.scip_command)}
        values.append(to_builtins(entry) | shown | {"published": published})
        indexes += [f"{entry.key}: compiler's index {place}" for place in entry.scip]
        if entry.scip_command:
            indexes.append(f"{entry.key}: compiler's index made by {redact(entry.scip_command)}")
    columns = ("key", "location", "ref", "enabled", "commit", "documents", "published")
    present(values, lambda: table(columns, rows, right=("documents",)), as_json=as_json, otherwise=NO_REPOSITORY)
    if not as_json:
        show(*indexes)
