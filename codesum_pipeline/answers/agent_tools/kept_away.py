"""Which of the tests that reach something are kept away from it by what they replace: mocks, patches, values set.

A step into test code is dropped where what it comes from is not reached any more while that code's replacements are in
force. What is then not reached is kept away. Each set of replaced names costs a walk; beyond a number of walks, and of
documents that they reach, tests are named as if they replaced nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct, field

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.constants import whole_word
from codesum_pipeline.answers.agent_tools.graph_role import is_test_document
from codesum_pipeline.answers.agent_tools.python_modules import MOST_PARSED, PythonModules
from codesum_pipeline.answers.agent_tools.reached_code import CodeReach
from codesum_pipeline.answers.agent_tools.reached_documents import ReachedDocument, way_to
from codesum_pipeline.answers.agent_tools.replaced_definitions import (
    DEFINING,
    ReplacedDefinition,
    ReplacedLookups,
    ReplacementReader,
    TestReplacements,
)
from codesum_pipeline.foundation.data_model.ids import own_name

# Sets of replaced names that are followed for one answer, and documents that the walks reach in all: some five seconds.
MOST_SETS = 200
MOST_WALKED = 500_000

Found = Mapping[int, ReachedDocument]
Replaced = frozenset[ReplacedDefinition]


class WalkBudget(Struct, eq=False):
    """The walks for one answer, over all its repositories, and the documents that they have reached."""

    walks: int = 0
    documents: int = 0

    def is_spent(self) -> bool:
        return self.walks >= MOST_SETS or self.documents >= MOST_WALKED


class KeptAway(Struct, frozen=True):
    """What is reached although tests replace something, and the other tests with the names of what they replace;
    `otherwise` is what would be reached if they did not."""

    found: Found
    otherwise: Found
    tests: Mapping[int, list[str]] = {}


def keep_away(
    call: ToolContext,
    reach: CodeReach,
    sources: SourceReader,
    starts: Mapping[int, int],
    *,
    steps: int | None,
    budget: WalkBudget,
) -> KeptAway:
    """What is reached from some starts, without the tests that are kept away."""
    found = reach.reached(starts, steps=steps)
    documents = reach.documents
    if reach.registrars.is_cut:
        call.tell(
            f"what registers functions of {documents.repo} was looked for in the first {reach.registrars.searched:,} "
            "lines: who uses it elsewhere is not named"
        )
    if not any(is_test_document(documents, number) for number in found):
        return KeptAway(found, found)
    modules = PythonModules(documents, sources)
    walks = _Walks(reach, starts, steps, found, ReplacedLookups(documents, modules), budget)
    walks.prepare()
    reader = ReplacementReader(documents, reach, modules, walks.inside)
    kept = walks.kept_away(reader.read(_names(reach, found)))
    if modules.is_cut or reader.is_cut or walks.is_cut:
        call.tell(
            f"what tests of {documents.repo} replace was followed in part, at most {MOST_PARSED:,} files and "
            f"{MOST_SETS:,} sets of names: other tests are named as if they replaced nothing"
        )
    return kept


def _names(reach: CodeReach, found: Found) -> frozenset[str]:
    """The names by which test code could replace something of what is reached."""
    documents = reach.documents
    names = set[str]()
    for number in found:
        path, *parts = documents[number].id.split("::")
        names.update(parts, path.removesuffix("/__init__.py").removesuffix(".py").rsplit("/", 1)[-1:])
    return frozenset(names)


class _Walks(Struct, eq=False):
    """Walks from the same starts with different names replaced; `known` are the results, and it `is_cut` where there
    would be more. `inside` is what is reached in each definition and file."""

    reach: CodeReach
    starts: Mapping[int, int]
    steps: int | None
    found: Found
    lookups: ReplacedLookups
    budget: WalkBudget
    is_cut: bool = False
    known: dict[Replaced, Collection[int]] = field(default_factory=dict)
    _cuts: dict[ReplacedDefinition, frozenset[tuple[int, int]]] = field(default_factory=dict)
    _users: dict[int, list[int]] = field(default_factory=dict)
    inside: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))

    def prepare(self) -> None:
        self._users = {number: [one for one in self.reach.users(number) if one in self.found] for number in self.found}
        for number in self.found:
            for holder in self.lookups.chain(number):
                self.inside[holder].append(number)

    def kept_away(self, replacements: TestReplacements) -> KeptAway:
        blocked: dict[tuple[int, int], Replaced] = {}
        entries = ((number, user) for number, users in self._users.items() for user in users)
        for number, user in entries:
            if user in replacements.own or user in replacements.around:
                replaced = self._in_force(replacements, number, user)
                if replaced and self._blocks(replaced, number, user):
                    blocked[number, user] = replaced
        if not blocked:
            return KeptAway(self.found, self.found)
        left = self.reach.reached(self.starts, steps=self.steps, without=blocked)
        tests = [number for number in self.found if number not in left and self.reach.is_test(number)]
        return KeptAway(left, self.found, {number: self._told(number, blocked) for number in tests})

    def _in_force(self, replacements: TestReplacements, number: int, user: int) -> Replaced:
        """What is replaced while a function of test code runs something, of what matters."""
        if is_test_document(self.reach.documents, number) and user in self.reach.tests_run_with(number):
            # A fixture is run before what the test replaces.
            return frozenset()
        around = replacements.around.get(user, ())
        spans = replacements.own.get(user, ())
        lines = self._lines_with(number, user) if spans else []
        own = (each.replaced for each in spans if all(each.first <= line <= each.last for line in lines))
        return frozenset(each for each in (*around, *own) if self._cut_by(each))

    def _lines_with(self, number: int, user: int) -> list[int]:
        """The lines of a function that name what it runs; the first one where none does."""
        documents = self.reach.documents
        name, first = own_name(documents[number].id), documents[user].shown()["start_line"]
        if name.startswith("__"):
            name = own_name(documents[int(documents.parents[number])].id)
        own, word = self.lookups.modules.sources.lines_of(documents[user]), whole_word(name)
        body = [*enumerate(own)][_head_length(own) :]
        return [first + at for at, line in body if word.search(line)] or [first]

    def _cut_by(self, replaced: ReplacedDefinition) -> frozenset[tuple[int, int]]:
        """The steps of what is reached that are not made while a name is replaced."""
        if replaced not in self._cuts:
            inside = self.inside.get(replaced.definition, ())
            steps = ((number, user) for number in inside for user in self._users[number])
            self._cuts[replaced] = frozenset(step for step in steps if self.lookups.cuts(replaced, *step))
        return self._cuts[replaced]

    def _blocks(self, replaced: Replaced, number: int, user: int) -> bool:
        """Whether a step is not made, or not come to, while some names are replaced."""
        if any((number, user) in self._cut_by(each) for each in replaced):
            return True
        if replaced not in self.known:
            if self.budget.is_spent():
                self.is_cut = True
                return False
            without = frozenset[tuple[int, int]]().union(*map(self._cut_by, replaced))
            self.known[replaced] = frozenset(self.reach.reached(self.starts, steps=self.steps, without=without))
            self.budget.walks += 1
            self.budget.documents += len(self.known[replaced])
        return number not in self.known[replaced]

    def _told(self, test: int, blocked: Mapping[tuple[int, int], Replaced]) -> list[str]:
        """The names that keep a test away: what is replaced in it, else in what it runs on its way."""
        own = {each.told for (_, user), replaced in blocked.items() if user == test for each in replaced}
        steps = pairwise(way_to(self.found, test))
        return sorted(own or {each.told for step in steps for each in blocked.get(step, ())})


def _head_length(lines: Sequence[str]) -> int:
    """The lines of a function before its body: its decorators and its head; 0 where both are on one line."""
    start = next((at for at, line in enumerate(lines) if DEFINING.match(line)), len(lines))
    ends = (at + 1 for at in range(start, len(lines)) if lines[at].partition("#")[0].rstrip().endswith(":"))
    return next(ends, 0)
