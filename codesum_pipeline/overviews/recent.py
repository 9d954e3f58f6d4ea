"""The last commits of the first-parent line, as the mirror has them."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from codesum_pipeline.model.errors import RepositoryUnavailable
from codesum_pipeline.source.git import run_git
from codesum_pipeline.source.history import history_of
from codesum_pipeline.source.mirror import FOLDER_LABEL
from codesum_pipeline.store.workspace import Workspace

MOST_COMMITS = 10
# A commit that changes more files was made by a tool and does not count for single files.
_MOST_FILES = 60
_PULL_REQUEST = re.compile(r"Merge pull request (#\d+) from ")


class Commit(Struct, frozen=True):
    """One commit: its id, its day, its subject, and the indexed files it changed."""

    id: str
    day: str
    subject: str
    paths: tuple[str, ...]


def recent_commits(ws: Workspace, commit: str, ref: str) -> list[Commit]:
    """Newest first; none for a plain folder, whose commit is made from its content, or where git fails."""
    if ref == FOLDER_LABEL:
        return []
    found = history_of(ws, commit, commits=MOST_COMMITS).commits
    if not found:
        return []
    # With -m and --first-parent a merge lists the changes that it brought.
    form = "--format=%H%x00%cs%x00%s%x00%b%x00"
    arguments = ["log", "--no-walk=unsorted", "--first-parent", "-m", "--name-only", "--no-renames", "-z", form, *found]
    try:
        said = run_git(
            ["-c", "core.quotePath=false", *arguments, "--"],
            git_dir=ws.layout.mirror(ws.key),
            timeout_s=ws.settings.git_timeout_s,
        )
    except RepositoryUnavailable:
        return []
    inside = f"{ws.entry.subdir}/" if ws.entry.subdir else ""
    return _read(said.decode("utf-8", "replace").split("\0"), frozenset(found), inside)


def _read(fields: Sequence[str], known: frozenset[str], inside: str) -> list[Commit]:
    """Each commit is a run of fields: its id, day, subject and body, then a path each."""
    starts = [place for place, field in enumerate(fields) if field in known]
    found = []
    for start, end in pairwise([*starts, len(fields)]):
        id_, day, subject, body, *paths = (*fields[start:end], "", "", "")
        shown = tuple(path for field in paths if (path := field.strip("\n")) and path.startswith(inside))
        found.append(Commit(id_, day, _subject(subject, body), shown))
    return found


def _subject(subject: str, body: str) -> str:
    """The subject of a commit; for a merged pull request its title, which the code host writes into the body."""
    first = next((line.strip() for line in body.splitlines() if line.strip()), "")
    return f"{first} ({found[1]})" if (found := _PULL_REQUEST.match(subject)) and first else subject


def most_changed(commits: Sequence[Commit]) -> list[tuple[str, int]]:
    """The files that several of these commits changed, with the number of commits, most first."""
    counts = Counter(path for each in commits if len(each.paths) <= _MOST_FILES for path in each.paths)
    return sorted(((path, count) for path, count in counts.items() if count > 1), key=lambda pair: (-pair[1], pair[0]))
