"""`codesum mcp`: the indexes for coding agents."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from codesum_pipeline.builds.codesum_home.home_folders import state_folder
from codesum_pipeline.foundation.data_model.errors import CodesumError, ConfigurationError
from codesum_pipeline.foundation.data_model.printable import clean_text
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import complain, exit_code_of, write_note
from codesum_pipeline.ways_in.cli.served_homes import auditor_of, note_token_problems, served_catalogue
from codesum_pipeline.ways_in.http_serving.access_tokens import (
    Address,
    TokenSource,
    allowed_hosts,
    check_reachable,
    parse_address,
)
from codesum_pipeline.ways_in.http_serving.ending import ended_in_time
from codesum_pipeline.ways_in.http_serving.gate import Holder
from codesum_pipeline.ways_in.http_serving.http_server import listen_on, serve_app
from codesum_pipeline.ways_in.mcp.agent_profiles import Agent, AgentOffer, Places, hint_command
from codesum_pipeline.ways_in.mcp.installing import Installer, PlannedChange
from codesum_pipeline.ways_in.mcp.stdio_front import FRONT
from codesum_pipeline.ways_in.metrics.server_metrics import MetricsPage, ServerMetrics

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer


# How many tools an agent gets: each costs it the characters of its description.
WhichTools = Literal["default", "all"]


def mcp(
    invocation: Invocation,
    http: str | None = None,
    tools: WhichTools = "default",
    structured: bool = False,
    token_file: Path | None = None,
    host_name: list[str] | None = None,
    repo: list[str] | None = None,
    install: Agent | None = None,
    uninstall: Agent | None = None,
    yes: bool = False,
    user: bool = False,
    dry_run: bool = False,
) -> None:
    """Serve the indexes to coding agents (MCP).

    An agent starts it by itself: [bold]codesum mcp --install AGENT[/] tells the agent how. In a checkout of an indexed
    repository, calls that name no repository are about that one.
    """
    if install or uninstall:
        installer = Installer(Places(Path.cwd(), Path.home(), is_user=user), state=state_folder())
        if install and uninstall:
            raise ConfigurationError("--install and --uninstall: choose one of them")
        if install:
            _install(invocation, installer, install, tools, repo or (), with_offer=yes, dry_run=dry_run)
        elif uninstall and yes:
            raise ConfigurationError("--yes goes with --install: --uninstall takes away all that was written")
        elif uninstall:
            _make_all(installer, installer.plan_uninstall(uninstall), dry_run=dry_run)
    elif yes or user or dry_run:
        raise ConfigurationError("--yes, --user and --dry-run go with --install or --uninstall")
    elif http is None and (token_file or host_name):
        raise ConfigurationError(
            "--token-file and --host-name go with --http: over stdio, only the program that started the server "
            "can call it"
        )
    else:
        requested = parse_address(http, option="--http") if http is not None else None
        options = {"every_tool": tools == "all", "is_text_only": not structured}
        _serve(invocation, repo or (), requested, options, token_file, host_name or ())


def _serve(
    invocation: Invocation,
    repos: Sequence[str],
    requested: Address | None,
    options: Mapping[str, bool],
    token_file: Path | None,
    host_names: Sequence[str],
) -> None:
    """Serve over HTTP where an address is requested, else over stdio."""
    # Half a second, which no other command waits for.
    from codesum_pipeline.ways_in.mcp.mcp_server import PATH, TOKEN_VARIABLE, make_app, make_server
    from codesum_pipeline.ways_in.mcp.stdio_serving import serve_stdio

    metrics, folder = ServerMetrics.start(invocation.settings.metrics, "mcp"), Path.cwd()
    audit, hosts = auditor_of(invocation, "mcp", metrics), list[str]()
    with served_catalogue(invocation, repos) as catalogue:

        def make(holder: Holder | None) -> "MCPServer[Any]":
            visible = catalogue.held_by(holder.holder, holder.scope) if holder else catalogue
            page = MetricsPage(metrics, visible, hosts) if requested and metrics and metrics.registry else None
            written = audit.of(holder.audited) if holder else audit.of_nobody
            return make_server(visible, folder=folder, audit=written, metrics=page, **options)

        if requested is None:
            with ended_in_time():
                serve_stdio(make(None), FRONT)
            return
        tokens = TokenSource.of(token_file, os.environ, variable=TOKEN_VARIABLE)
        from codesum_pipeline.ways_in.mcp.mcp_people import people_of

        people = people_of(invocation.settings.identity, has_tokens=tokens.requires_token)
        check_reachable(requested, tokens.tokens, variable=TOKEN_VARIABLE, has_people=people is not None)
        bound, address = listen_on(requested)
        if not (tokens.requires_token or people):
            hosts += allowed_hosts(address, [*host_names])
        app = make_app(make, address, tokens=tokens, audit=audit, people=people, host_names=host_names)
        write_note(f"serving MCP at {address.url}{PATH}")
        note_token_problems(tokens, catalogue, people)
        serve_app(app, bound, invocation.settings.serving)


def _install(
    invocation: Invocation,
    installer: Installer,
    agent: Agent,
    tools: WhichTools,
    repos: Sequence[str],
    *,
    with_offer: bool,
    dry_run: bool,
) -> None:
    """Write what is for one agent, and show what else is offered."""
    places = installer.places
    server = [*places.server_parts(agent, _command(invocation, tools, repos))]
    everything = [*server, *places.offered_parts(agent, _offer_of(invocation, tools))]
    if with_offer or dry_run:
        _make_all(installer, installer.plan_install(agent, everything), dry_run=dry_run)
        return
    _make_all(installer, installer.plan_install(agent, server), dry_run=False)
    rest = installer.plan_install(agent, everything)
    if differences := [each.difference for each in rest if each.is_one]:
        write_note(f"with --yes, what makes {agent} use the tools is written, too:")
        typer.echo(clean_text("\n".join(differences)))


def _make_all(installer: Installer, changes: Sequence[PlannedChange], *, dry_run: bool) -> None:
    """Make the changes that can be made; the others are reported, and the call fails at its end."""
    are_failed = False
    for change in changes:
        path, problem = change.file.path, change.problem
        if not problem and not dry_run:
            try:
                installer.make(change)
            except (CodesumError, OSError) as error:
                problem = str(error)
        if problem:
            are_failed = True
            complain(problem)
        elif change.is_one:
            done = "would be changed" if dry_run else "changed" if change.after is not None else "removed"
            write_note(f"{path} {done}:")
            typer.echo(clean_text(change.difference))
        else:
            write_note(f"{path}: unchanged")
    if are_failed:
        raise typer.Exit(exit_code_of(ConfigurationError))


def _offer_of(invocation: Invocation, tools: WhichTools) -> AgentOffer:
    """All tools read only. With a provider's embedder a question is sent to the provider: then none is permitted."""
    # They are imported by no other use of this command before it serves.
    from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
    from codesum_pipeline.indexes.embedders.embedder_choice import is_asked_over_the_network

    names = [*tools_by_name(every=tools == "all")]
    permitted = [] if is_asked_over_the_network(invocation.settings) else names
    if not permitted:
        write_note(f"no permissions are offered: the embedder {invocation.settings.embedder} is sent each question")
    return AgentOffer(names, permitted, hint_command())


def _command(invocation: Invocation, tools: WhichTools, repos: Sequence[str]) -> list[str]:
    """How an agent starts this program: from its own folder, with the home that was named here, and those options of
    this call that are for it, too. What it shows its model is the text."""
    program = shutil.which("codesum")
    is_this = program is not None and Path(program).resolve() == Path(sys.argv[0]).resolve()
    # An agent starts it in a folder that somebody else filled: -P imports nothing of that.
    python = [sys.executable, "-P", "-m", "codesum_pipeline.cli"]
    start = [str(Path(program).absolute())] if program and is_this else python
    home = ["--home", invocation.settings.address] if invocation.flags.get("home") else []
    every = ["--tools", tools] if tools != "default" else []
    return [*start, *home, "mcp", *every, *(part for repo in repos for part in ("--repo", repo))]
