"""The checkout around a folder, and the registered repositories that it belongs to.

Git's files are read directly; the only command is `git config` on one file, which runs nothing of the repository.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.model.errors import RetryLater
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.git import try_git
from codesum_pipeline.source.locations import is_url

_TIMEOUT_S = 20.0
_LONGEST_POINTER = 4096
# https://host/owner/name.git, ssh://git@host:22/owner/name and git@host:owner/name are one repository.
_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://)?(?:[^@/]*@)?(?P<host>[^:/]+)(?::\d+(?=/))?[:/]+(?P<path>.+)", re.IGNORECASE
)


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
    remotes = {_address(url) for url in _remotes(checkout)} if has_urls else set()
    return [
        entry
        for entry in entries
        if (_address(entry.location) in remotes if is_url(entry.location) else _is_same(Path(entry.location), checkout))
    ]


def _is_same(location: Path, checkout: Checkout) -> bool:
    found = checkout_of(location)
    # A bare repository has no work tree.
    return location == checkout.git_dir or (found is not None and found.git_dir == checkout.git_dir)


def _shared_git_dir(pointer: Path) -> Path | None:
    """The git folder behind `.git`; for a linked work tree, that of the main one."""
    try:
        if pointer.is_dir():
            return pointer if (pointer / "HEAD").is_file() else None
        git_dir = pointer.parent / _text(pointer).removeprefix("gitdir:").strip()
        common = git_dir / "commondir"
        shared = git_dir / _text(common).strip() if common.is_file() else git_dir
        return shared.resolve() if (shared / "HEAD").is_file() else None
    except (OSError, ValueError):
        return None


def _text(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.read(_LONGEST_POINTER)


def _remotes(checkout: Checkout) -> Sequence[str]:
    """The addresses of a checkout's remotes, without reading files that its configuration includes."""
    options = ["--no-includes", "--null", "--get-regexp", r"^remote\..*\.url$"]
    try:
        found = try_git(["config", "--file", checkout.git_dir / "config", *options], timeout_s=_TIMEOUT_S)
    except RetryLater:
        return []
    lines = found.output.decode("utf-8", "replace").split("\0")
    return [line.partition("\n")[2] for line in lines if line]


def _address(url: str) -> tuple[str, str]:
    match = _ADDRESS.fullmatch(url)
    return (match["host"].lower(), match["path"].strip("/").removesuffix(".git").lower()) if match else ("", url)
