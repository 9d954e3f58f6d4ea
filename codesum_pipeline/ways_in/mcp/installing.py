"""Writing the server and what is offered beside it into an agent's files, and removing exactly that again.

A record beside the user's other state keeps each inserted text, and whether there was a file before. A file that nobody
changed since becomes again what it was, byte for byte. Each file is planned by itself: one that cannot be changed stops
no other.
"""

import difflib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.errors import CodesumError, ConfigurationError
from codesum_pipeline.foundation.store.atomic import write_bytes_atomically
from codesum_pipeline.ways_in.mcp.agent_files import AgentFile
from codesum_pipeline.ways_in.mcp.agent_profiles import Agent, Part, Places
from codesum_pipeline.ways_in.mcp.edited_files import BEGIN, remove_values

_RECORD = "mcp_installed.json"


class Installation(Struct, frozen=True):
    """A text that was inserted into a file, the part of it that is ours, and the folders made for the file. `agents`
    are those that it is for, and `at` is its place in JSON; records of earlier versions have neither."""

    text: str
    entry: str
    was_there: bool
    made_folders: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    at: tuple[str, ...] = ()


class PlannedChange(Struct, frozen=True):
    """A file before and after, None where there is none, with what will be recorded for it; or the `problem`."""

    file: AgentFile
    before: str | None = None
    after: str | None = None
    installations: tuple[Installation, ...] = ()
    problem: str = ""

    @property
    def is_one(self) -> bool:
        return self.before != self.after

    @property
    def difference(self) -> str:
        """As `diff -u` writes it."""
        old, new = ((text or "").splitlines() for text in (self.before, self.after))
        name = str(self.file.path)
        return "\n".join(difflib.unified_diff(old, new, name, name, n=1, lineterm=""))


class Installer(Struct, frozen=True):
    """Plans and makes changes of agents' files; `state` is where the record is kept."""

    places: Places
    state: Path

    def plan_install(self, agent: Agent, parts: Iterable[Part]) -> list[PlannedChange]:
        """What puts the parts into their files. Those that are there already are left as they are."""
        by_path: dict[Path, list[Part]] = {}
        for part in parts:
            by_path.setdefault(part.file.path, []).append(part)
        record = self._record()
        return [
            _planned(each[0].file, record.get(str(path), ()), agent, each, self.places)
            for path, each in by_path.items()
        ]

    def plan_uninstall(self, agent: Agent) -> list[PlannedChange]:
        """What takes away all that was written for an agent, but for what another one still reads.

        Raises `ConfigurationError` if the record has nothing of it.
        """
        record, found = self._record(), []
        for file in self.places.files_of(agent):
            installed = record.get(str(file.path), ())
            if any(not each.agents or agent in each.agents for each in installed):
                found.append(_planned(file, installed, agent, (), self.places))
        if not found:
            paths = ", ".join(str(file.path) for file in self.places.files_of(agent))
            raise ConfigurationError(
                f"{paths}: `codesum mcp --install {agent}` wrote nothing in it, so nothing is removed"
            )
        return found

    def make(self, change: PlannedChange) -> None:
        """Make a change that was planned without a problem."""
        record = self._record()
        path = str(change.file.path)
        # The record comes first: an entry of it that the file lacks does no harm.
        if change.installations:
            self._write_record({**record, path: change.installations})
        if change.after is None and change.before is not None:
            change.file.remove()
            for folder in map(Path, record[path][0].made_folders):
                if any(folder.iterdir()):
                    break
                folder.rmdir()
        elif change.after is not None and change.is_one:
            change.file.write(change.after)
        if not change.installations:
            self._write_record({name: each for name, each in record.items() if name != path})

    def _record(self) -> dict[str, tuple[Installation, ...]]:
        file = self.state / _RECORD
        try:
            found = decode(file.read_bytes(), dict[str, Installation | tuple[Installation, ...]])
        except FileNotFoundError:
            return {}
        except msgspec.MsgspecError as error:
            raise ConfigurationError(f"{file}: it cannot be read ({error}): delete it") from error
        return {path: (each,) if isinstance(each, Installation) else each for path, each in found.items()}

    def _write_record(self, record: dict[str, tuple[Installation, ...]]) -> None:
        content = msgspec.json.format(msgspec.json.encode(record), indent=2)
        write_bytes_atomically(self.state / _RECORD, content + b"\n")


class _FileState(Struct, frozen=True):
    """One file as it is, what was written into it earlier, and the agent that something is planned for."""

    file: AgentFile
    before: str | None
    installed: Sequence[Installation]
    agent: Agent
    usual_place: tuple[str, ...]

    def without_agent(self) -> PlannedChange:
        """Without what is for this agent alone; the rest stays recorded for others."""
        content, kept = self.before or "", []
        for each in reversed(self.installed):
            others = tuple(name for name in each.agents if name != self.agent)
            if others:
                kept.append(replace(each, agents=others))
            else:
                content = _without(content, each, self.usual_place)
        is_gone = self.before is None or (not content and not kept and not self.installed[0].was_there)
        return PlannedChange(self.file, self.before, None if is_gone else content, tuple(kept[::-1]))

    def with_parts(self, parts: Sequence[Part]) -> PlannedChange:
        """With the parts; what was written there earlier, and is the same, stays where it is."""
        content, are_there = self.before or "", True
        for each in reversed(self.installed):
            rest = _without(content, each, self.usual_place)
            content, are_there = rest, are_there and rest != content
        after, added = self._added(content, parts)
        if are_there and [each.entry for each in added] == [each.entry for each in self.installed]:
            after, added = self.before, [*self.installed]
        agents = tuple(sorted({self.agent, *(name for each in self.installed for name in each.agents)}))
        return PlannedChange(self.file, self.before, after, tuple(replace(each, agents=agents) for each in added))

    def _added(self, content: str, parts: Sequence[Part]) -> tuple[str | None, list[Installation]]:
        """The content with the parts, and what is recorded of each."""
        was_there, folders = self.before is not None, tuple(map(str, self.file.missing_folders()))
        if self.installed:
            was_there, folders = self.installed[0].was_there, self.installed[0].made_folders
        added: list[Installation] = []
        for part in parts:
            if insertion := part.insertion(content):
                content = insertion.into(content)
                is_not_first = was_there or bool(added)
                added.append(Installation(insertion.text, insertion.entry, is_not_first, folders, at=part.at))
        return (content if content or self.before is not None else None), added


def _planned(
    file: AgentFile, installed: Sequence[Installation], agent: Agent, parts: Sequence[Part], places: Places
) -> PlannedChange:
    """The change of one file to have the parts of an agent, and nothing else that was written for it alone."""
    before = None
    try:
        before = file.read()
        state = _FileState(file, before, installed, agent, (places.group_of(agent),))
        return state.with_parts(parts) if parts else state.without_agent()
    except (CodesumError, OSError) as error:
        told = str(error)
        return PlannedChange(file, before, before, problem=told if str(file.path) in told else f"{file.path}: {told}")


def _without(content: str, installation: Installation, usual_place: tuple[str, ...]) -> str:
    """The content without what was inserted.

    Raises `ConfigurationError` if that was changed since.
    """
    if content.count(installation.text) == 1:
        return content.replace(installation.text, "")
    entry = installation.entry
    if entry.lstrip().startswith(("[", "<")):
        if content.count(entry) == 1:
            return content.replace(entry, "")
        begin = BEGIN if BEGIN in entry else entry.splitlines()[0]
        if begin in content:
            raise ConfigurationError("somebody has changed what was written there: remove it by hand")
        return content
    if not content.strip():
        return content
    at = installation.at or usual_place
    try:
        values = json.loads(f"{{{entry}}}")
    except ValueError:
        values = json.loads(f"[{entry}]")
    return remove_values(content, at, values)
