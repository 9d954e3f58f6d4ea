"""What a change reaches in its repository and in the others that import it, with the way from the change to each."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct, field

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.changed_symbols import SymbolChange, SymbolChangeKind, constant_id
from codesum_pipeline.answers.agent_tools.constants import ConstantReader
from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.answers.agent_tools.graph_role import StartNames, is_test_document, started_at
from codesum_pipeline.answers.agent_tools.impact_page import ReachedPlace, title_of
from codesum_pipeline.answers.agent_tools.importing_repositories import foreign_uses
from codesum_pipeline.answers.agent_tools.kept_away import WalkBudget, keep_away
from codesum_pipeline.answers.agent_tools.left_users import LeftUsers
from codesum_pipeline.answers.agent_tools.reached_code import CodeReach
from codesum_pipeline.answers.agent_tools.reached_documents import ReachedDocument, way_to
from codesum_pipeline.answers.agent_tools.start_names import start_names
from codesum_pipeline.foundation.data_model.document import Level


class Footprint(Struct, eq=False, dict=True):
    """What is reached in one repository: documents with their steps, and where other repositories go on from."""

    documents: JoinedDocuments
    reach: CodeReach
    found: Mapping[int, ReachedDocument]
    starts: StartNames
    # The way in another repository from the change to a start.
    before: Mapping[int, list[str]] = field(default_factory=dict)
    # Tests that would be reached if they did not replace what has these names.
    kept_away: Mapping[int, list[str]] = field(default_factory=dict)

    def place(self, number: int) -> ReachedPlace:
        found, reached = self.documents[number], self.found.get(number)
        place = ReachedPlace(
            repo=found.repo, id=found.id, path=found.path, line=self.documents.row(number).start_line,
            starts=sorted({*self.started(number)}), is_elsewhere=bool(self.before),
            replaced=self.kept_away.get(number, []),
        )  # fmt: skip
        if reached is not None:
            way = way_to(self.found, number)
            place.way = [*self.before.get(way[0], ()), *(title_of(self.documents[each].id) for each in way)]
            place.steps, place.is_sure = reached.distance, reached.is_sure
        return place

    def started(self, number: int) -> Sequence[str]:
        return started_at(self.documents, number, self.starts)

    @cached_property
    def tests(self) -> list[int]:
        """The tests among what is reached, nearest first; for tests without a document of their own their file."""
        tests = {number for number in self.found if self.reach.is_test(number)}
        paths = {self.documents[number].path for number in tests}
        files = {
            number for number in self.found
            if self.documents[number].level is Level.FILE and self.documents[number].path not in paths
            and is_test_document(self.documents, number)
        }  # fmt: skip
        return self._nearest(tests | files)

    def started_documents(self) -> list[int]:
        return self._nearest(number for number in self.found if self.started(number))

    def others(self) -> list[int]:
        """What is reached and neither changed nor a test."""
        tests = {*self.tests}
        return self._nearest(
            number for number, reached in self.found.items() if reached.distance and number not in tests
        )

    def kept_tests(self) -> list[int]:
        """The tests that are kept away, those together that replace the same."""

        def place(number: int) -> tuple[list[str], str, int]:
            row = self.documents.row(number)
            return self.kept_away[number], row.path, row.start_line or 0

        return sorted(self.kept_away, key=place)

    def _nearest(self, numbers: Collection[int] | Iterator[int]) -> list[int]:
        """What is sure before what is doubted."""
        found = self.found
        return sorted(numbers, key=lambda one: (not found[one].is_sure, found[one].distance, self.documents[one].id))


class WalkStarts(Struct, frozen=True):
    """Where a walk begins: documents, each with the steps that were made to it, and the ids of definitions that are no
    longer there, which other repositories may use."""

    numbers: Mapping[int, int]
    gone: Collection[str] = ()


def footprints(
    call: ToolContext, ours: JoinedDocuments, sources: SourceReader, starts: WalkStarts, *, steps: int | None
) -> Iterator[Footprint]:
    """What is reached in the repository, and in each other one that uses some of it."""
    reach, budget = CodeReach.of(ours, sources), WalkBudget()
    found, kept = keep_away(call, reach, sources, starts.numbers, steps=steps, budget=budget)
    yield Footprint(ours, reach, found, start_names(call, ours.repo), {}, kept)
    offered = {ours[number].id: number for number in found if not is_test_document(ours, number)}
    offered |= {id_: -1 for id_ in starts.gone if id_ not in offered}
    by_repo: dict[str, dict[int, tuple[int, list[str]]]] = {}
    for use in foreign_uses(call, ours, offered):
        number = offered[use.used]
        distance = 1 + (found[number].distance if number >= 0 else 0)
        way = [title_of(ours[each].id) for each in way_to(found, number)] if number >= 0 else [title_of(use.used)]
        known = by_repo.setdefault(use.repo, {})
        if (steps is None or distance <= steps) and (use.number not in known or known[use.number][0] > distance):
            known[use.number] = distance, way
    for key, begun in sorted(by_repo.items()):
        theirs = call.documents(key)
        their_sources = call.sources(theirs.parts)
        other = CodeReach.of(theirs, their_sources)
        numbers = {number: distance for number, (distance, _) in begun.items()}
        there, kept = keep_away(call, other, their_sources, numbers, steps=steps, budget=budget)
        ways = {one: way for one, (_, way) in begun.items()}
        yield Footprint(theirs, other, there, start_names(call, key), ways, kept)


def starts_of_changes(
    documents: JoinedDocuments, sources: SourceReader, changes: Sequence[SymbolChange], left: LeftUsers
) -> WalkStarts:
    """Where the walk begins for what changed."""
    constants = ConstantReader(documents, sources)
    begun: dict[int, int] = {}

    def begin(number: int | None, distance: int) -> None:
        if number is not None:
            begun[number] = min(distance, begun.get(number, distance))

    for change in changes:
        if change.kind is SymbolChangeKind.CODE:
            users = [one for name in change.names for one in constants.users_of(constant_id(change.path, name))]
            for user in [*users, *map(documents.number, change.mentions)]:
                begin(user, 1)
            if change.runs:
                begin(documents.number(change.path), 0)
            continue
        if not change.moved_file:
            begin(documents.number(change.id), 0)
        if change.before and change.before.id != change.id:
            begin(documents.number(change.before.id), 0)
        for user in left.of(change):
            begin(user, 1)
    return WalkStarts(begun, [id_ for change in changes for id_ in left.gone(change)])
