"""Which repositories an intent is about: globs over their keys."""

from collections.abc import Collection
from fnmatch import fnmatchcase

from codesum_pipeline.model.intents import Intent


def covers(intent: Intent, repository: str) -> bool:
    """Whether a repository's changes are looked at for this intent."""
    return any(fnmatchcase(repository, glob) for glob in intent.repositories)


def unmatched_globs(intent: Intent, repositories: Collection[str]) -> list[str]:
    """The globs that name no repository of these."""
    return [glob for glob in intent.repositories if not any(fnmatchcase(key, glob) for key in repositories)]
