"""A query, taken apart once for all lanes and all repositories: its words, its names, the places that it points to.

Related words come from a table that ships with the package: people ask for "the smallest allowed length" where code
says `min_len`. A passage that has a related word in place of a word of the query counts too, as far as the two are
alike.

Paths of other machines are compared from their ends: `/usr/lib/…/flask/app.py` is the file that shares most of its last
parts.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import as_file, files

import numpy as np
from msgspec import Struct

from codesum_pipeline.indexes.embedders.protocol import Embedder, Vectors
from codesum_pipeline.indexes.index_files import StringTable
from codesum_pipeline.indexes.stored_zip import Array, map_npz
from codesum_pipeline.indexes.tokens import STOP_WORDS, split_identifier, tokenize, tokens_of_word
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.ids import SEPARATOR, without_suffix
from codesum_pipeline.retrieval.fusion import NO_NUMBERS, NO_SCORES, Numbers, Scores, distinct
from codesum_pipeline.retrieval.reader import PublishedIndex

# Cosines are kept in this many steps.
STEPS = 255


class RelatedWords(Struct, frozen=True, dict=True):
    """`related[k]` are the positions, in the sorted `words`, of the words nearest to word k, with -1 behind the last;
    `likeness` are their cosines in `STEPS`."""

    words: StringTable
    related: Array
    likeness: Array

    def of(self, text: str) -> dict[str, float]:
        """The tokens related to the words of a text, each with its highest cosine; none of the text's own."""
        words = dict.fromkeys(part for word in text.split() for part in split_identifier(word))
        own = {token for part in words for token in tokens_of_word(part).split()}
        self._read([word for word in words if word not in self._known])
        found: dict[str, float] = {}
        for word in words:
            for token, likeness in self._known.get(word, ()):
                if token not in own:
                    found[token] = max(found.get(token, 0.0), likeness)
        return found

    @cached_property
    def _known(self) -> dict[str, list[tuple[str, float]]]:
        return {}

    def _read(self, words: Sequence[str]) -> None:
        for word, position in zip(words, self.words.find_all(words), strict=True):
            if position is not None:
                of_word = zip(self.related[position].tolist(), self.likeness[position].tolist(), strict=True)
                self._known[word] = [
                    (token, steps / STEPS)
                    for other, steps in of_word
                    if other >= 0
                    for token in tokens_of_word(self.words[other]).split()
                ]


@cache
def load_related_words() -> RelatedWords:
    with as_file(files("codesum_pipeline.indexes") / "models" / "related_words.npz") as path:
        arrays = map_npz(path)
    return RelatedWords(StringTable(arrays["words"], arrays["offsets"]), arrays["related"], arrays["likeness"])


_NAME = re.compile(r"[\w./:#-]*\w")
_RUN = re.compile(r"[\w./:#-]+")
_WORD = re.compile(r"\w+")
# A word like code: with a separator inside, a digit, a capital behind a small letter, or several before small ones.
_LOOKS_LIKE_CODE = re.compile(r"\w[._/:]+\w|_|\d|[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
# A query this short is a name more often than a sentence.
_SHORT_QUERY_WORDS = 2
_COMPOUND_WORDS = (2, 3)


class Query(Struct, frozen=True, dict=True):
    """`names` may be names of documents; `words` are the stems that file names are compared with. `identifiers` are the
    words that look like code, `compounds` neighbouring words as one name. `vector` is None where no lane needs it,
    `related` are tokens of other words that mean nearly the same, with their likeness."""

    text: str
    tokens: tuple[str, ...]
    words: frozenset[str]
    names: tuple[str, ...]
    identifiers: tuple[str, ...]
    compounds: tuple[str, ...]
    vector: Vectors | None
    related: Mapping[str, float]

    @cached_property
    def is_name(self) -> bool:
        """Whether it is one word, as names of code are."""
        return _NAME.fullmatch(self.text.strip()) is not None


def parse_query(text: str, *, embedder: Embedder | None) -> Query:
    """Take a query apart; `embedder` is None where no dense lane is searched."""
    tokens = tokenize(text)
    vector = None if embedder is None else embedder.embed_query(text)
    compounds = compounds_in(text)
    return Query(
        text=text,
        tokens=tuple(tokens),
        words=frozenset((*tokens, *tokenize(" ".join(compounds)))),
        names=names_in(text),
        identifiers=identifiers_in(text),
        compounds=compounds,
        vector=vector,
        related=load_related_words().of(text),
    )


def check_says_something(text: str) -> None:
    """Raise `ConfigurationError` for a query without a letter or a digit."""
    if not any(map(str.isalnum, text)):
        problem = f"query {text!r} has no word" if text.strip() else "the query is empty"
        raise ConfigurationError(f"{problem}: say what is looked for, in words or as a name")


def names_in(text: str) -> tuple[str, ...]:
    """The words that may name a document: those that look like code, and all of a short query. `a::b` is written as the
    qualified name `a.b`."""
    found = _words_of_names(text)
    if len(found) > _SHORT_QUERY_WORDS:
        found = [word for word in found if _LOOKS_LIKE_CODE.search(word)]
    spoken = "_".join(part for word in _words_of_names(text) for part in split_identifier(word))
    return tuple(dict.fromkeys([*(word.replace("::", ".") for word in found), *([spoken] if spoken else [])]))


def identifiers_in(text: str) -> tuple[str, ...]:
    """The words that look like code, `a::b` as `a.b`."""
    found = [word for word in _words_of_names(text) if _LOOKS_LIKE_CODE.search(word)]
    return tuple(dict.fromkeys(word.replace("::", ".") for word in found))


def compounds_in(text: str) -> tuple[str, ...]:
    """Two or three neighbouring words as one name: people say "thread pool" where code has `ThreadPool`, `thread_pool`.
    In small letters, as names are looked up."""
    words = [word.lower() for word in _WORD.findall(text)]
    names = {word for word in words if len(word) > 1 and word.isalpha() and word not in STOP_WORDS}
    neighbours = (words[start : start + count] for count in _COMPOUND_WORDS for start in range(len(words) + 1 - count))
    said = [some for some in neighbours if names.issuperset(some)]
    return tuple(dict.fromkeys(joint.join(some) for some in said for joint in ("", "_")))


def _words_of_names(text: str) -> list[str]:
    """All matches of `_NAME`, in one pass over a text of any length."""
    return [name for run in _RUN.findall(text) if (name := run.rstrip("./:#-"))]


# One class of characters each, so that a text of any length is read once.
_PATH = re.compile(r"[\w.@+~\\/-]+")
# A line number behind a path: `:12`, `#L12`, `(12`, `", line 12` or ` line 12`.
_LINE = re.compile(r"(?:\"?[,:]?\s{0,2}(?:at |on |in )?line\s{1,2}|[:(]|\#L)(\d{1,6})(?!\d)")
_FILE_NAME = re.compile(r"[\w@+~.-]*[\w@+~-]\.[A-Za-z]\w*")
# Every name of a file has this, and few sentences do.
_ENDING = re.compile(r"[\w@+~-]\.[A-Za-z]")
_LONGEST_PATH = 500
# Only the last pointers of a text count: a traceback ends with the place that failed.
_MOST_POINTERS = 40
# A path that fits more files points to none of them.
_MOST_FILES = 3


class Pointer(Struct, frozen=True):
    """The last parts of a path, in small letters, and a line or None."""

    parts: tuple[str, ...]
    line: int | None


def pointers_in(text: str) -> tuple[Pointer, ...]:
    """The pointers of a text, each once; of many, the last ones."""
    if not _ENDING.search(text):
        return ()
    found = dict.fromkeys(pointer for match in _PATH.finditer(text) if (pointer := _pointer(text, match)))
    return tuple(found)[-_MOST_POINTERS:]


def _pointer(text: str, word: re.Match[str]) -> Pointer | None:
    """The path that a word is, with the line that stands behind it; None for another word."""
    path = word[0].rstrip(".-").lower()
    parts = tuple(part for part in re.split(r"[\\/]", path) if part not in ("", ".", ".."))
    if len(path) > _LONGEST_PATH or not parts or not _FILE_NAME.fullmatch(parts[-1]):
        return None
    line = _LINE.match(text, word.end())
    return Pointer(parts, int(line[1]) if line else None)


def rows_pointed_to(index: PublishedIndex, pointers: Sequence[Pointer]) -> list[int]:
    """The files that pointers mean, ascending; in place of a file, the smallest function or class around a pointer's
    line."""
    found = set[int]()
    for pointer in pointers:
        named = [row for row in index.names.exactly(pointer.parts[-1]) if index.level_of(row) is Level.FILE]
        shared = {row: _shared(index.ids[row].lower().split("/"), pointer.parts) for row in named}
        most = max(shared.values(), default=0)
        files = [row for row, count in shared.items() if count == most]
        for file in files if most and len(files) <= _MOST_FILES else ():
            levels = (Level.FUNCTION, Level.CLASS)
            around = None if pointer.line is None else innermost(index, file, pointer.line, levels)
            found.add(file if around is None else around)
    return sorted(found)


def _shared(path: Sequence[str], parts: Sequence[str]) -> int:
    """How many of the last parts two paths share."""
    count = 0
    for one, other in zip(reversed(path), reversed(parts), strict=False):
        if one != other:
            break
        count += 1
    return count


def innermost(index: PublishedIndex, file: int, line: int, levels: Sequence[Level]) -> int | None:
    """The smallest document of these levels, other than the file, that has a line of it."""
    inside = [
        (document["end_line"] - document["start_line"], row)
        for row in (index.arrays["file_row"] == file).nonzero()[0].tolist()
        if row != file and index.level_of(row) in levels
        for document in [index.document(row)]
        if document["start_line"] is not None and document["start_line"] <= line <= document["end_line"]
    ]
    return min(inside, default=(0, None))[1]


# The scores of the id itself, the name in this spelling, and in another; a prefix gets 1 at most.
SAME_ID, SPELLED_NAME, EXACT_NAME = 4.0, 3.0, 2.0

# A prefix of one or two characters is no name yet.
_SHORTEST_PREFIX = 3


def scored_by_name(
    index: PublishedIndex, query: Query, called: Mapping[str, list[int]], limit: int
) -> tuple[Numbers, Scores]:
    """The documents that a query names, with their scores, rows ascending: an id scores most, then exact names (first
    in the query's spelling), then at most `limit` names that begin so, shorter ones first. `called` has the rows of
    documents by name, in small letters, for the names of the query."""
    text = query.text.strip()
    typed = text.replace("::", ".")
    rows: list[Array] = []
    scores: list[Scores] = []
    for name in query.names:
        if found := called.get(name.lower()):
            is_typed = name in typed
            spelled = [SPELLED_NAME if is_typed and _is_spelled(index.ids[row], name) else EXACT_NAME for row in found]
            rows.append(np.array(found))
            scores.append(np.array(spelled))
        if len(name) >= _SHORTEST_PREFIX and len(longer := index.names.with_prefix(name, limit=limit)):
            rows.append(longer)
            scores.append(1.0 / np.arange(1, len(longer) + 1))
    # The id of a file or a folder is one of its names.
    asked = index.row(text) if text.lower() in called or SEPARATOR in text else None
    if asked is not None:
        rows.append(np.array([asked]))
        scores.append(np.array([SAME_ID]))
    if not rows:
        return NO_NUMBERS, NO_SCORES
    named, places = distinct(np.concatenate(rows).astype(np.int64))
    best = np.zeros(len(named))
    np.maximum.at(best, places, np.concatenate(scores))
    return named, best


def _is_spelled(id_: str, name: str) -> bool:
    return without_suffix(id_).replace(SEPARATOR, ".").endswith(name)
