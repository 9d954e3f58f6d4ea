"""A notebook as a script: the cells of a file `.ipynb`, in order, in the language of their kernel.

The script is in the percent format that editors know. A line marks where each cell begins (`# %% cell 3 [markdown]`),
text is comments, and magics are blank lines; line k of a cell is k lines below its mark. Nothing else of the file
counts: outputs, counters of runs, ids and settings are passed over in the bytes, and no objects are made of them. So a
notebook that was only run again has the same script, and plots cost no more than reading their bytes.
"""

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.errors import SkippedFile
from codesum_pipeline.foundation.data_model.file import SkipReason
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text
from codesum_pipeline.foundation.language_facts.file_languages import is_program, language_of_kernel
from codesum_pipeline.foundation.language_facts.language_profiles import profile_of, unread_languages

# Part of the versions of the scan and of all parsers: raise it with any change of what is read from a notebook.
NOTEBOOKS_VERSION = "notebooks/2"
# A limit of its own, for a notebook is mostly outputs; code hosts warn of larger files. Its cells have the limit of
# other files, and at most this one: a script is lines in memory.
LARGEST_NOTEBOOK_BYTES = 50 * 1024 * 1024
_MOST_BYTES_OF_CELLS = 16 * 1024 * 1024

_MARK = "%% cell"
_CODE, _MARKDOWN, _RAW = "code", "markdown", "raw"
_NUL = "\0"

# An image within text: Colab keeps pasted ones so.
_EMBEDDED = re.compile(r"(data:[\w.+-]{1,40}/[\w.+-]{1,80};base64,)[A-Za-z0-9+/=%]{100,}")
_CELL_MAGIC = re.compile(r"\s*%%(\w+)")
# The rest of a cell that begins with one of these is in the language of the kernel.
_SAME_LANGUAGE = frozenset({"capture", "debug", "memit", "mprun", "prun", "snakeviz", "time", "timeit", "px"})
# Lines in a text of several lines begin as they like.
_LONG_TEXT = re.compile(r'("""|\'\'\')(?:\\.?|[^\\])*?(?:\1|\Z)', re.DOTALL)
_TITLE = re.compile(r"[ ]{0,3}#{1,6}[ \t](.*)")
# Further below, a title is that of a part.
_TEXTS_WITH_TITLE = 4
# Badges, images, tables, lists, rules, quotes and empty space: no paragraph.
_NO_PROSE = re.compile(r"[ ]{0,3}(?:[!|>$]|\[!\[|[-*+][ \t]|\d+[.)][ \t]|```|~~~|[-=*_]{3,}[ \t]*$|&\w+;[ \t]*$)")
_UNDERLINE = re.compile(r"[ ]{0,3}(?:={2,}|-{2,})[ \t]*")


class NotebookScript(Struct, frozen=True):
    """What a notebook says: its `script`; the same lines as `content`, without marks, in which text is no comment; the
    language of its code; the lines of the script that mark a cell; and its title with the first paragraph, None without
    any."""

    script: str
    content: str
    language: str
    cells: tuple[int, ...]
    documentation: str | None


class _Cell(Struct):
    # Without it, a few bytes would be a cell: a file could have more of them than memory holds.
    cell_type: str
    source: str | list[str] = ""


class _Notebook(Struct):
    nbformat: int
    cells: list[_Cell] = []


class _LanguageInfo(Struct):
    name: str = ""
    file_extension: str = ""


class _Kernel(Struct):
    language: str = ""


class _Metadata(Struct):
    language_info: _LanguageInfo = field(default_factory=_LanguageInfo)
    kernelspec: _Kernel = field(default_factory=_Kernel)


class _WithMetadata(Struct):
    metadata: _Metadata = field(default_factory=_Metadata)


class _Slim(Struct):
    """A notebook without all that its script does not show."""

    nbformat: int
    metadata: _Metadata
    cells: list[_Cell]


def read_notebook(data: bytes, *, most_bytes: int | None = None) -> NotebookScript:
    """What a notebook's bytes say. Raises `SkippedFile` for those of no notebook that is known, and for one whose cells
    have more than `most_bytes`."""
    slim = _slim(data)
    most = min(_MOST_BYTES_OF_CELLS, most_bytes or _MOST_BYTES_OF_CELLS)
    if (size := sum(len(_text_of(cell.source).encode()) for cell in slim.cells)) > most:
        raise SkippedFile(SkipReason.TOO_LARGE, f"its cells have {size:,} bytes, more than {most:,}")
    said, kernel = slim.metadata.language_info, slim.metadata.kernelspec
    language = language_of_kernel(said.name or kernel.language, said.file_extension)
    is_read = is_program(language) and language not in unread_languages()
    comment = profile_of(language).line_comment if is_read else "#"
    script: list[str] = []
    content: list[str] = []
    marks = []
    for number, cell in enumerate(slim.cells, start=1):
        text = _text_of(cell.source)
        if _NUL in text:
            raise _unreadable(f"cell {number} has a NUL character")
        marks.append(len(script) + 1)
        kind = "" if cell.cell_type == _CODE else f" [{_MARKDOWN if cell.cell_type == _MARKDOWN else _RAW}]"
        script.append(f"{comment} {_MARK} {number}{kind}")
        content.append("")
        for shown, said_there in _lines_of(cell.cell_type, text, language, comment):
            script.append(shown)
            content.append(said_there)
        script.append("")
        content.append("")
    texts = [_text_of(cell.source) for cell in slim.cells if cell.cell_type == _MARKDOWN]
    return NotebookScript("\n".join(script), "\n".join(content), language, tuple(marks), _documentation(texts))


def slim_notebook(data: bytes) -> bytes:
    """A notebook's bytes without outputs and what else its script does not show. Raises as `read_notebook`."""
    return msgspec.json.encode(_slim(data))


def _slim(data: bytes) -> _Slim:
    data = data.removeprefix(codecs.BOM_UTF8)
    if not data or data.isspace():
        raise _unreadable("the file is empty")
    try:
        content = decode(data, _Notebook)
    except UnicodeDecodeError as error:
        raise _unreadable(f"not UTF-8: {error.reason}") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise _unreadable(shorten_text(one_line(str(error)), most=200)) from error
    try:
        metadata = decode(data, _WithMetadata).metadata
    except (ValueError, RecursionError):
        # The code can be read without knowing who ran it.
        metadata = _Metadata()
    if content.nbformat != 4:
        way_out = "; `jupyter nbconvert --to notebook --inplace FILE` writes it anew" if content.nbformat < 4 else ""
        raise _unreadable(f"nbformat {content.nbformat} is not known, but 4 is{way_out}")
    return _Slim(4, metadata, content.cells)


def _unreadable(problem: str) -> SkippedFile:
    return SkippedFile(SkipReason.NOTEBOOK, problem)


def _text_of(source: str | list[str]) -> str:
    text = source if isinstance(source, str) else "".join(source)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _lines_of(kind: str, text: str, language: str, comment: str) -> Iterator[tuple[str, str]]:
    """Each line of a cell as the script shows it, and what it says. A raw cell is for a converter, and says nothing."""
    if kind == _MARKDOWN:
        text = _EMBEDDED.sub(r"\1…", text)
        yield from ((f"{comment} {line}".rstrip(), line) for line in text.rstrip("\n").split("\n"))
    elif kind == _CODE and text.strip():
        magic = _CELL_MAGIC.match(text)
        is_other = magic is not None and magic[1] not in _SAME_LANGUAGE
        for line in _without_magics(text, language):
            yield (f"{comment} {line}" if is_other and line else line, line)


def _without_magics(text: str, language: str) -> Iterator[str]:
    """The lines of a cell, where magics are blank."""
    magics = re.compile(profile_of(language).magics)
    long_texts = [match.span() for match in _LONG_TEXT.finditer(text)]
    starts = [start for start, _ in long_texts]
    place, goes_on, is_first = 0, False, True
    for line in text.rstrip("\n").split("\n"):
        before = bisect_right(starts, place - 1) - 1
        is_in_text = before >= 0 and place < long_texts[before][1]
        is_magic = goes_on or (not is_in_text and magics.match(line) is not None)
        is_magic = is_magic or (is_first and _CELL_MAGIC.match(line) is not None)
        goes_on = is_magic and line.endswith("\\")
        is_first = is_first and not line.strip()
        yield "" if is_magic else line
        place += len(line) + 1


def _documentation(texts: Sequence[str]) -> str | None:
    """The first title, if one of the first texts has any, with the first paragraph after it; else that of all."""
    said = [part for text in texts[:_TEXTS_WITH_TITLE] for part in _said(text)]
    first = next((place for place, (_, is_title) in enumerate(said) if is_title), -1)
    title = said[first][0] if first >= 0 else ""
    paragraph = next((text for text, is_title in said[first + 1 :] if not is_title), "")
    return "\n\n".join(filter(None, (title, paragraph))) or None


def _said(text: str) -> Iterator[tuple[str, bool]]:
    """The titles and paragraphs of a text in order, and whether each is a title."""
    lines = text.split("\n")
    paragraph = list[str]()
    is_html = False
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        found = _TITLE.fullmatch(line)
        is_html = bool(line.strip()) and (is_html or line.lstrip().startswith("<"))
        is_title = found is not None or (line.strip() != "" and _UNDERLINE.fullmatch(below) is not None)
        if not is_title and not is_html and line.strip() and not _NO_PROSE.match(line):
            paragraph.append(line.strip())
            continue
        if paragraph:
            yield "\n".join(paragraph), False
            paragraph = []
        if is_title and (title := (found[1] if found else line).strip(" \t#")):
            yield title, True
    if paragraph:
        yield "\n".join(paragraph), False
