"""`codesum grep`: the lines that match a pattern, below what holds them."""

from collections.abc import Iterator, Sequence
from functools import partial

import typer
from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.answers.agent_tools.answering_sources import repositories_of
from codesum_pipeline.answers.agent_tools.changed_files import mark_changed
from codesum_pipeline.answers.agent_tools.grep_tool import (
    GrepGroup,
    GrepLine,
    GrepPage,
    lines_in,
    page_of,
    repositories_named,
)
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line, some_of
from codesum_pipeline.search.retrieval.shelf import WhichTests, parse_filters
from codesum_pipeline.search.source_lines.matching import LinePattern
from codesum_pipeline.ways_in.cli.document_views import call_here, check_fit, hit_heading, note_as_of
from codesum_pipeline.ways_in.cli.filter_options import LanguagesOption
from codesum_pipeline.ways_in.cli.first_use import open_scope
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import (
    TextByWidth,
    exit_errors_with,
    indent_part,
    leave_closed_pipes,
    print_json,
    show_parts,
    style_text,
    write_note,
)

# The exit codes of grep where no line matches, and of an error.
_NONE, _ERROR = 1, 2
_NAMED = 10
_TAB = 4
# Of a line that is cut on the left, so many characters before the match are shown.
_BEFORE_MATCH = 8


def grep(
    invocation: Invocation,
    pattern: str,
    repo: list[str] | None = None,
    word: bool = False,
    ignore_case: bool = False,
    fixed: bool = False,
    language: LanguagesOption = None,
    path: list[str] | None = None,
    tests: WhichTests = WhichTests.IN,
    top: int = 30,
    lines: int = 5,
    everything: bool = False,
    as_json: bool = False,
) -> None:
    """Find lines that match a pattern, and show them below the function or class that holds them.

    codesum grep "retry.*count" --path src/ --tests out

    Definitions come first, then code, comments, texts, tests and code of others. In a checkout, its uncommitted edits
    are searched, too. Exit codes are grep's: 0 found, 1 none, 2 or more an error.
    """
    with exit_errors_with(_ERROR, debug=invocation.debug):
        wanted = LinePattern(pattern, is_fixed=fixed, is_word=word, ignores_case=ignore_case)
        wanted.check()
        filters = parse_filters(languages=language or (), paths=path or (), tests=tests)
        scope = open_scope(invocation, repo or (), everything=everything, may_ask=True)
        call = call_here(invocation)
        searched = call.current_of(scope.indexes)
        check_fit(call, searched, filters)
        if scope.remark:
            write_note(scope.remark)
        found = lines_in(call, searched, wanted, filters)
        places = [GrepGroup.holding(group, most=lines) for group in found.groups[:top]]
        as_of = note_as_of(call, repositories_named(places, searched))
        page = page_of(found, places, as_of=as_of, shown=len(places), total=len(found.groups))
        mark_changed(call, page)
        with leave_closed_pipes("stdout", "stderr"):
            _show(page, pattern, repositories_of(searched), as_json=as_json)
    if not places:
        raise typer.Exit(_NONE)


def _show(page: GrepPage, pattern: str, repositories: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        print_json({"pattern": pattern, "repositories": repositories, **page.model_dump(mode="json")})
    elif page.places:
        show_parts(*_blocks(page, has_several=len(repositories) > 1))
        more = f"; --top {page.total} shows all" if page.shown < (page.total or 0) else ""
        write_note(f"{page.told}{more}")
    else:
        write_note(f"no line matches {one_line(pattern)!r} in {some_of(repositories, _NAMED)}")


def _blocks(page: GrepPage, *, has_several: bool) -> Iterator[RenderableType]:
    """One block for each place: where it is, what it is for, its lines."""
    for rank, place in enumerate(page.places):
        if rank:
            yield ""
        rest = Text.assemble(
            (f"  {place.kind}{f' in {place.repo}' if has_several else ''}", "dim"),
            ("  changed since" if place.changed_since else "", "yellow"),
        )
        yield hit_heading("", place.place, rest)
        if place.text:
            yield indent_part(style_text(place.text, "dim"), 2)
        yield indent_part(TextByWidth(partial(_numbered, place.lines)), 2)
        if place.more_lines:
            yield indent_part(style_text(f"… {count_noun(place.more_lines, 'more line')}", "dim"), 2)


def _numbered(lines: Sequence[GrepLine], width: int) -> Text:
    """Lines behind their numbers, with marked matches. One that is too long for its first match to be seen begins
    shortly before it."""
    digits = max(len(line.told_number) for line in lines)
    shown = []
    for line in lines:
        text = Text(line.text)
        for start, end in line.marks:
            text.stylize("bold red", start, end)
        first, last = line.marks[0] if line.marks else (0, 0)
        if cell_len(line.text[:last].expandtabs(_TAB)) > width - digits - 1:
            text = Text("…").append_text(text[max(0, first - _BEFORE_MATCH) :])
        text.expand_tabs(_TAB)
        shown.append(Text.assemble((f"{line.told_number:>{digits}} ", "dim"), text))
    return Text("\n", no_wrap=True, overflow="ellipsis").join(shown)
