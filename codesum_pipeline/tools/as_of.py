"""Which commit an answer stands for, and how far behind its repository that is.

A folder is asked, a server never: of a URL it is known what was fetched last.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pydantic import BaseModel

from codesum_pipeline.model.errors import CodesumError, RepositoryUnavailable
from codesum_pipeline.model.printable import one_line
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.source.git import run_git, try_git
from codesum_pipeline.source.locations import is_url
from codesum_pipeline.source.remote import is_git_repository, source_git_dir
from codesum_pipeline.tools.catalogue import Catalogue

# An answer waits for git no longer.
_TIMEOUT_S = 10.0
# Waiting for processes, not computing.
_READERS = 8
SHORT_COMMIT = 12


class AsOf(BaseModel):
    """`behind` counts the commits that the repository has and the index lacks; None where `note` says why not.

    `tree` says which work tree the answer is of besides, and what of it; empty for an answer of the commit.
    """

    repo: str
    commit: str
    behind: int | None
    note: str = ""
    tree: str = ""

    @property
    def standing(self) -> str:
        """How far behind, in words."""
        if self.behind is None:
            behind = "how far behind HEAD is unknown"
        else:
            commits = "1 commit" if self.behind == 1 else f"{self.behind:,} commits"
            behind = f"{commits} behind HEAD" if self.behind else "at HEAD"
        return f"{behind} ({self.note})" if self.note else behind

    def __str__(self) -> str:
        tree = f", {one_line(self.tree)}" if self.tree else ""
        return f"{self.repo} @ {self.commit[:SHORT_COMMIT]}, {self.standing}{tree}"


def as_of_all(catalogue: Catalogue, indexes: Sequence[PublishedIndex]) -> list[AsOf]:
    """In the order of the indexes."""
    entries = {entry.key: entry for entry in catalogue.registry.entries()}
    asked = [(index.repo, str(index.version.manifest["commit"]), entries.get(index.repo)) for index in indexes]
    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(lambda one: _as_of(catalogue, *one), asked))


def _as_of(catalogue: Catalogue, repo: str, commit: str, entry: RepositoryEntry | None) -> AsOf:
    """What cannot be told never stops an answer."""
    try:
        behind, note = _compared(catalogue, commit, entry)
    except (CodesumError, OSError) as error:
        behind, note = None, str(error)
    return AsOf(repo=repo, commit=commit, behind=behind, note=note)


def _compared(catalogue: Catalogue, commit: str, entry: RepositoryEntry | None) -> tuple[int | None, str]:
    if entry is None:
        return None, "it is not registered any more"
    if is_url(entry.location):
        return _behind_fetched(catalogue.layout.mirror(entry.key), entry, commit)
    folder = Path(entry.location)
    if not folder.is_dir():
        return None, f"{folder} does not exist"
    if entry.worktree or not is_git_repository(folder):
        return None, "a folder read as it is has no commits to count: `codesum status` compares its files"
    git_dir, ref = source_git_dir(folder), entry.ref or "HEAD"
    head = _resolve(git_dir, ref)
    if head is None:
        return None, f"the repository has no commit {ref!r}"
    return _counted(git_dir, commit, head)


def _behind_fetched(mirror: Path, entry: RepositoryEntry, commit: str) -> tuple[int | None, str]:
    # Thirty milliseconds, which answers about folders do not wait for.
    from codesum_pipeline.source.mirror import Mirror

    head = Mirror(mirror, timeout_s=_TIMEOUT_S).head_commit(entry, offline=True)
    if head == commit:
        return 0, "as it was fetched last; its server was not asked"
    if (mirror / "shallow").exists():
        return None, f"{head[:SHORT_COMMIT]} was fetched since, without the commits between"
    return _counted(mirror, commit, head)


def _counted(git_dir: Path, commit: str, head: str) -> tuple[int | None, str]:
    if head == commit:
        return 0, ""
    if _resolve(git_dir, commit) is None:
        return None, "its commit is not in the repository any more"
    counts = run_git(
        ["rev-list", "--left-right", "--count", f"{commit}...{head}"], git_dir=git_dir, timeout_s=_TIMEOUT_S
    )
    try:
        lacks, behind = map(int, counts.split())
    except ValueError as error:
        raise RepositoryUnavailable(f"git rev-list answered {counts!r}") from error
    return behind, f"HEAD lacks {lacks:,} of its commits: another branch" if lacks else ""


def _resolve(git_dir: Path, name: str) -> str | None:
    arguments = ["rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}"]
    finished = try_git(arguments, git_dir=git_dir, timeout_s=_TIMEOUT_S)
    return finished.output.decode().strip() if finished.status == 0 else None
