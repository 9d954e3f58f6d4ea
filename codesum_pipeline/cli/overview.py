"""`codesum overview`: the page of a repository, for somebody who sees it for the first time."""

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct
from rich.console import Console, ConsoleOptions, RenderResult
from rich.theme import Theme

from codesum_pipeline.cli.documents import catalogue_of
from codesum_pipeline.cli.invocation import Invocation, invocation
from codesum_pipeline.cli.options import argument, complete_keys, switch
from codesum_pipeline.cli.render import SHORT_COMMIT, note, on_terminal, print_json, show
from codesum_pipeline.indexes.version_folder import read_published
from codesum_pipeline.model.errors import BrokenStore, ConfigurationError, MissingTable
from codesum_pipeline.model.printable import clean
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.checkouts import checkout_of, entries_of
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.overview import read_overview, tell_differing

# A terminal shows what uses what in words.
_DIAGRAM = re.compile(r"```mermaid\n.*?\n```\n+", re.DOTALL)


def overview(
    ctx: typer.Context,
    repo: Annotated[
        str | None,
        argument(
            "[REPO]",
            "The repository's key, or owner/name. Default: that of this folder, or the only one.",
            autocompletion=complete_keys,
        ),
    ] = None,
    as_json: Annotated[bool, switch("--json", "Print the facts as one JSON object.")] = False,
) -> None:
    """Show a repository to a newcomer: its parts, entry points, frameworks, where to start.

    Through a pipe it is the page's Markdown, with a Mermaid diagram of the parts.
    """
    called = invocation(ctx)
    entry = _entry(called, repo)
    row = read_overview(called.layout, entry.key)
    if as_json:
        print_json({**json.loads(row["facts"]), "page": row["page"]})
        return
    # Between the publication of an index and the writing of its page, or where that failed.
    published, commit = read_published(called.layout, entry.key), row["commit"]
    if published and published.commit and published.commit != commit:
        note(
            f"the page is of commit {commit[:SHORT_COMMIT]}, the published index of "
            f"{published.commit[:SHORT_COMMIT]}: `codesum index {entry.key}` writes it anew"
        )
    call = ToolContext(catalogue_of(called), Path.cwd(), on_note=note)
    # The page can be read where its index cannot.
    with suppress(MissingTable, BrokenStore):
        tell_differing(call, call.index(entry.key), json.loads(row["facts"]))
    page = clean(row["page"])
    if on_terminal():
        show(MarkdownPage(_DIAGRAM.sub("", page)))
    else:
        typer.echo(page, nl=False)


class MarkdownPage(Struct, frozen=True):
    """Markdown whose code keeps the terminal's own background."""

    text: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.markdown import Markdown

        with console.use_theme(Theme({"markdown.code": "cyan"})):
            yield from console.render(Markdown(self.text, hyperlinks=False), options)


def _entry(called: Invocation, name: str | None) -> RepositoryEntry:
    """The one repository that is meant; raises `ConfigurationError` where there are several, or none."""
    if name:
        found = catalogue_of(called).entries_named(name)
    else:
        checkout = checkout_of(Path.cwd())
        every = called.entries()
        found = (entries_of(checkout, every) if checkout else []) or every
    if not found:
        raise MissingTable(f"{called.layout.home} holds no index yet: run `codesum index PATH|URL`")
    if len(found) > 1:
        keys = ", ".join(entry.key for entry in found[:12])
        raise ConfigurationError(
            f"{len(found)} repositories ({keys}): name the one to show, as in `codesum overview KEY`"
        )
    return found[0]
