"""The text of a document in each lane, and the passages into which the source of a file is cut.

A text depends on that document, its file and the names below it, on nothing else: an edit elsewhere leaves it, its
vector and its terms as they are. A text is known by its hash, which is all that carrying over looks at. A model's text
replaces the extractive one, which opens with the author's words; so the lanes read these words beside the model's text.

Each passage is ranked by itself: a word says something about the lines around it, not about a whole file. A text has
its passages in one string, and so have its tokens.
"""

import hashlib
from collections.abc import Collection, Iterator
from importlib import metadata
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.evidence.extractive.extractive_parents import author_opening, author_opening_of_function
from codesum_pipeline.evidence.extractive.words import identifier_in_words
from codesum_pipeline.evidence.inputs import UpperInput
from codesum_pipeline.foundation.data_model.document import Level, WrittenBy
from codesum_pipeline.foundation.data_model.edge import Alias, AliasKind
from codesum_pipeline.foundation.data_model.guard import FailureGuard, guard_item
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.store.rows import RowReader, TableReader, from_table, join_by_row, rows_to_read
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.table_parts import paths_of
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.file_formats.arrow_texts import scalar_of, utf8_parts
from codesum_pipeline.indexes.file_formats.version_folder import Lane
from codesum_pipeline.indexes.lanes.tokens import TOKENS_VERSION
from codesum_pipeline.texts.summaries.function_texts import docstrings_of
from codesum_pipeline.texts.summaries.outline import head_layers, read_classes, read_files, read_outline
from codesum_pipeline.texts.summaries.text_changes import is_in_files

# Between the passages of a text, and between those of its tokens, which are one line otherwise.
TEXT_BREAK = "\x1d"
TOKEN_BREAK = "\n"

# About forty lines. A usual function fits; of whole files BM25 finds the right one less often (nDCG@10 .65 against .74
# alone, see benchmarks/results/retrieval.md).
PASSAGE_CHARACTERS = 1500

# What `str.splitlines` takes for the end of a line besides the newline.
_OTHER_LINE_ENDS = "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def cut_passages(source: str) -> str:
    """A source with breaks at line ends, so that no passage of several lines is longer than `PASSAGE_CHARACTERS`."""
    has_others = any(end in source for end in _OTHER_LINE_ENDS)
    return TEXT_BREAK.join(_by_lines(source) if has_others else _by_newlines(source))


def _by_newlines(source: str) -> Iterator[str]:
    """Where no other character ends a line: without looking at each of the lines."""
    start = 0
    while len(source) - start > PASSAGE_CHARACTERS:
        end = source.rfind("\n", start, start + PASSAGE_CHARACTERS) + 1
        if not end:
            # One line is longer.
            end = source.find("\n", start + PASSAGE_CHARACTERS) + 1
        if end in (0, len(source)):
            break
        yield source[start:end]
        start = end
    yield source[start:]


def _by_lines(source: str) -> Iterator[str]:
    start = end = 0
    for line in source.splitlines(keepends=True):
        if end > start and end + len(line) - start > PASSAGE_CHARACTERS:
            yield source[start:end]
            start = end
        end += len(line)
    yield source[start:]


def break_apart(texts: pa.Array, separator: str) -> tuple[pa.Array, pa.Array]:
    """The passages of all texts in order, and for each the position of its text."""
    split = pc.split_pattern(texts, separator)
    return split.flatten(), pc.list_parent_indices(split)


# Part of the hash of every BM25 text: a change indexes all terms again.
LANES_VERSION = f"3/{TOKENS_VERSION}/{metadata.version('PyStemmer')}"
# Part of the hash of every dense text: a change embeds everything again, which may cost money. Vectors do not depend on
# the words of BM25; the hash has the first version of these, with which vectors were made.
DENSE_VERSION = f"3/1/{metadata.version('PyStemmer')}"

# How much of a body is embedded: about 512 tokens; in a longer text
# one vector says less and less about each line.
BODY_CHARACTERS = 1200

# Documents whose texts are made at one time: bounds the memory.
_AT_ONCE = 1 << 12
# Documents whose bodies are read at one time: with fewer, parts of the tables would be read more often.
_BODIES_AT_ONCE = 1 << 15
_FEW_DOCUMENTS = 1 << 12

_COLUMNS = [
    "id", "type", "file_path", "qualified_name", "summary", "business_intent", "keywords", "signature",
    "is_placeholder", "parent_id", "written_by", "content_hash", "text_hash",
]  # fmt: skip
# The tables of bodies: name, column of ids, column of texts.
_BODIES = (("symbols", "id", "canonical_source"), ("file_facts", "file_path", "source"))
# What has more names is called by none of them.
_MOST_NAMES = 20
_NULL = pa.scalar(None, pa.large_string())
_UP_TO_DOT, _UP_TO_SLASH = r"(?s)^.*\.", "(?s)^.*/"


class LaneText(Struct, frozen=True):
    """One document's text in one lane. A dense text longer than the model's limit is cut, but its first
    `keep_characters` are not."""

    text: str
    text_hash: str
    keep_characters: int = 0


class LaneTexts(Struct, frozen=True):
    """The texts of one lane in id order. `setting` and `version` are what else decides what is made of them."""

    lane: Lane
    ids: pa.StringArray
    texts: pa.LargeStringArray
    keep_characters: pa.IntegerArray
    setting: str = ""
    version: str = LANES_VERSION

    def __len__(self) -> int:
        return len(self.ids)

    def hash_all(self) -> pa.StringArray:
        of_setting = hashlib.sha1(f"{self.version} {self.setting}\n".encode(), usedforsecurity=False)
        hashes = []
        for text in utf8_parts(self.texts):
            digest = of_setting.copy()
            digest.update(text)
            hashes.append(digest.hexdigest())
        return pa.array(hashes, pa.string())


def read_heads(
    ws: Workspace, paths: Collection[str] | None = None, *, around: Collection[str] | None = None
) -> pa.Table:
    """What the lanes need of every document besides its body, in id order; or of those of some files and folders, for
    which those `around` are read. `name` is the qualified name, or above classes the path; of a function, `child_names`
    is null. `own_body` is that of a module, null for others: the names of its files and folders with the names defined
    in them."""
    documents = ws.tables.read_files("documents", ws.key, around, columns=_COLUMNS).combine_chunks()
    ids, files = documents.column("id"), _wide(documents.column("file_path"))
    names = pc.if_else(
        pc.equal(pc.fill_null(documents.column("qualified_name"), ""), ""),
        files,
        _wide(documents.column("qualified_name")),
    )
    is_symbol = pc.is_in(documents.column("type"), value_set=pa.array([str(Level.FUNCTION), str(Level.CLASS)]))
    short = pc.if_else(
        is_symbol,
        pc.replace_substring_regex(names, _UP_TO_DOT, ""),
        pc.replace_substring_regex(names, _UP_TO_SLASH, ""),
    )
    parents = pc.index_in(documents.column("parent_id"), value_set=ids.combine_chunks())
    defined = join_by_row(
        pc.if_else(pc.match_substring(ids, SEPARATOR), parents, pa.scalar(None, pa.int32())), short, len(ids), " "
    )
    lines = pc.if_else(pc.equal(defined, ""), short, _joined(short, defined, separator=" "))
    none, is_function, is_module = (
        _NULL,
        pc.equal(documents.column("type"), str(Level.FUNCTION)),
        pc.equal(documents.column("type"), str(Level.MODULE)),
    )
    heads = {
        **{
            name: documents.column(name)
            for name in ("id", "type", "keywords", "is_placeholder", "written_by", "content_hash", "text_hash")
        },
        "file_path": files,
        "name": names,
        "short_name": short,
        "summary": _wide(documents.column("summary")),
        "business_intent": _wide(documents.column("business_intent")),
        "signature": pc.fill_null(_wide(documents.column("signature")), scalar_of("")),
        "child_names": pc.if_else(is_function, none, join_by_row(parents, short, len(ids), ", ")),
        "own_body": pc.if_else(is_module, join_by_row(parents, lines, len(ids), "\n"), none),
        "other_names": _other_names(ws, ids, paths),
    }
    own_files = pc.index_in(documents.column("file_path"), value_set=ids.combine_chunks())
    heads["file_hash"] = pc.fill_null(documents.column("content_hash").take(own_files), "")
    found = pa.table(heads)
    return (found if paths is None else found.filter(is_in_files(ids, paths))).combine_chunks()


def lane_sources(ws: Workspace, heads: pa.Table, *, body_characters: int | None = None) -> Iterator[pa.Table]:
    """All that the lanes need of documents (rows of `read_heads`), some at a time; of a body the first
    `body_characters` or all. There is at least one part. `body` is the canonical source of a symbol, the source of a
    file, and of a module its own."""
    # Of few documents all of their files is read.
    few = pc.unique(paths_of(heads.column("id"))).to_pylist() if heads.num_rows <= _FEW_DOCUMENTS else None
    rows, readers = {}, dict[str, RowReader]()
    for table, id_, body in _BODIES:
        if few is None:
            known = ws.tables.read(table, ws.key, columns=[id_])
            readers[table] = ws.tables.reader(table, ws.key, columns=[body])
        else:
            known = ws.tables.read_files(table, ws.key, few, columns=[id_, body])
            readers[table] = TableReader(None, known.select([body]), 1)
        places = pc.index_in(heads.column("id"), value_set=known.column(id_).combine_chunks())
        rows[table, body] = pc.fill_null(places, -1).to_numpy().astype(np.int64)

    def cut(texts: pa.LargeStringArray) -> pa.LargeStringArray:
        return texts if body_characters is None else pc.utf8_slice_codeunits(texts, 0, body_characters)

    heads = heads.set_column(heads.column_names.index("summary"), "summary", _summaries(ws, heads))
    for start in range(0, max(heads.num_rows, 1), _BODIES_AT_ONCE):
        some = heads.slice(start, _BODIES_AT_ONCE)
        bodies = [cut(some.column("own_body"))]
        for (table, body), every in rows.items():
            wanted, places = rows_to_read(every[start : start + some.num_rows])
            texts = readers[table].at(wanted).column(body)
            bodies.append(cut(_wide(texts).combine_chunks()).take(places))
        yield some.append_column("body", pc.coalesce(*bodies, scalar_of("")))


def _other_names(ws: Workspace, ids: pa.ChunkedArray, paths: Collection[str] | None) -> pa.LargeStringArray:
    """What the file of each document calls it besides its name: routes, commands, keys of tables."""
    found: dict[str, dict[str, None]] = {}
    aliases = ws.tables.read_files("aliases", ws.key, paths, columns=TABLES["aliases"].schema.names)
    for alias in from_table(aliases.filter(pc.not_equal(aliases["kind"], str(AliasKind.EXPORT))), Alias):
        if alias.target.startswith(f"{alias.file_path}{SEPARATOR}"):
            found.setdefault(alias.target, {})[f"{alias.kind} {alias.name}"] = None
    names = pa.array([" ".join([*each][:_MOST_NAMES]) for each in found.values()], pa.large_string())
    return names.take(pc.index_in(ids, value_set=pa.array([*found], pa.string())).combine_chunks())


def with_name(name: str, summary: str) -> str:
    """The summary, with the words of the document's name before it where it does not contain them."""
    words = identifier_in_words(name.partition(".")[0] or name)
    return summary if words.lower() in summary.lower() else f"{words}. {summary}"


def _summaries(ws: Workspace, heads: pa.Table) -> pa.ChunkedArray:
    """The summaries: a model's is followed by the author's words, the others contain the words of the name."""
    is_by_model = pc.equal(heads.column("written_by"), WrittenBy.LLM.value)
    each = zip(
        *(heads.column(name).to_pylist() for name in ("short_name", "summary")), is_by_model.to_pylist(), strict=True
    )
    own = [summary if by_model else with_name(name, summary) for name, summary, by_model in each]
    summaries = pa.chunked_array([pa.array(own, pa.large_string())])
    words = author_words(ws, heads.select(["id", "type"]).filter(is_by_model))
    if not words:
        return summaries
    ids = heads.column("id").to_pylist()
    openings = pa.chunked_array([pa.array([words.get(id_) for id_ in ids], pa.large_string())])
    return pc.binary_join_element_wise(summaries, openings, scalar_of("\n"), null_handling="skip")


def in_parts(sources: pa.Table) -> Iterator[pa.Table]:
    """Some documents at a time, for their texts together are several times as long as their sources; at least one
    part."""
    return (sources.slice(start, _AT_ONCE) for start in range(0, max(sources.num_rows, 1), _AT_ONCE))


def dense_texts(sources: pa.Table, *, max_tokens: int) -> tuple[LaneTexts, LaneTexts]:
    """The texts of the `DENSE_LANES`; none for a placeholder. `max_tokens` bounds the summary lane."""
    some = sources.filter(pc.invert(sources.column("is_placeholder"))).combine_chunks()
    ids, name, summary = some["id"], some["name"], some["summary"]
    # Above functions the fused lane reads names in place of the body.
    below = pc.utf8_slice_codeunits(pc.coalesce(some["child_names"], some["body"]), 0, BODY_CHARACTERS)
    title = pc.if_else(pc.equal(some["signature"], ""), name, some["signature"])
    fused = _joined(title, summary, below, separator="\n")
    head = _joined(name, some["business_intent"], scalar_of(""), separator="\n")
    return (
        _dense_texts(Lane.FUSED, ids, fused),
        _dense_texts(Lane.SUMMARY, ids, _joined(head, summary), setting=str(max_tokens), keep=pc.utf8_length(head)),
    )


def term_texts(sources: pa.Table, guard: FailureGuard | None = None) -> tuple[LaneTexts, ...]:
    """The texts of the BM25 lanes, for placeholders too; a file's source is cut into passages."""
    name, path, keywords = (sources[column] for column in ("name", "file_path", "keywords"))
    other_name = pc.if_else(pc.equal(name, path), _NULL, path)
    spaced = pc.binary_join(keywords.cast(pa.large_list(pa.large_string())), scalar_of(" "))
    joined = pc.if_else(pc.equal(pc.list_value_length(keywords), 0), _NULL, spaced)
    named = (joined, name, other_name, sources["other_names"])
    words = pc.binary_join_element_wise(*named, scalar_of(" "), null_handling="skip")
    is_file = pc.equal(sources["type"], str(Level.FILE))
    of_files = sources.filter(is_file)
    paths_and_bodies = zip(of_files["id"].to_pylist(), of_files["body"].to_pylist(), strict=True)
    passages = []
    for id_, body in paths_and_bodies:
        # One passage where cutting fails.
        passages.append(body)
        with guard_item(guard, id_):
            passages[-1] = cut_passages(body)
    files = pa.array(passages, pa.large_string())
    bodies = pc.replace_with_mask(sources["body"].combine_chunks(), is_file.combine_chunks(), files)
    summaries = _joined(name, sources["summary"], sources["business_intent"], separator="\n")
    return (
        _term_texts(Lane.CODE, sources["id"], _joined(name, bodies, separator="\n")),
        _term_texts(Lane.KEYWORDS, sources["id"], words),
        _term_texts(Lane.SUMMARY, sources["id"], summaries),
    )


def hashes_unless(failed: pa.BooleanArray, hashes: pa.Array) -> pa.Array:
    """The hashes of texts; those of failed texts are changed, so that nothing made of them is carried over."""
    return pc.if_else(failed, pc.binary_join_element_wise("failed", hashes, " "), hashes)


def _dense_texts(
    lane: Lane, ids: pa.ChunkedArray, texts: pa.ChunkedArray, *, setting: str = "", keep: pa.ChunkedArray | None = None
) -> LaneTexts:
    keep = pa.repeat(0, len(texts)) if keep is None else keep.combine_chunks()
    return LaneTexts(lane, ids.combine_chunks(), texts.combine_chunks(), keep, setting, DENSE_VERSION)


def _term_texts(lane: Lane, ids: pa.ChunkedArray, texts: pa.ChunkedArray) -> LaneTexts:
    return LaneTexts(lane, ids.combine_chunks(), texts.combine_chunks(), pa.repeat(0, len(texts)))


def _joined(*parts: pa.ChunkedArray | pa.Scalar, separator: str = "") -> pa.ChunkedArray:
    return pc.binary_join_element_wise(*parts, scalar_of(separator))


def _wide(strings: pa.ChunkedArray) -> pa.ChunkedArray:
    """The strings with 64-bit offsets: all texts of a large repository together are longer than 2 GB."""
    return strings.cast(pa.large_string())


# Part of the versions of builds in which a model writes: a change makes their lanes anew.
AUTHOR_WORDS_VERSION = "5"


def author_words(ws: Workspace, documents: pa.Table) -> dict[str, str]:
    """By id the opening of the author's documentation, of those `documents` (id, type) that have one."""
    ids, levels = (documents.column(name).to_pylist() for name in ("id", "type"))
    by_level = {level: {id_ for id_, found in zip(ids, levels, strict=True) if found == level} for level in Level}
    wanted = set(ids)
    words: dict[str, str] = {}
    # A document whose documentation cannot be read has none; the step that wrote its text counted it.
    guard = FailureGuard()
    for id_, language, name, docstring in docstrings_of(ws, by_level[Level.FUNCTION]):
        with guard.item(id_):
            words[id_] = author_opening_of_function(docstring, language, name)
    heads: list[UpperInput] = [*read_classes(ws)] if by_level[Level.CLASS] else []
    heads += read_files(ws) if by_level[Level.FILE] else ()
    heads += chain(*head_layers(ws, Level.MODULE, read_outline(ws))) if by_level[Level.MODULE] else ()
    for head in (head for head in heads if head.id in wanted):
        with guard.item(head.id):
            words[head.id] = author_opening(head)
    return {id_: found for id_, found in words.items() if found}
