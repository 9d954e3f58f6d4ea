"""A query, taken apart once for all lanes and all repositories: its words, its names, the places that it points to.

Related words come from a table that ships with the package: people ask for "the smallest allowed length" where code
says `min_len`. A passage that has a related word in place of a word of the query counts too, as far as the two are
alike.

Paths of other machines are compared from their ends: `/usr/lib/…/flask/app.py` is the file that shares most of its last
parts.

"Tests for the parser", "parser tests", "where is the parser tested", a test's path or name ask for tests. "A client to
test applications with" asks for something else.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import as_file, files

import numpy as np
from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, without_suffix
from codesum_pipeline.foundation.data_model.printable import shorten_text
from codesum_pipeline.foundation.language_facts.writing_systems import (
    cut_at_case,
    is_phrase_without_blanks,
    marks_class,
)
from codesum_pipeline.indexes.embedders.protocol import Embedder, is_read_by
from codesum_pipeline.indexes.file_formats.index_files import StringTable
from codesum_pipeline.indexes.file_formats.route_names import asked_route_forms
from codesum_pipeline.indexes.file_formats.stored_zip import Array, Vectors, map_npz
from codesum_pipeline.indexes.lanes.tokens import STOP_WORDS, split_identifier, tokenize, tokens_of_word
from codesum_pipeline.search.retrieval.innermost import find_innermost
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.weights import NO_NUMBERS, NO_SCORES, Numbers, Scores

# Cosines are kept in this many steps.
STEPS = 255


class RelatedWords:
    """`related[k]` are the positions, in the sorted `words`, of the words nearest to word k, with -1 behind the last;
    `likeness` are their cosines in `STEPS`. What was read of a word is remembered."""

    def __init__(self, words: StringTable, related: Array, likeness: Array) -> None:
        self._words = words
        self._related = related
        self._likeness = likeness
        self._known: dict[str, list[tuple[str, float]]] = {}

    def of(self, text: str) -> dict[str, float]:
        """The tokens related to the words of a text, each with its highest cosine; none of the text's own."""
        words = dict.fromkeys(part for word in text.split() for part in _spoken_parts(word))
        own = {token for part in words for token in tokens_of_word(part).split()}
        self._read([word for word in words if word not in self._known])
        found: dict[str, float] = {}
        for word in words:
            for token, likeness in self._known.get(word, ()):
                if token not in own:
                    found[token] = max(found.get(token, 0.0), likeness)
        return found

    def _read(self, words: Sequence[str]) -> None:
        for word, position in zip(words, self._words.find_all(words), strict=True):
            if position is not None:
                of_word = zip(self._related[position].tolist(), self._likeness[position].tolist(), strict=True)
                self._known[word] = [
                    (token, steps / STEPS)
                    for other, steps in of_word
                    if other >= 0
                    for token in tokens_of_word(self._words[other]).split()
                ]


@cache
def load_related_words() -> RelatedWords:
    with as_file(files("codesum_pipeline.indexes") / "shipped_models" / "related_words.npz") as path:
        arrays = map_npz(path)
    return RelatedWords(StringTable(arrays["words"], arrays["offsets"]), arrays["related"], arrays["likeness"])


_RUN = re.compile(r"[\w./:#-]+")
_WORD = re.compile(r"\w+")
# A word like code: with a separator inside, a digit, a capital behind a small letter, or several before small ones.
_LOOKS_LIKE_CODE = re.compile(r"\w[._/:]+\w|_|\d|[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
# A query this short is a name more often than a sentence.
_SHORT_QUERY_WORDS = 2
_COMPOUND_WORDS = (2, 3)


class Query(Struct, frozen=True):
    """`names` may be names of documents; `words` are the stems that file names are compared with. `identifiers` are the
    words that look like code, `compounds` neighbouring words as one name. `vector` is None if no lane needs it,
    `related` are tokens of other words that mean nearly the same, with their likeness. `is_read` is whether the vector
    means something."""

    text: str
    tokens: tuple[str, ...]
    words: frozenset[str]
    names: tuple[str, ...]
    identifiers: tuple[str, ...]
    compounds: tuple[str, ...]
    vector: Vectors | None
    related: Mapping[str, float]
    is_read: bool = True

    @property
    def is_name(self) -> bool:
        """Whether it is one word, as names of code are."""
        text = self.text.strip()
        return _words_of_names(text) == [text] and not is_phrase_without_blanks(text)


def parse_query(text: str, *, embedder: Embedder | None) -> Query:
    """Take a query apart; `embedder` is None if no dense lane is searched."""
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
        is_read=is_read_by(embedder, text),
    )


def check_says_something(text: str) -> None:
    """Raise `ConfigurationError` for a query without a letter or a digit."""
    if not any(map(str.isalnum, text)):
        problem = f"query {shorten_text(text)!r} has no word" if text.strip() else "the query is empty"
        raise ConfigurationError(f"{problem}: say what is looked for, in words or as a name")


def names_in(text: str) -> tuple[str, ...]:
    """The words that may name a document: those that look like code, and all of a short query. `a::b` is written as the
    qualified name `a.b`."""
    found = _words_of_names(text)
    if len(found) > _SHORT_QUERY_WORDS:
        found = [word for word in found if _LOOKS_LIKE_CODE.search(word)]
    spoken = "_".join(part for word in _words_of_names(text) for part in _spoken_parts(word))
    names = (*(word.replace("::", ".") for word in found), *([spoken] if spoken else []), *asked_route_forms(text))
    return tuple(dict.fromkeys(names))


def _spoken_parts(word: str) -> list[str]:
    """The parts of a name in small letters, with their accents; a name without blanks is whole."""
    return split_identifier(word) if word.isascii() else [part.lower() for part in cut_at_case(word)]


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
    compounds = [some for some in neighbours if names.issuperset(some)]
    return tuple(dict.fromkeys(joint.join(some) for some in compounds for joint in ("", "_")))


def _words_of_names(text: str) -> list[str]:
    """The names in a text, in one pass over a text of any length."""
    names = _RUN if text.isascii() else _names_with_marks()
    return [name for run in names.findall(text) if (name := run.rstrip("./:#-"))]


@cache
def _names_with_marks() -> re.Pattern[str]:
    return re.compile(rf"[\w{marks_class()}./:#-]+")


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
    """The path that a word is, with the line after it; None for another word."""
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
        named = [row for row in index.names.rows_named(pointer.parts[-1]) if index.level_of(row) is Level.FILE]
        shared = {row: _shared(index.ids[row].lower().split("/"), pointer.parts) for row in named}
        most = max(shared.values(), default=0)
        files = [row for row, count in shared.items() if count == most]
        for file in files if most and len(files) <= _MOST_FILES else ():
            levels = (Level.FUNCTION, Level.CLASS)
            around = None if pointer.line is None else find_innermost(index, file, pointer.line, levels)
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
    typed, routes = text.replace("::", "."), asked_route_forms(text)
    rows: list[Array] = []
    scores: list[Scores] = []
    for name in dict.fromkeys((*query.names, text)):
        if found := called.get(name.lower()):
            is_typed, is_route = name in typed, name in routes
            spelled = [
                SPELLED_NAME if is_route or (is_typed and _is_spelled(index.ids[row], name)) else EXACT_NAME
                for row in found
            ]
            rows.append(np.array(found))
            scores.append(np.array(spelled))
        if len(name) >= _SHORTEST_PREFIX and len(longer := index.names.with_prefix(name, limit=limit)):
            rows.append(longer)
            scores.append(1.0 / np.arange(1, len(longer) + 1))
    # The id of a file or a folder is one of its names.
    row_of_id = index.row(text) if text.lower() in called or SEPARATOR in text else None
    if row_of_id is not None:
        rows.append(np.array([row_of_id]))
        scores.append(np.array([SAME_ID]))
    if not rows:
        return NO_NUMBERS, NO_SCORES
    named, places = np.unique(np.concatenate(rows).astype(np.int64), return_inverse=True)
    best = np.zeros(len(named))
    np.maximum.at(best, places, np.concatenate(scores))
    return named, best


def _is_spelled(id_: str, name: str) -> bool:
    return without_suffix(id_).replace(SEPARATOR, ".").endswith(name)


_SPOKEN = re.compile(r"(?<![./:#'-])(?:[./:#'-]*+\w++)++")
# Names and paths that only tests have. A name with `Test` at its start may be a tool for testing (`TestClient`).
_TEST_NAME = re.compile(
    r"(?:^|[/.:])(?:test_\w+|[a-z]\w*_(?:test|spec)|\w*[a-z0-9](?:Test|Tests|Spec)|test[A-Z]\w*)(?:$|[.:#])"
    r"|[.-](?:test|spec)\.[cm]?[jt]sx?\b|(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|/)conftest\.py$"
)
_WORDS = {
    name: frozenset(words.split())
    for name, words in tomllib.loads((files(__package__) / "test_questions.toml").read_text("utf-8")).items()
}
_KINDS, _TESTS, _MOCKS, _OF_TESTS = (_WORDS[name] for name in ("kinds", "tests", "mocks", "of_tests"))
_MANY = _TESTS - {"test", "spec", "fixture"}
_LONGEST_PHRASE = 6
# The question is at the beginning; pages of output may follow.
_CHARS_READ = 1_000


def asks_for_tests(text: str) -> bool:
    """Whether a question asks for tests or parts of them."""
    written = _SPOKEN.findall(text[:_CHARS_READ])
    words = [word.lower() for word in written]
    if any(map(_TEST_NAME.search, written)):
        return True
    start = next((number for number, word in enumerate(words) if word not in _WORDS["asking"]), len(words))
    return _begins_with_tests(words[start:], words[:start]) or _ends_with_tests(words[start:]) or _is_tested(words)


def _begins_with_tests(words: list[str], asking: list[str]) -> bool:
    """Whether a question begins as "unit tests of x", "test cases that …" or "which tests cover x"."""
    rest = _without_kinds(words)
    if not rest or rest[0] not in _TESTS | _MOCKS:
        return False
    further = rest[1:]
    if rest[0] in _MOCKS:
        return bool(further) and further[0] in ("for", "of")
    if further and further[0] in _OF_TESTS:
        further = further[1:]
    is_whole = not further or further[0] in _WORDS["about"]
    return is_whole or (rest[0] in _MANY and bool({"what", "which"} & {*asking}))


def _ends_with_tests(words: list[str]) -> bool:
    """Whether a question is like "parser tests": a name before them, and no verb for what is done with them."""
    is_part = len(words) > 2 and words[-1] in _OF_TESTS and words[-2] in ("test", "tests")
    words = words[:-1] if is_part else words
    if not 2 <= len(words) <= _LONGEST_PHRASE:
        return False
    # A single `test` may be a statistical one.
    are_tests = words[-1] in _MANY or (words[-1] == "test" and (is_part or words[-2] in _KINDS))
    return are_tests and not (_WORDS["handling"] | _WORDS["joints"]) & {*words}


def _is_tested(words: list[str]) -> bool:
    """Whether a question is like "where is x tested" or "how is x set up in tests", not "how do I test x"."""
    if not words or words[0] not in _WORDS["questions"]:
        return "covered by" in " ".join(words) and bool(_TESTS & {*words[-2:]})
    if words[0] == "how" and words[1:2] and words[1] in _WORDS["own_needs"] and not _subject_is_tests(words[2:]):
        return False
    if words[-1] == "tested" or (words[0] != "what" and {"tested", "unit-tested"} & {*words}):
        return True
    ends = words[-1] in _MANY and bool({"in", "by"} & {*words[-4:-1]})
    return ends or (words[1:2] == ["do"] and _subject_is_tests(words[2:]))


def _subject_is_tests(words: list[str]) -> bool:
    rest = _without_kinds([word for number, word in enumerate(words) if number or word not in ("the", "our", "your")])
    return bool(rest) and rest[0] in _MANY


def _without_kinds(words: list[str]) -> list[str]:
    start = next((number for number, word in enumerate(words) if word not in _KINDS), len(words))
    return words[start:]
