"""Edits of a repository as functions from files to files."""

import re
from collections.abc import Callable

from codesum_pipeline_tests.support.shop import SHOP, Files

Edit = Callable[[Files], Files]


def swap(path: str, old: str, new: str) -> Edit:
    """Replace the one place in a file where `old` stands."""

    def edit(files: Files) -> Files:
        assert files[path].count(old) == 1, (path, old)
        return {**files, path: files[path].replace(old, new)}

    return edit


def put(path: str, content: str) -> Edit:
    """Add or replace a file."""
    return lambda files: {**files, path: content}


def append(path: str, content: str) -> Edit:
    """Add to the end of a file."""
    return lambda files: {**files, path: files[path] + content}


def delete(*paths: str) -> Edit:
    """Remove files."""
    return lambda files: {path: content for path, content in files.items() if path not in paths}


def rename(old: str, new: str) -> Edit:
    """Move a file, or every file of a folder, without touching a line."""

    def edit(files: Files) -> Files:
        moved = {
            new + path.removeprefix(old) if path == old or path.startswith(f"{old}/") else path: content
            for path, content in files.items()
        }
        assert moved != files, old
        return moved

    return edit


def everywhere(pattern: str, replacement: str) -> Edit:
    """Rename a word in every Python file."""
    return lambda files: {
        path: re.sub(pattern, replacement, content) if path.endswith(".py") else content
        for path, content in files.items()
    }


def together(*edits: Edit) -> Edit:
    """Several edits in one commit."""

    def edit(files: Files) -> Files:
        for one in edits:
            files = one(files)
        return files

    return edit


def back(files: Files) -> Files:
    """Everything as it was at first."""
    return SHOP
