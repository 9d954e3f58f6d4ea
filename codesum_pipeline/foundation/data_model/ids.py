"""Names of things: repository keys and document ids.

A document id is a path and, below the file level, the parts of the qualified name:
`src/auth.py::LoginHandler::authenticate`. The path is the anchor, so a rename gives a new id. Of several definitions of
one name in a file all but one have a suffix, `#3fa91c`, which `parsing.overloads` gives.
"""

import re
from collections.abc import Sequence

from codesum_pipeline.foundation.data_model.errors import InvalidKey

SEPARATOR = "::"
ROOT_MODULE = "."
SUFFIX_DIGITS = 6
# Not the whole of a name: `#facade` is a private one in JavaScript.
SUFFIX_PATTERN = rf"([^:])#[0-9a-f]{{{SUFFIX_DIGITS}}}(-[0-9]+)?$"

_SUFFIX = re.compile(SUFFIX_PATTERN)
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# Endings that git or the file systems of other platforms give a meaning of their own.
_RESERVED_ENDINGS = (".lock", ".git", ".")


def is_repository_key(key: str) -> bool:
    """Whether a repository can have this key."""
    return bool(_KEY.fullmatch(key)) and ".." not in key and not key.lower().endswith(_RESERVED_ENDINGS)


def check_repository_key(key: str) -> str:
    """Return `key` unchanged, or raise `InvalidKey`."""
    if not is_repository_key(key):
        raise InvalidKey(
            f"repository key {key!r}: use 1-100 letters, digits, '.', '_' or '-', starting with a letter or digit, "
            "without '..' and not ending in '.', '.git' or '.lock'"
        )
    return key


def symbol_id(file_path: str, parts: Sequence[str]) -> str:
    """The plain id of a qualified name in one file."""
    return SEPARATOR.join((file_path, *parts))


def own_name(id_: str) -> str:
    """The last name of a definition's id."""
    return without_suffix(id_).rpartition(SEPARATOR)[2]


def without_suffix(id_: str) -> str:
    """An id, or the end of one, as it were if nothing else in its file had that name."""
    return _SUFFIX.sub(r"\1", id_)


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
