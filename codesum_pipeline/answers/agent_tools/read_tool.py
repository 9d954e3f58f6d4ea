"""`read`: documents and lines of sources, several at once."""

import math
import re
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.agent_tools.block_outline import MOST_BLOCKS, outline_of
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.graph_role import ROLE_FACTS, role_of
from codesum_pipeline.answers.agent_tools.graph_subjects import constant_place
from codesum_pipeline.answers.agent_tools.skipped_files import read_skipped
from codesum_pipeline.answers.agent_tools.start_names import start_names
from codesum_pipeline.answers.agent_tools.surroundings import USERS_FACTS, called_names, users_line
from codesum_pipeline.answers.agent_tools.tool_answers import (
    AnswerPage,
    DocumentRow,
    Name,
    Names,
    PagedArguments,
    indent_lines,
    number_lines,
    tokens_of,
)
from codesum_pipeline.foundation.data_model.document import LONG_LINES, Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.notebook_cells import told_cell, without_cell
from codesum_pipeline.foundation.data_model.printable import clean_text, count_noun, one_line, shorten_text, some_of
from codesum_pipeline.search.retrieval.hits import best_lines
from codesum_pipeline.search.retrieval.passages import find_passage
from codesum_pipeline.search.retrieval.published_index import IndexedDocument
from codesum_pipeline.texts.summaries.told_fields import told_inputs, told_result

_TOOL = "read"
DEFAULT_LINES = 200
# A longer function is shown as its outline: it would take more than a third of an answer.
WHOLE_LINES = 120
_LONGEST_LINE = 1000
_LINES_NAMED = 20
# About as many a line of an outline takes, with as many for what else is said.
_TOKENS_OF_BLOCK = 30
# Of the lines every tenth has its number: with a number each, reading a function cost an eighth more.
_NUMBERED = 10
# What a source does not say, and what an outline does not.
_BESIDE_SOURCE = {*USERS_FACTS, *ROLE_FACTS} - {"used by"}
_BESIDE_OUTLINE = {*_BESIDE_SOURCE, "summary", "calls", "side effects"}
_RANGE = re.compile(r":(\d{1,9})(?:-(\d{1,9}))?$")


class ReadArguments(PagedArguments):
    """Documents or lines, and how much of each."""

    ids: Names = Field(min_length=1, description="Documents' ids, names, `path`, `path:line` or `path:first-last`")
    repo: Annotated[Name, Field(description="Where several have it")] = ""
    start_line: int = Field(0, ge=0, description="1-based, inclusive; of one id")
    end_line: int = Field(0, ge=0)
    parts: Literal["all", "summary", "source"] = "all"
    query: Annotated[Name, Field(description="The lines that fit are shown")] = ""
    excerpt: int = Field(0, ge=0, le=DEFAULT_LINES)
    tokens: int = Field(6000, ge=100, le=100_000)


class ReadItem(DocumentRow):
    """One document: its texts by field, the `outline` of a long function as `first-last<tab>head`, and lines of its
    source from `first_line`. The text repeats no path that the caller named; among several, each item has its own."""

    names_path: bool = Field(False, exclude=True)
    facts: dict[str, str] = {}
    outline: list[str] = []
    first_line: int | None = None
    lines: list[str] = []
    last_line: int | None = None
    more_lines: int = 0

    def line(self, *, with_repo: bool = False) -> str:
        if not self.names_path or self.start_line is None:
            return super().line(with_repo=with_repo)
        changed = "  (changed since)" if self.changed_since else ""
        cell = f" ({told_cell(self.cell, self.cell_line)})" if self.cell else ""
        return f"{self.start_line}-{self.end_line}{cell}  {self.kind}  {self.text}{changed}"


class ReadPage(AnswerPage):
    """What was read, in the order of the ids."""

    items: list[ReadItem] = []

    def text(self) -> str:
        """The text for agents, with the commits that are not HEAD: lines of HEAD are what the caller expects."""
        lines = [line for item in self.items for line in _text_of(item).split("\n")]
        others = [each for each in self.as_of if not each.is_head]
        return self.model_copy(update={"as_of": others}).framed(lines, what="documents")


def read(call: ToolContext, arguments: ReadArguments) -> ReadPage:
    """Answer with as much as fits; lines of a source are cut first."""
    if (arguments.start_line or arguments.end_line) and len(arguments.ids) != 1:
        raise ConfigurationError(
            f"start_line and end_line are of one id, {len(arguments.ids)} were given: write `path:first-last` for each"
        )

    def place_of_text(text: str) -> tuple[IndexedDocument, str]:
        place = constant_place(call, text, arguments.repo) or without_cell(text)
        return call.find(place, arguments.repo), place

    meant = call.each_found(arguments.ids, place_of_text)
    found, texts = [each for each, _ in meant], [text for _, text in meant]
    indexes = list({each.index.version.digest: each.index for each in found}.values())
    sources = call.sources(indexes)
    item, line = (*call.start(_TOOL, arguments, indexes), 0)[:2]
    items: list[ReadItem] = []
    tokens = arguments.tokens
    while item < len(found) and len(items) < arguments.limit:
        try:
            one = _read_one(call, sources, found[item], arguments, texts[item], after=line)
        except ConfigurationError as error:
            if len(found) == 1 or (item == len(found) - 1 and not items):
                raise
            call.tell(str(error))
            item, line = item + 1, 0
            continue
        kept = _cut(one, tokens, must=not items)
        if kept is None:
            break
        items.append(kept)
        tokens -= tokens_of(_text_of(kept))
        if len(kept.lines) < len(one.lines):
            line = kept.last_line or 0
            break
        item, line = item + 1, 0
    return ReadPage(
        as_of=call.as_of([each.repo for each in items]),
        shown=len(items),
        total=len(found),
        next=call.next(_TOOL, arguments, indexes, (item, line)) if item < len(found) else None,
        items=items,
    )


def _read_one(
    call: ToolContext,
    sources: SourceReader,
    found: IndexedDocument,
    arguments: ReadArguments,
    text: str,
    *,
    after: int,
) -> ReadItem:
    """One document within its bound of lines; `after` a line, without the text that an earlier part had."""
    row, path = DocumentRow.of(found), found.id.partition(SEPARATOR)[0]
    is_range = bool(arguments.start_line or arguments.end_line or _RANGE.search(text)) and arguments.parts != "summary"
    has_source = arguments.parts != "summary" and row.kind != Level.MODULE
    source = sources.text(found.repo, path) if has_source else None
    is_told = source is not None and _is_told_by_source(row, arguments)
    facts: dict[str, str] = {}
    if not (is_range or after or arguments.parts == "source"):
        beside = _BESIDE_SOURCE if is_told else _BESIDE_OUTLINE
        facts = _facts(call, found, row, only=None if source is None else beside)
    if is_range or after or is_told:
        # A caller who knows the lines knows the summary, too, and a source says it at more length.
        row = row.model_copy(update={"text": one_line(found.index.shown.of_row(found.row)["qualified_name"] or "")})
    names_path = len(arguments.ids) == 1 and arguments.ids[0].startswith(path)
    item = ReadItem(**row.model_dump(), facts=facts, names_path=names_path)
    if row.kind == Level.MODULE:
        hidden = call.catalogue.hidden_folders(found.repo)
        skipped = read_skipped(call.catalogue.layout, found.repo, hidden=hidden).named(found.id)
        item.facts |= {"skipped": skipped} if skipped else {}
    if source is None:
        return item
    item.facts.update(_unread(found, path, row))
    if _is_outlined(row, arguments) and not (is_range or after):
        return _outlined(item, source, arguments)
    if arguments.excerpt:
        best = best_lines(
            source, arguments.query, size=arguments.excerpt, start_line=row.start_line, end_line=row.end_line
        )
        return _with_lines(item, [clean_text(line) for line in best.lines], best.start_line, more=0)
    lines = source.removesuffix("\n").split("\n")
    first, end = _span(arguments, text, row, len(lines))
    first = max(first, after + 1)
    last = min(end, first + DEFAULT_LINES - 1)
    shown = [
        line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"
        for line in map(clean_text, lines[first - 1 : last])
    ]
    if first > 1 and (place := found.index.cell_at(path, first)) and first != row.start_line:
        item.facts["begins in"] = str(place)
    return _with_lines(item, shown, first, more=max(0, end - last))


def _facts(
    call: ToolContext, found: IndexedDocument, row: DocumentRow, *, only: Collection[str] | None
) -> dict[str, str]:
    """What is known of a document and its row does not say; of some facts, what is known."""
    document = found.document()
    values = {"summary": document["summary"], "signature": document["signature"] or ""}
    values |= {**_facts_of_graph(call, found), **facts_of(document)}
    texts = {name: one_line(each if isinstance(each, str) else "; ".join(each)) for name, each in values.items()}
    wanted = texts if only is None else only
    return {name: each for name, each in texts.items() if name in wanted and each and each not in row.text}


def _is_told_by_source(row: DocumentRow, arguments: ReadArguments) -> bool:
    """Whether the answer has all lines of a function or class, and nothing but these says what it is for."""
    is_whole = row.kind in (Level.FUNCTION, Level.CLASS) and not _is_longer(row, WHOLE_LINES)
    return is_whole and not _is_outlined(row, arguments) and arguments.parts == "all" and not arguments.excerpt


def _is_outlined(row: DocumentRow, arguments: ReadArguments) -> bool:
    """Whether a function is too long to be read whole. With a query fewer lines are, since those that fit are shown."""
    longest = LONG_LINES if arguments.query.strip() else WHOLE_LINES
    is_long = row.kind == Level.FUNCTION and _is_longer(row, longest)
    return is_long and arguments.parts == "all" and not arguments.excerpt


def _is_longer(row: DocumentRow, lines: int) -> bool:
    first, last = row.start_line, row.end_line
    return first is not None and last is not None and last - first >= lines


def _outlined(item: ReadItem, source: str, arguments: ReadArguments) -> ReadItem:
    """A long function as its blocks, as many as fit, with the lines that fit a query."""
    first, last = item.start_line or 1, item.end_line or 1
    lines = source.removesuffix("\n").split("\n")
    most = min(MOST_BLOCKS, max(1, arguments.tokens // _TOKENS_OF_BLOCK))
    blocks, query = outline_of(lines[first - 1 : last], first=first, most=most), arguments.query
    item = item.model_copy(update={"outline": [clean_text(shorten_text(str(block))) for block in blocks]})
    passage = find_passage(source, query, start_line=first, end_line=last) if query.strip() else None
    if passage is None:
        return item
    shown = [clean_text(line) for line in lines[passage.start_line - 1 : passage.end_line]]
    return _with_lines(item, shown, passage.start_line, more=0)


def _unread(found: IndexedDocument, path: str, row: DocumentRow) -> dict[str, str]:
    """Where a document has definitions that are no documents, since they could not be read."""
    start, end = row.start_line or 1, row.end_line or math.inf
    lines = [line for line in found.index.unread_lines(path) if found.level == Level.FILE or start <= line <= end]
    if not lines:
        return {}
    shown = some_of([*map(str, lines)], _LINES_NAMED)
    return {"not read": f"{count_noun(len(lines), 'definition')} here could not be read: lines {shown}"}


def _facts_of_graph(call: ToolContext, found: IndexedDocument) -> dict[str, list[str]]:
    """What the graph says of a function or class: its role, and what it calls."""
    if found.level not in (Level.FUNCTION, Level.CLASS):
        return {}
    documents = call.documents(found.repo)
    number = documents.number_of(found)
    return {
        **users_line(documents, number),
        **role_of(documents, number, start_names(call, found.repo)).facts(),
        "calls": [", ".join(called_names(documents, number))],
    }


def _span(arguments: ReadArguments, text: str, row: DocumentRow, count: int) -> tuple[int, int]:
    """The lines of the arguments, else of `path:first-last`, else of the document."""
    written = _RANGE.search(text)
    if arguments.start_line or arguments.end_line:
        first, last = arguments.start_line or 1, arguments.end_line or count
    elif written and written[2]:
        first, last = int(written[1]), int(written[2])
    else:
        first, last = row.start_line or 1, row.end_line or count
        if written and int(written[1]) > count:
            first = int(written[1])
    if first > count:
        raise ConfigurationError(f"line {first} of {row.path!r}: the file has {count:,} lines")
    if last < first:
        raise ConfigurationError(f"lines {first}-{last} of {row.path!r}: the last is before the first")
    return first, min(last, count)


def _with_lines(item: ReadItem, lines: list[str], first: int, *, more: int) -> ReadItem:
    last = first + len(lines) - 1
    return item.model_copy(update={"first_line": first, "last_line": last, "lines": lines, "more_lines": more})


def _cut(item: ReadItem, tokens: int, *, must: bool) -> ReadItem | None:
    """The item with as many lines as fit; None if nothing fits, unless something `must` be shown."""
    room = tokens - tokens_of(_text_of(item.model_copy(update={"lines": []})))
    kept = 0
    for line in item.lines:
        room -= tokens_of(f"{line}12345\t")
        if room < 0:
            break
        kept += 1
    if room < 0 and not kept and not must:
        return None
    kept = max(kept, 1 if must and item.lines else 0)
    if kept == len(item.lines):
        return item
    left = item.more_lines + len(item.lines) - kept
    return _with_lines(item, item.lines[:kept], item.first_line or 1, more=left)


def _text_of(item: ReadItem) -> str:
    lines = [item.line(), *indent_lines(f"{name}: {fact}" for name, fact in item.facts.items())]
    if item.outline:
        path = one_line(item.path)
        lines += [
            f"its blocks, to read as {path}:first-last",
            *(clean_text(line).replace("\n", " ") for line in item.outline),
        ]
        lines += ["what fits the query:"] if item.lines else []
    lines += number_lines(item.lines, item.first_line or 1, every=_NUMBERED)
    if item.more_lines:
        after = (item.last_line or 0) + 1
        lines.append(
            f"{item.more_lines:,} more lines: read {one_line(item.path)}:{after}-{after + item.more_lines - 1}"
        )
    return "\n".join(lines)


def facts_of(document: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """What a document says besides its summary and signature, by the words that people and agents see."""
    return {
        "intent": document["business_intent"],
        "inputs": told_inputs(document["inputs"]),
        "returns": told_result(document["returns"], document["signature"] or ""),
        "side effects": document["side_effects"],
        "invariants": document["invariants"],
        "responsible for": document["responsibilities"],
    }
