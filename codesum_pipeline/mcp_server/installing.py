"""Inserting a member into a JSON text that people write: comments, trailing commas and layout are kept."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.store.atomic import write_text_atomically

_TOKENS = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
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

    Raises `ConfigurationError` where the text or `group` is no JSON object, or has `name` already.
    """
    if not content.strip():
        entry = _written(name, value, depth=2)
        text = f'{{\n{_INDENT}"{group}": {{\n{_INDENT * 2}{entry}\n{_INDENT}}}\n}}\n'
        return Insertion(len(content), text, entry)
    plain = _plain(content)
    try:
        root = _SPACE.match(plain, 0)
        start = root.end() if root else 0
        members = list(_members(plain, start))
        json.loads(plain)
    except (ValueError, IndexError, RecursionError) as error:
        raise ConfigurationError(f"it is no JSON object ({error}): mend it first") from error
    servers = next((member for member in members if member.key == group), None)
    if servers is None:
        entry = _written(name, value, depth=2)
        inner = f'{_INDENT}"{group}": {{\n{_INDENT * 2}{entry}\n{_INDENT}}}'
        return Insertion(start + 1, f"\n{inner}{',' if members else chr(10)}", entry)
    if not isinstance(servers.value, dict):
        raise ConfigurationError(f"{group!r} in it is no object: mend it first")
    if name in servers.value:
        raise ConfigurationError(f"it has a server {name!r} already: take that away first")
    entry = _written(name, value, depth=2)
    end = "," if servers.value else f"\n{_INDENT}"
    return Insertion(servers.value_start + 1, f"\n{_INDENT * 2}{entry}{end}", entry)


def _written(name: str, value: Any, *, depth: int) -> str:
    lines = json.dumps(value, indent=len(_INDENT)).split("\n")
    return f"{json.dumps(name)}: " + f"\n{_INDENT * depth}".join(lines)


def _plain(content: str) -> str:
    """The same JSON with spaces for comments and trailing commas, so that every character keeps its place."""
    without = _TOKENS.sub(lambda match: match[0] if match[0][0] == '"' else _blank(match[0]), content)
    # Strings are hidden while trailing commas are searched.
    hidden = _TOKENS.sub(lambda match: "_" * len(match[0]), without)
    commas = {match.start() for match in _TRAILING_COMMA.finditer(hidden)}
    return "".join(" " if place in commas else each for place, each in enumerate(without))


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


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


class Configuration(Struct, frozen=True):
    """An agent's configuration file, and how a server is inserted into its text."""

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
    """A table at the end; raises `ConfigurationError` where there is one already, or it cannot be added."""
    try:
        known = tomllib.loads(content).get("mcp_servers", {})
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"it is no TOML ({error}): mend it first") from error
    if NAME in known:
        raise ConfigurationError(f"it has a server {NAME!r} already: take that away first")
    program, *arguments = command
    # Texts and lists of texts are written alike in JSON and TOML.
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
        configuration = configuration_of(agent, folder=self.folder, home=self.home)
        file = _file(configuration)
        was_there = file.exists()
        content = _read(file) if was_there else ""
        try:
            insertion = configuration.insertion(content, command)
        except ConfigurationError as error:
            raise ConfigurationError(f"{file}: {error}") from error
        made = [str(folder) for folder in (file.parent, *file.parent.parents) if not folder.exists()]
        written = Installation(insertion.text, insertion.entry, was_there, tuple(made))
        # The record comes first: an entry of it that the file lacks does no harm.
        self._write_record({**self._record(), str(file): written})
        write_text_atomically(file, insertion.into(content))
        return file, insertion.text

    def uninstall(self, agent: Agent) -> tuple[Path, str]:
        """Remove the server; returns the file and the removed text.

        Raises `ConfigurationError` where the record has no entry for the file, or the entry was changed since.
        """
        file = _file(configuration_of(agent, folder=self.folder, home=self.home))
        record = self._record()
        written = record.get(str(file))
        if written is None:
            raise ConfigurationError(f"{file}: nothing in it was written by `codesum mcp --install {agent}`")
        content = _read(file) if file.exists() else ""
        left, taken = _without(content, written)
        if taken is None and written.entry.splitlines()[0] in content:
            raise ConfigurationError(
                f"{file}: its entry for codesum was changed since it was written: take it away by hand"
            )
        if taken is not None:
            _restore(file, left, written)
        self._write_record({name: each for name, each in record.items() if name != str(file)})
        return file, taken or ""

    def _record(self) -> dict[str, Installation]:
        file = self.state / _RECORD
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            return {
                name: Installation(**{**each, "made_folders": tuple(each["made_folders"])})
                for name, each in found.items()
            }
        except FileNotFoundError:
            return {}
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ConfigurationError(f"{file}: it cannot be read ({error}): delete it") from error

    def _write_record(self, record: dict[str, Installation]) -> None:
        found = {name: to_builtins(each) for name, each in record.items()}
        write_text_atomically(self.state / _RECORD, json.dumps(found, indent=2) + "\n")


def _file(configuration: Configuration) -> Path:
    """The configuration file, behind links."""
    return configuration.file.resolve()


def _read(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", newline="") as opened:
            return opened.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{file}: {error}") from error


def _without(content: str, written: Installation) -> tuple[str, str | None]:
    """The content without the inserted text, or, where something was added behind that, without the server."""
    for text in (written.text, f"{written.entry},"):
        if content.count(text) == 1:
            return content.replace(text, ""), text
    return content, None


def _restore(file: Path, left: str, written: Installation) -> None:
    """Write the rest of a file; a new file without a rest is deleted, with the folders made for it."""
    if left or written.was_there:
        write_text_atomically(file, left)
        return
    file.unlink()
    for folder in map(Path, written.made_folders):
        if any(folder.iterdir()):
            break
        folder.rmdir()
