"""Writing the server into an agent's configuration, and removing exactly that again.

People write these files: comments, trailing commas and layout are kept. A record beside the user's other state keeps
the inserted text, and whether there was a file before. A file that nobody changed since becomes again what it was, byte
for byte.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.store.atomic import write_bytes_atomically
from codesum_pipeline.ways_in.mcp.agent_files import AgentFile

_TOKENS = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*|/\*(?:.*?\*/|.*)', re.DOTALL)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_SPACE = re.compile(r"\s*")
_INDENT = "  "


class Insertion(Struct, frozen=True):
    """A text to insert before the character at `offset`; `entry` is the member in it."""

    offset: int
    text: str
    entry: str

    def into(self, content: str) -> str:
        return content[: self.offset] + self.text + content[self.offset :]


class _Member(Struct, frozen=True):
    key: str
    value: Any
    value_start: int


def insert_member(content: str, group: str, name: str, value: Any) -> Insertion:
    """Insert `name: value` at the beginning of the root object's object `group`, which is made where it is missing.

    Raises `ConfigurationError` if the text or `group` is no JSON object, or has `name` already.
    """
    lines = json.dumps(value, indent=len(_INDENT)).split("\n")
    entry = f"{json.dumps(name)}: " + f"\n{_INDENT * 2}".join(lines)
    whole = f'{_INDENT}"{group}": {{\n{_INDENT * 2}{entry}\n{_INDENT}}}'
    if not content.strip():
        return Insertion(len(content), f"{{\n{whole}\n}}\n", entry)
    plain = _plain(content)
    try:
        start = _skip(plain, 0)
        members = list(_members(plain, start))
        json.loads(plain)
    except (ValueError, IndexError, RecursionError) as error:
        raise ConfigurationError(f"it is no JSON object ({error}): mend it first") from error
    servers = next((member for member in members if member.key == group), None)
    if servers is None:
        return Insertion(start + 1, f"\n{whole}{',' if members else chr(10)}", entry)
    if not isinstance(servers.value, dict):
        raise ConfigurationError(f"{group!r} in it is no object: mend it first")
    if name in servers.value:
        raise ConfigurationError(f"it has a server {name!r} already: remove that first")
    end = "," if servers.value else f"\n{_INDENT}"
    return Insertion(servers.value_start + 1, f"\n{_INDENT * 2}{entry}{end}", entry)


def _plain(content: str) -> str:
    """The same JSON with spaces for comments and trailing commas, so that every character keeps its place."""
    without = _TOKENS.sub(lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\n]", " ", found[0]), content)
    # Strings are hidden while trailing commas are searched.
    hidden = _TOKENS.sub(lambda match: "_" * len(match[0]), without)
    commas = {match.start() for match in _TRAILING_COMMA.finditer(hidden)}
    return "".join(" " if place in commas else each for place, each in enumerate(without))


def _members(plain: str, start: int) -> Iterator[_Member]:
    """The members of the object that begins at `start`."""
    if plain[start] != "{":
        raise ValueError("it does not begin with {")
    decoder, place = json.JSONDecoder(), _skip(plain, start + 1)
    while plain[place] != "}":
        if plain[place] != '"':
            raise ValueError(f"a name is missing at character {place}")
        key, place = decoder.raw_decode(plain, place)
        place = _skip(plain, place)
        if plain[place] != ":":
            raise ValueError(f"a colon is missing at character {place}")
        value_start = _skip(plain, place + 1)
        value, place = decoder.raw_decode(plain, value_start)
        yield _Member(key, value, value_start)
        place = _skip(plain, place)
        if plain[place] == ",":
            place = _skip(plain, place + 1)


def _skip(plain: str, place: int) -> int:
    match = _SPACE.match(plain, place)
    return match.end() if match else place


NAME = "codesum"


class Agent(StrEnum):
    """The agents whose configuration is known."""

    CLAUDE = "claude"
    CURSOR = "cursor"
    VSCODE = "vscode"
    GEMINI = "gemini"
    CODEX = "codex"
    WINDSURF = "windsurf"


# Where the servers are in the JSON of an agent's file, and the file: the project's if there is one, else the user's.
_IN_JSON = {
    Agent.CLAUDE: ("mcpServers", ".mcp.json"),
    Agent.CURSOR: ("mcpServers", ".cursor/mcp.json"),
    Agent.VSCODE: ("servers", ".vscode/mcp.json"),
    Agent.GEMINI: ("mcpServers", ".gemini/settings.json"),
    Agent.WINDSURF: ("mcpServers", ".codeium/windsurf/mcp_config.json"),
}
_CODEX_FILE = ".codex/config.toml"
_OF_USER = (Agent.WINDSURF, Agent.CODEX)


def _insertion(agent: Agent, content: str, command: Sequence[str]) -> Insertion:
    """The server as the agent's configuration file has it."""
    if agent is Agent.CODEX:
        return _in_toml(content, command)
    program, *arguments = command
    kind = {"type": "stdio"} if agent is Agent.VSCODE else {}
    return insert_member(content, _IN_JSON[agent][0], NAME, {**kind, "command": program, "args": arguments})


def _in_toml(content: str, command: Sequence[str]) -> Insertion:
    """A table at the end; raises `ConfigurationError` if there is one already, or it cannot be added."""
    try:
        known = tomllib.loads(content).get("mcp_servers", {})
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"it is no TOML ({error}): mend it first") from error
    if NAME in known:
        raise ConfigurationError(f"it has a server {NAME!r} already: remove that first")
    program, *arguments = command
    # Texts and lists of texts are written alike in JSON and TOML.
    entry = f"[mcp_servers.{NAME}]\ncommand = {json.dumps(program)}\nargs = {json.dumps(arguments)}\n"
    before = "" if not content else "\n" if content.endswith("\n") else "\n\n"
    found = Insertion(len(content), f"{before}{entry}", entry)
    try:
        tomllib.loads(found.into(content))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(
            f"a table [mcp_servers.{NAME}] cannot be added to it ({error}): add it by hand"
        ) from error
    return found


_RECORD = "mcp_installed.json"


class Installation(Struct, frozen=True):
    """The text that was inserted into a file, its part that is the server, and the folders made for the file."""

    text: str
    entry: str
    was_there: bool
    made_folders: tuple[str, ...] = ()


class Installer(Struct, frozen=True):
    """`folder` is the project, `home` the user's folder, `state` where the record is kept."""

    folder: Path
    home: Path
    state: Path

    def install(self, agent: Agent, command: Sequence[str]) -> tuple[Path, str]:
        """Insert the server; returns the file and the inserted text.

        Raises `ConfigurationError`, without writing anything, where it cannot be inserted.
        """
        file = self._file(agent)
        content = file.read()
        try:
            insertion = _insertion(agent, content or "", command)
        except ConfigurationError as error:
            raise ConfigurationError(f"{file.path}: {error}") from error
        made_folders = tuple(map(str, file.missing_folders()))
        installation = Installation(insertion.text, insertion.entry, content is not None, made_folders)
        # The record comes first: an entry of it that the file lacks does no harm.
        self._write_record({**self._record(), str(file.path): installation})
        file.write(insertion.into(content or ""))
        return file.path, insertion.text

    def uninstall(self, agent: Agent) -> tuple[Path, str]:
        """Remove the server; returns the file and the removed text.

        Raises `ConfigurationError` if the record has no entry for the file, or the entry was changed since.
        """
        file = self._file(agent)
        path, record = file.path, self._record()
        installation = record.get(str(path))
        if installation is None:
            raise ConfigurationError(f"{path}: nothing in it was written by `codesum mcp --install {agent}`")
        content = file.read() or ""
        # Where something was added behind the inserted text, the server alone goes.
        texts = (installation.text, f"{installation.entry},")
        removed = next((text for text in texts if content.count(text) == 1), None)
        if removed is None and installation.entry.splitlines()[0] in content:
            raise ConfigurationError(
                f"{path}: its entry for codesum was changed since it was written: remove it by hand"
            )
        if removed is not None:
            rest = content.replace(removed, "")
            if rest or installation.was_there:
                file.write(rest)
            else:
                file.remove()
                for folder in map(Path, installation.made_folders):
                    if any(folder.iterdir()):
                        break
                    folder.rmdir()
        self._write_record({name: each for name, each in record.items() if name != str(path)})
        return path, removed or ""

    def _file(self, agent: Agent) -> AgentFile:
        """The configuration file; the user's is the one behind links."""
        below = _CODEX_FILE if agent is Agent.CODEX else _IN_JSON[agent][1]
        return AgentFile.of_user(self.home, below) if agent in _OF_USER else AgentFile(self.folder.resolve(), below)

    def _record(self) -> dict[str, Installation]:
        file = self.state / _RECORD
        try:
            return decode(file.read_bytes(), dict[str, Installation])
        except FileNotFoundError:
            return {}
        except msgspec.MsgspecError as error:
            raise ConfigurationError(f"{file}: it cannot be read ({error}): delete it") from error

    def _write_record(self, record: dict[str, Installation]) -> None:
        content = msgspec.json.format(msgspec.json.encode(record), indent=2)
        write_bytes_atomically(self.state / _RECORD, content + b"\n")
