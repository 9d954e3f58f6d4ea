"""`impact`: what a change reaches: who uses what changed, and which tests, routes and commands run it."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import Annotated

from msgspec import Struct
from pydantic import Field

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line, some_of
from codesum_pipeline.foundation.data_model.symbol import Symbol
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.source.files.path_rules import PathRules
from codesum_pipeline.ways_in.agent_tools.call import ToolContext
from codesum_pipeline.ways_in.agent_tools.changed_symbols import (
    FileVersions,
    SymbolChange,
    SymbolChangeKind,
    SymbolComparison,
    compare_symbols,
)
from codesum_pipeline.ways_in.agent_tools.compared_versions import (
    MOST_BYTES,
    MOST_FILES,
    VersionPair,
    VersionRange,
    compare_versions,
)
from codesum_pipeline.ways_in.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.ways_in.agent_tools.footprints import Footprint, footprints, lost_users
from codesum_pipeline.ways_in.agent_tools.graph_role import is_test_document
from codesum_pipeline.ways_in.agent_tools.impact_page import (
    SECTIONS,
    ChangedDefinition,
    ImpactPage,
    ReachCounts,
    ReachedPlace,
    title_of,
)
from codesum_pipeline.ways_in.agent_tools.reached_code import MOST_REACHED
from codesum_pipeline.ways_in.agent_tools.tool_answers import Name, PagedArguments, take_fitting
from codesum_pipeline.ways_in.agent_tools.uncounted import other_calls

_TOOL = "impact"
_USERS_NAMED = 3
_RISKS_NAMED = 6
_UNRESOLVED_NAMED = 3
# Definitions whose names are looked for in the sources of other files: each costs some milliseconds.
_MOST_LOOKED_FOR = 50


class ImpactArguments(PagedArguments):
    """Two versions of a repository, and how far their difference is followed."""

    range: Annotated[
        Name,
        Field(description="BASE..HEAD, BASE...HEAD, or BASE to the work tree; default: uncommitted edits"),
    ] = ""
    repo: Name = ""
    steps: Annotated[int, Field(ge=0, le=50, description="Steps of callers; 0: all")] = 0
    limit: int = Field(30, ge=1, le=200)


Row = ChangedDefinition | ReachedPlace


class ImpactReport(Struct, frozen=True):
    """A whole answer: its counts, and its rows, which are written when they are shown."""

    page: ImpactPage
    parts: Sequence[PublishedIndex]
    rows: Sequence[tuple[str, Callable[[], Row]]]

    def whole(self) -> ImpactPage:
        return self.part(0, len(self.rows) or 1, None)

    def part(self, begin: int, limit: int, tokens: int | None) -> ImpactPage:
        """The rows from one on, as many as the bounds allow; without `tokens`, as many as `limit`."""
        made = ((name, make()) for name, make in self.rows[begin:])
        kept = (
            [*islice(made, limit)] if tokens is None
            else take_fitting(made, lambda row: row[1].text(), limit=limit, tokens=tokens)
        )  # fmt: skip
        lists: dict[str, list[Row]] = {name: [] for name in SECTIONS}
        for name, row in kept:
            lists[name].append(row)
        facts = {"shown": len(kept), "total": len(self.rows), "is_first": begin == 0}
        return self.page.model_copy(update={**lists, **facts})


def impact(call: ToolContext, arguments: ImpactArguments) -> ImpactPage:
    """The short text and the first rows; a cursor goes on with the rows."""
    report = report_impact(call, arguments.repo, VersionRange.parse(arguments.range), steps=arguments.steps or None)
    begin = call.start(_TOOL, arguments, report.parts)[0]
    page = report.part(begin, arguments.limit, arguments.tokens)
    end = begin + page.shown
    page.next = call.next(_TOOL, arguments, report.parts, (end,)) if page.shown and end < len(report.rows) else None
    return page


def report_impact(call: ToolContext, repo: str, asked: VersionRange, *, steps: int | None = None) -> ImpactReport:
    """What a change reaches, in at most so many steps."""
    index = call.one_index(repo)
    pair = compare_versions(call, index, asked)
    compared, left_out = _symbols(call, index, pair)
    ours = call.documents(index.repo)
    prints = list(footprints(call, ours, compared.changes, steps=steps))
    changes = _described(call, index, ours, compared.changes, prints[0])
    _tell(call, index, pair, compared, ours)
    page = _page_of_counts(index, pair, compared, prints, changes, left_out)
    page.as_of = call.as_of([each.documents.repo for each in prints])
    page.notes = call.notes
    rows: list[tuple[str, Callable[[], Row]]] = [("changes", partial(_same, change)) for change in changes]
    for name, numbers in (
        ("tests", attrgetter("tests")),
        ("starts", Footprint.started_documents),
        ("reached", Footprint.others),
    ):
        rows += ((name, partial(each.place, one)) for each, one in _by_distance(prints, numbers))
    return ImpactReport(page, ours.parts, rows)


def _by_distance(
    prints: Sequence[Footprint], numbers: Callable[[Footprint], Sequence[int]]
) -> list[tuple[Footprint, int]]:
    """Documents of all repositories, nearest first; sorting keeps the order within a repository."""
    found = [(each, one) for each in prints for one in numbers(each)]
    return sorted(found, key=lambda pair: pair[0].found[pair[1]].distance)


def _same(change: ChangedDefinition) -> ChangedDefinition:
    return change


def _symbols(
    call: ToolContext, index: PublishedIndex, pair: VersionPair
) -> tuple[SymbolComparison, dict[str, list[str]]]:
    """What differs by symbol, and the files that were not compared by the reason."""
    settings = call.catalogue.settings
    largest = PathRules.of(call.catalogue.registry.get(index.repo), settings).largest_bytes
    wanted, cut = pair.files[:MOST_FILES], [file.path for file in pair.files[MOST_FILES:]]
    room, versions = MOST_BYTES, list[FileVersions]()
    too_large: list[str] = []
    for file, (before, after) in zip(wanted, pair.contents(wanted, largest=largest), strict=True):
        if (file.before and before is None) or (file.after and after is None):
            too_large.append(file.path)
            continue
        room -= len(before or b"") + len(after or b"")
        if room < 0:
            cut.append(file.path)
        else:
            versions.append(FileVersions(file.path, before, after))
    policy = HashPolicy(index.version.manifest["hash_policy"]["policy"])
    compared = compare_symbols(versions, hash_policy=policy, encodings=index.version.encodings)
    left = {
        f"beyond the limit of {MOST_FILES:,} files or {MOST_BYTES // 1_000_000} MB, not compared": cut,
        "too large or not there, not compared": too_large,
        "not read as code": sorted(compared.unread),
        "without definitions": compared.no_code,
        "with another mode": [*pair.modes],
        "of other commits of submodules, not compared": [*pair.submodules],
    }
    return compared, {why: paths for why, paths in left.items() if paths}


def _described(
    call: ToolContext,
    index: PublishedIndex,
    documents: JoinedDocuments,
    changes: Sequence[SymbolChange],
    own: Footprint,
) -> list[ChangedDefinition]:
    """The changes with their words and users: what has most to lose first, then by kind, tests last."""
    texts = _Headlines(index, documents)
    lost = lost_users(documents)
    changed = {change.id for change in changes} | {change.before.id for change in changes if change.before}
    unresolved = _unresolved(call, documents, changes)
    found = []
    for change in changes:
        number = documents.number(change.id)
        users = [*(own.reach.users(number) if number is not None else ())]
        users += lost.get(change.before.id, ()) if change.before else ()
        others = [each for each in dict.fromkeys(users) if documents[each].id not in changed]
        in_tests = [each for each in others if is_test_document(documents, each)]
        ids = [documents[each].id for each in sorted(others, key=set(in_tests).__contains__)]
        symbol = change.after or change.before
        headline_before, headline = texts.of(change)
        found.append(
            ChangedDefinition(
                kind=change.kind,
                id=change.id,
                path=change.path,
                line=symbol.start_line if symbol else None,
                end_line=symbol.end_line if symbol else None,
                moved_from=change.before.id if change.before and change.before.id != change.id else change.moved_file,
                signature=change.after.signature if change.after else "",
                signature_before=change.before.signature if change.before else "",
                headline=headline,
                headline_before=headline_before,
                names=[*change.names],
                users=ids[:_USERS_NAMED],
                user_count=len(ids),
                test_user_count=len(in_tests),
                unresolved=unresolved.get(change.id, []),
                is_test=number is not None and is_test_document(documents, number),
            )
        )
    order = [*SymbolChangeKind]
    found.sort(key=lambda each: (each.is_test, -each.risk, order.index(each.kind), each.id))
    return found


def _unresolved(call: ToolContext, documents: JoinedDocuments, changes: Sequence[SymbolChange]) -> dict[str, list[str]]:
    """The first places that call something of the name of a removed definition, by its id: of so many definitions."""
    gone = (
        change.before for change in changes
        if change.kind is SymbolChangeKind.REMOVED and change.before and documents.number(change.id) is None
    )  # fmt: skip
    return {
        symbol.id: other_calls(call, documents, symbol.name, symbol.file_path)[0][:_UNRESOLVED_NAMED]
        for symbol in islice(gone, _MOST_LOOKED_FOR)
    }


class _Headlines(Struct, frozen=True):
    """What a definition of some version is for: by a document whose code is the same, else by its author."""

    index: PublishedIndex
    documents: JoinedDocuments

    def of(self, change: SymbolChange) -> tuple[str, str]:
        """Those before and after. What its author says in the same words is told in the same words."""
        before, after = self._of(change.before), self._of(change.after)
        is_same = change.before and change.after and change.before.docstring == change.after.docstring
        return (after, after) if is_same and change.before and change.before.docstring else (before, after)

    def _of(self, symbol: Symbol | None) -> str:
        if symbol is None:
            return ""
        number, row = self.documents.number(symbol.id), self.index.row(symbol.id)
        found = [self.documents[number].document()] if number is not None else []
        found += [self.index.document(row)] if row is not None else []
        same = (each["summary"] for each in found if each["content_hash"] == symbol.content_hash)
        return str(next(same, "")) or (symbol.docstring or "").strip().partition("\n")[0]


def _page_of_counts(
    index: PublishedIndex,
    pair: VersionPair,
    compared: SymbolComparison,
    prints: Sequence[Footprint],
    changes: Sequence[ChangedDefinition],
    cut: Mapping[str, list[str]],
) -> ImpactPage:
    own = [reached.distance for reached in prints[0].found.values() if reached.distance]
    kinds: dict[str, int] = {}
    for change in changes:
        kinds[change.kind] = kinds.get(change.kind, 0) + 1
    others = {each.documents.repo: len(each.found) for each in prints[1:]}
    counts = ReachCounts(
        one=own.count(1), two=own.count(1) + own.count(2), all=len(own), others=others,
        is_cut=any(len(each.found) >= MOST_REACHED for each in prints),
    )  # fmt: skip
    tests = [title_of(each.documents[one].id) for each, one in _by_distance(prints, attrgetter("tests"))]
    starts = [*dict.fromkeys(
        one_line(name) for each in prints for one in each.started_documents() for name in each.started(one)
    )]  # fmt: skip
    risky = [each for each in changes if each.risk and not each.is_test]
    base, head = pair.names
    return ImpactPage(
        repo=index.repo,
        base=base,
        head=head,
        kinds=kinds,
        files=len({change.path for change in compared.changes}),
        only_layout=len(compared.only_layout),
        not_compared=dict(cut),
        counts=counts,
        test_count=len(tests),
        nearest_tests=tests[:_USERS_NAMED],
        start_count=len(starts),
        start_names=starts[:_USERS_NAMED],
        risks=[each.line_of_risk() for each in risky[:_RISKS_NAMED]],
    )


def _tell(
    call: ToolContext, index: PublishedIndex, pair: VersionPair, compared: SymbolComparison, ours: JoinedDocuments
) -> None:
    """Notes on where the graph is of another version than the change."""
    symbols = [change.after for change in compared.changes if change.after]
    unknown = [symbol.id for symbol in symbols if ours.number(symbol.id) is None]
    if unknown:
        call.tell(
            f"{count_noun(len(unknown), 'changed definition is', 'changed definitions are')} not in the index, so that "
            f"their users are not known: {some_of([*map(one_line, unknown)], _USERS_NAMED)}; `codesum index "
            f"{index.repo}` brings them in"
        )
    if pair.skipped:
        told = ", ".join(f"{number:,} {reason}" for reason, number in sorted(pair.skipped.items()))
        call.tell(f"files that the index leaves out were not compared: {told}")
