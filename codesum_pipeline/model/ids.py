"""Names of things: repository keys and document ids.

A document id is a path and, below the file level, the parts of the qualified
name: `src/auth.py::LoginHandler::authenticate`. The path is the anchor, so a
rename gives a new id.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from codesum_pipeline.model.errors import InvalidKey

SEPARATOR = "::"
ROOT_MODULE = "."

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# Endings that git or the file systems of other platforms give a meaning of their own.
_RESERVED_ENDINGS = (".lock", ".git", ".")


def check_repository_key(key: str) -> str:
    """Return `key` unchanged, or raise `InvalidKey`."""
    if not _KEY.fullmatch(key) or ".." in key or key.lower().endswith(_RESERVED_ENDINGS):
        raise InvalidKey(
            f"repository key {key!r}: use 1-100 letters, digits, '.', '_' or '-', starting with a letter or digit, "
            "without '..' and not ending in '.', '.git' or '.lock'"
        )
    return key


def symbol_id(file_path: str, parts: Sequence[str], *, occurrence: int = 1) -> str:
    """The id of the `occurrence`-th (1-based, in source order) definition of a qualified name in one file."""
    base = SEPARATOR.join((file_path, *parts))
    return base if occurrence == 1 else f"{base}#{occurrence}"


def number_occurrences(bases: Iterable[str]) -> list[int]:
    """For each base id in source order, how often it has stood so far, itself included."""
    seen: Counter[str] = Counter()
    numbers = []
    for base in bases:
        seen[base] += 1
        numbers.append(seen[base])
    return numbers


def module_path_of(path: str) -> str:
    """The folder of a file or folder; the root is `.`."""
    folder, _, _ = path.rpartition("/")
    return folder or ROOT_MODULE


def parent_modules(path: str, *, root: str = ROOT_MODULE) -> list[str]:
    """The folders above a file, nearest first, up to and with `root`."""
    folders = []
    folder = module_path_of(path)
    while True:
        folders.append(folder)
        if folder in (root, ROOT_MODULE):
            return folders
        folder = module_path_of(folder)
