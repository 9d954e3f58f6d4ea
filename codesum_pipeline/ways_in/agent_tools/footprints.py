"""What a change reaches in its repository and in the others that import it, with the way from the change to each."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.ways_in.agent_tools.call import ToolContext
from codesum_pipeline.ways_in.agent_tools.changed_symbols import SymbolChange, SymbolChangeKind, constant_id
from codesum_pipeline.ways_in.agent_tools.constants import ConstantReader
from codesum_pipeline.ways_in.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.ways_in.agent_tools.graph_role import StartNames, is_test_document
from codesum_pipeline.ways_in.agent_tools.impact_page import ReachedPlace, title_of
from codesum_pipeline.ways_in.agent_tools.importing_repositories import foreign_uses
from codesum_pipeline.ways_in.agent_tools.reached_code import CodeReach, ReachedDocument, way_to
from codesum_pipeline.ways_in.agent_tools.start_names import start_names


class Footprint(Struct, eq=False, dict=True):
    """What is reached in one repository: documents with their steps, and where other repositories go on from."""

    documents: JoinedDocuments
    reach: CodeReach
    found: Mapping[int, ReachedDocument]
    starts: StartNames
    # The way in another repository from the change to a start.
    before: Mapping[int, list[str]] = field(default_factory=dict)

    def place(self, number: int) -> ReachedPlace:
        found, row = self.documents[number], self.documents.row(number)
        way = way_to(self.found, number)
        names = [*self.before.get(way[0], ()), *(title_of(self.documents[each].id) for each in way)]
        steps = self.found[number].distance
        starts = sorted({*self.started(number)})
        return ReachedPlace(
            repo=found.repo,
            id=found.id,
            path=found.path,
            line=row.start_line,
            steps=steps,
            way=names,
            starts=starts,
            is_elsewhere=bool(self.before),
        )

    def started(self, number: int) -> Sequence[str]:
        """What starts at a document, or at the class whose method it is."""
        owner = int(self.documents.parents[number])
        return self.starts.get(self.documents[number].id) or (
            self.starts.get(self.documents[owner].id, ()) if owner >= 0 else ()
        )

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

    def _nearest(self, numbers: Collection[int] | Iterator[int]) -> list[int]:
        return sorted(numbers, key=lambda number: (self.found[number].distance, self.documents[number].id))


def footprints(
    call: ToolContext, ours: JoinedDocuments, changes: Sequence[SymbolChange], *, steps: int | None
) -> Iterator[Footprint]:
    """What is reached in the repository, and in each other one that uses some of it."""
    sources = call.sources(ours.parts)
    reach = CodeReach.of(ours, sources)
    found = reach.reached(_begun(ours, ConstantReader(ours, sources), changes), steps=steps)
    own = Footprint(ours, reach, found, start_names(call, ours.repo))
    yield own
    offered = {ours[number].id: number for number in found if not is_test_document(ours, number)}
    offered |= {change.before.id: -1 for change in changes if change.before and change.before.id not in offered}
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
        other = CodeReach.of(theirs, call.sources(theirs.parts))
        found = other.reached({number: distance for number, (distance, _) in begun.items()}, steps=steps)
        yield Footprint(theirs, other, found, start_names(call, key), {one: way for one, (_, way) in begun.items()})


def _begun(documents: JoinedDocuments, constants: ConstantReader, changes: Sequence[SymbolChange]) -> dict[int, int]:
    """The documents where the walk begins, each with the steps that were made to it."""
    begun: dict[int, int] = {}

    def begin(number: int | None, distance: int) -> None:
        if number is not None:
            begun[number] = min(distance, begun.get(number, distance))

    lost = lost_users(documents)
    for change in changes:
        if change.kind is SymbolChangeKind.CODE:
            users = [one for name in change.names for one in constants.users_of(constant_id(change.path, name))]
            for user in [*users, *map(documents.number, change.mentions)]:
                begin(user, 1)
            if change.runs:
                begin(documents.number(change.path), 0)
            continue
        if change.moved_file:
            continue
        begin(documents.number(change.id), 0)
        if change.before and change.before.id != change.id:
            begin(documents.number(change.before.id), 0)
        for user in lost.get(change.before.id, ()) if change.before else ():
            begin(user, 1)
    return begun


def lost_users(documents: JoinedDocuments) -> dict[str, list[int]]:
    """What used, at the commit of the index, each document that the work tree no longer has."""
    found: dict[str, list[int]] = {}
    for user, ids in documents.joined.lost.items():
        for id_ in ids:
            found.setdefault(id_, []).append(user)
    return found
