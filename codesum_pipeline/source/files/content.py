"""What only a file's content can say: its language, whether a person wrote it; and the texts of a commit's files."""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import SkippedFile
from codesum_pipeline.foundation.data_model.file import NOTEBOOK, EncodingEvidence, FileEncoding, SkipReason
from codesum_pipeline.foundation.language_facts.file_languages import (
    PROSE,
    TEXT,
    is_notebook,
    language_of_file,
)
from codesum_pipeline.foundation.language_facts.language_profiles import Trait, has_trait, profile_of
from codesum_pipeline.source.files.encodings import DeclaredEncoding, as_utf_8, decode_text, read_text
from codesum_pipeline.source.files.notebooks import read_notebook, slim_notebook
from codesum_pipeline.source.git.git import run_git
from codesum_pipeline.source.git.trees import tree_of_commit
from codesum_pipeline.source.masking.key_files import is_only_keys

_USUAL_NOTEBOOK = 20_000
NO_ENCODINGS: Mapping[str, str] = MappingProxyType({})


def read_file(git_dir: Path, *, commit: str, path: str, timeout_s: float, encoding: str | None = None) -> str:
    """The text of a file, its lines ended by line feeds; without an `encoding`, by what its content tells.

    Raises `RepositoryUnavailable` if the mirror does not have it, `SkippedFile` for what is no text.
    """
    data = run_git(
        ["cat-file", "blob", f"{tree_of_commit(git_dir, commit)}:{path}"], git_dir=git_dir, timeout_s=timeout_s
    )
    return text_of(path, data, encoding)


def read_files(
    git_dir: Path, paths: Sequence[str], *, commit: str, timeout_s: float, encodings: Mapping[str, str] = NO_ENCODINGS
) -> dict[str, str]:
    """The texts of some files of a commit, by one process: those that the mirror has and that are text. `encodings` are
    those of files by path, where they are known."""
    # The process takes a name a line; what has a line feed in its name is left out.
    readable = [path for path in paths if "\n" not in path]
    tree = tree_of_commit(git_dir, commit)
    data = "".join(f"{tree}:{path}\n" for path in readable).encode("utf-8", "surrogateescape")
    answers = io.BytesIO(run_git(["cat-file", "--batch"], git_dir=git_dir, timeout_s=timeout_s, data=data))
    texts = {}
    for path in readable:
        header = answers.readline().split()
        if len(header) == 3 and header[1] in (b"blob", b"tree", b"commit", b"tag"):
            with suppress(SkippedFile):
                texts[path] = text_of(path, answers.read(int(header[2]) + 1)[:-1], encodings.get(path))
    return texts


def text_of(path: str, data: bytes, encoding: str | None = None) -> str:
    """The text of a file's bytes in a known encoding, else by what they tell; of a notebook its script."""
    encoding = encoding or encoding_of_name(path)
    if encoding is not None:
        return decode_text(data, encoding)
    return read_text(data, language_of_file(path, data)).text


def lines_of(path: str, data: bytes, encoding: str | None = None) -> bytes:
    r"""The lines of `text_of` in UTF-8, each with the line end that the file has; the last one has an end, too. Raises
    `SkippedFile` for what is no text."""
    encoding = encoding or encoding_of_name(path)
    text = as_utf_8(data, encoding or read_text(data, language_of_file(path, data)).encoding.name)
    return text if text.endswith(b"\n") or not text else text + b"\n"


def encoding_of_name(path: str) -> str | None:
    """The encoding that a file's name alone decides: that of a notebook."""
    return NOTEBOOK if is_notebook(path) else None


def without_outputs(path: str, data: bytes) -> bytes:
    """A file's bytes without what its text does not show: of a notebook the outputs, of which it mostly consists. One
    that cannot be read is returned as it is."""
    with suppress(SkippedFile):
        return slim_notebook(data) if is_notebook(path) else data
    return data


def bytes_of_text(path: str, size: int) -> int:
    """About how many bytes of text a file of this size has: the cells of a notebook rarely have more."""
    return min(size, _USUAL_NOTEBOOK) if is_notebook(path) else size


CONTENT_REASONS = frozenset(
    {
        SkipReason.BINARY,
        SkipReason.NOT_TEXT,
        SkipReason.LFS_POINTER,
        SkipReason.GENERATED,
        SkipReason.MINIFIED,
        SkipReason.KEYS,
        SkipReason.NOTEBOOK,
    }
)

_OF_NOTEBOOK = FileEncoding(NOTEBOOK, EncodingEvidence.CONTENT)
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
    """What a file's content decides; `reason` is None for a file that is indexed, `encoding` for one that is no text.
    `problem` says why it is none."""

    language: str
    reason: SkipReason | None
    encoding: FileEncoding | None = None
    problem: str = ""


def judge_content(
    path: str, data: bytes, declared: Sequence[DeclaredEncoding] = (), *, most_of_notebook: int | None = None
) -> ContentDecision:
    """A pure function of name and content, and of the encodings that others declare. `most_of_notebook` are the bytes
    that the cells of a notebook may have; the size of any other file is known without its content."""
    language = language_of_file(path, data)
    reason = None
    if data.startswith(_LFS_POINTER):
        return ContentDecision(language, SkipReason.LFS_POINTER)
    try:
        if is_notebook(path):
            notebook = read_notebook(data, most_bytes=most_of_notebook)
            language, text, encoding = notebook.language, notebook.script, _OF_NOTEBOOK
        else:
            read = read_text(data, language, declared)
            text, encoding = read.text, read.encoding
    except SkippedFile as skipped:
        return ContentDecision(language, SkipReason(skipped.reason), problem=skipped.detail)
    if is_generated(text, language):
        reason = SkipReason.GENERATED
    elif is_only_keys(path, text, language):
        reason = SkipReason.KEYS
    elif encoding is not _OF_NOTEBOOK and is_minified(text, language):
        # A paragraph of a notebook may be one long line.
        reason = SkipReason.MINIFIED
    return ContentDecision(language, reason, encoding)


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
