"""What an entry says of compilers' indexes (SCIP): where files lie, and by which command one is made.

```yaml
scip:
  - build/index.scip              # relative to the repository's folder; of a URL, to the folder of repos.yaml
  - /srv/indexes/web.scip@web     # its paths start at the folder `web` of the repository
scip_command: scip-python index --output {output} .
```
"""

import re
import shlex
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.source.locations import redact

# A path may hold an `@`, as folders of npm do: only after the ending of an index file does it divide.
_DIVIDED = re.compile(r"(?P<path>.*\.scip(?:\.gz)?)@(?P<folder>.*)")
_SHOWN = 100


class IndexPlace(Struct, frozen=True):
    """An index file, and the folder of the repository that its paths are relative to (empty: the root)."""

    path: Path
    folder: str

    @classmethod
    def of(cls, text: str) -> "IndexPlace":
        """`PATH` or `PATH@FOLDER`, where PATH ends in `.scip` or `.scip.gz`; raises `ConfigurationError`."""
        divided = _DIVIDED.fullmatch(text)
        path, folder = divided.group("path", "folder") if divided else (text, "")
        parts = [part for part in folder.split("/") if part not in ("", ".")]
        if not path.strip() or not text.isprintable():
            raise ConfigurationError(f"scip {_shown(text)!r}: give the path of a SCIP index")
        if ".." in parts or folder.startswith("/"):
            raise ConfigurationError(f"scip {_shown(text)!r}: {folder!r} is not a folder below the git root")
        return cls(Path(path), "/".join(parts))

    def __str__(self) -> str:
        return f"{self.path}@{self.folder}" if self.folder else str(self.path)


def full_place(text: str, *, base: Path) -> str:
    """`text` with an absolute path, where a relative one starts at `base`; raises `ConfigurationError`."""
    place = IndexPlace.of(text)
    try:
        path = base / place.path.expanduser()
    except RuntimeError as error:
        raise ConfigurationError(f"scip {_shown(text)!r}: there is no user of this name") from error
    return str(IndexPlace(path, place.folder))


def check_command(line: str) -> None:
    """Raises `ConfigurationError` for what is no command line; empty: there is no command."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ConfigurationError(f"scip_command {_shown(line)!r}: {error}: correct its quotes") from error
    if line and (not words or not words[0] or not line.isprintable()):
        raise ConfigurationError(f"scip_command {_shown(line)!r}: give one command line, or leave it out")


def _shown(text: str) -> str:
    text = redact(text)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
