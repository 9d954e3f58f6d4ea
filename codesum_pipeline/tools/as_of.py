"""The commit of an answer, and how far it is behind its repository.

A folder is compared as it is now. The server of a URL is never asked: the last fetched commit counts.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pydantic import BaseModel

from codesum_pipeline.model.errors import CodesumError, RepositoryUnavailable
from codesum_pipeline.model.printable import counted, one_line
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.overlays.opening import TreeIndex
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.source.git import resolve, run_git
from codesum_pipeline.source.locations import is_url
from codesum_pipeline.source.remote import is_git_repository, source_git_dir
from codesum_pipeline.tools.catalogue import IndexCatalogue

# The longest time that an answer waits for git.
_TIMEOUT_S = 10.0
# More threads than cores, since they wait for processes.
_READERS = 8
SHORT_COMMIT = 12


class AsOf(BaseModel):
    """`behind` counts the commits that the repository has and the index lacks; where it is None, `note` says why.

    `tree` is the work tree of the answer, empty for an answer of the commit; `differ` counts its files that differ from
    the commit, None where it was not compared. Where it is not settled, `lags` names the facts that are not the tree's
    yet.
    """

    repo: str
    commit: str
    behind: int | None
    note: str = ""
    tree: str = ""
    differ: int | None = 0
    is_settled: bool = True
    lags: str = ""

    @property
    def standing(self) -> str:
        """How far the index is behind, in words."""
        if self.behind is None:
            behind = "how far behind HEAD is unknown"
        else:
            behind = f"{counted(self.behind, 'commit')} behind HEAD" if self.behind else "at HEAD"
        return f"{behind} ({self.note})" if self.note else behind

    @property
    def of_tree(self) -> str:
        """The part of the work tree in the answer, in words; empty where the tree equals the commit."""
        if self.differ == 0:
            return ""
        if self.differ is None:
            return f"the work tree {one_line(self.tree)} was not compared"
        differ = counted(self.differ, "file differs", "files differ")
        what = "settled" if self.is_settled else self.lags
        return f"with the work tree {one_line(self.tree)}: {differ}; {what}"

    def __str__(self) -> str:
        tree = f", {self.of_tree}" if self.of_tree else ""
        return f"{self.repo} @ {self.commit[:SHORT_COMMIT]}, {self.standing}{tree}"


def as_of_all(
    catalogue: IndexCatalogue, indexes: Sequence[PublishedIndex], trees: Mapping[str, TreeIndex]
) -> list[AsOf]:
    """One for each index, in their order; `trees` answer in place of them."""
    entries = {entry.key: entry for entry in catalogue.entries(lambda _: None)}

    def one(index: PublishedIndex) -> AsOf:
        tree, entry, commit = trees[index.repo], entries.get(index.repo), index.commit
        # An error becomes a note, and never stops the answer.
        try:
            behind, note = _compared(catalogue, commit, entry, tree.root)
        except (CodesumError, OSError) as error:
            behind, note = None, str(error)
        found = AsOf(repo=index.repo, commit=commit, behind=behind, note=note)
        if tree.root is None:
            return found
        differ = None if tree.found is None else len(tree.found.paths)
        is_settled = tree.is_settled and not tree.warning
        return found.model_copy(
            update={"tree": str(tree.root), "differ": differ, "is_settled": is_settled, "lags": tree.lags}
        )

    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(one, indexes))


def _compared(
    catalogue: IndexCatalogue, commit: str, entry: RepositoryEntry | None, root: Path | None
) -> tuple[int | None, str]:
    if entry is None:
        return None, "it is not registered any more"
    if root is not None and not entry.worktree:
        # Linked work trees have HEADs of their own. A clone may lack the commit that was fetched from its server.
        git_dir = root / ".git"
        head = resolve("HEAD", git_dir=git_dir, timeout_s=_TIMEOUT_S)
        is_here = head == commit or not is_url(entry.location)
        if head and (is_here or resolve(commit, git_dir=git_dir, timeout_s=_TIMEOUT_S)):
            return _counted(git_dir, commit, head)
    if is_url(entry.location):
        return _behind_fetched(catalogue.layout.mirror(entry.key), entry, commit)
    folder = Path(entry.location)
    if not folder.is_dir():
        return None, f"{folder} does not exist"
    if entry.worktree or not is_git_repository(folder):
        return None, "a folder read as it is has no commits to count: `codesum status` compares its files"
    git_dir, ref = source_git_dir(folder), entry.ref or "HEAD"
    head = resolve(ref, git_dir=git_dir, timeout_s=_TIMEOUT_S)
    if head is None:
        return None, f"the repository has no commit {ref!r}"
    return _counted(git_dir, commit, head)


def _behind_fetched(mirror: Path, entry: RepositoryEntry, commit: str) -> tuple[int | None, str]:
    # Importing takes thirty milliseconds, for which answers about folders do not wait.
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
    if resolve(commit, git_dir=git_dir, timeout_s=_TIMEOUT_S) is None:
        return None, "its commit is not in the repository any more"
    counts = run_git(
        ["rev-list", "--left-right", "--count", f"{commit}...{head}"], git_dir=git_dir, timeout_s=_TIMEOUT_S
    )
    try:
        lacks, behind = map(int, counts.split())
    except ValueError as error:
        raise RepositoryUnavailable(f"git rev-list answered {counts!r}") from error
    return behind, f"HEAD lacks {lacks:,} of its commits: another branch" if lacks else ""
