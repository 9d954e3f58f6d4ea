"""What a change says in words: the document's names and text, and its lines, or those of them that are others now."""

from collections import Counter
from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from codesum_pipeline.indexes.tokens import tokenize
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import RepositoryUnavailable, SkippedFile
from codesum_pipeline.model.intents import ChangeKind, DocumentChange, DocumentState
from codesum_pipeline.source.decoding import decode_text
from codesum_pipeline.source.git import BlobReader

# Gives the text of a blob, or nothing where it cannot be read.
ReadBlob = Callable[[str, str], str]

# Of a document, and of what changed in it: more says nothing that these do not.
_MOST_LINES = 400
_BLOBS_KEPT = 64


class ChangeWords(Struct, frozen=True):
    """The tokens of a change: of its name and path, and of the whole document, or of a file the lines that came or
    went.

    `text` is what the change is about, for a document that has no vector or of which only a part changed.
    """

    named: frozenset[str]
    said: frozenset[str]
    text: str


def words_of(change: DocumentChange, read: ReadBlob) -> ChangeWords:
    """What a change says; above the file level, and where no blob can be read, its names and text alone."""
    state = change.state
    lines = _lines_that_count(change, read)
    # Of a file that was and is there, what changed counts, not what it is about as a whole.
    is_partial = change.level is Level.FILE and change.kind is ChangeKind.CHANGED and bool(lines)
    head = [] if is_partial else [*filter(None, (state.signature, state.summary))]
    named = frozenset(tokenize(f"{state.name} {state.file_path}"))
    text = "\n".join((*head, *lines))
    return ChangeWords(named=named, said=named | frozenset(tokenize(text)), text=f"{state.name}\n{text}")


def _lines_that_count(change: DocumentChange, read: ReadBlob) -> list[str]:
    before, after = _lines(change.before, change, read), _lines(change.after, change, read)
    if change.level is Level.FILE and change.kind is ChangeKind.CHANGED:
        return [*_only_in(after, before), *_only_in(before, after)][:_MOST_LINES]
    return (after or before)[:_MOST_LINES]


def _lines(state: DocumentState | None, change: DocumentChange, read: ReadBlob) -> list[str]:
    if state is None or state.blob is None:
        return []
    lines = read(state.blob, change.language).split("\n")
    if change.level is Level.FILE or state.start_line is None:
        return lines
    return lines[state.start_line - 1 : state.end_line]


def _only_in(lines: list[str], others: list[str]) -> list[str]:
    """The lines that are more often in one text than in the other, in order; blanks around them aside."""
    left = Counter(line.strip() for line in lines)
    left.subtract(Counter(line.strip() for line in others))
    found = []
    for line in lines:
        if left[line.strip()] > 0 and line.strip():
            left[line.strip()] -= 1
            found.append(line)
    return found


def reading(blobs: BlobReader) -> ReadBlob:
    """Reads through one git process; the last texts stay, for the documents of a file follow one another."""

    @lru_cache(maxsize=_BLOBS_KEPT)
    def read(blob: str, language: str) -> str:
        try:
            return decode_text(blobs.read(blob), language)
        except (SkippedFile, RepositoryUnavailable):
            return ""

    return read
