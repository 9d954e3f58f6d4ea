"""Which registered repository's index holds a folder already."""

from collections.abc import Iterable
from pathlib import Path

from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.settings.stages import ScanSettings
from codesum_pipeline.source.git import try_git
from codesum_pipeline.source.locations import is_url
from codesum_pipeline.source.rules import PathRules, readable_path

_TIMEOUT_S = 20.0
# Edits that are not committed are part of a work tree alone.
_UNTRACKED = ("--cached", "--others", "--exclude-standard")


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
        ["ls-files", "-z", *(_UNTRACKED if entry.worktree else ()), "--", inner],
        git_dir=root / ".git",
        cwd=root,
        timeout_s=_TIMEOUT_S,
        extra_environment={"GIT_WORK_TREE": str(root), "GIT_LITERAL_PATHSPECS": "1"},
    )
    rules = PathRules.of(entry, ScanSettings())
    names = (readable_path(name)[0] for name in listed.output.split(b"\0") if name)
    return any(rules.why_skipped(name, mode="100644", size=0) is None for name in names)
