"""Whether a work tree is dirty: exactly where `git status` lists something, and nothing of the repository runs.

Git asks itself about each submodule, so whatever a submodule's own configuration would run is switched off, too. Where
a filter stores a file in another form, as Git LFS does, git would run it on a file whose times changed: of such a file
nothing is known.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from codesum_pipeline.foundation.data_model.errors import RepositoryUnavailable
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.git.git import LITERAL_PATHS, output_of, run_git, try_git
from codesum_pipeline.source.git.locations import is_url
from codesum_pipeline.source.git.trees import SUBMODULE_MODE
from codesum_pipeline.source.git.user_excludes import joined_excludes, read_user_excludes

_TIMEOUT_S = 20.0
_FILTER = re.compile(rb"filter\..+\.(?:clean|smudge|process|required)", re.DOTALL)
# Of submodules in submodules.
_DEEPEST = 8
_MOST_SUBMODULES = 500
# An entry of a file that differs from the index alone.
_EDITED = b" M "


class TreeState(StrEnum):
    """What `git status` says of a work tree; `UNKNOWN` where only a filter could tell."""

    CLEAN = "clean"
    DIRTY = "dirty"
    UNKNOWN = "unknown"


def state_of_entry(entry: RepositoryEntry) -> TreeState | None:
    """The state of the work tree that an entry is about; None where there is none."""
    root = Path(entry.location)
    return None if is_url(entry.location) or not (root / ".git").exists() else state_of_tree(root)


def state_of_tree(root: Path) -> TreeState:
    """The state of a work tree; raises `RepositoryUnavailable` if git cannot read it."""
    filters = {name for tree in (root, *_submodules(root)) for name in filters_of(tree)}
    arguments = ["status", "--porcelain", "-z", "--no-renames"]
    with joined_excludes(read_user_excludes(root, root / ".git").patterns, is_packaged=False) as excludes:
        environment = {**LITERAL_PATHS, **without_filters(filters)}
        found = try_git(arguments, work_tree=root, timeout_s=_TIMEOUT_S, environment=environment, excludes=excludes)
    entries = [entry for entry in output_of(found, arguments).split(b"\0") if entry]
    if not entries:
        return TreeState.CLEAN
    if not filters or not all(entry.startswith(_EDITED) for entry in entries):
        return TreeState.DIRTY
    return _state_of_filtered(root, [entry.removeprefix(_EDITED) for entry in entries])


def filters_of(root: Path) -> list[bytes]:
    """The settings by which a filter would run, in whichever file of the repository they are."""
    listed = run_git(["config", "--list", "--name-only", "-z"], work_tree=root, timeout_s=_TIMEOUT_S)
    return sorted({name for name in listed.split(b"\0") if _FILTER.fullmatch(name)})


def without_filters(names: Collection[bytes]) -> Mapping[str, str]:
    """The environment in which none of them runs: it wins over every file."""
    environment = {"GIT_CONFIG_COUNT": str(len(names))}
    for place, name in enumerate(sorted(names)):
        environment[f"GIT_CONFIG_KEY_{place}"] = name.decode("utf-8", "surrogateescape")
        environment[f"GIT_CONFIG_VALUE_{place}"] = "false" if name.endswith(b".required") else ""
    return environment


def _submodules(root: Path, depth: int = _DEEPEST) -> Iterator[Path]:
    """The submodules of a work tree that are checked out, and those in them."""
    listed = run_git(["ls-files", "--stage", "-z"], work_tree=root, timeout_s=_TIMEOUT_S).split(b"\0")
    links = [line.partition(b"\t")[2] for line in listed if line.startswith(f"{SUBMODULE_MODE} ".encode())]
    places = [place for link in links if ((place := root / os.fsdecode(link)) / ".git").exists()]
    if len(places) > _MOST_SUBMODULES or (places and not depth):
        raise RepositoryUnavailable(f"{root} holds more submodules than are looked at")
    for place in places:
        yield place
        yield from _submodules(place, depth - 1)


def _state_of_filtered(root: Path, paths: list[bytes]) -> TreeState:
    """The state of a tree in which only these files differ, byte for byte, from what git stores."""
    asked = b"".join(path + b"\0" for path in paths)
    output = run_git(["check-attr", "-z", "--stdin", "filter"], work_tree=root, timeout_s=_TIMEOUT_S, data=asked)
    values = output.split(b"\0")[2::3]
    if any(value in (b"unspecified", b"unset", b"set") for value in values) or len(values) != len(paths):
        return TreeState.DIRTY
    return TreeState.UNKNOWN
