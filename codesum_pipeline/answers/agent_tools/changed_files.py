"""Marks on the rows of an answer whose files changed since the commit that the answer is of.

An answer of a work tree has that tree's lines. For other answers, the few files that they name are compared with the
repository as it is now: its work tree, the branch of its entry, or the last fetched commit.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.overview_tool import FrameworkEntry
from codesum_pipeline.answers.agent_tools.tool_answers import AnswerPage, DocumentRow
from codesum_pipeline.answers.worktree_indexes.opening import TreeIndex
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import CodesumError, RepositoryUnavailable
from codesum_pipeline.foundation.data_model.printable import some_of
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.source.files.work_trees import work_tree_state
from codesum_pipeline.source.git.folder_commits import scan_files
from codesum_pipeline.source.git.locations import is_url
from codesum_pipeline.source.git.remote import source_git_dir
from codesum_pipeline.source.git.trees import read_tree
from codesum_pipeline.source.repositories.checkouts import checkout_of

_TIMEOUT_S = 10.0
T = TypeVar("T", bound=BaseModel)
# More threads than cores, since they wait for processes.
_READERS = 8
_NAMED = 5
_CHANGED = (
    "changed since the indexed commit of {repo}, lines may be others: {files}; "
    "`codesum index {repo}` brings them up to date"
)


def mark_changed(call: ToolContext, page: AnswerPage) -> AnswerPage:
    """Mark the rows and findings of a page whose files differ, and name these files in a note."""
    rows = [row for row in _all_in(page, DocumentRow) if row.kind != Level.MODULE]
    # Findings are those of the commit, also in an answer of a work tree, and of the answer's only repository.
    findings = [(page.as_of[0].repo, each.place.rpartition(":")[0], each) for each in _all_in(page, FrameworkEntry)]
    wanted: dict[str, set[str]] = defaultdict(set)
    for repo, path in [*((row.repo, row.path) for row in rows), *((repo, path) for repo, path, _ in findings)]:
        wanted[repo].add(path)
    changed = changed_files(call, wanted)
    for row in rows:
        row.changed_since = row.path in changed[row.repo]
    for repo, path, finding in findings:
        tree = call.trees.tree(call.index(repo))
        finding.changed_since = path in (changed[repo] if tree.found is None else tree.found.paths)
    page.notes = call.notes
    return page


def changed_files(call: ToolContext, wanted: Mapping[str, Collection[str]]) -> dict[str, frozenset[str]]:
    """The files that differ from the published index of their repository, among some; notes name them, and say where
    they could not be compared."""
    entries = {entry.key: entry for entry in call.catalogue.entries(lambda _: None)}
    indexes = {repo: call.index(repo) for repo in wanted}
    trees = {repo: call.trees.tree(index) for repo, index in indexes.items()}
    uncompared: list[str] = []

    def judged(repo: str) -> frozenset[str]:
        known = call.judged_files.setdefault(repo, {})
        new = sorted(path for path in wanted[repo] if path not in known)
        try:
            changed = _changed(call.catalogue, trees[repo], entries.get(repo), indexes[repo], new) if new else ()
            known.update((path, path in changed) for path in new)
            return frozenset(path for path in wanted[repo] if known[path])
        except (CodesumError, OSError) as error:
            uncompared.append(f"{repo}: it is not known whether line numbers are still right: {error}")
            return frozenset()

    with ThreadPoolExecutor(_READERS) as pool:
        found = dict(zip(wanted, pool.map(judged, wanted), strict=True))
    for note in sorted(
        [
            *uncompared,
            *(
                _CHANGED.format(repo=repo, files=some_of(sorted(paths), _NAMED))
                for repo, paths in found.items()
                if paths
            ),
        ]
    ):
        call.tell(note)
    return found


def _all_in(value: Any, kind: type[T]) -> Iterator[T]:
    """All values of a kind in an answer, however deep."""
    if isinstance(value, kind):
        yield value
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _all_in(getattr(value, name), kind)
    elif isinstance(value, list):
        for each in value:
            yield from _all_in(each, kind)


def _changed(
    catalogue: IndexCatalogue,
    tree: TreeIndex,
    entry: RepositoryEntry | None,
    index: PublishedIndex,
    paths: Sequence[str],
) -> frozenset[str]:
    if tree.found is not None:
        return tree.stale.intersection(paths)
    mirror = catalogue.layout.mirror(index.repo)
    before = _blobs(mirror, index.commit, paths)
    found = _blobs_of_tree(tree.root, paths, before) if tree.root else _blobs_now(mirror, entry, paths, before)
    # A file that the commit itself does not have is of a submodule, which stands at its pinned commit.
    return frozenset(path for path in paths if path in before and before[path] != found.get(path))


def _blobs_now(
    mirror: Path, entry: RepositoryEntry | None, paths: Sequence[str], before: Mapping[str, str]
) -> Mapping[str, str]:
    """The blobs of files at the present source of the entry's repository."""
    if entry is None:
        return before
    if is_url(entry.location):
        # Importing takes thirty milliseconds, for which answers about folders do not wait.
        from codesum_pipeline.source.git.mirror import Mirror

        head = Mirror(mirror, timeout_s=_TIMEOUT_S).head_commit(entry, offline=True)
        return _blobs(mirror, head, paths)
    folder = Path(entry.location)
    checkout = checkout_of(folder)
    if checkout is None and folder.is_dir() and (folder / "HEAD").is_file():
        return _blobs(folder, entry.ref or "HEAD", paths)
    if entry.ref not in (None, "HEAD") and checkout is not None:
        return _blobs(source_git_dir(checkout.root), str(entry.ref), paths)
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} does not exist")
    return _blobs_of_tree(checkout.root if checkout else folder, paths, before)


def _blobs_of_tree(root: Path, paths: Sequence[str], before: Mapping[str, str]) -> Mapping[str, str]:
    """The blobs of files in a folder. Where bytes differ, git is asked, since a filter may have changed them."""
    scan = scan_files(root, {path.encode() for path in paths})
    found = {path.decode(): file.blob for path, file in scan.files.items()}
    if all(found.get(path) == before.get(path) for path in paths) or not (root / ".git").exists():
        return found
    try:
        edited = set(work_tree_state(root).paths)
        committed = _blobs(root / ".git", "HEAD", paths)
    except RepositoryUnavailable:
        return found
    return {path: found[path] if path in edited else committed.get(path, found[path]) for path in found}


def _blobs(git_dir: Path, commit: str, paths: Sequence[str]) -> dict[str, str]:
    """The blobs of some files of a commit, without missing files."""
    if not paths:
        return {}
    files = read_tree(commit, *paths, git_dir=git_dir, timeout_s=_TIMEOUT_S)
    return {file.path.decode("utf-8", "replace"): file.blob for file in files}
