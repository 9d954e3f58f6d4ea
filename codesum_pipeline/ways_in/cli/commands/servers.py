"""`codesum mcp`, `web` and `webhooks`: servers for coding agents, for people in a browser, and for code hosts."""

import logging
import os
import shutil
import sys
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec.structs import replace

from codesum_pipeline.build.home.home_folders import open_copy, state_folder
from codesum_pipeline.ground.model.errors import CodesumError, ConfigurationError
from codesum_pipeline.ground.model.moments import utc_now
from codesum_pipeline.ground.model.printable import clean, one_line
from codesum_pipeline.ground.model.repository import RepositoryEntry
from codesum_pipeline.source.repositories.poll_state import mark_due
from codesum_pipeline.ways_in.cli.document_views import catalogue_of
from codesum_pipeline.ways_in.cli.first_use import FirstIndex
from codesum_pipeline.ways_in.cli.invocation import Invocation, invocation
from codesum_pipeline.ways_in.cli.options import HostNames, PortOption, ServedRepos, option, switch
from codesum_pipeline.ways_in.cli.render import note
from codesum_pipeline.ways_in.mcp.installing import Agent, Installer
from codesum_pipeline.ways_in.serving.access_tokens import (
    DEFAULT_HOST,
    AccessToken,
    Address,
    TokenSource,
    check_reachable,
    parse_address,
)
from codesum_pipeline.ways_in.serving.audit import AuditLog, Auditor
from codesum_pipeline.ways_in.serving.ending import ended_in_time
from codesum_pipeline.ways_in.serving.http_server import listen, serve
from codesum_pipeline.ways_in.tools.catalogue import IndexCatalogue
from codesum_pipeline.ways_in.webhooks.push_events import read_secrets
from codesum_pipeline.ways_in.worktrees.follower import Follower
from codesum_pipeline.ways_in.worktrees.settler import Settler

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from codesum_pipeline.build.home.wiring import Home


def auditor_of(called: Invocation, entrance: str) -> Auditor:
    """Writes down who asks with a token, as far as the settings say."""
    audit = called.settings.audit
    max_bytes = int(audit.max_mb * 1_000_000)
    log = AuditLog(called.layout.audit, max_bytes, audit.files) if audit.enabled else None
    return Auditor(log, entrance, audit.questions)


def note_token_problems(source: TokenSource, catalogue: IndexCatalogue) -> None:
    """Say what a token names that is not there now, which may come, and which tokens have expired."""
    try:
        keys = {entry.key for entry in catalogue.entries(lambda _: None)}
    except CodesumError as error:
        note(one_line(str(error)))
        return
    if source.requires_token and not source.tokens:
        note(f"--token-file {source.file} names no token: nobody is served until it does")
    for token in source.tokens:
        if not token.is_valid(utc_now()):
            note(f"the token [{token.name}] has expired: it opens nothing")
        for name in token.scope.plain_names:
            if "/" not in name and name not in keys:
                note(f"the token [{token.name}] names {name!r}, which is not registered or served here now")


@contextmanager
def served_catalogue(called: Invocation, names: Sequence[str]) -> Iterator[IndexCatalogue]:
    """What the home of a call holds, or of that the named repositories, kept up to date while a server runs.

    The checkout of the current folder is indexed, unless it is or others are named.
    """
    follower = Follower(called.settings.home)
    catalogue = replace(catalogue_of(called), settler=Settler(), follower=follower)
    with closing(follower):
        if names:
            yield catalogue.limited_to(names)
            return
        with FirstIndex(called).running() as first:
            yield replace(catalogue, first_index=first.state)


class WhichTools(StrEnum):
    """How many tools an agent gets: each costs it the characters of its description."""

    DEFAULT = "default"
    ALL = "all"


def mcp(
    ctx: typer.Context,
    http: Annotated[
        str | None,
        option(
            "[HOST:]PORT",
            "Serve streamable HTTP at /mcp instead of stdio; on 127.0.0.1 where no host is named, port 0 is any.",
        ),
    ] = None,
    tools: Annotated[
        WhichTools,
        typer.Option(help="default: search, read, graph, overview and status; all: those and the targeted ones."),
    ] = WhichTools.DEFAULT,
    text_only: Annotated[
        bool,
        switch(
            "--text-only",
            "Answer without structured content, which many agents show their model in place of the text, at twice "
            "the tokens; --install writes this option.",
        ),
    ] = False,
    token_file: Annotated[
        Path | None,
        option(
            "FILE",
            "Whoever asks over HTTP must give a token of this file, which may name the repositories that each "
            "opens; else CODESUM_MCP_TOKEN. Without a token only this machine is served.",
        ),
    ] = None,
    host_name: HostNames = None,
    repo: ServedRepos = None,
    install: Annotated[
        Agent | None, option(None, "Write `codesum mcp` into the configuration of an agent, and stop.")
    ] = None,
    uninstall: Annotated[Agent | None, option(None, "Remove what --install wrote for an agent, and stop.")] = None,
) -> None:
    """Serve the indexes to coding agents (MCP).

    An agent starts it by itself: [bold]codesum mcp --install AGENT[/] tells the agent how. In a checkout of an indexed
    repository, calls that name no repository are about that one.
    """
    called = invocation(ctx)
    if install or uninstall:
        _configure(called, install, uninstall, tools, repo or ())
        return
    # Half a second, which no other command waits for.
    from codesum_pipeline.ways_in.mcp.mcp_server import PATH, TOKEN_VARIABLE, make_app, make_server

    if http is None and (token_file or host_name):
        raise ConfigurationError("--token-file and --host-name go with --http: over stdio only its parent can ask")
    every_tool, folder = tools is WhichTools.ALL, Path.cwd()
    audit = auditor_of(called, "mcp")
    with served_catalogue(called, repo or ()) as catalogue:

        def make(token: AccessToken | None) -> "MCPServer[Any]":
            held = catalogue.held_by(token.name, token.scope) if token else catalogue
            its = audit.of(token.name) if token else Auditor(None, "mcp")
            return make_server(held, folder=folder, every_tool=every_tool, is_text_only=text_only, audit=its)

        if http is None:
            with ended_in_time():
                make(None).run("stdio")
            return
        tokens = TokenSource.of(token_file, os.environ, variable=TOKEN_VARIABLE)
        requested = parse_address(http, option="--http")
        check_reachable(requested, tokens.tokens, variable=TOKEN_VARIABLE)
        bound, address = listen(requested)
        limits = called.settings.serving
        app = make_app(
            make,
            address,
            tokens=tokens,
            audit=audit,
            host_names=host_name or (),
            max_body_bytes=limits.max_body_bytes,
        )
        note(f"serving MCP at {address.url}{PATH}")
        note_token_problems(tokens, catalogue)
        serve(app, bound, limits)


def _configure(
    called: Invocation, install: Agent | None, uninstall: Agent | None, tools: WhichTools, repos: Sequence[str]
) -> None:
    """Write or take away the entry of one agent, and say what was done."""
    if install and uninstall:
        raise ConfigurationError("--install and --uninstall: choose one of them")
    installer = Installer(folder=Path.cwd(), home=Path.home(), state=state_folder())
    if install:
        file, text = installer.install(install, _command(called, tools, repos))
        note(f"written into {file}:")
    elif uninstall:
        file, text = installer.uninstall(uninstall)
        note(f"taken away from {file}:" if text else f"{file} has no entry for codesum any more")
    typer.echo(clean(text.strip("\n")))


def _command(called: Invocation, tools: WhichTools, repos: Sequence[str]) -> list[str]:
    """How an agent starts this program: from its own folder, with the home that was named here, and those options of
    this call that are for it, too. What it shows its model is the text."""
    program = shutil.which("codesum")
    is_this = program is not None and Path(program).resolve() == Path(sys.argv[0]).resolve()
    # An agent starts it in a folder that somebody else filled: -P imports nothing of that.
    python = [sys.executable, "-P", "-m", "codesum_pipeline.cli"]
    start = [str(Path(program).absolute())] if program and is_this else python
    home = ["--home", called.settings.address] if called.flags.get("home") else []
    every = ["--tools", tools.value] if tools is not WhichTools.DEFAULT else []
    return [*start, *home, "mcp", "--text-only", *every, *(part for repo in repos for part in ("--repo", repo))]


_WEB_PORT = 7777


def web(
    ctx: typer.Context,
    port: PortOption = _WEB_PORT,
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Where to listen. An address that other machines reach needs a token."),
    ] = DEFAULT_HOST,
    open_browser: Annotated[bool, switch("--open", "Open the page in the browser.")] = False,
    token_file: Annotated[
        Path | None,
        option(
            "FILE",
            "Whoever asks must give a token of this file, in a browser as the password; it may name the "
            "repositories that each opens; else CODESUM_WEB_TOKEN. Without a token only this machine is served.",
        ),
    ] = None,
    host_name: HostNames = None,
    repo: ServedRepos = None,
) -> None:
    """Search and read the indexes in a browser.

    The page loads nothing from other servers. Its `ask` uses the model of `codesum ask`, within the same caps. Stop it
    with Ctrl-C.
    """
    from codesum_pipeline.ways_in.web.web_app import TOKEN_VARIABLE, make_app

    called = invocation(ctx)
    tokens = TokenSource.of(token_file, os.environ, variable=TOKEN_VARIABLE)
    requested = Address(host, port, f"--host {host} --port {port}")
    check_reachable(requested, tokens.tokens, variable=TOKEN_VARIABLE)
    bound, address = listen(requested)
    with served_catalogue(called, repo or ()) as catalogue:
        app = make_app(
            catalogue,
            address,
            tokens=tokens,
            audit=auditor_of(called, "web"),
            host_names=host_name or (),
            folder=Path.cwd(),
        )
        note(f"serving the search page at {address.url}")
        note_token_problems(tokens, catalogue)
        if open_browser:
            webbrowser.open(address.url)
        serve(app, bound, called.settings.serving)


_WEBHOOKS_PORT = 7779


def webhooks(
    ctx: typer.Context,
    port: PortOption = _WEBHOOKS_PORT,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where a proxy reaches it; by default on this machine.")
    ] = DEFAULT_HOST,
    secret_file: Annotated[
        Path | None,
        option(
            "FILE", "The secrets that hosts sign with, one a line, all valid; else those of CODESUM_WEBHOOK_SECRET."
        ),
    ] = None,
) -> None:
    """Receive the push events of GitHub, GitLab, Gitea and Forgejo.

    Within seconds of a push, the planner of [bold]codesum dev[/] or of Dagster's daemon looks at the repository, so
    that polling can be rare. Give code hosts the address of a proxy that speaks https. Stop it with Ctrl-C.
    """
    from codesum_pipeline.ways_in.webhooks.webhook_app import PATH, make_app, make_receiver

    called = invocation(ctx)
    secrets = read_secrets(secret_file, os.environ)
    home, settings = called.home, called.settings.webhooks
    bound, address = listen(Address(host, port, f"--host {host} --port {port}"))
    receiver = make_receiver(
        secrets,
        partial(registered_entries, home),
        partial(mark_due, home.layout),
        max_body_mb=settings.max_body_mb,
        max_per_minute=settings.max_per_minute,
    )
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.INFO)
    note(f"receiving webhooks at {address.url}{PATH}")
    limits = called.settings.serving.model_copy(update={"max_body_mb": settings.max_body_mb})
    serve(make_app(receiver), bound, limits)


def registered_entries(home: "Home") -> list[RepositoryEntry]:
    """The registry's entries, those of a bucket as it has them now."""
    settings = home.settings
    if settings.bucket:
        open_copy(settings.bucket, is_offline=settings.offline)
    return home.registry.entries()
