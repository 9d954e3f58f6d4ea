"""Which files each known agent reads, and what is put into them.

The server alone is written without asking. An agent uses it more when its own instructions name it, when it need not
ask for each call, and when it is told so while it greps; these parts are offered.
"""

import json
import shlex
import sys
import tomllib
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.answers.agent_tools.tool_words import words_of_tools
from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.ways_in.mcp.agent_files import AgentFile
from codesum_pipeline.ways_in.mcp.edited_files import Insertion, Values, insert_block, insert_table, insert_values

NAME = "codesum"
# At most ten lines: an agent pays for them in every session. What a repository is, it finds out itself; public
# measurements found overviews in these files to make agents worse.
WHEN = {name: words.when for name, words in words_of_tools().items() if words.when}


class Agent(StrEnum):
    """The agents whose configuration is known."""

    CLAUDE = "claude"
    CURSOR = "cursor"
    VSCODE = "vscode"
    GEMINI = "gemini"
    CODEX = "codex"
    WINDSURF = "windsurf"


class AgentPaths(Struct, frozen=True):
    """Files of an agent below a folder; none where it has none there."""

    servers: str = ""
    instructions: str = ""
    permissions: str = ""


class AgentProfile(Struct, frozen=True):
    """The files of an agent below the project's folder and below the user's. `group` is the object of its JSON that has
    the servers; Codex has TOML."""

    project: AgentPaths
    user: AgentPaths
    group: str = "mcpServers"


_TABLE = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
if sys.platform == "darwin":
    _TABLE = _TABLE.replace(".config/Code/", "Library/Application Support/Code/")
_PROFILES = convert(tomllib.loads(_TABLE), dict[Agent, AgentProfile])


class Part(Struct, frozen=True):
    """Something that is put into a file: values at a place in JSON, a table of TOML, or lines of Markdown."""

    file: AgentFile
    at: tuple[str, ...] = ()
    values: Values = ()
    lines: tuple[str, ...] = ()

    def insertion(self, content: str) -> Insertion | None:
        """Where and how; None where it is there already. Raises `ConfigurationError` where it cannot be put."""
        if self.file.below.endswith(".json"):
            found = insert_values(content, self.at, self.values)
        elif self.file.below.endswith(".toml"):
            found = insert_table(content, self.at, self.lines)
        else:
            found = insert_block(content, self.lines)
        return found.ending_lines_as(content) if found else None


class AgentOffer(Struct, frozen=True):
    """What makes an agent use the tools: the `tools` that its instructions name, those that it may call without asking,
    and the command that hints at them while it greps."""

    tools: Sequence[str]
    permitted: Sequence[str]
    hint: str


def hint_command() -> str:
    """A shell's command that runs `grep_hint.py` alone, importing nothing of this package. It succeeds also where the
    file or Python is gone: a hook that fails could block the agent's tool."""
    hint = Path(__file__).with_name("grep_hint.py")
    return f"{shlex.quote(sys.executable)} -I -S {shlex.quote(str(hint))} 2>/dev/null || true"


class Places(Struct, frozen=True):
    """The project's folder and the user's; where `is_user`, everything goes into the latter."""

    folder: Path
    home: Path
    is_user: bool = False

    def files_of(self, agent: Agent) -> list[AgentFile]:
        """All files that something may be put into."""
        parts = [
            *self.server_parts(agent, ["codesum"]),
            *self.offered_parts(agent, AgentOffer(["read"], ["read"], "true")),
        ]
        return list({part.file.path: part.file for part in parts}.values())

    def group_of(self, agent: Agent) -> str:
        return _PROFILES[agent].group

    def server_parts(self, agent: Agent, command: Sequence[str]) -> Iterator[Part]:
        """The server, as the agent's configuration file has it."""
        below = self._paths(agent).servers
        # Some agents have servers in the user's folder only.
        file = self._file(below) if below else AgentFile.of_user(self.home, _PROFILES[agent].user.servers)
        program, *arguments = command
        if agent is Agent.CODEX:
            # Texts and lists of texts are written alike in JSON and TOML.
            lines = (f"command = {json.dumps(program)}", f"args = {json.dumps(arguments)}")
            yield Part(file, at=("mcp_servers", NAME), lines=(f"[mcp_servers.{NAME}]", *lines))
            return
        kind = {"type": "stdio"} if agent is Agent.VSCODE else {}
        server = {**kind, "command": program, "args": arguments}
        yield Part(file, at=(self.group_of(agent),), values={NAME: server})

    def offered_parts(self, agent: Agent, offer: AgentOffer) -> Iterator[Part]:
        """What is offered beside the server."""
        paths = self._paths(agent)
        if paths.instructions:
            lines = [f"- `{tool}`: {WHEN[tool]}" for tool in offer.tools if tool in WHEN]
            heading = "Before you grep or read whole files, use the tools of the MCP server `codesum`, a code index:"
            yield Part(self._markdown(paths.instructions), lines=(heading, *lines))
        if agent is Agent.CODEX and offer.permitted:
            tables = [(f"[mcp_servers.{NAME}.tools.{tool}]", 'approval_mode = "approve"') for tool in offer.permitted]
            file = AgentFile.of_user(self.home, _PROFILES[agent].user.permissions)
            lines = [line for table in tables for line in table]
            yield Part(file, at=("mcp_servers", NAME, "tools"), lines=tuple(lines))
        elif paths.permissions:
            yield from self._in_settings(agent, self._file(paths.permissions), offer)

    def _in_settings(self, agent: Agent, file: AgentFile, offer: AgentOffer) -> Iterator[Part]:
        """Permissions and hints in JSON."""
        if agent is Agent.GEMINI and offer.permitted:
            yield Part(file, at=("mcpServers", NAME), values={"trust": True})
        if agent is Agent.CURSOR and offer.permitted:
            yield Part(file, at=("permissions", "allow"), values=[f"Mcp({NAME}:{tool})" for tool in offer.permitted])
        if agent is Agent.CLAUDE:
            if offer.permitted:
                yield Part(file, ("permissions", "allow"), [f"mcp__{NAME}__{tool}" for tool in offer.permitted])
            if not self.is_user:
                # A server of a project's own file is started only if the user has agreed.
                yield Part(file, at=("enabledMcpjsonServers",), values=[NAME])
            hook = {"type": "command", "command": offer.hint, "timeout": 5}
            yield Part(file, at=("hooks", "PreToolUse"), values=[{"matcher": "Grep|Bash", "hooks": [hook]}])

    def _paths(self, agent: Agent) -> AgentPaths:
        return _PROFILES[agent].user if self.is_user else _PROFILES[agent].project

    def _file(self, below: str) -> AgentFile:
        """In the user's own folder the file is the one behind links."""
        return AgentFile.of_user(self.home, below) if self.is_user else AgentFile(self.folder.resolve(), below)

    def _markdown(self, below: str) -> AgentFile:
        """A project may have one file of instructions under two names, as a link to its neighbour."""
        file = self._file(below)
        if file.path.is_symlink() and (neighbour := str(file.path.readlink())) in ("AGENTS.md", "CLAUDE.md"):
            return AgentFile(file.root, neighbour)
        return file
