"""The configuration files of agents, and what is written into them."""

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from codesum_pipeline.mcp_server.json_text import Insertion, insert_member
from codesum_pipeline.model.errors import ConfigurationError

NAME = "codesum"


class Agent(StrEnum):
    """Those whose configuration is known."""

    CLAUDE = "claude"
    CURSOR = "cursor"
    VSCODE = "vscode"
    GEMINI = "gemini"
    CODEX = "codex"
    WINDSURF = "windsurf"


@dataclass(frozen=True, slots=True)
class Configuration:
    """An agent's file, and how a server is put into a text of it."""

    file: Path
    insertion: Callable[[str, Sequence[str]], Insertion]


def configuration_of(agent: Agent, *, folder: Path, home: Path) -> Configuration:
    """The project's file in `folder` where an agent has one, else the user's."""
    in_json: Mapping[Agent, tuple[Path, str]] = {
        Agent.CLAUDE: (folder / ".mcp.json", "mcpServers"),
        Agent.CURSOR: (folder / ".cursor" / "mcp.json", "mcpServers"),
        Agent.VSCODE: (folder / ".vscode" / "mcp.json", "servers"),
        Agent.GEMINI: (folder / ".gemini" / "settings.json", "mcpServers"),
        Agent.WINDSURF: (home / ".codeium" / "windsurf" / "mcp_config.json", "mcpServers"),
    }
    if agent is Agent.CODEX:
        return Configuration(home / ".codex" / "config.toml", _in_toml)
    file, servers = in_json[agent]

    def insertion(content: str, command: Sequence[str]) -> Insertion:
        return insert_member(content, servers, NAME, _server(agent, command))

    return Configuration(file, insertion)


def _server(agent: Agent, command: Sequence[str]) -> dict[str, Any]:
    program, *arguments = command
    kind = {"type": "stdio"} if agent is Agent.VSCODE else {}
    return {**kind, "command": program, "args": arguments}


def _in_toml(content: str, command: Sequence[str]) -> Insertion:
    """A table at the end; raises `ConfigurationError` where there is one already, or no room for one."""
    try:
        known = tomllib.loads(content).get("mcp_servers", {})
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"it is no TOML ({error}): mend it first") from error
    if NAME in known:
        raise ConfigurationError(f"it has a server {NAME!r} already: take that away first")
    program, *arguments = command
    # What JSON writes of texts and lists of them is TOML, too.
    entry = f"[mcp_servers.{NAME}]\ncommand = {json.dumps(program)}\nargs = {json.dumps(arguments)}\n"
    before = "" if not content else "\n" if content.endswith("\n") else "\n\n"
    found = Insertion(len(content), f"{before}{entry}", entry)
    try:
        tomllib.loads(found.into(content))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(
            f"a table [mcp_servers.{NAME}] does not go into it ({error}): add it by hand"
        ) from error
    return found
