"""What the mirrors know of a change: the lines of the files that changed documents are cited from, and why they
changed, in the words of those who changed them: the subjects of commits, without their authors.

One `git log` covers all files between two builds. If several commits changed a file, the lines of a function show
which of them changed it. A commit whose parents the mirror does not have seems to have added every file, so it is
left out.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import RepositoryUnavailable, SkippedFile
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text
from codesum_pipeline.foundation.data_model.standing_question import DocumentChange, DocumentState
from codesum_pipeline.notifications.digests.hunks import Hunk, hunk_of
from codesum_pipeline.source.files.encodings import read_other_version
from codesum_pipeline.source.git.git import BlobReader, run_git
from codesum_pipeline.source.git.remote import shallow_commits
from codesum_pipeline.source.masking.secrets import mask_secrets

# Changes of one file come close together.
_KEPT_FILES = 64

_log = logging.getLogger(__name__)


class RepositorySource(Struct, frozen=True):
    """A repository's name, None if it is unknown, and its mirror."""

    name: str | None
    git_dir: Path


class CitedFiles:
    """Reads the cited lines of documents, with one git process for each repository that is asked for."""

    def __init__(self, sources: Mapping[str, RepositorySource]) -> None:
        self._sources = sources
        self._readers: dict[str, BlobReader | None] = {}
        self._open = ExitStack()
        self._text = lru_cache(maxsize=_KEPT_FILES)(self._read)

    def close(self) -> None:
        self._open.close()

    def read_hunk(self, change: DocumentChange) -> Hunk | None:
        """How a document's lines changed; None if one side cannot be read, or has no lines."""
        before, after = (self._lines(change, state) for state in (change.before, change.after))
        if (change.before and before is None) or (change.after and after is None):
            return None
        return hunk_of(before, after, change.state.file_path)

    def _lines(self, change: DocumentChange, state: DocumentState | None) -> str | None:
        if state is None or state.blob is None:
            return None
        text = self._text(change.repository, state.blob, change.language, state.encoding)
        if text is None or not state.start_line:
            return text
        return "\n".join(text.split("\n")[state.start_line - 1 : state.end_line or state.start_line])

    def _read(self, repository: str, blob: str, language: str, encoding: str | None) -> str | None:
        reader = self._reader(repository)
        if reader is None:
            return None
        try:
            return read_other_version(reader.read(blob), language, encoding)
        except SkippedFile:
            return None
        except RepositoryUnavailable as error:
            _log.warning("%s: digests show no lines of it: %s", repository, error)
            self._readers[repository] = None
            return None

    def _reader(self, repository: str) -> BlobReader | None:
        if repository not in self._readers:
            source = self._sources.get(repository)
            git_dir = source.git_dir if source and source.git_dir.exists() else None
            self._readers[repository] = self._open.enter_context(BlobReader(git_dir)) if git_dir else None
        return self._readers[repository]


# The newest ones of a document.
_MOST_SUBJECTS = 3
_MOST_COMMITS = 300
_MOST_CHARS = 120
# Documents whose lines are looked at: each is a process.
_MOST_LOOKED_AT = 40
_GIT_TIMEOUT_S = 60.0
_MARK = "\x1e"
_FORM = f"--format={_MARK}%H%x00%s%x00"


class _Commit(Struct, frozen=True):
    id: str
    subject: str


class Subjects:
    """The subjects of commits by the documents that they changed."""

    def __init__(self, sources: Mapping[str, RepositorySource], changes: Sequence[DocumentChange]) -> None:
        self._sources = sources
        self._firsts = _by_date(changes, "before")
        self._lasts = _by_date(changes, "after")
        self._by_path = lru_cache(maxsize=None)(self._log_of)
        self._looks_left = _MOST_LOOKED_AT

    def of(self, change: DocumentChange) -> tuple[str, ...]:
        """The subjects between a document's two builds, newest first; none if the mirror has no such commits.

        For a new or removed document: between the builds of the other changes of its repository.
        """
        first = change.before.commit if change.before else self._firsts.get(change.repository)
        last = change.after.commit if change.after else self._lasts.get(change.repository)
        if last is None or first == last:
            return ()
        if first is None:
            return self._newest(change.repository, last, change.state.file_path)
        found = self._by_path(change.repository, first, last)
        paths = {state.file_path for state in (change.before, change.after) if state}
        commits = [commit for path in sorted(paths) for commit in found.get(path, ())]
        if len(commits) > 1 and change.after and change.after.start_line and self._looks_left:
            self._looks_left -= 1
            # The commits after the first that its lines are from.
            lines = f"-L{change.after.start_line},{change.after.end_line or change.after.start_line}"
            revisions = f"{first}..{change.after.commit}"
            blame = self._git(change.repository, ["blame", "-l", "-s", lines, revisions, "--", change.after.file_path])
            seen = {line.partition(" ")[0] for line in blame.split("\n") if not line.startswith("^")}
            commits = [commit for commit in commits if commit.id in seen] or commits
        return tuple(dict.fromkeys(commit.subject for commit in commits))[:_MOST_SUBJECTS]

    def _newest(self, repository: str, last: str, path: str) -> tuple[str, ...]:
        """The subject of a file's newest commit, for a new document without a known earlier build."""
        if not self._looks_left:
            return ()
        self._looks_left -= 1
        arguments = ["log", "--no-merges", "--max-count=1", _FORM, last, "--", path]
        found = [commit for commit, _ in _read(self._git(repository, arguments).split("\0"))]
        cut = shallow_commits(self._sources[repository].git_dir) if found else set()
        return tuple(commit.subject for commit in found if commit.id not in cut)

    def _log_of(self, repository: str, first: str, last: str) -> Mapping[str, Sequence[_Commit]]:
        arguments = ["log", "--no-merges", "--name-only", "--no-renames", "-z", f"--max-count={_MOST_COMMITS}", _FORM]
        output = self._git(repository, [*arguments, f"{first}..{last}", "--"])
        source = self._sources.get(repository)
        cut = shallow_commits(source.git_dir) if source and output else set()
        found: dict[str, list[_Commit]] = {}
        for commit, paths in _read(output.split("\0")):
            if commit.id not in cut:
                for path in paths:
                    found.setdefault(path, []).append(commit)
        return found

    def _git(self, repository: str, arguments: Sequence[str]) -> str:
        source = self._sources.get(repository)
        if source is None or not source.git_dir.exists():
            return ""
        try:
            output = run_git(arguments, git_dir=source.git_dir, timeout_s=_GIT_TIMEOUT_S)
        except RepositoryUnavailable as error:
            _log.info("%s: no subjects of commits: %s", repository, error)
            return ""
        return output.decode("utf-8", "surrogateescape")


def _by_date(changes: Sequence[DocumentChange], side: str) -> Mapping[str, str]:
    """By repository, the commit before or after (`side`) its latest change."""
    found: dict[str, tuple[str, str]] = {}
    for change in changes:
        state = getattr(change, side)
        if state is not None:
            latest = (change.date or "", state.commit)
            found[change.repository] = max(latest, found.get(change.repository, latest))
    return {repository: commit for repository, (_, commit) in found.items()}


def _read(fields: Sequence[str]) -> Iterator[tuple[_Commit, list[str]]]:
    """Read git's fields: a marked commit id, its subject, then paths."""
    starts = [place for place, field in enumerate(fields) if field.lstrip("\n").startswith(_MARK)]
    for start, end in pairwise([*starts, len(fields)]):
        paths = [path for field in fields[start + 2 : end] if (path := field.strip("\n"))]
        yield (
            _Commit(
                fields[start].lstrip("\n" + _MARK),
                shorten_text(mask_secrets(one_line(fields[start + 1])).text, _MOST_CHARS),
            ),
            paths,
        )
