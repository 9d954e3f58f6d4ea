"""What a file's name says, and its first line: its language, and what it is written for."""

import codecs
import re
from enum import StrEnum
from functools import lru_cache
from pathlib import PurePosixPath

from codesum_pipeline.foundation.language_facts.language_profiles import LanguageKind, profiles

TEXT = "text"

_PROFILES = profiles()
_LANGUAGE_OF_EXTENSION = {extension: name for name, one in _PROFILES.items() for extension in one.extensions}
_LANGUAGE_OF_NAME = {file_name: name for name, one in _PROFILES.items() for file_name in one.file_names}
_LANGUAGE_OF_INTERPRETER = {program: name for name, one in _PROFILES.items() for program in one.interpreters}
_SIGNS = {
    extension: {name: one.shared[extension] for name, one in _PROFILES.items() if extension in one.shared}
    for extension in sorted({extension for one in _PROFILES.values() for extension in one.shared})
}
_LANGUAGE_OF_TITLE = {one.title.lower(): name for name, one in _PROFILES.items()}
# Of a file, more says no more about its language.
_LONGEST_SIGN = 1 << 16
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
PROSE = frozenset(name for name, one in _PROFILES.items() if one.kind is LanguageKind.PROSE)
LANGUAGES = frozenset(_PROFILES)

_SHEBANG = re.compile(rb"#![ \t]*(\S+)([^\r\n]*)")


def language_of_file(path: str, data: bytes) -> str:
    """The language of a file: what its content shows where its ending is that of several, else what its name says, else
    its first line. The line comes first where a name has no ending: a script may be called `build`."""
    found = _language_of_content(path, data)
    if "." in PurePosixPath(path).name:
        return found or language_of_path(path) or language_of_first_line(data) or TEXT
    return found or language_of_first_line(data) or language_of_path(path) or TEXT


def has_shared_ending(path: str) -> bool:
    """Whether a file's name alone does not say its language."""
    _, dot, extension = path.lower().rpartition(".")
    return bool(dot) and extension in _SIGNS


def _language_of_content(path: str, data: bytes) -> str | None:
    """The first of the languages that share an ending whose sign is in the file."""
    stem, _, extension = path.lower().rpartition(".")
    signs = _SIGNS.get(extension)
    if signs is None:
        return None
    is_of_no_language = extension not in _LANGUAGE_OF_EXTENSION and "." in PurePosixPath(stem).name
    if is_of_no_language and (inner := language_of_path(stem)):
        # `help.rst.inc`, but not `style.css.ts` or `build.rs`.
        return inner
    text = _letters_of(data)
    return next((name for name, sign in signs.items() if re.search(sign, text, re.MULTILINE)), None)


def _letters_of(data: bytes) -> str:
    """A file's start without a byte order mark, in which ASCII is right; of UTF-16 and UTF-32, its ASCII."""
    if data.startswith(_WIDE_MARKS):
        data = data[: 2 * _LONGEST_SIGN].translate(None, b"\0\xfe\xff")
    return data[:_LONGEST_SIGN].removeprefix(codecs.BOM_UTF8).decode("latin-1").replace("\r\n", "\n")


def language_of_path(path: str) -> str | None:
    """The language that a file's name says; None where only its content can."""
    name = path.rpartition("/")[2].lower()
    if name in _LANGUAGE_OF_NAME:
        return _LANGUAGE_OF_NAME[name]
    if name.startswith(("dockerfile.", "makefile.")):
        return name.partition(".")[0]
    stem, dot, extension = name.rpartition(".")
    if not dot or not stem:
        return None
    # An ending may have two parts: `.h.in`.
    longer = f"{stem.rpartition('.')[2]}.{extension}" if "." in stem else ""
    return _LANGUAGE_OF_EXTENSION.get(longer) or _LANGUAGE_OF_EXTENSION.get(extension)


def language_of_first_line(data: bytes) -> str | None:
    """The language of the interpreter that a script's first line names."""
    match = _SHEBANG.match(data[:256])
    if not match:
        return None
    words = [match[1], *match[2].split()]
    programs = [word.rpartition(b"/")[2].decode("ascii", "replace").lower() for word in words]
    if programs[0] == "env":
        programs = [word for word in programs[1:] if not word.startswith("-") and "=" not in word]
    if not programs:
        return None
    return _language_of_program(programs[0])


def _language_of_program(name: str) -> str | None:
    """The language of an interpreter, whose name may end with a version."""
    return _LANGUAGE_OF_INTERPRETER.get(re.sub(r"(?<![\d.])[\d.]+$", "", name))


def is_notebook(path: str) -> bool:
    """Whether a file's name is that of a notebook, whose language only its content can say."""
    return path.lower().endswith(".ipynb")


def language_of_kernel(name: str, extension: str) -> str:
    """The language that a notebook says its code is in, by the name of the language and the ending of such files;
    Python where it says nothing."""
    if not name and not extension:
        return "python"
    lower = name.lower()
    found = lower if lower in LANGUAGES else _LANGUAGE_OF_TITLE.get(lower) or language_of_path(f"x{extension.lower()}")
    found = found or _language_of_program(lower)
    return found if found is not None and is_program(found) else TEXT


def is_program(language: str) -> bool:
    """Whether a language is one that programs are written in, as opposed to prose, markup and data."""
    return language not in _PROFILES or _PROFILES[language].kind is LanguageKind.PROGRAM


class FileRole(StrEnum):
    """`HISTORY` describes changes, `PROSE` is other text for people, `EXAMPLE` is code that shows or measures."""

    SOURCE = "source"
    PROSE = "prose"
    HISTORY = "history"
    DATA = "data"
    EXAMPLE = "example"


# The numbers by which an index knows them.
ROLES = tuple(FileRole)

_HISTORY = re.compile(
    r"(?:^|/)(?:change(?:s|[-_]?log)?|history|news|releases?(?:[-_]?notes)?|upgrad\w*|migrat\w*)(?:[-_.][^/]*)?$",
    re.IGNORECASE,
)
_HISTORY_FOLDER = re.compile(r"(?:^|/)(?:change(?:s|[-_]?logs?)|news|release[-_]?notes)/", re.IGNORECASE)
_EXAMPLE_FOLDER = re.compile(
    r"(?:^|/)_?(?:examples?|samples?|demos?|tutorials?|bench(?:marks?|es)?|playgrounds?|docs?|doc[-_]src)/",
    re.IGNORECASE,
)
# README, LICENSE, AUTHORS: a name without an ending that is no script's.
_LOUD_NAME = re.compile(r"(?:^|/)[A-Z][A-Z_-]+$")


@lru_cache(maxsize=1 << 16)
def role_of(path: str) -> FileRole:
    """What the file with this path is written for."""
    if is_notebook(path):
        # It shows what modules do.
        return FileRole.EXAMPLE
    language = language_of_path(path)
    if language in PROSE or (language is None and (_LOUD_NAME.search(path) or _HISTORY.search(path))):
        is_history = _HISTORY.search(path) or _HISTORY_FOLDER.search(path)
        return FileRole.HISTORY if is_history else FileRole.PROSE
    if language is not None and not is_program(language) and _PROFILES[language].kind is not LanguageKind.SCHEMA:
        return FileRole.DATA
    return FileRole.EXAMPLE if _EXAMPLE_FOLDER.search(path) else FileRole.SOURCE
