"""Bytes of a file as text, by what the file itself says about its encoding and never by a guess; files of a commit."""

import codecs
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from encodings import normalize_encoding
from encodings.aliases import aliases
from pathlib import Path

from codesum_pipeline.languages.profiles import Trait, has
from codesum_pipeline.model.errors import SkippedFile
from codesum_pipeline.model.files import SkipReason
from codesum_pipeline.source.git import run_git
from codesum_pipeline.source.languages import TEXT, language_of_first_line, language_of_path

# As git does: a NUL this early means that a file is not text.
_BINARY_PREFIX = 8_000

# The longer mark first: that of UTF-32 begins like that of UTF-16.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# PEP 263: in the first line, or in the second after a comment or an empty line.
_CODING_COOKIE = re.compile(rb"\A(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))?[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)")
# Python knows them as encodings, but no source file is written in one.
_NOT_OF_FILES = frozenset({"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "utf_7"})


def decode_text(data: bytes, language: str) -> str:
    r"""The text of a file, its lines ended by `\n`: UTF-8, a byte order mark's, or a Python coding cookie's encoding.

    Raises `SkippedFile` (`binary` or `not_text`).
    """
    encoding, start = _encoding_of(data, language)
    if start == 0 and b"\0" in data[:_BINARY_PREFIX]:
        raise SkippedFile(SkipReason.BINARY, f"a NUL byte in the first {_BINARY_PREFIX} bytes")
    try:
        text = data[start:].decode(encoding)
        text.encode("utf-8")
    except (UnicodeError, LookupError) as error:
        raise SkippedFile(SkipReason.NOT_TEXT, f"not {encoding}: {error}") from error
    if "\0" in text:
        raise SkippedFile(SkipReason.NOT_TEXT, "a NUL character")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _encoding_of(data: bytes, language: str) -> tuple[str, int]:
    """The encoding, and where the text begins."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding, len(mark)
    if has(language, Trait.DECLARED_ENCODING) and (cookie := _CODING_COOKIE.match(data[:1024])):
        name = normalize_encoding(cookie[1].decode("ascii", "replace").lower())
        known = aliases.get(name, name)
        if known in aliases.values() and known not in _NOT_OF_FILES:
            return known, 0
    return "utf-8", 0


def read_file(git_dir: Path, *, commit: str, path: str, timeout_s: float) -> str:
    """The text of a file, its lines ended by line feeds.

    Raises `RepositoryUnavailable` where the mirror does not have it, `SkippedFile` for what is no text.
    """
    return _text_of(path, run_git(["cat-file", "blob", f"{commit}:{path}"], git_dir=git_dir, timeout_s=timeout_s))


def read_files(git_dir: Path, paths: Sequence[str], *, commit: str, timeout_s: float) -> dict[str, str]:
    """The texts of some files of a commit, by one process: those that the mirror has and that are text."""
    # The process takes a name a line; what has a line feed in its name is left out.
    asked = [path for path in paths if "\n" not in path]
    data = "".join(f"{commit}:{path}\n" for path in asked).encode("utf-8", "surrogateescape")
    answers = io.BytesIO(run_git(["cat-file", "--batch"], git_dir=git_dir, timeout_s=timeout_s, data=data))
    texts = {}
    for path in asked:
        header = answers.readline().split()
        if len(header) == 3 and header[1] in (b"blob", b"tree", b"commit", b"tag"):
            with suppress(SkippedFile):
                texts[path] = _text_of(path, answers.read(int(header[2]) + 1)[:-1])
    return texts


def _text_of(path: str, data: bytes) -> str:
    return decode_text(data, language_of_path(path) or language_of_first_line(data) or TEXT)
