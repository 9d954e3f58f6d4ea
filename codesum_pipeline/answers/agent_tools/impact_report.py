"""A whole answer of `impact`: its counts, and its rows, which are written when they are shown."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import Any

from msgspec import Struct

from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.answers.agent_tools.footprints import Footprint
from codesum_pipeline.answers.agent_tools.graph_role import is_test_document
from codesum_pipeline.answers.agent_tools.impact_page import (
    SECTIONS,
    ChangedDefinition,
    ImpactPage,
    ReachCounts,
    Row,
    is_by_file,
    pieces_by_file,
    title_of,
)
from codesum_pipeline.answers.agent_tools.reached_code import MOST_REACHED
from codesum_pipeline.answers.agent_tools.tool_answers import take_fitting
from codesum_pipeline.answers.agent_tools.unfollowed_calls import unfollowed_calls
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.search.retrieval.published_index import PublishedIndex

_NAMED = 3


class ImpactLists(StrEnum):
    """Which lists of an answer are wanted."""

    ALL = "all"
    TESTS = "tests"
    REACHED = "reached"

    @property
    def names(self) -> frozenset[str]:
        lists = {ImpactLists.TESTS: {"tests", "kept_away"}, ImpactLists.REACHED: {"reached"}}
        return frozenset(lists.get(self, SECTIONS))


class ImpactReport(Struct, frozen=True):
    """`rows` are those of each list, in the order of the lists."""

    page: ImpactPage
    parts: Sequence[PublishedIndex]
    rows: Sequence[tuple[str, Callable[[], Row]]]

    def whole(self) -> ImpactPage:
        return self.part(0, len(self.rows) or 1, None)

    def part(self, begin: int, limit: int, tokens: int | None) -> ImpactPage:
        """The rows from one on, as many as the bounds allow; without `tokens`, as many as `limit`."""
        begin = max(0, min(begin, len(self.rows)))
        made = self._with_texts(self.rows[begin : begin + limit])
        kept = (
            [*islice(made, limit)] if tokens is None
            else take_fitting(made, lambda row: row[2], limit=limit, tokens=tokens)
        )  # fmt: skip
        lists: dict[str, list[Row]] = {name: [] for name in SECTIONS}
        for name, row, _ in kept:
            lists[name].append(row)
        before = [name for name, _ in self.rows[:begin]]
        begins = {name: before.count(name) for name in SECTIONS}
        facts = {"shown": len(kept), "total": len(self.rows), "is_first": begin == 0, "begins": begins}
        return self.page.model_copy(update={**lists, **facts})

    def _with_texts(self, rows: Sequence[tuple[str, Callable[[], Row]]]) -> Iterator[tuple[str, Row, str]]:
        """Rows with the text that each adds to those before it."""
        for name in SECTIONS:
            made = (make() for of, make in rows if of == name)
            if is_by_file(name, self.page.totals.get(name, 0)):
                yield from ((name, row, piece) for row, piece in pieces_by_file(made))
            else:
                yield from ((name, row, row.text()) for row in made)


def report_of(
    page: ImpactPage,
    prints: Sequence[Footprint],
    changes: Sequence[ChangedDefinition],
    *,
    lists: ImpactLists = ImpactLists.ALL,
) -> ImpactReport:
    """The answer for what is reached in the repository, which is the first of `prints`, and in the others."""
    rows: list[tuple[str, Callable[[], Row]]] = [("changes", partial(_same, change)) for change in changes]
    for name, numbers in (
        ("tests", attrgetter("tests")),
        ("starts", Footprint.started_documents),
        ("reached", Footprint.others),
    ):
        found = _by_distance(prints, numbers)
        found = _in_files(found) if is_by_file(name, len(found)) else found
        rows += ((name, partial(each.place, one)) for each, one in found)
    kept = [(each, one) for each in prints for one in each.kept_tests()]
    rows += (("kept_away", partial(each.place, one)) for each, one in kept)
    rows = [(name, make) for name, make in rows if name in lists.names]
    names = [name for name, _ in rows]
    totals = {name: names.count(name) for name in SECTIONS if name in names}
    sources, has_tests = prints[0].reach.constants.sources, any(each.tests or each.kept_away for each in prints)
    unfollowed = unfollowed_calls(prints[0], sources, in_code="reached" in lists.names, in_tests=not has_tests)
    riskiest = [change for change in changes if change.risk and not change.is_test][: len(page.risks)]
    told = {"unfollowed": unfollowed, "totals": totals, "riskiest": riskiest}
    page = page.model_copy(update={**_counts(prints), **told})
    return ImpactReport(page, prints[0].documents.parts, rows)


def _counts(prints: Sequence[Footprint]) -> Mapping[str, Any]:
    """The fields of a page that count what is reached."""
    own = [reached.distance for reached in prints[0].found.values() if reached.distance]
    others = {each.documents.repo: len(each.found) for each in prints[1:]}
    counts = ReachCounts(
        one=own.count(1), two=own.count(1) + own.count(2), all=len(own), others=others,
        is_cut=any(len(each.found) >= MOST_REACHED for each in prints),
    )  # fmt: skip
    tests = [title_of(each.documents[one].id) for each, one in _by_distance(prints, attrgetter("tests"))]
    starts = [*dict.fromkeys(
        one_line(name) for each in prints for one in each.started_documents() for name in each.started(one)
    )]  # fmt: skip
    return {
        "counts": counts, "test_count": len(tests), "nearest_tests": tests[:_NAMED], "start_count": len(starts),
        "start_names": starts[:_NAMED], "kept_away_count": sum(len(each.kept_away) for each in prints),
    }  # fmt: skip


def fields_of_users(documents: JoinedDocuments, users: Sequence[int], changed: Collection[str]) -> Mapping[str, Any]:
    """The fields of a changed definition that tell its users of one step, without those that changed, tests last."""
    others = [each for each in dict.fromkeys(users) if documents[each].id not in changed]
    in_tests = [each for each in others if is_test_document(documents, each)]
    ids = [documents[each].id for each in sorted(others, key=set(in_tests).__contains__)]
    counts = {"user_count": len(ids), "test_user_count": len(in_tests), "changed_user_count": len({*users}) - len(ids)}
    return {"users": ids[:_NAMED], **counts}


def _by_distance(
    prints: Sequence[Footprint], numbers: Callable[[Footprint], Sequence[int]]
) -> list[tuple[Footprint, int]]:
    """Documents of all repositories, sure ones and nearest first; sorting keeps the order within a repository."""
    found = [(each, one) for each in prints for one in numbers(each)]
    return sorted(found, key=_doubt_and_distance)


def _doubt_and_distance(pair: tuple[Footprint, int]) -> tuple[bool, int]:
    reached = pair[0].found[pair[1]]
    return not reached.is_sure, reached.distance


def _in_files(found: Sequence[tuple[Footprint, int]]) -> list[tuple[Footprint, int]]:
    """The same with those of a file together in the order of steps and lines, files by their nearest."""
    files: dict[tuple[str, str], list[tuple[Footprint, int]]] = {}
    for each, one in found:
        files.setdefault((each.documents.repo, each.documents[one].path), []).append((each, one))

    def place(pair: tuple[Footprint, int]) -> tuple[bool, int, int]:
        each, one = pair
        return *_doubt_and_distance(pair), each.documents.row(one).start_line or 0

    return [pair for pairs in files.values() for pair in sorted(pairs, key=place)]


def _same(change: ChangedDefinition) -> ChangedDefinition:
    return change
