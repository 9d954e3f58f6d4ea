"""Edits that an index does not have, because they are not committed, and how to have them."""

import shlex
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from codesum_pipeline.cli.render import count, note
from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.rules import PathRules
from codesum_pipeline.source.work_trees import uncommitted_files
from codesum_pipeline.wiring import Home

# Waiting for git, not computing.
_READERS = 8


def tell_uncommitted(home: Home, keys: Iterable[str]) -> None:
    """A line for each repository whose work tree has edits that are not committed."""
    wanted = set(keys)
    entries = [entry for entry in home.registry.entries() if entry.key in wanted]
    with ThreadPoolExecutor(_READERS) as pool:
        for entry, number in zip(entries, pool.map(lambda entry: _count(home, entry), entries), strict=True):
            if number:
                files = count(number, "file")
                note(
                    f"{entry.key}: uncommitted changes in {files} are not in this index; "
                    f"`{_command(entry)}` reads the folder as it is"
                )


def uncommitted_json(home: Home, key: str) -> dict[str, Any]:
    """For programs; null where that is no question."""
    return {"uncommitted_files": _count(home, home.registry.get(key))}


def _count(home: Home, entry: RepositoryEntry) -> int | None:
    """None, too, where git cannot tell: that is no reason to fail after a build."""
    try:
        rules = PathRules.of(entry, home.settings)
        return uncommitted_files(entry, rules, home=home.layout.home)
    except CodesumError:
        return None


def _command(entry: RepositoryEntry) -> str:
    """A folder that is read as it is has no ref, so an entry with one gets a companion."""
    if entry.ref is None:
        return f"codesum index {entry.key} --worktree"
    subdir = f" --subdir {shlex.quote(entry.subdir)}" if entry.subdir else ""
    return f"codesum index {shlex.quote(entry.location)}{subdir} --worktree --key {entry.key}-worktree"
