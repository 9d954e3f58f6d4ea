"""The files of a work tree that differ from the commit of an index.

Git lists names and blobs: those of the commit from the mirror, those of the work tree from its own index and status.
Only files that differ in these lists are read, and files that git is set not to compare. A file that is not on disk
is not in the tree: files outside a sparse checkout are gone. Nothing that the repository configures is run.
"""

from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.source.files.declared_encodings import DECLARING_FILES, read_declared
from codesum_pipeline.source.files.encodings import is_plain_text
from codesum_pipeline.source.files.ignore_files import (
    IgnoreRules,
    is_ignore_file,
    rules_of_blobs,
    rules_of_files,
    rules_of_tree,
)
from codesum_pipeline.source.files.path_rules import PathRules, readable_path
from codesum_pipeline.source.files.work_trees import work_tree_state
from codesum_pipeline.source.git.folder_commits import FolderScan, StoredFile, read_stored, scan_files
from codesum_pipeline.source.git.git import BlobReader, run_git
from codesum_pipeline.source.git.trees import FOLDER_MODE, SUBMODULE_MODE, SYMLINK_MODE, read_tree, tree_of_commit

_TIMEOUT_S = 20.0
# The tag of files that are not checked out; tags of files assumed to be unchanged are small letters.
_SKIPPED = "S"
# A server answers about a few repositories in turn.
_LISTS_KEPT = 8


class Differences(Struct, frozen=True):
    """The differences of a work tree from a commit: files of `scan` are changed or new, `gone` ones were deleted or
    renamed. Both are files that the entry's rules allow."""

    scan: FolderScan
    gone: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.scan.files or self.gone)

    @property
    def changed(self) -> frozenset[str]:
        """The paths of the changed and new files."""
        return frozenset(path.decode() for path in self.scan.files)

    @property
    def paths(self) -> list[str]:
        """All differing files, sorted."""
        return sorted(self.changed | self.gone)

    @property
    def digest(self) -> str:
        """A hash that is equal for equal differences of any work tree."""
        files = [[path.decode(), file.mode, file.blob] for path, file in sorted(self.scan.files.items())]
        return hash_of([files, sorted(self.gone)])


def compare_tree(
    root: Path, rules: PathRules, *, mirror: Path, commit: str, home: Path, joined: Collection[str] = ()
) -> Differences:
    """Compare a work tree, without `home`, with a commit of a mirror, which has the files of the `joined` submodules.

    Raises `RepositoryUnavailable` if git cannot read one of them.
    """
    every, uncompared, submodules = _tracked_files(root)
    state = work_tree_state(root, rules.subdir)
    untracked = {path.encode() for path in state.untracked}
    ignored = _ignore_rules_of_tree(root, every.keys() | untracked, subdir=rules.subdir)
    # What the commit's patterns leave out is not in its index, whatever those of the tree say.
    ignored_before = _ignore_rules_of_commit(mirror, commit)
    before = _without(_files_of_commit(mirror, commit), ignored_before)
    # They stand at the commits that the index has of them.
    submodules &= {path.encode() for path in joined}
    before = {path: file for path, file in before.items() if not _is_below(path, submodules)} if submodules else before
    tracked = _without(every, ignored)
    edited = {path.encode() for path in state.paths}
    differing = {path for path in before.keys() | tracked.keys() if not _is_same(before.get(path), tracked.get(path))}
    candidates = set()
    changed = differing | edited | uncompared
    for path in changed:
        name, is_valid = readable_path(path)
        is_indexed = is_valid and rules.why_skipped(name, mode="100644", size=0) is None
        if is_indexed and not (root / name).is_relative_to(home):
            candidates.add(path)
    # Other files on disk are ignored, or belong to another repository.
    listed = tracked.keys() | {path for path in untracked if not ignored.ignores(path.decode())}
    redeclared = _redeclared(root, rules, before, changed, mirror)
    scan = scan_files(root, (candidates | redeclared) & listed)
    same = {path for path, file in scan.files.items() if path not in redeclared and _is_same(file, before.get(path))}
    kept = {
        path: file
        for path, file in scan.files.items()
        if path not in same and rules.why_skipped(path.decode(), mode=file.mode, size=0) is None
    }
    present = same | kept.keys()
    gone = frozenset(path.decode() for path in (candidates & before.keys()) - present)
    return Differences(replace(scan, files=kept, left_out=()), gone)


def _redeclared(
    root: Path, rules: PathRules, before: Mapping[bytes, StoredFile], changed: set[bytes], mirror: Path
) -> set[bytes]:
    """The files of the commit that the tree reads in another encoding, since others declare it now."""
    on_disk = {name for path in changed if (name := readable_path(path)[0]).rpartition("/")[2] in DECLARING_FILES}
    if not on_disk:
        return set()
    names = {path: name for path, (name, is_valid) in zip(before, map(readable_path, before), strict=True) if is_valid}
    blobs = {name: before[path].blob for path, name in names.items()}
    with BlobReader(mirror) as reader:

        def read(blob: str) -> bytes | None:
            if blob not in on_disk:
                return next(reader.read_many([blob]), None)
            stored = read_stored(root, blob.encode())
            return stored[1] if isinstance(stored, tuple) else None

        old = read_declared(rules.encodings, blobs, read)
        # A file on disk is read by its name.
        new = read_declared(rules.encodings, blobs | {name: name for name in on_disk}, read)
        doubtful = [path for path in sorted(names) if old.of(names[path]) != new.of(names[path])]
        contents = reader.read_many([before[path].blob for path in doubtful])
        return {path for path, data in zip(doubtful, contents, strict=True) if data and not is_plain_text(data)}


def whole_tree(found: Differences, *, mirror: Path, commit: str) -> FolderScan:
    """All files of the tree that its patterns do not leave out: those of the commit's index with the differences."""
    gone = {path.encode() for path in found.gone}
    indexed = _without(_files_of_commit(mirror, commit), _ignore_rules_of_commit(mirror, commit))
    files = {path: file for path, file in indexed.items() if path not in gone}
    return replace(found.scan, files={**files, **found.scan.files})


def _is_same(one: StoredFile | None, other: StoredFile | None) -> bool:
    """Whether two files have the same text; a link differs from a file with its target as text."""
    if one is None or other is None:
        return one is other
    return one.blob == other.blob and (one.mode == SYMLINK_MODE) == (other.mode == SYMLINK_MODE)


def _without(files: Mapping[bytes, StoredFile], ignored: IgnoreRules) -> Mapping[bytes, StoredFile]:
    if not ignored.by_folder:
        return files
    return {path: file for path, file in files.items() if not ignored.ignores(path.decode("utf-8", "replace"))}


def _ignore_rules_of_tree(root: Path, listed: Collection[bytes], *, subdir: str) -> IgnoreRules:
    """The rules of a work tree; `listed` are its files, all of them unless the index is of one folder of it."""
    if subdir:
        return rules_of_tree(root)
    names = {path for path in listed if is_ignore_file(path.decode("utf-8", "replace"))}
    return rules_of_files(root, names, paths=len(listed))


@lru_cache(maxsize=_LISTS_KEPT)
def _ignore_rules_of_commit(mirror: Path, commit: str) -> IgnoreRules:
    files = _files_of_commit(mirror, commit)
    names = {path.decode("utf-8", "replace"): file for path, file in files.items()}
    found = {path: file for path, file in names.items() if is_ignore_file(path)}
    tree = tree_of_commit(mirror, commit)
    sized = read_tree(tree, *found, git_dir=mirror, timeout_s=_TIMEOUT_S, with_sizes=True) if found else ()
    blobs = {file.path.decode("utf-8", "replace"): (file.mode, file.blob, file.size) for file in sized}
    return rules_of_blobs(mirror, blobs, paths=len(files))


def _files_of_commit(mirror: Path, commit: str) -> Mapping[bytes, StoredFile]:
    return _files_of_tree(mirror, tree_of_commit(mirror, commit))


@lru_cache(maxsize=_LISTS_KEPT)
def _files_of_tree(mirror: Path, tree: str) -> Mapping[bytes, StoredFile]:
    """The files of a commit or tree. They never change, so the last few lists are kept as long as the process runs."""
    files = read_tree(tree, git_dir=mirror, timeout_s=_TIMEOUT_S)
    return {
        file.path: StoredFile(file.mode, file.blob) for file in files if file.mode not in (SUBMODULE_MODE, FOLDER_MODE)
    }


def _is_below(path: bytes, folders: Collection[bytes]) -> bool:
    while path := path.rpartition(b"/")[0]:
        if path in folders:
            return True
    return False


def _tracked_files(root: Path) -> tuple[dict[bytes, StoredFile], set[bytes], set[bytes]]:
    """The files in git's index of a work tree, one of several versions for an unresolved merge; the files that git is
    set not to compare, which `git status` does not list; and the submodules."""
    output = run_git(["ls-files", "--stage", "-v", "-z"], work_tree=root, timeout_s=_TIMEOUT_S)
    found: dict[bytes, StoredFile] = {}
    uncompared: set[bytes] = set()
    submodules: set[bytes] = set()
    for entry in output.split(b"\0"):
        facts, _, path = entry.partition(b"\t")
        if path:
            tag, mode, blob, _stage = facts.decode().split()
            if mode != SUBMODULE_MODE:
                found[path] = StoredFile(mode, blob)
                uncompared |= {path} if tag == _SKIPPED or tag.islower() else set()
            else:
                submodules.add(path)
    return found, uncompared, submodules
