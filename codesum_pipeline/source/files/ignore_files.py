"""`.codesumignore`: what a repository's own people leave out of its index, committed or not, as `.gitignore` says it.

One in each folder at most; the last pattern that fits decides, of the nearest file that has one, and nothing below a
folder that is left out can be taken back. Git's rules are about names that are not committed, so they are kept here.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self

from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.guard import Failure
from codesum_pipeline.foundation.data_model.patterns import LONGEST_PATTERN, OrderedPatterns
from codesum_pipeline.source.git.folder_commits import read_small_file
from codesum_pipeline.source.git.git import LITERAL_PATHS, BlobReader, output_of
from codesum_pipeline.source.git.trees import SYMLINK_MODE
from codesum_pipeline.source.git.user_excludes import run_in_tree

IGNORE_FILE = ".codesumignore"
LARGEST_BYTES = 64 * 1024
MOST_FILES = 1_000
# Characters of patterns times paths that they are compared with: some seconds.
MOST_WORK = 400_000_000
_NAMED_LINES = 3
_NOT_USED = "its patterns are not used"
_TIMEOUT_S = 20.0


class IgnoreRules(Struct, frozen=True):
    """The patterns of a tree's files by folder, `""` for the root; `problems` name the files that could not be used."""

    by_folder: Mapping[str, OrderedPatterns] = {}
    problems: tuple[Failure, ...] = ()
    _folders: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def read(cls, contents: Mapping[str, bytes | None], *, paths: int) -> Self:
        """The rules of some files by their paths, None for one that is a link or too large, over a tree of so many
        `paths`."""
        by_folder, problems, work = {}, [], 0
        for number, path in enumerate(sorted(contents)):
            content = contents[path]
            why = f"is a link, or larger than {LARGEST_BYTES // 1024} kB: {_NOT_USED}" if content is None else ""
            work += len(content or b"") * paths
            if number >= MOST_FILES:
                why = f"is one of more than {MOST_FILES:,} such files: {_NOT_USED}"
            elif work > MOST_WORK:
                why = f"has too many patterns for {paths:,} files: {_NOT_USED}"
            elif content is not None and (lines := _lines(content)) is None:
                why = f"is no text in UTF-8: {_NOT_USED}"
            elif content is not None and lines is not None:
                patterns, unread = OrderedPatterns.of(lines)
                by_folder[path.removesuffix(IGNORE_FILE).rstrip("/")] = patterns
                if unread:
                    numbers = ", ".join(map(str, unread[:_NAMED_LINES])) + (", …" if unread[_NAMED_LINES:] else "")
                    why = (
                        f"line {numbers}: no pattern as in .gitignore of at most {LONGEST_PATTERN} characters: not used"
                    )
            problems += [Failure(path, why, is_settled=True)] if why else []
        return cls(by_folder, tuple(problems))

    def ignores(self, path: str) -> bool:
        """Whether a file is left out, or a folder that it is in."""
        return bool(self.by_folder) and (self._is_in_ignored(path) or self._fits(path))

    def _is_in_ignored(self, path: str) -> bool:
        folder = path.rpartition("/")[0]
        if not folder:
            return False
        if folder not in self._folders:
            self._folders[folder] = self._is_in_ignored(folder) or self._fits(f"{folder}/")
        return self._folders[folder]

    def _fits(self, path: str) -> bool:
        """What the nearest file says that says anything of the path itself; that of a folder ends with a slash."""
        above = path.rstrip("/")
        while above:
            above = above.rpartition("/")[0]
            patterns = self.by_folder.get(above)
            if patterns and (said := patterns.decision(path[len(above) + 1 if above else 0 :])) is not None:
                return said
        return False


NO_IGNORE_RULES = IgnoreRules()


def is_ignore_file(path: str) -> bool:
    return path.rpartition("/")[2] == IGNORE_FILE


def rules_of_blobs(git_dir: Path, blobs: Mapping[str, tuple[str, str, int]], *, paths: int) -> IgnoreRules:
    """The rules of files of a repository: mode, blob and size by path."""
    if not blobs:
        return NO_IGNORE_RULES
    fits = {path for path, (mode, _, size) in blobs.items() if mode != SYMLINK_MODE and size <= LARGEST_BYTES}
    read = sorted(fits)[:MOST_FILES]
    with BlobReader(git_dir) as reader:
        contents = dict(zip(read, reader.read_many(blobs[path][1] for path in read), strict=True))
    return IgnoreRules.read({path: contents.get(path) for path in blobs}, paths=paths)


def rules_of_tree(root: Path) -> IgnoreRules:
    """The rules of a work tree as it is on the disk; raises `RepositoryUnavailable` if git cannot read it."""
    arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", f":(glob)**/{IGNORE_FILE}"]
    listed = output_of(run_in_tree(arguments, root, timeout_s=_TIMEOUT_S), arguments)
    names = {name for name in listed.split(b"\0") if name}
    if not names:
        return NO_IGNORE_RULES
    every = output_of(
        run_in_tree(["ls-files", "-z"], root, timeout_s=_TIMEOUT_S, environment=LITERAL_PATHS), ["ls-files"]
    )
    return rules_of_files(root, names, paths=every.count(b"\0"))


def rules_of_files(root: Path, names: Iterable[bytes], *, paths: int) -> IgnoreRules:
    """The rules of these files of a work tree, which has so many `paths`."""
    found = {name: read_small_file(root, name, largest_bytes=LARGEST_BYTES) for name in sorted(names)[:MOST_FILES]}
    return IgnoreRules.read({name.decode("utf-8", "replace"): data for name, data in found.items()}, paths=paths)


def _lines(content: bytes) -> list[str] | None:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else [line.removesuffix("\r") for line in text.split("\n")]
