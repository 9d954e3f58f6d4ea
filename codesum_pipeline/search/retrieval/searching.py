"""One search over lanes, levels and repositories; and the questions of a batch.

Files are ranked by all that they contain, documents by themselves, both by rank fusion over the lanes. Where several
levels are wanted, a file is shown by the document in it that fits best, and its next best documents follow. With one
lane only, the hits have its order.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.file_formats.version_folder import LANES, Lane
from codesum_pipeline.search.retrieval.adjustments import DocumentQuery
from codesum_pipeline.search.retrieval.answering import find_answer
from codesum_pipeline.search.retrieval.hits import (
    Hit,
    ReadTexts,
    SearchLiteral,
    code_word_of,
    exact_hits,
    hit_with_text,
    literals_of,
)
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.query import asks_for_tests, check_says_something, parse_query
from codesum_pipeline.search.retrieval.shelf import ANYTHING, Filters, Shelf
from codesum_pipeline.search.retrieval.weights import (
    DEFAULT_WEIGHTS,
    SIGNALS,
    Likeness,
    Weights,
    needs_vector,
    signals_of,
)

DEFAULT_TOP = 10
# What has the text literally fits if it is among so many.
_FIRST = 5


def search_indexes(indexes: Sequence[PublishedIndex], query: str, *, embedder: Embedder, **options: Any) -> list[Hit]:
    """The hits of `answer` without looking into sources."""
    return answer_query(indexes, query, embedder=embedder, **options).hits


class SearchAnswer(Struct, frozen=True):
    """`fits_well` is whether the best hits have to do with the question; None where only some lanes were searched."""

    hits: list[Hit]
    fits_well: bool | None
    likeness: Likeness = Likeness(0.0, 0.0, 0)


def answer_query(
    indexes: Sequence[PublishedIndex],
    query: str,
    *,
    embedder: Embedder,
    top: int = DEFAULT_TOP,
    levels: Sequence[Level] = LEVELS,
    lanes: Sequence[Lane] = LANES,
    filters: Filters = ANYTHING,
    weights: Weights = DEFAULT_WEIGHTS,
    read: ReadTexts | None = None,
) -> SearchAnswer:
    """At most `top` documents of all indexes, best first; ties break by importance, then by id. Where all lanes are
    searched and sources can be `read`, documents whose source has the query literally come first. Raises
    `ConfigurationError` where a dense lane is searched and an index was made with another embedding model."""
    question = _question(indexes, query, embedder, levels, lanes, filters, weights)
    if question is None:
        return SearchAnswer([], fits_well=False)
    found = find_answer(question, top=top)
    hits = found.hits
    if set(lanes) != set(LANES):
        return SearchAnswer(hits, None, found.likeness)
    exact, hits = _literal_hits(question, query, hits, read, top) if read else ([], hits)
    # A document that has the text literally and is also ranked is one hit, with both reasons.
    ranked = {(hit.repo, hit.id): hit for hit in hits}
    twice = [(hit, ranked.pop((hit.repo, hit.id), None)) for hit in exact]
    first = [replace(hit, why=f"{hit.why}; {other.why}") if other else hit for hit, other in twice]
    best = [*first, *ranked.values()][:top]
    has_text = any(hit.line is not None for hit in best[:_FIRST])
    return SearchAnswer(best, has_text or found.fits_well(), found.likeness)


def _literal_hits(
    question: DocumentQuery, query: str, hits: list[Hit], read: ReadTexts, top: int
) -> tuple[list[Hit], list[Hit]]:
    """What has the text of a query literally and so comes first, and the ranked hits. A word that is code alone is
    looked for in this way where no document has the name; in a sentence, ranked hits that have it say in which line."""
    above, word = max((hit.score for hit in hits), default=0.0), code_word_of(query)
    texts: dict[tuple[str, str], str] = {}

    def read_with_hits(index: PublishedIndex, paths: Sequence[str]) -> Mapping[str, str]:
        """The wanted files, together with those of ranked hits whose lines are looked at."""
        ours = (
            (k, hit) for k, hit in enumerate(hits) if hit.repo == index.repo and index.row(hit.file_path) is not None
        )
        code = ((k, hit) for k, hit in ours if hit.type != Level.MODULE)
        of_hits = [hit.file_path for k, hit in code if k < _FIRST or hit.may_be_long or word]
        found = read(index, [*dict.fromkeys((*paths, *of_hits))])
        texts.update(((index.repo, path), text) for path, text in found.items())
        return found

    def find(wanted: SearchLiteral | None) -> list[Hit]:
        return exact_hits(question.shelf, wanted, levels=question.levels, read=read_with_hits, above=above, top=top)

    exact = next(filter(None, map(find, literals_of(query))), [])
    if exact or word is None:
        return exact, hits
    names = {(hit.qualified_name or "").rpartition(".")[2].lower() for hit in hits}
    wanted = question.query.text.strip().replace("::", ".").rpartition(".")[2].lower()
    if question.query.is_name and wanted not in names:
        return find(word), hits
    for index in question.shelf.indexes:
        if not any(repo == index.repo for repo, _ in texts):
            read_with_hits(index, [])
    return [], [hit_with_text(hit, word, texts.get((hit.repo, hit.file_path), "")) for hit in hits]


def _question(
    indexes: Sequence[PublishedIndex],
    query: str,
    embedder: Embedder,
    levels: Sequence[Level],
    lanes: Sequence[Lane],
    filters: Filters,
    weights: Weights,
) -> DocumentQuery | None:
    """The question with the weights of its signals; None if no document could be found."""
    weights = _weights_of(lanes, weights)
    signals = signals_of(lanes)
    of_documents = tuple(signal for signal in signals if weights.signals[signal])
    of_files = tuple(signal for signal in signals if weights.file_signals[signal])
    is_dense = needs_vector({*of_documents, *of_files})
    if is_dense:
        for index in indexes:
            index.check_embedder(embedder)
    parsed = parse_query(query, embedder=embedder if is_dense else None)
    if parsed.vector is not None:
        for index in indexes:
            index.check_query(parsed.vector)
    shelf = Shelf(sorted((index for index in indexes if len(index)), key=lambda index: index.repo), filters)
    wanted = tuple(level for level in LEVELS if level in levels)
    if not shelf.indexes or not wanted:
        return None
    return DocumentQuery(
        shelf,
        parsed,
        of_documents,
        of_files,
        weights,
        wanted,
        is_one_lane=len(lanes) == 1,
        asks_for_tests=asks_for_tests(query),
    )


def _weights_of(lanes: Sequence[Lane], weights: Weights) -> Weights:
    """The weights where some lanes are named: each has a signal that counts, and a lane alone counts with all of
    them."""
    if set(lanes) == set(LANES):
        return weights
    chosen, of_files = dict(weights.signals), dict(weights.file_signals)
    for lane in lanes:
        if len(lanes) == 1 or not any(chosen[signal] for signal in SIGNALS[lane]):
            chosen.update(dict.fromkeys(SIGNALS[lane], 1.0))
            if not any(of_files[signal] for signal in SIGNALS[lane]):
                of_files.update(dict.fromkeys(SIGNALS[lane], 1.0))
    return replace(weights, signals=chosen, file_signals=of_files)


_FIELDS = ("id", "query", "repo", "level")


class BatchQuestion(Struct, frozen=True):
    """One row of a batch. Without `repo` it asks the repositories of the call, without `level` all levels."""

    id: str | int
    query: str
    repo: str | None
    level: Level | None


class BadRow(Struct, frozen=True):
    """A malformed line: its number, from 1, and the reason, which names the field."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


class RoutedQuestion(Struct, frozen=True):
    """A question, and the indexes that it asks."""

    question: BatchQuestion
    indexes: Sequence[PublishedIndex]


def read_batch(
    lines: Iterable[str], indexes: Sequence[PublishedIndex], nameable: Sequence[PublishedIndex]
) -> Iterator[RoutedQuestion | BadRow]:
    """Read each line in order; a bad one gives a `BadRow`, an empty one nothing. A question asks `indexes`, or the one
    of `nameable` that it names."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            question = parse_question(line)
            yield RoutedQuestion(question, _indexes_named(nameable, question.repo) if question.repo else indexes)
        except ConfigurationError as error:
            yield BadRow(number, str(error))


def parse_question(line: str) -> BatchQuestion:
    """Read one row; raises `ConfigurationError` that names the field."""
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ConfigurationError(f"not JSON: {error}") from error
    if not isinstance(row, dict):
        raise ConfigurationError(f"not an object but {type(row).__name__}: expected {', '.join(_FIELDS)}")
    level = _text(row, "level", required=False)
    if level is not None and level not in LEVELS:
        raise ConfigurationError(f"field 'level': {level!r} is none of {', '.join(LEVELS)}")
    query = _text(row, "query") or ""
    try:
        check_says_something(query)
    except ConfigurationError as error:
        raise ConfigurationError(f"field 'query': {error}") from error
    return BatchQuestion(
        id=_identifier(row),
        query=query,
        repo=_text(row, "repo", required=False),
        level=Level(level) if level else None,
    )


def _identifier(row: Mapping[str, Any]) -> str | int:
    """The id of a question, which its answer repeats: a text or a whole number."""
    value = row.get("id")
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return _text(row, "id") or ""


def _text(row: Mapping[str, Any], field: str, *, required: bool = True) -> str | None:
    value = row.get(field)
    if value in (None, "") and not required:
        return None
    if not isinstance(value, str) or not value.strip():
        found = "is missing" if field not in row else f"{value!r} is no text"
        raise ConfigurationError(f"field {field!r}: {found}")
    return value


def _indexes_named(indexes: Sequence[PublishedIndex], name: str) -> list[PublishedIndex]:
    """The index with this key, else those of this owner/name (a monorepo may have several)."""
    found = [index for index in indexes if index.repo == name] or [index for index in indexes if index.slug == name]
    if not found:
        known = ", ".join(sorted({index.repo for index in indexes})) or "none"
        raise ConfigurationError(f"field 'repo': {name!r} is not indexed; indexed are: {known}")
    return found
