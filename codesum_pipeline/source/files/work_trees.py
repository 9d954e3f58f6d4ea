"""What git says of a work tree: which files differ from its last commit, and which registered index holds a folder.

`git status` would run the filters that a repository configures, which a clone from elsewhere brings along: each is
switched off by name. A file that git stores in a filtered form (LFS) is then compared only by its size and times.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.stage_settings import ScanSettings
from codesum_pipeline.source.files.dirty_trees import filters_of, without_filters
from codesum_pipeline.source.files.ignore_files import rules_of_tree
from codesum_pipeline.source.files.path_rules import PathRules, readable_path
from codesum_pipeline.source.git.git import LITERAL_PATHS, output_of, try_git
from codesum_pipeline.source.git.locations import is_url
from codesum_pipeline.source.git.remote import is_git_repository
from codesum_pipeline.source.git.user_excludes import run_in_tree

_TIMEOUT_S = 20.0
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
