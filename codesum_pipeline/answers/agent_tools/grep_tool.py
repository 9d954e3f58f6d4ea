"""`grep`: the lines that match a pattern, below the function or class that holds them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Annotated, Any, Literal

from msgspec.structs import replace
from pydantic import BaseModel, BeforeValidator, Field

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader, open_texts, repositories_of
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.search_tool import filters_of
from codesum_pipeline.answers.agent_tools.skipped_files import read_skipped
from codesum_pipeline.answers.agent_tools.tool_answers import (
    AnswerPage,
    DocumentRow,
    Names,
    PagedArguments,
    has_several_repositories,
    indent_lines,
    parse_names,
)
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, RepositoryUnavailable
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.notebook_cells import NotebookCell, cell_fields, told_cell
from codesum_pipeline.foundation.data_model.patterns import LONGEST_PATTERN, MOST_PATTERNS
from codesum_pipeline.foundation.data_model.printable import clean_text, count_noun, shorten_text
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.shelf import Filters, allowed_rows
from codesum_pipeline.search.source_lines.line_groups import (
    LineGroup,
    MatchingLine,
    MatchingLines,
    SearchedTexts,
    Span,
    find_lines,
)
from codesum_pipeline.search.source_lines.line_kinds import LineKind
from codesum_pipeline.search.source_lines.matching import LinePattern

_TOOL = "grep"
_FLAGS = frozenset("iwF")
# A longer line is shown around its first match, with so many characters before it.
_LONGEST_SHOWN = 240
_BEFORE_MATCH = 60
# The repositories whose versions a cursor knows, and those that an answer without places names.
_MOST_NAMED = 20
# Of more repositories, skipped files are not counted: each has a table of its own.
_SKIPPED_COUNTED = 3


class GrepArguments(PagedArguments):
    """A pattern, and the files that are searched."""

    pattern: str = Field(max_length=8000)
    flags: Annotated[str, Field(max_length=20, description="grep's: i w F")] = ""
    repos: Names = []
    paths: Annotated[
        list[Annotated[str, Field(max_length=LONGEST_PATTERN)]],
        BeforeValidator(parse_names),
        Field(max_length=MOST_PATTERNS),
    ] = []
    languages: Names = []
    tests: Literal["in", "out", "only"] = "in"
    lines: int = Field(5, ge=1, le=1000)
    # An answer that goes on says what to give here.
    cursor: str = ""

    def line_pattern(self) -> LinePattern:
        flags = {*self.flags.replace("-", "").replace(",", "").replace(" ", "")}
        if unknown := sorted(flags - _FLAGS):
            raise ConfigurationError(
                f"flags {shorten_text(self.flags)!r}: {unknown[0]!r} is unknown; flags are i (ignore case), w (whole "
                "words), F (a fixed text)"
            )
        return LinePattern(self.pattern, is_fixed="F" in flags, is_word="w" in flags, ignores_case="i" in flags)


class GrepLine(BaseModel):
    """A line, where it is too long a part of it, and where in the shown text the matches are. In a notebook it is line
    `cell_line` of `cell`."""

    number: int
    text: str
    marks: list[tuple[int, int]] = []
    cell: int | None = None
    cell_line: int | None = None

    @classmethod
    def of(cls, line: MatchingLine, place: NotebookCell | None = None) -> "GrepLine":
        text, spans = _decoded(line)
        first = max(0, spans[0][0] - _BEFORE_MATCH) if spans and len(text) > _LONGEST_SHOWN else 0
        last = min(len(text), first + _LONGEST_SHOWN)
        shown, marks, at = "…" if first else "", [], first
        for start, end in spans:
            start, end = max(start, at), min(end, last)
            if start < end:
                before = shown + _printable(text[at:start])
                shown, at = before + _printable(text[start:end]), end
                marks.append((len(before), len(shown)))
        shown += _printable(text[at:last]) + ("…" if last < len(text) else "")
        return cls(number=line.number, text=shown.rstrip(), marks=marks, **cell_fields(place))

    @property
    def told_number(self) -> str:
        """Its number, and of a notebook its place in a cell."""
        place = told_cell(self.cell, self.cell_line)
        return f"{self.number} ({place})" if place else str(self.number)

    @property
    def pieces(self) -> Iterator[tuple[str, bool]]:
        """The text in parts, and whether each is a match."""
        at = 0
        for start, end in self.marks:
            yield self.text[at:start], False
            yield self.text[start:end], True
            at = end
        yield self.text[at:], False


def _printable(text: str) -> str:
    return clean_text(text).replace("\n", " ")


def _decoded(line: MatchingLine) -> tuple[str, list[Span]]:
    """The text of a line, and its matches in characters."""

    def character(byte: int) -> int:
        return len(line.text[:byte].decode("utf-8", "replace"))

    text = line.text.decode("utf-8", "replace")
    return text, [(character(start), min(character(end), len(text))) for start, end in line.spans]


class GrepGroup(DocumentRow):
    """What holds some matching lines, what the most telling of them is, and how many more it holds."""

    match: str
    lines: list[GrepLine]
    more_lines: int = 0

    @classmethod
    def holding(cls, group: LineGroup, *, most: int) -> "GrepGroup":
        # The most telling lines are shown, in the order of the file.
        chosen = sorted(sorted(group.lines, key=lambda line: line.kind)[:most], key=lambda line: line.number)
        index, path = group.document.index, group.document.path
        lines = [GrepLine.of(line, index.cell_at(path, line.number)) for line in chosen]
        more = len(group.lines) - len(lines)
        return cls.of(group.document, match=group.kind.words, lines=lines, more_lines=more)

    def line(self, *, with_repo: bool = False) -> str:
        more = [f"{count_noun(self.more_lines, 'more line')}"] if self.more_lines else []
        below = indent_lines([*(f"{line.told_number}\t{line.text}" for line in self.lines), *more])
        return "\n".join([super().line(with_repo=with_repo), *below])


class GrepPage(AnswerPage):
    """Places, the most telling first: `matching` of them by what their lines are, which have `matching_lines`."""

    places: list[GrepGroup] = []
    matching: dict[str, int] = {}
    matching_lines: int = 0

    def text(self) -> str:
        several = has_several_repositories(self.places)
        lines = [place.line(with_repo=several) for place in self.places]
        return self.framed([self.told, *lines], what="places")

    @property
    def told(self) -> str:
        """How much matches, in words."""
        if not self.matching_lines:
            return "no line matches"
        kinds = ", ".join(f"{count:,} in {kind}" for kind, count in self.matching.items())
        return f"{count_noun(self.matching_lines, 'line')} in {count_noun(self.total or 0, 'place')}: {kinds}"


def grep(call: ToolContext, arguments: GrepArguments) -> GrepPage:
    """Answer with places that hold matching lines, as many as fit."""
    pattern = arguments.line_pattern()
    pattern.check()
    indexes = call.current(arguments.repos)
    filters = filters_of(call, indexes, languages=arguments.languages, paths=arguments.paths, tests=arguments.tests)
    found = lines_in(call, indexes, pattern, filters)
    holding = {group.document.repo for group in found.groups}
    sources = call.sources(indexes) if call.is_masked else None
    part = call.part(
        _TOOL,
        arguments,
        [index for index in indexes if index.repo in holding][:_MOST_NAMED],
        found.groups,
        partial(GrepGroup.line, with_repo=True),
        row=lambda group: GrepGroup.holding(_without_secrets(group, sources), most=arguments.lines),
    )
    repos = repositories_named(part.items, indexes)
    return page_of(found, part.items, as_of=call.as_of(repos), **part.frame)


def _without_secrets(group: LineGroup, sources: SourceReader | None) -> LineGroup:
    """The same lines as `sources` have them; of one that reads otherwise there, the matches are not marked."""
    if sources is None:
        return group
    path = group.document.id.partition(SEPARATOR)[0]
    shown = sources.lines(group.document.repo, path)

    def masked(line: MatchingLine) -> MatchingLine:
        text = shown[line.number - 1] if line.number <= len(shown) else ""
        return line if text == _decoded(line)[0] else replace(line, text=text.encode(), spans=())

    return replace(group, lines=[masked(line) for line in group.lines])


def repositories_named(places: Sequence[GrepGroup], indexes: Sequence[PublishedIndex]) -> list[str]:
    """The repositories whose commits an answer names: those of its places. Where there are none, those that were
    searched, unless they are many, since git is asked about each."""
    searched = repositories_of(indexes)
    return [place.repo for place in places] or (searched if len(searched) <= _MOST_NAMED else [])


def page_of(found: MatchingLines, places: list[GrepGroup], **frame: Any) -> GrepPage:
    """A page of some of the places that were found."""
    counted = Counter(group.kind for group in found.groups)
    return GrepPage(
        places=places,
        matching={kind.words: counted[kind] for kind in LineKind if counted[kind]},
        matching_lines=sum(len(group.lines) for group in found.groups),
        **frame,
    )


def lines_in(
    call: ToolContext, indexes: Sequence[PublishedIndex], pattern: LinePattern, filters: Filters
) -> MatchingLines:
    """The lines of some indexes that match, with notes on what was not searched. Raises `RepositoryUnavailable` where
    nothing could be searched."""
    searched = []
    for place, index in enumerate(indexes):
        if (index.version.digest, index.home) not in call.catalogue.texts:
            call.progress(f"reading the texts of {index.repo}", place, len(indexes))
        if texts := open_texts(call.catalogue, index, tell=call.tell):
            searched.append(SearchedTexts(index, texts, allowed_rows(index, filters)))
    if not searched:
        raise RepositoryUnavailable("; ".join(call.notes))
    found = find_lines(pattern, searched, timeout_s=call.catalogue.settings.reading.grep_timeout_s)
    if found.stopped:
        call.tell(f"{found.stopped}: narrow the pattern, or what is searched (repos, paths, languages, tests)")
    if not found.groups:
        _tell_skipped(call, repositories_of(indexes))
    return found


def _tell_skipped(call: ToolContext, repos: Iterable[str]) -> None:
    """Note how many files the index does not have: a line may be in one of them."""
    for repo in list(repos)[:_SKIPPED_COUNTED]:
        hidden = call.catalogue.hidden_folders(repo)
        counts = read_skipped(call.catalogue.layout, repo, hidden=hidden).counts()
        if counts:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in counts.items())
            call.tell(f"{count_noun(sum(counts.values()), 'file')} of {repo} not indexed and not searched: {reasons}")
