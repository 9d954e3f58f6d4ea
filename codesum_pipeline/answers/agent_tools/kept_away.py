"""Which of the tests that reach something are kept away from it by what they replace: mocks, patches, values set.

A step into test code is dropped where what it comes from is not reached any more while that code's replacements are in
force. What is then not reached is kept away. Each set of replaced names costs a walk; beyond a number of documents that
the walks reach, tests are named as if they replaced nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from itertools import pairwise

from msgspec import Struct, field

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.constants import whole_word
from codesum_pipeline.answers.agent_tools.graph_role import is_test_document
from codesum_pipeline.answers.agent_tools.reached_code import CodeReach
from codesum_pipeline.answers.agent_tools.reached_documents import ReachedDocument, way_to
from codesum_pipeline.answers.agent_tools.replaced_definitions import (
    MOST_KEPT,
    MOST_PARSED,
    ReplacedDefinition,
    TestReplacements,
    chain_of,
    module_name,
)
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import own_name

# Documents that the walks for one answer reach in all, some five seconds; a walk counts as so many at least.
MOST_WALKED = 500_000
_LEAST_OF_A_WALK = 1_000

Found = Mapping[int, ReachedDocument]
Step = tuple[int, int]
Replaced = frozenset[ReplacedDefinition]


class WalkBudget(Struct, eq=False):
    """What the walks for one answer have reached, over all its repositories."""

    documents: int = 0


# What is reached although tests replace something, and the other tests with the names of what they replace.
KeptAway = tuple[Found, Mapping[int, list[str]]]


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
    found, documents = reach.reached(starts, steps=steps), reach.documents
    if reach.registrars.is_cut:
        call.tell(
            f"what registers functions of {documents.repo} was looked for in the first {reach.registrars.searched:,} "
            "lines: who uses it elsewhere is not named"
        )
    if not any(is_test_document(documents, number) for number in found):
        return found, {}
    inside, by_name = defaultdict[int, list[int]](list), defaultdict[str, list[int]](list)
    for number in found:
        for holder in chain_of(documents, number):
            inside[holder].append(number)
    for holder in inside:
        is_file = documents[holder].level is Level.FILE
        by_name[module_name(documents[holder].id) if is_file else own_name(documents[holder].id)].append(holder)
    replacements = TestReplacements(reach, sources, by_name)
    replacements.read()
    walks = _Walks(reach, starts, steps, found, replacements, budget, inside)
    kept = walks.kept_away()
    if replacements.is_cut or walks.is_cut:
        call.tell(
            f"what tests of {documents.repo} replace was followed in part, at most {MOST_PARSED:,} files, "
            f"{MOST_KEPT:,} things that may be meant and {MOST_WALKED:,} steps: other tests are named as if they "
            "replaced nothing"
        )
    return kept


class _Walks(Struct, eq=False):
    """Walks from the same starts with different names replaced; it `is_cut` where there would be more. `inside` is what
    is reached in each definition and file, `known` what the walks reached."""

    reach: CodeReach
    starts: Mapping[int, int]
    steps: int | None
    found: Found
    replacements: TestReplacements
    budget: WalkBudget
    inside: Mapping[int, list[int]]
    is_cut: bool = False
    known: dict[Replaced, Collection[int]] = field(default_factory=dict)
    _cuts: dict[ReplacedDefinition, frozenset[Step]] = field(default_factory=dict)

    def kept_away(self) -> KeptAway:
        spans, blocked = self.replacements.spans, dict[Step, Replaced]()
        for step in (step for number in self.found for step in self._steps_from(number) if step[1] in spans):
            replaced = self._in_force(*step)
            if replaced and self._blocks(replaced, step):
                blocked[step] = replaced
        if not blocked:
            return self.found, {}
        left = self.reach.reached(self.starts, steps=self.steps, without=blocked)
        tests = [number for number in self.found if number not in left and self.reach.is_test(number)]
        return left, {number: self._told(number, blocked) for number in tests}

    def _steps_from(self, number: int) -> list[Step]:
        return [(number, user) for user in self.reach.users(number) if user in self.found]

    def _in_force(self, number: int, user: int) -> Replaced:
        """What is replaced while a function of test code runs something, of what matters."""
        documents = self.reach.documents
        if is_test_document(documents, number) and user in self.reach.tests_run_with(number):
            # A fixture is run before what the test replaces.
            return frozenset()
        name = own_name(documents[number].id)
        name = own_name(documents[int(documents.parents[number])].id) if name.startswith("__") else name
        word, first = whole_word(name), documents[user].shown()["start_line"]
        texts = enumerate(self.replacements.sources.lines_of(documents[user]), first)
        named = [line for line, text in texts if word.search(text)]
        return frozenset(
            replaced for replaced, each in self.replacements.spans[user]
            if all(each.first <= line <= each.last for line in [one for one in named if one >= each.body] or [first])
            and self._cut_by(replaced)
        )  # fmt: skip

    def _cut_by(self, replaced: ReplacedDefinition) -> frozenset[Step]:
        """The steps of what is reached that are not made while a name is replaced."""
        if replaced not in self._cuts:
            steps = (step for number in self.inside[replaced.definition] for step in self._steps_from(number))
            self._cuts[replaced] = frozenset(step for step in steps if self.replacements.cuts(replaced, *step))
        return self._cuts[replaced]

    def _blocks(self, replaced: Replaced, step: Step) -> bool:
        """Whether a step is not made, or not come to, while some names are replaced."""
        cut = frozenset[Step]().union(*map(self._cut_by, replaced))
        if step in cut:
            return True
        if replaced not in self.known:
            if self.budget.documents >= MOST_WALKED:
                self.is_cut = True
                return False
            self.known[replaced] = frozenset(self.reach.reached(self.starts, steps=self.steps, without=cut))
            self.budget.documents += max(_LEAST_OF_A_WALK, len(self.known[replaced]))
        return step[0] not in self.known[replaced]

    def _told(self, test: int, blocked: Mapping[Step, Replaced]) -> list[str]:
        """The names that keep a test away: what is replaced in it, else in what it runs on its way."""
        own = {each.told for (_, user), replaced in blocked.items() if user == test for each in replaced}
        steps = pairwise(way_to(self.found, test))
        return sorted(own or {each.told for step in steps for each in blocked.get(step, ())})
