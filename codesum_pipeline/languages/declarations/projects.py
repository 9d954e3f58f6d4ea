"""The files of a repository by path, folder and ending, and the project files among them."""

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*+"?)|//[^\n]*|/\*(?:.*?\*/|.*)', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+"?)|,(?=\s*[}\]])')


class Projects:
    """What is in a repository; `text_at` gives the text of a project file. One that is malformed says nothing."""

    def __init__(self, paths: Iterable[str], text_at: Callable[[str], str | None]) -> None:
        self.paths = frozenset(paths)
        self.text_at = text_at
        self.folders: dict[str, list[str]] = defaultdict(list)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.paths):
            folder, _, name = path.rpartition("/")
            self.folders[folder].append(path)
            self._by_name[name].append(path)

    def has(self, path: str | None) -> bool:
        """Whether a project file that can be read is there."""
        return path is not None and self.text_at(path) is not None

    def named(self, name: str) -> list[str]:
        """The project files of a name, sorted by path."""
        return [path for path in self._by_name.get(name, ()) if self.has(path)]

    def nearest(self, folder: str, *names: str) -> str | None:
        """The first of some project files in a folder, or else in one around it."""
        paths = (join_path(above, name) for above in folders_above(folder) for name in names)
        return next(filter(self.has, paths), None)

    def ending(self, suffix: str) -> list[str]:
        """The files whose path ends in these whole parts."""
        found = self._by_name.get(suffix.rpartition("/")[2], ())
        return [path for path in found if path == suffix or path.endswith(f"/{suffix}")]

    def json(self, path: str) -> dict[str, Any]:
        """A JSON object, with comments and trailing commas; empty if it is none."""
        text = _COMMENT.sub(lambda found: found[1] or " ", self.text_at(path) or "")
        text = _TRAILING_COMMA.sub(lambda found: found[1] or "", text)
        try:
            return inner_table(json.loads(text))
        except (ValueError, RecursionError):
            return {}

    def toml(self, path: str) -> dict[str, Any]:
        """A TOML file; empty if it is none."""
        try:
            return tomllib.loads(self.text_at(path) or "")
        except (ValueError, RecursionError):
            return {}


def inner_table(content: Any, *names: str) -> dict[str, Any]:
    """A table inside of a project file; empty if there is none."""
    found = content
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def texts_in(content: Any) -> list[str]:
    """The texts in a list of a project file."""
    return [item for item in content if isinstance(item, str)] if isinstance(content, list) else []


def text_under(content: Mapping[str, Any], name: str) -> str:
    """A text of a project file; empty if there is none."""
    found = content.get(name)
    return found if isinstance(found, str) else ""


def join_path(folder: str, path: str) -> str | None:
    """A path from a folder; None if it leads out of the repository."""
    parts = folder.split("/") if folder and not path.startswith("/") else []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def folders_above(folder: str) -> list[str]:
    """A folder and those around it, the top last."""
    found = [folder]
    while folder:
        folder = folder.rpartition("/")[0]
        found.append(folder)
    return found
