"""The answer of `codesum impact` as Markdown, for the comment of a pull request.

The summary is read at once; what changed, the tests and what is reached are folded. Whatever a repository wrote is read
literally: no name becomes a link, a mention or markup.
"""

from collections.abc import Iterable, Iterator, Sequence

from codesum_pipeline.answers.agent_tools.impact_page import (
    ChangedDefinition,
    ImpactPage,
    ReachedPlace,
    explained_doubt,
    is_by_file,
    pieces_by_file,
)
from codesum_pipeline.foundation.data_model.markdown import code_span, escape_text, markdown_table
from codesum_pipeline.foundation.data_model.printable import count_noun, some_of

# GitHub refuses a comment of more than 65,536 characters.
_LONGEST_COMMENT = 60_000
_LONGEST_SIGNATURE = 300
_NAMED = 3
_NO_TEST = "none is known to reach it"
_TOO_LONG = "\n\n*The rest does not fit into a comment: `codesum impact` prints it.*\n"


def impact_markdown(page: ImpactPage) -> str:
    """A comment of at most 60,000 characters."""
    asked = ", ".join(map(_name, page.asked))
    what = f"What uses {asked}" if asked else f"What this change reaches: {code_span(f'{page.base} → {page.head}')}"
    blocks = [f"### {what}", _counts(page)]
    if page.riskiest:
        blocks.append("\n".join(["**Look first at**", "", *map(_risk, page.riskiest)]))
    blocks += filter(None, map(_folded, *zip(*_parts(page), strict=True)))
    if page.total and page.shown < page.total:
        blocks.append(f"*{page.shown:,} of {page.total:,} rows are shown.*")
    blocks += [f"> {escape_text(note, limit=400)}" for note in page.notes]
    return _fitting(blocks)


def _counts(page: ImpactPage) -> str:
    others = some_of([f"{_cell(key)} {number:,}" for key, number in page.counts.others.items()], _NAMED)
    unnamed = page.start_count - len(page.start_names)
    more_starts = f" and {unnamed:,} more" if unnamed > 0 else ""
    changed = [("changed", f"{page.told_kinds or 'no definition'}, in {count_noun(page.files, 'file')}")]
    rows = [
        *([] if page.asked else changed),
        ("reached", page.counts.told(page.steps)),
        ("tests", f"{page.test_count:,} reach it" if page.test_count else _NO_TEST),
        ("routes and commands", ", ".join(map(_cell, page.start_names)) + more_starts or "none"),
    ]
    rows += [("tests kept away", f"{page.kept_away_count:,} by what they replace")] if page.kept_away_count else []
    rows += [("other repositories", others)] if others else []
    rows += [("comments or layout alone", count_noun(page.only_layout, "file"))] if page.only_layout else []
    rows += [(why, some_of([*map(_cell, paths)], _NAMED)) for why, paths in page.not_compared.items()]
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def _cell(text: str) -> str:
    """A code span in a table, which a bar would end."""
    return code_span(text).replace("|", "\\|")


def _risk(change: ChangedDefinition) -> str:
    users = ", ".join(map(_name, change.users))
    told = f"{count_noun(change.user_count, 'user')}: {users}" if users else ""
    places = f"used by name at {', '.join(map(code_span, change.unresolved))}" if change.unresolved else ""
    left = f"{change.left_count:,} of them {change.told_left}" if change.told_left else ""
    used = "; ".join(filter(None, (told, left, places)))
    kind = "renamed" if change.told_kind.startswith("renamed") else change.kind
    return f"- {kind}: {_title_and_place(change)}{_was(change)}; {used}"


def _title_and_place(change: ChangedDefinition) -> str:
    """The name of a definition and where it is; of a file both are one."""
    return f"{code_span(change.title)} ({code_span(change.place)})" if "::" in change.id else code_span(change.place)


def _was(change: ChangedDefinition) -> str:
    return f", was {code_span(change.moved_from)}" if change.moved_from else ""


def _name(id_: str) -> str:
    return code_span(id_.partition("::")[2].replace("::", ".") or id_)


def _parts(page: ImpactPage) -> Iterator[tuple[str, str]]:
    heading = "Asked about" if page.asked else "What changed"
    yield f"{heading} ({len(page.changes):,})", "\n".join(map(_change, page.changes))
    for name, title, rows in (
        ("tests", "Tests that reach it", page.tests),
        ("starts", "Routes and commands", page.starts),
        ("reached", "What is reached", page.reached),
        ("kept_away", "Tests that are kept away by what they replace", page.kept_away),
    ):
        total = page.totals.get(name, len(rows))
        body = (_list if is_by_file(name, total) else _table)(rows) if rows else ""
        yield f"{title} ({total:,}){explained_doubt(rows)}", body
    unfollowed = (f"- {code_span(each.text(), limit=_LONGEST_COMMENT)}" for each in page.unfollowed)
    yield f"Not followed, since nobody knows on what they are called ({len(page.unfollowed):,})", "\n".join(unfollowed)


def _list(rows: Sequence[ReachedPlace]) -> str:
    """A line for each file, and for other steps in it."""
    lines = "".join(piece for _, piece in pieces_by_file(rows)).split("\n")
    return "\n".join(
        f"  - {code_span(line.strip(), limit=_LONGEST_COMMENT)}"
        if line.startswith(" ")
        else f"- {code_span(line, limit=_LONGEST_COMMENT)}"
        for line in lines
    )


def _change(change: ChangedDefinition) -> str:
    names = f": {', '.join(map(code_span, change.names[:5]))}" if change.names else ""
    headline = change.headline or change.headline_before
    lines = [f"- **{change.kind}** {_title_and_place(change)}{_was(change)}{names}"]
    lines += [f"  {escape_text(headline)}"] if headline else []
    if change.signature_before and change.signature_before != change.signature:
        lines += [f"  before {code_span(change.signature_before, limit=_LONGEST_SIGNATURE)}"]
        lines += [f"  after {code_span(change.signature, limit=_LONGEST_SIGNATURE)}"] if change.signature else []
    return "  \n".join(lines)


def _table(rows: Sequence[ReachedPlace]) -> str:
    cells = ([row.title + row.doubt, ", ".join(row.starts), row.place, row.told_way()] for row in rows)
    has_starts = any(row.starts for row in rows)
    headings = ["name", *(["starts"] if has_starts else []), "place", "way"]
    return markdown_table(headings, ([cell for at, cell in enumerate(row) if at != 1 or has_starts] for row in cells))


def _folded(heading: str, body: str) -> str:
    return f"<details><summary>{heading}</summary>\n\n{body}\n\n</details>" if body else ""


def _fitting(blocks: Iterable[str]) -> str:
    """The first whole blocks that fit."""
    kept, room, is_cut = list[str](), _LONGEST_COMMENT, False
    for block in blocks:
        room -= len(block) + 2
        is_cut = is_cut or room < 0
        kept += [] if room < 0 else [block]
    return "\n\n".join(kept) + (_TOO_LONG if is_cut else "")
