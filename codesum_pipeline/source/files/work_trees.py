"""What git says of a work tree: whether it is dirty, which files differ from its last commit; and
which registered index holds a folder.

`git status` would run the filters that a repository configures, which a clone from elsewhere brings along: each is
switched off by name. A file that git stores in a filtered form (LFS) is then compared only by its size and times.

A tree is dirty exactly where `git status` lists something. Git asks itself about each submodule, so whatever a
submodule's own configuration would run is switched off, too. Of a filtered file whose times changed nothing is known.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import RepositoryUnavailable
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.stage_settings import ScanSettings
from codesum_pipeline.source.files.ignore_files import rules_of_tree
from codesum_pipeline.source.files.path_rules import PathRules, readable_path
from codesum_pipeline.source.git.git import LITERAL_PATHS, output_of, run_git, try_git
from codesum_pipeline.source.git.locations import is_url
from codesum_pipeline.source.git.remote import is_git_repository
from codesum_pipeline.source.git.trees import SUBMODULE_MODE
from codesum_pipeline.source.git.user_excludes import joined_excludes, read_user_excludes, run_in_tree

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


_STATUS = ("--porcelain=v2", "--branch", "--no-ahead-behind", "--no-renames", "--untracked-files=all")
# How many fields come before the path, by the kind of a record.
_UNTRACKED = b"?"
_FIELDS = {b"1": 8, b"u": 10, _UNTRACKED: 1}
_BRANCH = b"# branch.head "


class WorkTreeState(Struct, frozen=True):
    """The branch that is checked out, and the paths of all files that differ; untracked ones also by themselves."""

    branch: str
    paths: tuple[str, ...]
    untracked: tuple[str, ...]


def uncommitted_files(entry: RepositoryEntry, rules: PathRules, *, home: Path) -> int | None:
    """How many files that an index of the entry's commit would hold differ from it in the work tree.

    None if that is no question: of a URL, of a folder that is read as it is, of a bare repository, and of a ref that
    is not what is checked out. What lies in `home` is not counted.
    """
    root = Path(entry.location)
    if is_url(entry.location) or entry.worktree or not (root / ".git").exists():
        return None
    state = work_tree_state(root, entry.subdir)
    if entry.ref not in (None, "HEAD", state.branch):
        return None
    own, rules = home.resolve(), replace(rules, ignored=rules_of_tree(root))
    counted = (path for path in state.paths if rules.why_skipped(path, mode="100644", size=0) is None)
    return sum(not (root / path).is_relative_to(own) for path in counted)


def work_tree_state(root: Path, subdir: str = "") -> WorkTreeState:
    """What git says of a work tree, or of one folder of it, while nothing that the repository configures runs.

    Raises `RepositoryUnavailable` if git cannot read it.
    """
    environment = {**LITERAL_PATHS, **without_filters(filters_of(root))}
    arguments = ["status", "-z", *_STATUS, "--ignore-submodules=all", "--", *([subdir] if subdir else [])]
    finished = run_in_tree(arguments, root, timeout_s=_TIMEOUT_S, environment=environment)
    records = output_of(finished, arguments).split(b"\0")
    branch = next((record.removeprefix(_BRANCH) for record in records if record.startswith(_BRANCH)), b"")
    untracked = _paths(record for record in records if record.startswith(_UNTRACKED))
    return WorkTreeState(branch.decode("utf-8", "replace"), tuple(_paths(records)), tuple(untracked))


def _paths(records: Iterable[bytes]) -> Iterator[str]:
    for record in records:
        fields = _FIELDS.get(record[:1])
        path = record.split(b" ", fields)[-1] if fields else b""
        # A folder is a repository of its own.
        if path and not path.endswith(b"/"):
            yield readable_path(path)[0]


def is_ignored(root: Path, path: str) -> bool:
    """Whether git leaves a file of the work tree at `root` out, by its patterns or the user's; False outside git."""
    if not (root / ".git").exists():
        return False
    arguments = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", path]
    return bool(run_in_tree(arguments, root, timeout_s=_TIMEOUT_S, environment=LITERAL_PATHS).output)


def has_tracked_files(root: Path, folder: Path) -> bool:
    """Whether git knows a file below a folder of the work tree at `root`; False outside git, True of a bare one."""
    if not (root / ".git").exists():
        return is_git_repository(root)
    arguments = ["ls-files", "-z", "--", str(folder.relative_to(root))]
    listed = try_git(arguments, work_tree=root, timeout_s=_TIMEOUT_S, environment=LITERAL_PATHS)
    return bool(listed.output) or listed.status != 0


def covering_entry(entries: Iterable[RepositoryEntry], root: Path, inner: str) -> RepositoryEntry | None:
    """The enabled entry of the nearest folder above `root/inner` whose index holds all of that folder.

    `root` is the folder's git root, or outside git the folder itself. An entry with patterns holds parts of folders.
    """
    above = []
    for entry in entries:
        if entry.enabled and not (is_url(entry.location) or entry.include or entry.exclude):
            is_same_repository = entry.location == str(root) or not (root / ".git").exists()
            if is_same_repository and Path(entry.location) / entry.subdir in (root / inner).parents:
                above.append(entry)
    above.sort(key=lambda entry: (-len(entry.subdir), entry.key))
    return next((entry for entry in above if not inner or _holds(entry, inner)), None)


def _holds(entry: RepositoryEntry, inner: str) -> bool:
    """Whether git has a file there that no rule keeps out; what is not committed is part of a work tree alone."""
    listing = ["ls-files", "-z", *(("--cached", "--others", "--exclude-standard") if entry.worktree else ())]
    root = Path(entry.location)
    listed = run_in_tree([*listing, "--", inner], root, timeout_s=_TIMEOUT_S, environment=LITERAL_PATHS)
    rules = PathRules.of(entry, ScanSettings())
    names = (readable_path(name)[0] for name in listed.output.split(b"\0") if name)
    return any(rules.why_skipped(name, mode="100644", size=0) is None for name in names)
