"""Which files of a work tree differ from its last commit: edits that an index of the commit does not have.

`git status` would run the filters that a repository configures, which a clone
from elsewhere brings along: each is switched off by name. A file that git holds
in a filtered form (LFS) is then compared only as far as its size and times tell.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.settings.stages import ScanSettings
from codesum_pipeline.source.git import run_git, try_git
from codesum_pipeline.source.locations import is_url
from codesum_pipeline.source.rules import PathRules, readable_path

_TIMEOUT_S = 20.0
_STATUS = ("--porcelain=v2", "--branch", "--no-ahead-behind", "--no-renames", "--untracked-files=all")
# How many fields stand before the path, by the kind of a record.
_UNTRACKED = b"?"
_FIELDS = {b"1": 8, b"u": 10, _UNTRACKED: 1}
_BRANCH = b"# branch.head "
_FILTER = re.compile(rb"filter\..+\.(?:clean|smudge|process|required)", re.DOTALL)


class WorkTreeState(Struct, frozen=True):
    """The branch that is checked out, and the paths of modified, staged, deleted and untracked files; the last ones
    also by themselves."""

    branch: str
    paths: tuple[str, ...]
    untracked: tuple[str, ...]


def uncommitted_files(entry: RepositoryEntry, rules: PathRules, *, home: Path) -> int | None:
    """How many files that an index of the entry's commit would hold differ from it in the work tree.

    None where that is no question: of a URL, of a folder that is read as it is,
    of a bare repository, and of a ref that is not what is checked out. What
    lies in `home` is not counted.
    """
    root = Path(entry.location)
    if is_url(entry.location) or entry.worktree or not (root / ".git").exists():
        return None
    state = work_tree_state(root, entry.subdir)
    if entry.ref not in (None, "HEAD", state.branch):
        return None
    own = home.resolve()
    counted = (path for path in state.paths if rules.why_skipped(path, mode="100644", size=0) is None)
    return sum(not (root / path).is_relative_to(own) for path in counted)


def work_tree_state(root: Path, subdir: str = "") -> WorkTreeState:
    """What git says of a work tree, or of one folder of it, while nothing that the repository configures runs.

    Raises `RepositoryUnavailable` where git cannot read it.
    """
    output = run_git(
        ["status", "-z", *_STATUS, "--ignore-submodules=all", "--", *([subdir] if subdir else [])],
        git_dir=root / ".git",
        cwd=root,
        timeout_s=_TIMEOUT_S,
        extra_environment={
            "GIT_WORK_TREE": str(root),
            "GIT_LITERAL_PATHSPECS": "1",
            **_without(_filters(root)),
        },
    )
    records = output.split(b"\0")
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


def _filters(root: Path) -> list[bytes]:
    """The names of all settings by which a filter would run, in whichever file of the repository they stand."""
    listed = run_git(
        ["config", "--list", "--name-only", "-z"],
        git_dir=root / ".git",
        cwd=root,
        timeout_s=_TIMEOUT_S,
        extra_environment={"GIT_WORK_TREE": str(root)},
    )
    return sorted({name for name in listed.split(b"\0") if _FILTER.fullmatch(name)})


def _without(names: Iterable[bytes]) -> dict[str, str]:
    """The environment that sets filters to nothing; it wins over the repository's own files."""
    values = {name: "false" if name.endswith(b".required") else "" for name in names}
    environment = {"GIT_CONFIG_COUNT": str(len(values))}
    for place, (name, value) in enumerate(values.items()):
        environment[f"GIT_CONFIG_KEY_{place}"] = name.decode("utf-8", "surrogateescape")
        environment[f"GIT_CONFIG_VALUE_{place}"] = value
    return environment


# Edits that are not committed are part of a work tree alone.
_WITH_UNTRACKED = ("--cached", "--others", "--exclude-standard")


def covering_entry(entries: Iterable[RepositoryEntry], root: Path, inner: str) -> RepositoryEntry | None:
    """The enabled entry of the nearest folder above `root/inner` whose index holds all of that folder.

    `root` is the folder's git root, or outside git the folder itself. An entry with patterns holds parts of folders.
    """
    folder = root / inner
    above = [entry for entry in entries if _is_above(entry, root, folder)]
    above.sort(key=lambda entry: (-len(entry.subdir), entry.key))
    return next((entry for entry in above if not inner or _holds(entry, inner)), None)


def _is_above(entry: RepositoryEntry, root: Path, folder: Path) -> bool:
    if not entry.enabled or is_url(entry.location) or entry.include or entry.exclude:
        return False
    top = Path(entry.location) / entry.subdir
    is_same_repository = entry.location == str(root) or not (root / ".git").exists()
    return is_same_repository and top in folder.parents


def _holds(entry: RepositoryEntry, inner: str) -> bool:
    """Whether git has a file in the folder that no rule keeps out."""
    root = Path(entry.location)
    listed = try_git(
        ["ls-files", "-z", *(_WITH_UNTRACKED if entry.worktree else ()), "--", inner],
        git_dir=root / ".git",
        cwd=root,
        timeout_s=_TIMEOUT_S,
        extra_environment={"GIT_WORK_TREE": str(root), "GIT_LITERAL_PATHSPECS": "1"},
    )
    rules = PathRules.of(entry, ScanSettings())
    names = (readable_path(name)[0] for name in listed.output.split(b"\0") if name)
    return any(rules.why_skipped(name, mode="100644", size=0) is None for name in names)
