"""A home that a repository brings along is not a person's own: its settings would be those of whoever wrote it."""

from pathlib import Path

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.source.git import try_git

_TIMEOUT_S = 20.0


def check_is_own(home: Path) -> None:
    """Raises `ConfigurationError` where git tracks files of a home that was found in a work tree."""
    root = home.parent
    if not (root / ".git").exists():
        return
    tracked = try_git(
        ["ls-files", "-z", "--", home.name],
        git_dir=root / ".git",
        cwd=root,
        timeout_s=_TIMEOUT_S,
        extra_environment={"GIT_WORK_TREE": str(root)},
    )
    if tracked.output:
        raise ConfigurationError(
            f"{home} is part of the repository {root}: settings that come with a repository are not used; "
            f"name a home with --home or CODESUM_HOME, or take it out with `git rm -r --cached {home.name}`"
        )
