"""Bytes become text by the best evidence of their encoding.

In this order: a byte order mark; the setting `encodings`; UTF-8 that is valid; what the first lines say; UTF-8 with a
few broken bytes; a detector's guess; Windows-1252, as editors and browsers read Latin letters that nobody declares. A
declaration that does not fit is named, and the next evidence counts. Where nothing is known of a program's encoding,
its ASCII is read and each other byte is `U+FFFD`: definitions are not lost.
"""

import codecs
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import SkippedFile
from codesum_pipeline.foundation.data_model.file import (
    NOTEBOOK,
    PLAIN,
    UTF_8,
    EncodingEvidence,
    FileEncoding,
    SkipReason,
)
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line, shorten_text
from codesum_pipeline.foundation.language_facts.file_languages import is_program
from codesum_pipeline.source.files.notebooks import read_notebook

# As git does: a NUL this early means that a file is not text.
_BINARY_PREFIX = 8_000

# The longer mark first: that of UTF-32 begins like that of UTF-16.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Python knows them as encodings, but no source file is written in one.
_NOT_OF_FILES = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "utf-7"})
# What is written without a mark under names of forms that have one.
_WITHOUT_MARK = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": UTF_8}
# What editors and browsers read under a narrower name.
_SUPERSETS = {
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs",
    "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
}  # fmt: skip
# The encoding that an editor, an interpreter or a reader of markup is told in the first lines of a file.
_OWN_WORD = re.compile(rb"(?:coding|charset)\s{0,4}[:=]\s{0,4}[\"']?([-\w.]+)", re.IGNORECASE)
_HEAD_BYTES = 1024
_C1_CONTROLS = re.compile("[\x80-\x9f]")
# How old Macs ended lines.
_LONE_RETURN = re.compile(rb"\r(?!\n)")
# Control characters of no text: with one of them, bytes in an unknown encoding are something else. ESC introduces
# colours and character sets; DOS ended files with Ctrl-Z, and filled them up with it.
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_END_OF_FILE = b"\x1a"
# It also begins the sequences by which seven-bit encodings of Japanese and Korean change the character set.
_ESCAPE = b"\x1b"
_OF_NUL_BYTES = ("utf-16", "utf-32")


class DecodedText(Struct, frozen=True):
    r"""A file's text, its lines ended by `\n`, and what it was read as."""

    text: str
    encoding: FileEncoding


def read_text(data: bytes, language: str, declared: Sequence[str] = ()) -> DecodedText:
    """The text of a file by the best evidence; `declared` are the encodings that settings name for it, the most trusted
    first.

    Raises `SkippedFile` (`binary` or `not_text`).
    """
    encoding = _find_encoding(data, language, declared)
    text = decode_text(data, encoding.name)
    if "\0" in text:
        raise SkippedFile(SkipReason.NOT_TEXT, "a NUL character")
    return DecodedText(text, encoding)


def read_other_version(data: bytes, language: str, encoding: str | None) -> str:
    """The text of a version of a file, of which another one was read in an encoding; None for UTF-8. Raises as
    `read_text`."""
    if encoding == NOTEBOOK:
        return decode_text(data, encoding)
    return read_text(data, language, encodings_of_versions(data, encoding)).text


def encodings_of_versions(data: bytes, encoding: str | None) -> Sequence[str]:
    """What `read_text` is told of a version of a file, of which another one was read in an encoding: nothing where it
    is UTF-8."""
    return () if encoding is None or _text_in(data, UTF_8) is not None else (encoding,)


def decode_text(data: bytes, encoding: str) -> str:
    r"""The text of bytes whose encoding is known, without a byte order mark, its lines ended by `\n`; of a notebook its
    script. Raises `SkippedFile` for what is no notebook, though it is said to be one."""
    if encoding == NOTEBOOK:
        return read_notebook(data).script
    text = _without_mark(data, encoding).decode(encoding, "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def as_utf_8(data: bytes, encoding: str) -> bytes:
    r"""As `decode_text`, in UTF-8, but that lines which end with `\r\n` keep both."""
    if encoding == NOTEBOOK:
        return decode_text(data, encoding).encode()
    text = _without_mark(data, encoding).decode(encoding, "replace").encode()
    return _LONE_RETURN.sub(b"\n", text) if b"\r" in text else text


def _without_mark(data: bytes, encoding: str) -> bytes:
    """The bytes behind a mark; that of UTF-8 is no text in any encoding."""
    for mark, name in _BYTE_ORDER_MARKS:
        if name in (UTF_8, encoding) and data.startswith(mark):
            return data[len(mark) :]
    return data


@lru_cache(maxsize=1024)
def known_encoding(name: str) -> str | None:
    """Python's name of an encoding of files; None for a name that Python does not know."""
    try:
        found = codecs.lookup(name.strip())
    except (LookupError, ValueError):
        return None
    # `rot13` and the like turn text into text, `hex` bytes into bytes.
    if not getattr(found, "_is_text_encoding", True) or found.name.replace("_", "-") in _NOT_OF_FILES:
        return None
    return _WITHOUT_MARK.get(found.name, found.name)


def _find_encoding(data: bytes, language: str, declared: Sequence[str]) -> FileEncoding:
    problems: list[str] = []
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark) and name == UTF_8 and _text_in(data, UTF_8) is None:
            problems.append("the mark of UTF-8 does not fit")
            data = data[len(mark) :]
        elif data.startswith(mark):
            return _marked(data[len(mark) :], name)
    if data.isascii() and b"\0" not in data and _ESCAPE not in data:
        return PLAIN
    if found := _declared_encoding(data, declared, EncodingEvidence.SETTING, problems):
        return found
    if _text_in(data, UTF_8) is not None:
        return FileEncoding(UTF_8, EncodingEvidence.CONTENT, "; ".join(problems))
    said = [name.decode("ascii", "replace") for name in _OWN_WORD.findall(_first_lines(data, language))]
    return _declared_encoding(data, said, EncodingEvidence.DECLARATION, problems) or _unsaid_encoding(
        data, language, problems
    )


def _first_lines(data: bytes, language: str) -> bytes:
    """Where a file may say its encoding: the first two lines of a program, the head of a page or of data."""
    head = data[:_HEAD_BYTES]
    return b"\n".join(head.split(b"\n", 2)[:2]) if is_program(language) else head


def _marked(data: bytes, name: str) -> FileEncoding:
    try:
        data.decode(name)
    except UnicodeError as error:
        raise SkippedFile(SkipReason.NOT_TEXT, f"not {name}: {error}") from error
    return FileEncoding(name, EncodingEvidence.MARK)


def _text_in(data: bytes, name: str) -> str | None:
    """The text, if all of the bytes are one in this encoding."""
    # Bytes in other encodings are often valid UTF-16; of its own texts, the line ends alone hold a NUL byte.
    if name.startswith(_OF_NUL_BYTES) and b"\0" not in data:
        return None
    try:
        text = data.decode(name)
    except (UnicodeError, ValueError):
        return None
    return None if "\0" in text else text


def _declared_encoding(
    data: bytes, declared: Sequence[str], evidence: EncodingEvidence, problems: list[str]
) -> FileEncoding | None:
    """The first that fits; what does not is noted in `problems`."""
    for each in declared:
        shown = f"{shorten_text(one_line(each), most=40)!r} ({evidence})"
        name = known_encoding(each)
        if name is None:
            problems.append(f"unknown encoding {shown}")
            continue
        for tried in dict.fromkeys((_SUPERSETS.get(name, name), name)):
            if _text_in(data, tried) is not None:
                return FileEncoding(tried, evidence, "; ".join(problems))
        problems.append(f"the declared encoding {shown} does not fit")
    return None


def _unsaid_encoding(data: bytes, language: str, problems: list[str]) -> FileEncoding:
    """The encoding of bytes of which nobody says anything that fits."""
    if b"\0" in data[:_BINARY_PREFIX]:
        raise SkippedFile(SkipReason.BINARY, f"a NUL byte in the first {_BINARY_PREFIX} bytes")
    if _CONTROL.search(data.rstrip(_END_OF_FILE)):
        raise SkippedFile(SkipReason.NOT_TEXT, "control characters, and no UTF-8")
    if broken := _broken_utf_8(data):
        problems.append(f"{count_noun(broken, 'byte')} outside of UTF-8")
        return FileEncoding(UTF_8, EncodingEvidence.GUESS, "; ".join(problems))
    for name in _guesses(data):
        text = _text_in(data, name)
        # Nobody writes the control characters of Latin alphabets.
        if text is not None and not _C1_CONTROLS.search(text) and not _mixes_alphabets(text):
            return FileEncoding(name, EncodingEvidence.GUESS, "; ".join(problems))
    if not _NOT_LATIN_RUN.search(data) and _text_in(data, _LATIN_PAGE) is not None:
        return FileEncoding(_LATIN_PAGE, EncodingEvidence.GUESS, "; ".join(problems))
    others = len(data) - len(data.translate(None, _NOT_ASCII))
    if is_program(language) and others <= len(data) * _MOST_UNREAD:
        problems.append(f"{count_noun(others, 'byte')} of an unknown encoding")
        return FileEncoding("ascii", EncodingEvidence.UNKNOWN, "; ".join(problems))
    raise SkippedFile(SkipReason.NOT_TEXT, "; ".join([*problems, "of an unknown encoding"]))


# Letters of Greek, Cyrillic, Hebrew and Arabic, and those that stand alone, or beside a Latin one as behind `\n` in a
# string.
_NOT_LATIN = "[\u0370-\u06ff]"
_OTHER_LETTER = re.compile(_NOT_LATIN)
_STRAY_LETTER = re.compile(
    f"(?<=[A-Za-z]){_NOT_LATIN}|{_NOT_LATIN}(?=[A-Za-z])|(?<!{_NOT_LATIN}){_NOT_LATIN}(?!{_NOT_LATIN})"
)


def _mixes_alphabets(text: str) -> bool:
    """Whether most of these letters are alone or in Latin words: they are Latin letters of another encoding."""
    return 2 * len(_STRAY_LETTER.findall(text)) > len(_OTHER_LETTER.findall(text))


# Bytes that are meant as UTF-8 but for a few: a name that somebody else typed, a text that was cut. In other encodings,
# at most one in seven sequences happens to be UTF-8.
_VALID_FOR_ONE_BROKEN = 2


def _broken_utf_8(data: bytes) -> int:
    """How many bytes of what is UTF-8 otherwise are not; 0 for other encodings."""
    text = data.decode(UTF_8, "replace")
    broken = text.count("\ufffd") - data.count("\ufffd".encode())
    valid = len(text) - len(text.encode("ascii", "ignore")) - broken
    return broken if valid >= _VALID_FOR_ONE_BROKEN * broken else 0


_NOT_ASCII = bytes(range(0x80, 0x100))
# A program of which more is unread is no program that anybody could use.
_MOST_UNREAD = 0.5
_LATIN_PAGE = "cp1252"
# In words in Latin letters, no more accented ones follow one another.
_NOT_LATIN_RUN = re.compile(rb"[\x80-\xff]{4}")

# Of 3,300 made files in 24 languages and 22 encodings with 1 to 8 lines of comments, 96 % reach it, and 1 % of those
# are read wrongly: `docs/decisions/0125-encodings.md`.
_LEAST_CONFIDENCE = 0.05
# What is longer says nothing new.
_MOST_DETECTED = 1 << 16
# Encodings that source files are written in. Others, of mainframes and old Macs, are more often wrong than right.
_OF_SOURCES = frozenset({
    "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255", "windows-1256",
    "windows-1257", "windows-1258", "iso8859-1", "iso8859-2", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8",
    "iso8859-9", "iso8859-15", "koi8-r", "koi8-u", "ibm866", "gb18030", "big5", "big5hkscs", "cp932", "shift_jis",
    "euc-jp", "cp949", "euc-kr", "cp874", "tis-620",
})  # fmt: skip


def _guesses(data: bytes) -> Iterator[str]:
    """Encodings that may be meant, most likely first."""
    # Loading the detector takes fifty milliseconds, for which repositories in UTF-8 do not wait.
    import chardet

    # Between the lines that tell something, code would look like words.
    sample = b"".join(line for line in data.splitlines(keepends=True) if not line.isascii())[:_MOST_DETECTED]
    for each in chardet.detect_all(sample, ignore_threshold=True, include_encodings=_OF_SOURCES):
        # Without a language nothing was recognized.
        name = known_encoding(each["encoding"] or "")
        if name and each["language"] and each["confidence"] >= _LEAST_CONFIDENCE:
            yield from dict.fromkeys((name, _SUPERSETS.get(name, name)))
