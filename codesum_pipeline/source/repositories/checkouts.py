"""Finds the checkout around a folder, and the registered repositories that it belongs to; and the clones in
a folder that is none itself.

Git's files are read directly; the only command is `git config` on one file, which runs nothing of the repository.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import RetryLater
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.language_facts.file_languages import TEXT, is_program, language_of_path
from codesum_pipeline.source.git.git import try_git
from codesum_pipeline.source.git.locations import address_of, is_url
from codesum_pipeline.source.git.remote import git_dirs, is_git_repository

_TIMEOUT_S = 20.0


class Checkout(Struct, frozen=True):
    """A work tree, and the git folder that all work trees of its repository share."""

    root: Path
    git_dir: Path


def checkout_of(folder: Path) -> Checkout | None:
    """The work tree around a folder, or None."""
    folder = folder.resolve()
    for root in (folder, *folder.parents):
        git_dir = _shared_git_dir(root / ".git")
        if git_dir is not None:
            return Checkout(root, git_dir)
    return None


def entries_of(checkout: Checkout, entries: Iterable[RepositoryEntry]) -> list[RepositoryEntry]:
    """The entries of a checkout's repository: by a path in one of its work trees, or the address of a remote."""
    entries = list(entries)
    has_urls = any(is_url(entry.location) for entry in entries)
    remotes = {address_of(url) for url in _remotes(checkout)} - {None} if has_urls else set()

    def is_of_checkout(entry: RepositoryEntry) -> bool:
        if is_url(entry.location):
            return address_of(entry.location) in remotes
        location = Path(entry.location)
        found = checkout_of(location)
        # A bare repository has no work tree.
        return location == checkout.git_dir or (found is not None and found.git_dir == checkout.git_dir)

    return [*filter(is_of_checkout, entries)]


def _shared_git_dir(pointer: Path) -> Path | None:
    try:
        shared = git_dirs(pointer)[1]
        return shared if (shared / "HEAD").is_file() else None
    except (OSError, ValueError):
        return None


def _remotes(checkout: Checkout) -> Sequence[str]:
    """The addresses of a checkout's remotes, without reading files that its configuration includes."""
    options = ["--no-includes", "--null", "--get-regexp", r"^remote\..*\.url$"]
    try:
        found = try_git(["config", "--file", checkout.git_dir / "config", *options], timeout_s=_TIMEOUT_S)
    except RetryLater:
        return []
    lines = found.output.decode("utf-8", "replace").split("\0")
    return [line.partition("\n")[2] for line in lines if line]


# host/owner/name
_DEEPEST = 3
_MOST_ENTRIES = 20_000


class CloneFolder(Struct, frozen=True):
    """The clones below a folder, sorted; `has_code` says whether there is code beside them."""

    clones: tuple[Path, ...]
    has_code: bool


def clones_below(folder: Path) -> CloneFolder:
    """Look a few folders deep, and at no more than some thousand names; links are not followed."""
    clones: list[Path] = []
    has_code = False
    left = _MOST_ENTRIES
    level = [folder]
    for _ in range(_DEEPEST):
        below: list[Path] = []
        for each in level:
            # A folder may be a repository itself.
            for entry in [entry for entry in _entries(each) if entry.name != ".git"][:left]:
                left -= 1
                if not entry.is_dir(follow_symlinks=False):
                    has_code |= is_program(language_of_path(entry.name) or TEXT)
                elif is_git_repository(Path(entry.path)):
                    clones.append(Path(entry.path))
                else:
                    below.append(Path(entry.path))
        level = below
    return CloneFolder(tuple(sorted(clones)), has_code)


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []
