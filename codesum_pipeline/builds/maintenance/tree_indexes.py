"""The folders of work trees' indexes: each is used for some time, then deleted."""

import shutil
import time
from pathlib import Path

ASIDE = ".aside-"
# The ending of a settled index's name; such an index is as large as the published one.
SETTLED = "-settled"
# Twenty work trees of a repository, each before and after an edit.
_MOST_OVERLAYS = 40
_MOST_SETTLED = 4
# No build takes longer, so the process that wrote such a folder was killed.
_ABANDONED_AFTER_S = 3600.0


def drop_oldest(folder: Path) -> None:
    """Delete the indexes of a repository's trees that were not used lately; those that are open stay readable."""
    there = sorted(folder.iterdir(), key=_last_use, reverse=True)
    settled = [path for path in there if path.name.endswith(SETTLED)]
    overlays = [path for path in there if _is_overlay(path)]
    abandoned = [
        path for path in there if path.name.startswith(ASIDE) and time.time() - _last_use(path) > _ABANDONED_AFTER_S
    ]
    for path in (*settled[_MOST_SETTLED:], *overlays[_MOST_OVERLAYS:], *abandoned):
        shutil.rmtree(path, ignore_errors=True)


def unused_since(folder: Path, moment: float) -> list[Path]:
    """Indexes of trees that nobody opened since a moment (Unix seconds), and leftovers of killed processes."""
    if not folder.is_dir():
        return []
    now = time.time()
    return sorted(
        path
        for path in folder.iterdir()
        if _last_use(path) < (now - _ABANDONED_AFTER_S if path.name.startswith(ASIDE) else moment)
    )


def delete_index(index: Path) -> None:
    """Delete an index: it is renamed first, so that a killed process leaves no damaged index under its name."""
    if not index.name.startswith(ASIDE):
        index = index.rename(index.with_name(f"{ASIDE}{index.name}"))
    shutil.rmtree(index, ignore_errors=True)


def kept_overlays(folder: Path) -> list[Path]:
    """The overlays of a repository's trees."""
    return [path for path in folder.iterdir() if _is_overlay(path)]


def _is_overlay(path: Path) -> bool:
    return not path.name.endswith(SETTLED) and not path.name.startswith(ASIDE)


def _last_use(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
