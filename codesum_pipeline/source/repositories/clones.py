"""Finds the clones in a folder that is none itself, as people keep them: side by side, or by owner, or by host."""

import os
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.language_facts.file_languages import TEXT, is_program, language_of_path
from codesum_pipeline.source.git.remote import is_git_repository

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
