"""Bytes become text by the best evidence of their encoding.

In this order: a byte order mark; the setting `encodings`; what the file itself declares; UTF-8 that is valid; what
`.gitattributes` and `.editorconfig` say; a detector's guess. A declaration that does not fit is named, and the next
evidence counts. Where nothing is known of a program's encoding, its ASCII is read and each other byte is `U+FFFD`:
definitions are not lost, and no letter is invented.
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
from codesum_pipeline.source.files.declarations import own_declarations
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
_NOT_OF_FILES = frozenset(
    {"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "utf-7", "utf-8-sig"}
)
# Names that Python does not know, and what is written under names of subsets of it.
_OTHER_NAMES = {
    "iso-latin-1": "latin-1", "utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-bom": UTF_8, "utf-8-sig": UTF_8,
    "windows-31j": "cp932", "cp65001": UTF_8, "ansi": "cp1252",
    "iso-8859-8-i": "iso-8859-8", "utf-16le-bom": "utf-16-le", "utf-16be-bom": "utf-16-be", "utf-8n": UTF_8,
    "utf-8-emacs": UTF_8, "prefer-utf-8": UTF_8, "mule-utf-8": UTF_8, "sjis-win": "cp932", "eucjp-win": "euc-jp",
    "cp51932": "euc-jp", "utf-8bom": UTF_8,
    # Emacs' own.
    "japanese-shift-jis": "cp932", "japanese-iso-8bit": "euc-jp", "korean-iso-8bit": "euc-kr",
    "chinese-iso-8bit": "gb2312", "chinese-gbk": "gbk", "chinese-gb18030": "gb18030", "chinese-big5": "big5",
    "cyrillic-koi8": "koi8-r", "cyrillic-iso-8bit": "iso-8859-5", "greek-iso-8bit": "iso-8859-7",
    "hebrew-iso-8bit": "iso-8859-8", "thai-tis620": "tis-620",
}  # fmt: skip
# What stands before the number or the name in spellings of them, and how Python spells it.
_SPELLINGS = (
    (re.compile("^x-"), ""),
    (re.compile(r"^(?:cp|windows|win|ms)-?(?=\d{3,5}$)"), "cp"),
    (re.compile(r"^(?:iso-?)?8859-?(?=\d{1,2}$)"), "iso8859-"),
    (re.compile(r"^latin-(?=\d{1,2}$)"), "latin"),
    (re.compile(r"^utf(?=\d)"), "utf-"),
)
_SUPERSETS = {
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs",
    "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
}  # fmt: skip
_LATIN_ALPHABETS = frozenset({"iso8859-1", "iso8859-9"})
_C1_CONTROLS = re.compile("[\x80-\x9f]")
_LINE_ENDS = re.compile(r"-(?:unix|dos|mac)$")
# How old Macs ended lines.
_LONE_RETURN = re.compile(rb"\r(?!\n)")
# Control characters of no text: with one of them, bytes in an unknown encoding are something else. ESC introduces
# colours and character sets; DOS ended files with Ctrl-Z, and filled them up with it.
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_END_OF_FILE = b"\x1a"
# Seven-bit encodings of Japanese and Korean announce each change of the character set by such a sequence.
_ANNOUNCED = b"\x1b$"
_SEVEN_BIT = ("iso2022_jp", "iso2022_jp_2", "iso2022_jp_ext")
_KOREAN, _ANNOUNCED_KOREAN = "iso2022_kr", b"\x1b$)C"
_OF_NUL_BYTES = ("utf-16", "utf-32")


class DeclaredEncoding(Struct, frozen=True):
    """An encoding that a setting, `.gitattributes` or `.editorconfig` names for a file."""

    name: str
    evidence: EncodingEvidence


class DecodedText(Struct, frozen=True):
    r"""A file's text, its lines ended by `\n`, and what it was read as."""

    text: str
    encoding: FileEncoding


def read_text(data: bytes, language: str, declared: Sequence[DeclaredEncoding] = ()) -> DecodedText:
    """The text of a file by the best evidence; `declared` is what others say of it, the most trusted first.

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
    said = () if encoding is None else (DeclaredEncoding(encoding, EncodingEvidence.ATTRIBUTES),)
    return read_text(data, language, said).text


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
    unmarked = _without_mark(data, encoding)
    text = unmarked if encoding == UTF_8 and _is_utf_8(unmarked) else unmarked.decode(encoding, "replace").encode()
    return _LONE_RETURN.sub(b"\n", text) if b"\r" in text else text


def _is_utf_8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _without_mark(data: bytes, encoding: str) -> bytes:
    return data[_length_of_mark(data, encoding) :]


def _length_of_mark(data: bytes, encoding: str) -> int:
    """How many bytes a mark has. That of UTF-8 is no text in any encoding."""
    marks = [_BYTE_ORDER_MARKS[0], *(each for each in _BYTE_ORDER_MARKS if each[1] == encoding)]
    return next((len(mark) for mark, _ in marks if data.startswith(mark)), 0)


@lru_cache(maxsize=1024)
def known_encoding(name: str) -> str | None:
    """Python's name of an encoding of files; None for a name that nobody knows."""
    plain = _LINE_ENDS.sub("", name.strip().lower().replace("_", "-"))
    for spelled in (plain, *(written.sub(known, plain) for written, known in _SPELLINGS)):
        try:
            found = codecs.lookup(_OTHER_NAMES.get(spelled, spelled))
        except (LookupError, ValueError):
            continue
        # `rot13` and the like turn text into text, `hex` bytes into bytes.
        if getattr(found, "_is_text_encoding", True) and found.name.replace("_", "-") not in _NOT_OF_FILES:
            return _OTHER_NAMES.get(found.name, found.name)
    return None


def is_plain_text(data: bytes) -> bool:
    """Whether bytes are UTF-8, whatever others declare of them."""
    return _text_in(data, UTF_8) is not None and _ANNOUNCED not in data


def _find_encoding(data: bytes, language: str, declared: Sequence[DeclaredEncoding]) -> FileEncoding:
    problems: list[str] = []
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark) and name == UTF_8 and _text_in(data, UTF_8) is None:
            problems.append("the mark of UTF-8 does not fit")
            data = data[len(mark) :]
        elif data.startswith(mark):
            return _marked(data[len(mark) :], name)
    if data.isascii() and b"\0" not in data and _ANNOUNCED not in data:
        return PLAIN
    said = [DeclaredEncoding(name, EncodingEvidence.DECLARATION) for name in own_declarations(data, language)]
    trusted = [each for each in declared if each.evidence is EncodingEvidence.SETTING]
    others = [each for each in declared if each.evidence is not EncodingEvidence.SETTING]
    return (
        _declared_encoding(data, [*trusted, *said], problems)
        or _valid_utf_8(data, problems)
        or _declared_encoding(data, others, problems)
        or _announced_encoding(data, problems)
        or _unsaid_encoding(data, language, problems)
    )


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


def _declared_encoding(data: bytes, declared: Sequence[DeclaredEncoding], problems: list[str]) -> FileEncoding | None:
    """The first that fits; what does not is noted in `problems`."""
    for each in declared:
        shown = f"{shorten_text(one_line(each.name), most=40)!r} ({each.evidence})"
        name = known_encoding(each.name)
        if name is None:
            problems.append(f"unknown encoding {shown}")
            continue
        wider = _SUPERSETS.get(name, name)
        # Editors and browsers read the control characters of Latin alphabets as the signs that are meant.
        is_meant_wider = name in _LATIN_ALPHABETS and each.evidence is not EncodingEvidence.DECLARATION
        for tried in dict.fromkeys((wider, name) if is_meant_wider and _has_c1(data) else (name, wider)):
            if _text_in(data, tried) is not None:
                return FileEncoding(tried, each.evidence, "; ".join(problems))
        problems.append(f"the declared encoding {shown} does not fit")
    return None


def _has_c1(data: bytes) -> bool:
    return _C1_CONTROLS.search(data.decode("latin-1")) is not None


def _valid_utf_8(data: bytes, problems: list[str]) -> FileEncoding | None:
    is_announced = _ANNOUNCED in data and data.isascii()
    if is_announced or _text_in(data, UTF_8) is None:
        return None
    return FileEncoding(UTF_8, EncodingEvidence.CONTENT, "; ".join(problems))


def _announced_encoding(data: bytes, problems: list[str]) -> FileEncoding | None:
    """The seven-bit encoding whose escape sequences the data have, else plain ASCII if they are that."""
    if not data.isascii() or b"\0" in data:
        return None
    tried = (*_SEVEN_BIT, UTF_8) if _ANNOUNCED_KOREAN not in data else (_KOREAN, *_SEVEN_BIT, UTF_8)
    names = (name for name in tried if _text_in(data, name) is not None)
    return FileEncoding(next(names), EncodingEvidence.CONTENT, "; ".join(problems))


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
    for name in _WIDE:
        if broken := _broken_wide(data, name):
            problems.append(f"{count_noun(broken, 'byte')} outside of {name}")
            return FileEncoding(name, EncodingEvidence.GUESS, "; ".join(problems))
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


# In encodings of several bytes for a character, other text is valid more often.
_WIDE = ("gb18030", "big5", "cp932", "euc_jp", "cp949")
_VALID_FOR_ONE_BROKEN_WIDE = 10


def _broken_wide(data: bytes, name: str) -> int:
    """How many bytes of what the detector takes for such an encoding without them are not in it; 0 for others."""
    text = data.decode(name, "replace")
    broken = text.count("\ufffd")
    rest = text.replace("\ufffd", "")
    valid = len(rest) - len(rest.encode("ascii", "ignore"))
    is_little = 0 < broken * _VALID_FOR_ONE_BROKEN_WIDE <= valid
    return broken if is_little and next(_guesses(rest.encode(name)), "") == name else 0


_NOT_ASCII = bytes(range(0x80, 0x100))
# A program of which more is unread is no program that anybody could use.
_MOST_UNREAD = 0.5

# Bytes that are the same letters and signs in all code pages of languages in Latin script, Baltic ones aside, where
# they stand as such: between other letters, or alone. They are too few for a detector, and no other script has them so.
_LATIN_LETTERS = "ÁÂÄÇÉËÍÎÓÔÖÚÜßáâäçéëíîóôöúü".encode("latin-1")
_LATIN_SIGNS = "\xa0§©«\xad®°±µ·»×÷".encode("latin-1")
_LATIN = re.compile(
    rb"(?<=[A-Za-z])[%(letters)b]{1,2}(?![\x80-\xff])|(?<![\x80-\xff])[%(letters)b]{1,2}(?=[A-Za-z])"
    rb"|(?<![\x80-\xff])[%(signs)b](?![\x80-\xff])" % {b"letters": _LATIN_LETTERS, b"signs": _LATIN_SIGNS}
)
# So are quotation marks, apostrophes, dashes, dots, bullets, the euro and the trade mark in those of Windows. DOS has
# letters in their place, which stand otherwise.
_TYPOGRAPHY = re.compile(
    rb"(?<![\x80-\xff\w])(?:\x93[ -~]{1,300}\x94|\x91[ -~]{1,300}\x92)(?![\x80-\xff\w])"
    rb"|(?<=[A-Za-z])\x92(?=[a-z]{1,2}\b)"
    rb"|(?<=[\w)] )[\x96\x97](?= )|(?<=\d)\x96(?=\d)|(?<=[A-Za-z]{2})\x85(?=[\s\"')*]|\Z)|(?<=\s)\x95(?=[ \t])"
    rb"|(?<=\d)\x80(?![\x80-\xff\w])|(?<=\d )\x80(?![\x80-\xff\w])|(?<=[A-Za-z])\x99(?![\x80-\xff\w])"
)
_LATIN_PAGE = "cp1252"
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
    if _LATIN.sub(b"", _TYPOGRAPHY.sub(b"", data)).isascii():
        yield _LATIN_PAGE
        return
    # Loading the detector takes fifty milliseconds, for which repositories in UTF-8 do not wait.
    import chardet

    sample = _lines_not_in_ascii(data)
    found = chardet.detect_all(sample, ignore_threshold=True, include_encodings=_OF_SOURCES)
    for each in found:
        # Without a language nothing was recognized.
        name = known_encoding(each["encoding"] or "")
        if name and each["language"] and each["confidence"] >= _LEAST_CONFIDENCE:
            yield from dict.fromkeys((name, _SUPERSETS.get(name, name)))


def _lines_not_in_ascii(data: bytes) -> bytes:
    """The first lines that tell something; between them, code would look like words."""
    kept, size = [], 0
    for line in data.split(b"\n"):
        if not line.isascii():
            kept.append(line)
            size += len(line) + 1
            if size >= _MOST_DETECTED:
                break
    return b"".join(line + b"\n" for line in kept)[:_MOST_DETECTED]
