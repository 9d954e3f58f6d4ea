"""Why something changed, in the words of those who changed it: the subjects of commits, without their authors.

One `git log` tells of all files between two builds. Where more than one commit
changed a file, the lines of a function tell which of them changed it. A commit
whose parents the mirror does not have seems to have brought every file, so it
is left out.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from codesum_pipeline.digests.sources import RepositorySource
from codesum_pipeline.llm.masking import mask_secrets
from codesum_pipeline.model.errors import RepositoryUnavailable
from codesum_pipeline.model.intents import DocumentChange, DocumentState
from codesum_pipeline.model.printable import one_line
from codesum_pipeline.source.git import run_git
from codesum_pipeline.source.remote import shallow_commits

# Of one document, the newest.
_MOST_SUBJECTS = 3
_MOST_COMMITS = 300
_MOST_CHARS = 120
# Documents whose lines are looked at: each is a process.
_MOST_LOOKED_AT = 40
_MARK = "\x1e"

_log = logging.getLogger(__name__)


class _Commit(Struct, frozen=True):
    id: str
    subject: str


class Subjects:
    """The subjects of commits by the documents that they changed."""

    def __init__(
        self, sources: Mapping[str, RepositorySource], changes: Sequence[DocumentChange], *, timeout_s: float
    ) -> None:
        self._sources = sources
        self._timeout_s = timeout_s
        self._firsts = _by_date(changes, "before")
        self._lasts = _by_date(changes, "after")
        self._by_path = lru_cache(maxsize=None)(self._log_of)
        self._looks_left = _MOST_LOOKED_AT

    def of(self, change: DocumentChange) -> tuple[str, ...]:
        """Those between a document's two builds, newest first; none where the mirror has no such commits.

        Of one that is new or gone, between the builds that other changes of its repository tell of.
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
            seen = self._blamed(change.repository, first, change.after)
            commits = [commit for commit in commits if commit.id in seen] or commits
        return tuple(dict.fromkeys(commit.subject for commit in commits))[:_MOST_SUBJECTS]

    def _newest(self, repository: str, last: str, path: str) -> tuple[str, ...]:
        """That of the newest commit of a file: of a new document no other build is known, and one of its own is."""
        if not self._looks_left:
            return ()
        self._looks_left -= 1
        arguments = ["log", "--no-merges", "--max-count=1", f"--format={_MARK}%H%x00%s%x00", last, "--", path]
        found = [commit for commit, _ in _read(self._git(repository, arguments).split("\0"))]
        cut = shallow_commits(self._sources[repository].git_dir) if found else set()
        return tuple(commit.subject for commit in found if commit.id not in cut)

    def _log_of(self, repository: str, first: str, last: str) -> Mapping[str, Sequence[_Commit]]:
        form = f"--format={_MARK}%H%x00%s%x00"
        arguments = ["log", "--no-merges", "--name-only", "--no-renames", "-z", f"--max-count={_MOST_COMMITS}", form]
        said = self._git(repository, [*arguments, f"{first}..{last}", "--"])
        source = self._sources.get(repository)
        cut = shallow_commits(source.git_dir) if source and said else set()
        found: dict[str, list[_Commit]] = {}
        for commit, paths in _read(said.split("\0")):
            if commit.id not in cut:
                for path in paths:
                    found.setdefault(path, []).append(commit)
        return found

    def _blamed(self, repository: str, first: str, state: DocumentState) -> set[str]:
        """The commits after the first that the lines of a document are from."""
        lines = f"-L{state.start_line},{state.end_line or state.start_line}"
        said = self._git(repository, ["blame", "-l", "-s", lines, f"{first}..{state.commit}", "--", state.file_path])
        return {line.partition(" ")[0] for line in said.split("\n") if not line.startswith("^")}

    def _git(self, repository: str, arguments: Sequence[str]) -> str:
        source = self._sources.get(repository)
        if source is None or not source.git_dir.exists():
            return ""
        try:
            said = run_git(arguments, git_dir=source.git_dir, timeout_s=self._timeout_s)
        except RepositoryUnavailable as error:
            _log.info("%s: no subjects of commits: %s", repository, error)
            return ""
        return said.decode("utf-8", "surrogateescape")


def _by_date(changes: Sequence[DocumentChange], side: str) -> Mapping[str, str]:
    """By repository the commit of that side of its latest change that has one."""
    found: dict[str, tuple[str, str]] = {}
    for change in changes:
        state = getattr(change, side)
        if state is not None:
            latest = (change.date or "", state.commit)
            found[change.repository] = max(latest, found.get(change.repository, latest))
    return {repository: commit for repository, (_, commit) in found.items()}


def _read(fields: Sequence[str]) -> Iterator[tuple[_Commit, list[str]]]:
    """A marked commit id begins the fields of a commit; its subject follows, then paths."""
    starts = [place for place, field in enumerate(fields) if field.lstrip("\n").startswith(_MARK)]
    for start, end in pairwise([*starts, len(fields)]):
        paths = [path for field in fields[start + 2 : end] if (path := field.strip("\n"))]
        yield _Commit(fields[start].lstrip("\n" + _MARK), _subject(fields[start + 1])), paths


def _subject(text: str) -> str:
    shown = mask_secrets(one_line(text)).text
    return f"{shown[: _MOST_CHARS - 1].rstrip()}…" if len(shown) > _MOST_CHARS else shown
