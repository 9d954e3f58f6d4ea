"""Mirrors of repositories of a home in a bucket: each machine's own, made where a reader needs sources."""

from pathlib import Path

from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.source.git import try_git
from codesum_pipeline.store.locks import exclusive
from codesum_pipeline.store.opened_copies import reading_copy
from codesum_pipeline.tools.catalogue import IndexCatalogue, Tell

# Commits that this process has looked for, found or not: nobody waits for a host again and again.
_looked_for: set[tuple[Path, str]] = set()


def bring_mirror(catalogue: IndexCatalogue, index: PublishedIndex, *, tell: Tell) -> None:
    """Have the commit of a published index in this machine's mirror; told where it cannot be fetched.

    In a home that is a folder builds see to that.
    """
    layout, commit = catalogue.layout, str(index.version.manifest["commit"])
    git_dir = layout.mirror(index.repo)
    if reading_copy(layout.home) is None or index.home is not None or (git_dir, commit) in _looked_for:
        return
    # What builds fetch with.
    from codesum_pipeline.source.mirror import Mirror

    _looked_for.add((git_dir, commit))
    timeout_s = catalogue.settings.options.scan.git_timeout_s
    with exclusive(git_dir.with_name(f".{index.repo}.lock")):
        if git_dir.is_dir() and _has(git_dir, commit, timeout_s=timeout_s):
            return
        try:
            entry = catalogue.registry.get(index.repo)
            Mirror(git_dir, timeout_s).update(entry, offline=catalogue.settings.offline)
        except (CodesumError, OSError) as error:
            tell(f"the sources of {index.repo} are not on this machine, and cannot be fetched: {error}")


def _has(git_dir: Path, commit: str, *, timeout_s: float) -> bool:
    return try_git(["cat-file", "-e", f"{commit}^{{commit}}"], git_dir=git_dir, timeout_s=timeout_s).status == 0
