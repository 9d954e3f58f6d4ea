"""Writing the server into an agent's configuration, and taking exactly that away again.

What was written is kept in a record beside the user's other state: the text that was put in, and whether there was a
file before. A file that is as it was left becomes again what it was, byte for byte.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from codesum_pipeline.mcp_server.agents import Agent, Configuration, configuration_of
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.store.atomic import write_text_atomically

_RECORD = "mcp_installed.json"


@dataclass(frozen=True, slots=True)
class Installation:
    """What was put into a file, the member of it that is the server, and which folders were made for it."""

    text: str
    entry: str
    was_there: bool
    made_folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Installer:
    """`folder` is the project, `home` the user's folder, `state` where the record is kept."""

    folder: Path
    home: Path
    state: Path

    def install(self, agent: Agent, command: Sequence[str]) -> tuple[Path, str]:
        """The file that was written, and the text that was put in.

        Raises `ConfigurationError` where nothing can be put in; then nothing is written.
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
        # First the record: what stands in it and not in the file is taken away by nobody.
        self._write_record({**self._record(), str(file): written})
        write_text_atomically(file, insertion.into(content))
        return file, insertion.text

    def uninstall(self, agent: Agent) -> tuple[Path, str]:
        """The file, and the text that was taken away.

        Raises `ConfigurationError` where nothing of ours is in it, or it was changed so that this cannot be told.
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
        found = {name: asdict(each) for name, each in record.items()}
        write_text_atomically(self.state / _RECORD, json.dumps(found, indent=2) + "\n")


def _file(configuration: Configuration) -> Path:
    """The file itself: people link their configuration."""
    return configuration.file.resolve()


def _read(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", newline="") as opened:
            return opened.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{file}: {error}") from error


def _without(content: str, written: Installation) -> tuple[str, str | None]:
    """The content without what was put in, or, where something was put behind that, without the server."""
    for text in (written.text, f"{written.entry},"):
        if content.count(text) == 1:
            return content.replace(text, ""), text
    return content, None


def _restore(file: Path, left: str, written: Installation) -> None:
    """A file that was not there before, and has nothing else in it, goes, with the folders that were made for it."""
    if left or written.was_there:
        write_text_atomically(file, left)
        return
    file.unlink()
    for folder in map(Path, written.made_folders):
        if any(folder.iterdir()):
            break
        folder.rmdir()
