"""What only a file's content can say: its text, its language, and whether a person wrote it; and the files of a commit.

Bytes become text by what the file itself says about its encoding, and never by a guess.
"""

import codecs
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from encodings import normalize_encoding
from encodings.aliases import aliases
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import SkippedFile
from codesum_pipeline.foundation.data_model.file import SkipReason
from codesum_pipeline.foundation.language_facts.file_languages import (
    PROSE,
    TEXT,
    language_of_file,
)
from codesum_pipeline.foundation.language_facts.language_profiles import Trait, has_trait, profile_of
from codesum_pipeline.source.git.git import run_git
from codesum_pipeline.source.masking.key_files import is_only_keys

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
    if has_trait(language, Trait.DECLARED_ENCODING) and (cookie := _CODING_COOKIE.match(data[:1024])):
        name = normalize_encoding(cookie[1].decode("ascii", "replace").lower())
        known = aliases.get(name, name)
        if known in aliases.values() and known not in _NOT_OF_FILES:
            return known, 0
    return "utf-8", 0


def read_file(git_dir: Path, *, commit: str, path: str, timeout_s: float) -> str:
    """The text of a file, its lines ended by line feeds.

    Raises `RepositoryUnavailable` if the mirror does not have it, `SkippedFile` for what is no text.
    """
    return _text_of(path, run_git(["cat-file", "blob", f"{commit}:{path}"], git_dir=git_dir, timeout_s=timeout_s))


def read_files(git_dir: Path, paths: Sequence[str], *, commit: str, timeout_s: float) -> dict[str, str]:
    """The texts of some files of a commit, by one process: those that the mirror has and that are text."""
    # The process takes a name a line; what has a line feed in its name is left out.
    readable = [path for path in paths if "\n" not in path]
    data = "".join(f"{commit}:{path}\n" for path in readable).encode("utf-8", "surrogateescape")
    answers = io.BytesIO(run_git(["cat-file", "--batch"], git_dir=git_dir, timeout_s=timeout_s, data=data))
    texts = {}
    for path in readable:
        header = answers.readline().split()
        if len(header) == 3 and header[1] in (b"blob", b"tree", b"commit", b"tag"):
            with suppress(SkippedFile):
                texts[path] = _text_of(path, answers.read(int(header[2]) + 1)[:-1])
    return texts


def _text_of(path: str, data: bytes) -> str:
    return decode_text(data, language_of_file(path, data))


CONTENT_REASONS = frozenset(
    {
        SkipReason.BINARY,
        SkipReason.NOT_TEXT,
        SkipReason.LFS_POINTER,
        SkipReason.GENERATED,
        SkipReason.MINIFIED,
        SkipReason.KEYS,
    }
)

_LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\n"

# Generators say so in the comments at the top; in a text, or below the first line of code, the words are about
# something else.
_HEAD_LINES = 30
# Lines that are not code yet and may come before such a comment or between several.
_BEFORE_CODE = re.compile(
    r"^\s*(?:$|#!|<\?(?:php|xml)\b.*|<!DOCTYPE\b.*|(['\"])use strict\1;?$|#\s*(?:pragma|if|ifdef|ifndef|define)\b"
    r"|\{-#.*#-\}$|(?:package|namespace)\s+[\w.\\]+;?$|@file:)"
)
_BLOCK_COMMENTS = {"/*": "*/", "{-": "-}", "<!--": "-->", "(*": "*)"}
_COMMENT = re.compile(r"^\s*(?:#+|//+!?|/\*+!?|\*+|--+|;+|<!--|%+|\(\*|\{-|'|REM\b)\s*(?P<text>.*)$")
_HASH_COMMENT = re.compile(r"^\s*#+\s*(?P<text>.*)$")
# In prose a line that starts with `#` or `*` is a heading or an item.
_PROSE_COMMENT = re.compile(r"^\s*(?:<!--|\.\. |%|\[//\]: #)\s*(?P<text>.*)$")
_MARKER = re.compile(r"(?:^|\s)@generated\b(?!['\"`.])")
# An order about this file; "do not edit the generated files in gen/" is advice about others.
_HANDS_OFF = re.compile(
    r"(?:^|[.!;,:(-]\s*|\bplease )do(?: not|n't) (?:edit|modify|change)\b"
    r"(?=\W*$|\s*[.!,;:*/)-]| (?:this|the) file\b| directly| by hand| manually| or\b)",
    re.IGNORECASE | re.MULTILINE,
)
_GENERATED = re.compile(r"\b(?:auto-?|machine-?)?generated\b", re.IGNORECASE)
_SAYS_SO = re.compile(
    r"^this (?:file|code|module|source)(?: is| was| has been) "
    r"(?:auto-?generated|(?:automatically |machine[- ])generated|generated (?:by|from|with|using|automatically))\b",
    re.IGNORECASE,
)
# What a tool writes once, for people to go on with: `rspec --init`.
_SCAFFOLD = re.compile(r"\bgenerated (?:by|with|from) (?:the )?`?[\w./ -]{0,200}\binit\b", re.IGNORECASE)

# A mean over a few lines says nothing.
_MINIFIED_FROM_BYTES = 2_000
# How many lines of a minified file are short all the same: its licence, a line that ends the bundle.
_FEW_LINES = 3
_SHORT_SHARE = 0.1


class ContentDecision(Struct, frozen=True):
    """What a file's content decides; `reason` is None for a file that is indexed."""

    language: str
    reason: SkipReason | None


def judge_content(path: str, data: bytes) -> ContentDecision:
    """A pure function of name and content."""
    language = language_of_file(path, data)
    reason = None
    if data.startswith(_LFS_POINTER):
        return ContentDecision(language, SkipReason.LFS_POINTER)
    try:
        text = decode_text(data, language)
    except SkippedFile as skipped:
        return ContentDecision(language, SkipReason(skipped.reason))
    if is_generated(text, language):
        reason = SkipReason.GENERATED
    elif is_only_keys(path, text, language):
        reason = SkipReason.KEYS
    elif is_minified(text, language):
        reason = SkipReason.MINIFIED
    return ContentDecision(language, reason)


def is_generated(text: str, language: str) -> bool:
    """Whether the comments at the top of a file say that a program wrote it."""
    comment = (
        _HASH_COMMENT
        if language == TEXT or has_trait(language, Trait.ONLY_HASH_COMMENTS)
        else _PROSE_COMMENT
        if language in PROSE
        else _COMMENT
    )
    comments = list(_head_comments(text, comment))
    if not comments or any(_SCAFFOLD.search(line) for line in comments):
        return False
    if any(_MARKER.search(line) or _SAYS_SO.match(line) for line in comments):
        return True
    pairs = ("\n".join(pair) for pair in zip(comments, [*comments[1:], ""], strict=True))
    return any(_HANDS_OFF.search(pair) and _GENERATED.search(pair) for pair in pairs)


def _head_comments(text: str, comment: re.Pattern[str]) -> Iterator[str]:
    """The lines above the first one of code: what their comments say, and "" for the others."""
    end = ""
    for line in text.split("\n", _HEAD_LINES)[:_HEAD_LINES]:
        match = comment.match(line)
        if end:
            yield match["text"] if match else line.strip()
            end = "" if end in line else end
        elif match:
            yield match["text"]
            mark = next((mark for mark in _BLOCK_COMMENTS if line.lstrip().startswith(mark)), None)
            closed = _BLOCK_COMMENTS[mark] if mark else ""
            end = "" if not mark or closed in line else closed
        elif _BEFORE_CODE.match(line):
            yield ""
        else:
            return


def is_minified(text: str, language: str) -> bool:
    """Whether nearly all of a file's lines are too long for a person to have written them."""
    if len(text) < _MINIFIED_FROM_BYTES or language in PROSE:
        return False
    longest = profile_of(language).longest_line
    lines = [line for line in text.split("\n") if line.strip()]
    # A bundle may follow a short comment in one line.
    lengths = [len(line) for line in lines if len(line) > longest or not _COMMENT.match(line)]
    short = sum(length <= longest for length in lengths)
    return sum(lengths) > longest * len(lengths) and short <= max(_FEW_LINES, len(lengths) * _SHORT_SHARE)
