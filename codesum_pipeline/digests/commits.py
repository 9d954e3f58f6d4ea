"""Why something changed, in the words of those who changed it: the subjects of commits, without their authors.

One `git log` tells of all files between two builds. A commit whose parents the
mirror does not have seems to have brought every file, so it is left out.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from codesum_pipeline.digests.sources import Source
from codesum_pipeline.llm.masking import mask_secrets
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import RepositoryUnavailable
from codesum_pipeline.model.intents import DocumentChange
from codesum_pipeline.model.printable import one_line
from codesum_pipeline.source.fetching import shallow_commits
from codesum_pipeline.source.git import run_git

# Of one file, the newest; a commit that changed more files than these was made by a tool, and says little of each.
_MOST_SUBJECTS = 3
_MOST_COMMITS = 300
_MOST_CHARS = 120
_MARK = "\x1e"

_log = logging.getLogger(__name__)


class Subjects:
    """The subjects of commits by the files that they changed."""

    def __init__(self, sources: Mapping[str, Source], changes: Sequence[DocumentChange], *, timeout_s: float) -> None:
        self._sources = sources
        self._timeout_s = timeout_s
        self._firsts = _by_date(changes, "before")
        self._lasts = _by_date(changes, "after")
        self._by_path = lru_cache(maxsize=None)(self._log_of)

    def of(self, change: DocumentChange) -> tuple[str, ...]:
        """Those of a document's file between its two builds, newest first; none where the mirror has no such commits.

        Of one that is new or gone, between the builds that other changes of its repository tell of.
        """
        first = change.before.commit if change.before else self._firsts.get(change.repository)
        last = change.after.commit if change.after else self._lasts.get(change.repository)
        if first is None or last is None or change.level is Level.MODULE:
            return ()
        found = self._by_path(change.repository, first, last)
        paths = {state.file_path for state in (change.before, change.after) if state}
        subjects = [subject for path in sorted(paths) for subject in found.get(path, ())]
        return tuple(dict.fromkeys(subjects))[:_MOST_SUBJECTS]

    def _log_of(self, repository: str, first: str, last: str) -> Mapping[str, Sequence[str]]:
        source = self._sources.get(repository)
        if source is None or first == last or not source.git_dir.exists():
            return {}
        form = f"--format={_MARK}%H%x00%s%x00"
        arguments = ["log", "--no-merges", "--name-only", "--no-renames", "-z", f"--max-count={_MOST_COMMITS}", form]
        try:
            said = run_git([*arguments, f"{first}..{last}", "--"], git_dir=source.git_dir, timeout_s=self._timeout_s)
        except RepositoryUnavailable as error:
            _log.info("%s: no subjects of commits: %s", repository, error)
            return {}
        cut = shallow_commits(source.git_dir)
        found: dict[str, list[str]] = {}
        for id_, subject, paths in _read(said.decode("utf-8", "surrogateescape").split("\0")):
            if id_ not in cut:
                for path in paths:
                    found.setdefault(path, []).append(subject)
        return found


def _by_date(changes: Sequence[DocumentChange], side: str) -> Mapping[str, str]:
    """By repository the commit of that side of its latest change that has one."""
    found: dict[str, tuple[str, str]] = {}
    for change in changes:
        state = getattr(change, side)
        if state is not None:
            latest = (change.date or "", state.commit)
            found[change.repository] = max(latest, found.get(change.repository, latest))
    return {repository: commit for repository, (_, commit) in found.items()}


def _read(fields: Sequence[str]) -> Iterator[tuple[str, str, list[str]]]:
    """A marked commit id begins the fields of a commit; its subject follows, then paths."""
    starts = [place for place, field in enumerate(fields) if field.lstrip("\n").startswith(_MARK)]
    for start, end in zip(starts, [*starts[1:], len(fields)], strict=True):
        paths = [path for field in fields[start + 2 : end] if (path := field.strip("\n"))]
        yield fields[start].lstrip("\n" + _MARK), _subject(fields[start + 1]), paths


def _subject(text: str) -> str:
    shown = mask_secrets(one_line(text)).text
    return f"{shown[: _MOST_CHARS - 1].rstrip()}…" if len(shown) > _MOST_CHARS else shown
