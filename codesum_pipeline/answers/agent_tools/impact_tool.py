"""`impact`: what a change reaches: who uses what changed, and which tests, routes and commands run it."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Annotated, Literal

from msgspec import Struct
from pydantic import Field

from codesum_pipeline.answers.agent_tools.asked_definitions import report_uses
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.changed_symbols import (
    FileVersions,
    SymbolChange,
    SymbolChangeKind,
    SymbolComparison,
    compare_symbols,
)
from codesum_pipeline.answers.agent_tools.compared_versions import (
    MOST_BYTES,
    MOST_FILES,
    VersionPair,
    VersionRange,
    compare_versions,
)
from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.answers.agent_tools.footprints import Footprint, footprints, starts_of_changes
from codesum_pipeline.answers.agent_tools.graph_role import is_test_document
from codesum_pipeline.answers.agent_tools.impact_page import ChangedDefinition, ImpactPage
from codesum_pipeline.answers.agent_tools.impact_report import (
    ImpactLists,
    ImpactReport,
    fields_of_users,
    report_of,
)
from codesum_pipeline.answers.agent_tools.left_users import LeftUsers
from codesum_pipeline.answers.agent_tools.tool_answers import Name, Names, PagedArguments
from codesum_pipeline.answers.agent_tools.uncounted import other_callers
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line, shorten_text, some_of
from codesum_pipeline.foundation.data_model.symbol import Symbol
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.source.files.content import without_outputs
from codesum_pipeline.source.files.path_rules import PathRules

_TOOL = "impact"
_USERS_NAMED = 3
_RISKS_NAMED = 6
_UNRESOLVED_NAMED = 3
# Definitions whose names are looked for in the sources of other files: each costs some milliseconds.
_MOST_LOOKED_FOR = 50


class ImpactArguments(PagedArguments):
    """Two versions of a repository, or definitions of it, and how far what they reach is followed."""

    ids: Annotated[Names, Field(description="Instead of range: definitions, changed or not")] = []
    range: Annotated[
        Name,
        Field(description="BASE..HEAD, BASE...HEAD, or BASE to the work tree; default: uncommitted edits"),
    ] = ""
    repo: Name = ""
    steps: Annotated[int, Field(ge=0, le=50, description="Steps of callers; 0: all")] = 0
    only: Literal["all", "tests", "reached"] = "all"
    limit: int = Field(500, ge=1, le=1000)


def impact(call: ToolContext, arguments: ImpactArguments) -> ImpactPage:
    """The short text and the first rows; a cursor goes on with the rows."""
    if arguments.ids and arguments.range:
        raise ConfigurationError(
            f"ids and range = {shorten_text(arguments.range)!r}: give the definitions that a change would be in, or "
            "the versions that are compared"
        )
    steps, lists = arguments.steps or None, ImpactLists(arguments.only)
    report = (
        report_uses(call, arguments.repo, arguments.ids, steps=steps, lists=lists) if arguments.ids
        else report_impact(call, arguments.repo, VersionRange.parse(arguments.range), steps=steps, lists=lists)
    )  # fmt: skip
    begin = call.start(_TOOL, arguments, report.parts)[0]
    page = report.part(begin, arguments.limit, arguments.tokens)
    end = begin + page.shown
    page.next = call.next(_TOOL, arguments, report.parts, (end,)) if page.shown and end < len(report.rows) else None
    return page


def report_impact(
    call: ToolContext, repo: str, asked: VersionRange, *, steps: int | None = None, lists: ImpactLists = ImpactLists.ALL
) -> ImpactReport:
    """What a change reaches, in at most so many steps."""
    index = call.one_index(repo)
    pair = compare_versions(call, index, asked)
    compared, left_out = _symbols(call, index, pair)
    ours = call.documents(index.repo)
    sources = call.sources(ours.parts)
    left = LeftUsers(index, ours, sources, compared.changes)
    starts = starts_of_changes(ours, sources, compared.changes, left)
    prints = list(footprints(call, ours, sources, starts, steps=steps))
    changes = _described(call, left, prints[0])
    as_of = call.as_of([each.documents.repo for each in prints])
    _tell(call, index, pair, compared, ours, is_behind=as_of[0].behind != 0)
    page = _page_of_counts(index, pair, compared, prints, changes, left_out)
    page.as_of, page.notes, page.steps = as_of, call.notes, steps or 0
    return report_of(page, prints, changes, lists=lists)


def _symbols(
    call: ToolContext, index: PublishedIndex, pair: VersionPair
) -> tuple[SymbolComparison, dict[str, list[str]]]:
    """What differs by symbol, and the files that were not compared by the reason."""
    settings = call.catalogue.settings
    rules = PathRules.of(call.catalogue.registry.get(index.repo), settings)
    wanted, cut = pair.files[:MOST_FILES], [file.path for file in pair.files[MOST_FILES:]]
    room, versions = MOST_BYTES, list[FileVersions]()
    too_large: list[str] = []
    for file, both in zip(wanted, pair.contents(wanted, largest=rules.most_bytes), strict=True):
        before, after = (data and without_outputs(file.path, data) for data in both)
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
        "of other commits of submodules, not compared": [*pair.submodules],
    }
    return compared, {why: paths for why, paths in left.items() if paths}


def _described(call: ToolContext, left: LeftUsers, own: Footprint) -> list[ChangedDefinition]:
    """The changes with their words and users: what has most to lose first, then by kind, tests last."""
    documents, changes = left.documents, left.changes
    texts = _Headlines(left.index, documents)
    changed = {change.id for change in changes} | {change.before.id for change in changes if change.before}
    unresolved = _unresolved(call, left)
    found = []
    for change in changes:
        number = documents.number(change.id)
        users = [*(own.reach.users(number) if number is not None else ())]
        users += (behind := left.of(change))
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
                **fields_of_users(documents, users, changed),
                left_count=sum(documents[each].id not in changed for each in behind),
                unresolved=unresolved.get(change.id, []),
                is_test=number is not None and is_test_document(documents, number),
            )
        )
    order = [*SymbolChangeKind]
    found.sort(key=lambda each: (each.is_test, -each.risk, order.index(each.kind), each.id))
    return found


def _unresolved(call: ToolContext, left: LeftUsers) -> dict[str, list[str]]:
    """The first places that call something of a name that was removed or given up, by the id of the change: of so many
    definitions, without what is counted among their users."""
    documents = left.documents
    gone = (
        (change, change.before) for change in left.changes
        if change.before and documents.number(change.before.id) is None
        and (change.after is None or change.after.name != change.before.name)
        and not left.is_kept(change.before, change.after)
    )  # fmt: skip
    sources = call.sources(documents.parts)
    found: dict[str, list[str]] = {}
    for change, symbol in islice(gone, _MOST_LOOKED_FOR):
        callers, counted = other_callers(sources, documents, symbol.name, symbol.file_path)[0], {*left.of(change)}
        found[change.id] = [each.place for each in callers if counted.isdisjoint(each.numbers)][:_UNRESOLVED_NAMED]
    return found


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
    kinds: dict[str, int] = {}
    for change in changes:
        kinds[change.kind] = kinds.get(change.kind, 0) + 1
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
        risks=[each.line_of_risk() for each in risky[:_RISKS_NAMED]],
    )


def _tell(
    call: ToolContext,
    index: PublishedIndex,
    pair: VersionPair,
    compared: SymbolComparison,
    ours: JoinedDocuments,
    *,
    is_behind: bool,
) -> None:
    """Notes on where the graph is of another version than the change."""
    symbols = [change.after for change in compared.changes if change.after]
    unknown = [symbol.id for symbol in symbols if ours.number(symbol.id) is None]
    if unknown:
        way = f"`codesum index {index.repo}` brings them in" if is_behind else "it is of another commit"
        call.tell(
            f"{count_noun(len(unknown), 'changed definition is', 'changed definitions are')} not in the index, so that "
            f"their users are not known: {some_of([*map(one_line, unknown)], _USERS_NAMED)}; {way}"
        )
    if pair.skipped:
        told = ", ".join(f"{number:,} {reason}" for reason, number in sorted(pair.skipped.items()))
        call.tell(f"files that the index leaves out were not compared: {told}")
