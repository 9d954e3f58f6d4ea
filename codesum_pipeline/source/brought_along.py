"""A home that a repository brings along is not a person's own: its settings would be those of whoever wrote it."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from codesum_pipeline.model.errors import ConfigurationError, RepositoryUnavailable
from codesum_pipeline.source.git import try_git

_TIMEOUT_S = 20.0


def check_is_not_tracked(home: Path) -> None:
    """Raises `ConfigurationError` where a work tree around a home tracks files of it, or cannot say.

    Only indexes are read, and nothing in the home. A link counts where it stands and where it leads.
    """
    for place in dict.fromkeys((home, home.resolve())):
        for root in _work_trees(place):
            _check_index(root, place)


def _work_trees(place: Path) -> Iterator[Path]:
    """The roots of the work trees that a folder lies in, and its own where it is one."""
    for folder in (place, *place.parents):
        git = folder / ".git"
        # Of a linked work tree and of a submodule it is a file; a folder without HEAD is no repository, also to git.
        if git.is_file() or (git / "HEAD").is_file():
            yield folder


def _check_index(root: Path, home: Path) -> None:
    # Where names differ in case alone, `.Codesum` in the index is `.codesum` on some disks.
    pathspec = f":(top,literal,icase){home.relative_to(root)}"
    instead = f"name a home with --home or CODESUM_HOME, as in `codesum --home {shlex.quote(str(home))} …`"
    try:
        tracked = try_git(
            ["ls-files", "-z", "--", pathspec if home != root else ":(top)"],
            git_dir=root / ".git",
            cwd=root,
            timeout_s=_TIMEOUT_S,
            extra_environment={"GIT_WORK_TREE": str(root)},
        )
    except RepositoryUnavailable as error:
        raise ConfigurationError(f"whether {home} is part of the repository {root} is not known: {error}") from error
    if tracked.status != 0:
        raise ConfigurationError(
            f"whether {home} is part of the repository {root} is not known: {tracked.complaint}; {instead}"
        )
    if tracked.output:
        untrack = f"git -C {shlex.quote(str(root))} rm -r --cached {shlex.quote(str(home.relative_to(root)))}"
        raise ConfigurationError(
            f"{home} is part of the repository {root}: settings that come with a repository are not used; "
            f"{instead}, or take it out with `{untrack}`"
        )
