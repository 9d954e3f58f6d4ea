"""What a change of some definitions reaches: who calls, refers to, inherits from or imports them, over many steps.

A step goes from a definition to whoever may run it. Besides the edges of the graph these are: callers of the method
that a method overrides; who creates objects of a class, for its constructors and operators, and for methods that nobody
is known to call; the function around a function; who reads what a class or file keeps under a name, or uses the object
that registers it; who calls a method by its name on an unknown object; what imports a file whose top-level code is
reached; and what a test framework runs before or for a test.
"""

from collections import defaultdict
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from functools import cached_property
from io import IOBase
from itertools import chain, product

from msgspec import Struct, field

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.agent_tools.constants import ConstantReader
from codesum_pipeline.answers.agent_tools.constructors import constructed_class
from codesum_pipeline.answers.agent_tools.document_tree import NOTHING, JoinedDocuments
from codesum_pipeline.answers.agent_tools.graph_role import is_test_document, is_whole_test
from codesum_pipeline.answers.agent_tools.held_values import HeldValues
from codesum_pipeline.answers.agent_tools.mentioned_names import MentionedNames
from codesum_pipeline.answers.agent_tools.pytest_fixtures import PytestFixtures
from codesum_pipeline.answers.agent_tools.reached_documents import ReachedDocument, with_doubts
from codesum_pipeline.answers.agent_tools.registered_functions import RegisteredFunctions
from codesum_pipeline.answers.agent_tools.registrar_users import RegistrarUsers
from codesum_pipeline.answers.agent_tools.relations import Relation, callers_of, related_documents, relatives_of
from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.edge import EdgeKind
from codesum_pipeline.foundation.data_model.ids import own_name

# Definitions that are reached from one change; the rest is said to be left out.
MOST_REACHED = 20_000
# What a framework runs before or after tests begins so: `setUp`, `setup_method`, `beforeEach`, `tearDownClass`.
_RUN_AROUND_TESTS = ("setup", "teardown", "before", "after", "asyncsetup", "asyncteardown")
# A name that more functions call on unknown objects says nothing of whose it is, nor one that built-in types have.
MOST_BY_NAME = 20
_USUAL_MEMBERS = frozenset(name for type_ in (str, bytes, list, dict, set, int, IOBase) for name in dir(type_))
# A hierarchy is followed so far.
_MOST_BASES = 30


class CodeReach(Struct, eq=False, dict=True):
    """Everything that some documents of a repository reach, nearest first, each once."""

    documents: JoinedDocuments
    fixtures: PytestFixtures
    names: MentionedNames
    constants: ConstantReader
    _known_by_text: dict[int, frozenset[int]] = field(default_factory=dict)
    _sure_steps: dict[int, Sequence[int]] = field(default_factory=dict)
    _known_steps: dict[int, Mapping[int, bool]] = field(default_factory=dict)
    _known_users: dict[str, frozenset[int]] = field(default_factory=dict)
    _class_users: dict[int, frozenset[int]] = field(default_factory=dict)
    _run_with: dict[int, Collection[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, documents: JoinedDocuments, sources: SourceReader) -> "CodeReach":
        constants = ConstantReader(documents, sources)
        return cls(documents, PytestFixtures(documents, sources), MentionedNames(documents, sources), constants)

    @cached_property
    def held(self) -> HeldValues:
        return HeldValues(self.documents, self.constants, self._children)

    @cached_property
    def registrars(self) -> RegistrarUsers:
        return RegistrarUsers(self.held)

    @cached_property
    def registered(self) -> RegisteredFunctions:
        return RegisteredFunctions(self.documents, self.held, self.registrars, self.names, self.is_test)

    def reached(
        self, starts: Mapping[int, int], *, steps: int | None = None, without: Container[tuple[int, int]] = ()
    ) -> dict[int, ReachedDocument]:
        """The starts, each with the steps that were made to it, and what they reach in at most so many steps; at most
        `MOST_REACHED` documents, in the order in which they are found. Steps `without` are not made.

        Whatever calls a method of a base may run that of a subclass, but a test does so only if it uses the subclass.
        """
        found: dict[int, ReachedDocument] = {}
        seen = set[tuple[int, int, int]]()
        waiting: dict[int, list[ReachedDocument]] = defaultdict(list)
        for number, distance in starts.items():
            waiting[distance].append(ReachedDocument(number, distance, NOTHING))
        importance = self.documents.importance
        distance = min(waiting, default=0)
        while waiting:
            stop_if_cancelled()
            frontier = waiting.pop(distance, [])
            frontier.sort(key=lambda each: (each.by, -importance[each.number], each.number))
            self._read_sources({each.number for each in frontier})
            for each in frontier:
                ways = product((each.number,), {each.by, NOTHING}, {each.registered, NOTHING})
                if not seen.isdisjoint(ways) or self._is_unrelated(each):
                    continue
                if len(found) >= MOST_REACHED:
                    return with_doubts(found, seen)
                seen.add((each.number, each.by, each.registered))
                found.setdefault(each.number, each)
                if steps is None or distance < steps:
                    waiting[distance + 1] += (
                        after for after in self._following(each) if (each.number, after.number) not in without
                    )
            distance += 1
        return with_doubts(found, seen)

    def _read_sources(self, numbers: Collection[int]) -> None:
        """Read the files of some documents together: one process of git instead of one for each file."""
        paths = {self.documents[number].path for number in numbers if self.documents[number].level is not Level.MODULE}
        for index in self.documents.parts:
            self.constants.sources.read_missing(index, paths)

    def _following(self, each: ReachedDocument) -> Iterator[ReachedDocument]:
        owner = int(self.documents.parents[each.number])
        if each.number not in self._known_by_text:
            found = self.registered.users_by_text(each.number)
            self._known_by_text[each.number] = found.difference(self._direct_users(each.number) if found else ())
        by_text = self._known_by_text[each.number]
        for user, is_sure in self._users_in_order(each.number).items():
            by = each.by if is_sure or each.by != NOTHING else owner
            registered = each.number if user in by_text else each.registered
            if registered != NOTHING and self.registered.writes_text(user, registered):
                registered = NOTHING
            yield ReachedDocument(user, each.distance + 1, each.number, by, registered)

    def _is_unrelated(self, each: ReachedDocument) -> bool:
        """Whether it is test code that does not use the class whose method may have been called."""
        if not is_test_document(self.documents, each.number):
            return False
        if each.registered != NOTHING and self.is_test(each.number):
            return True
        return each.by != NOTHING and each.number not in self._users_of_classes(each.by)

    def users(self, number: int) -> list[int]:
        """Whoever may run a document in one step."""
        return [*self._users_in_order(number)]

    def _users_in_order(self, number: int) -> Mapping[int, bool]:
        """The same, each with whether it is sure that this document is meant: False for calls of what it overrides, and
        for calls by name."""
        if number not in self._known_steps:
            found = dict.fromkeys(self._sure_users(number), True)
            unsure = self._users_of_overridden(number), self._users_by_name(number), self._users_of_operator(number)
            for user in chain(*unsure):
                found.setdefault(user, False)
            found.pop(number, None)
            self._known_steps[number] = found
        return self._known_steps[number]

    def _sure_users(self, number: int) -> Iterator[int]:
        level = self.documents[number].level
        if level is Level.FILE:
            yield from self._users_of_file(number)
        elif level is Level.CLASS:
            yield from self._users_of_class(number)
        elif level is Level.FUNCTION:
            yield from self._users_of_function(number)

    def _users_by_name(self, number: int) -> Iterator[int]:
        """Who mentions a method's name, uses nothing known of that name, and uses the method's class at any distance.
        Code other than tests counts only where the name is telling, since what it reaches is reached, too; there the
        object may have been handed over, so that it need not use the class if no other class has such a method."""
        owner, name = int(self.documents.parents[number]), own_name(self.documents[number].id)
        if owner == NOTHING or self.documents[owner].level is not Level.CLASS or not self._is_function(number):
            return
        mentions = [each for each in self.names.mentioning(name) if each.is_called or self.names.is_property(number)]
        if not mentions:
            return
        known, using = self._users_of_name(name), self._users_of_classes(owner)
        family = {owner, *relatives_of(self.documents, owner)}
        others = (each for each in mentions if not each.is_of_own or int(self.documents.parents[each.number]) in family)
        found = [one for one in dict.fromkeys(each.number for each in others) if one not in known]
        yield from (one for one in found if one in using and is_test_document(self.documents, one))
        if name in _USUAL_MEMBERS:
            return
        is_only = family.issuperset(int(self.documents.parents[one]) for one in self.documents.named_exactly(name))
        shipped = [one for one in found if (is_only or one in using) and not is_test_document(self.documents, one)]
        yield from shipped if len(shipped) <= MOST_BY_NAME else ()

    def _users_of_operator(self, number: int) -> Iterator[int]:
        """Who has the sign of an operator, and uses the class of the method that it runs at any distance."""
        owner = int(self.documents.parents[number])
        if owner != NOTHING and self.documents[owner].level is Level.CLASS and self._is_function(number):
            signs, using = self.names.with_operator(own_name(self.documents[number].id)), self._users_of_classes(owner)
            yield from (one for one in sorted(signs or ()) if one in using)

    def _users_of_name(self, name: str) -> frozenset[int]:
        """What uses any definition of a name that the graph knows."""
        if name not in self._known_users:
            users = (user for one in self.documents.named_exactly(name) for user in self._direct_users(one))
            self._known_users[name] = frozenset(users)
        return self._known_users[name]

    def _users_of_classes(self, class_: int) -> frozenset[int]:
        """Whatever uses a class or its subclasses, at any distance, and all that is in these."""
        if class_ not in self._class_users:
            found, waiting = set[int](), [class_]
            while waiting and len(found) < MOST_REACHED:
                one = waiting.pop()
                if one not in found:
                    found.add(one)
                    if one not in self._sure_steps:
                        self._sure_steps[one] = list(dict.fromkeys(self._sure_users(one)))
                    waiting += self._sure_steps[one]
                    waiting += self._children.get(one, ()) if self.documents[one].level is Level.CLASS else ()
            self._class_users[class_] = frozenset(found)
        return self._class_users[class_]

    def _is_function(self, number: int) -> bool:
        return self.documents[number].level is Level.FUNCTION

    def is_test(self, number: int) -> bool:
        """Whether a document is a test by itself: what a framework runs and counts."""
        documents = self.documents
        if documents[number].level is not Level.FUNCTION or not is_test_document(documents, number):
            return False
        if documents[number].path.endswith(".py"):
            return own_name(documents[number].id).lower().startswith("test") and self._is_in_no_function(number)
        return is_whole_test(documents, number)

    def tests_run_with(self, number: int) -> Collection[int]:
        """The tests, and other fixtures, for which a framework runs a function of test code by itself."""
        if number not in self._run_with:
            self._run_with[number] = dict.fromkeys(self._tests_run_with(number, int(self.documents.parents[number])))
        return self._run_with[number]

    def tests_in(self, number: int) -> list[int]:
        """The tests of a file or class, itself among them."""
        return [one for one in self._inside(number) if self.is_test(one)]

    def _users_of_file(self, number: int) -> Iterator[int]:
        """Importing a file runs its top-level code; a file of tests that cannot be run fails with all of its tests."""
        yield from (each.number for each in related_documents(self.documents, number, Relation.IMPORTED_BY))
        if is_test_document(self.documents, number):
            yield from self.tests_in(number)

    def _users_of_class(self, number: int) -> Iterator[int]:
        yield from self._direct_users(number)
        yield from self._of_kind(number, EdgeKind.INHERIT)
        owner = int(self.documents.parents[number])
        if owner != NOTHING and self.documents[owner].level is not Level.FILE:
            yield owner
        if is_test_document(self.documents, number):
            yield from self.tests_in(number)

    def _users_of_function(self, number: int) -> Iterator[int]:
        documents = self.documents
        direct = self._direct_users(number)
        yield from direct
        # The body of a class runs when its file is imported.
        bodies = (one for one in direct if documents[one].level is Level.CLASS and self._is_in_no_function(one))
        yield from (int(documents.files[one]) for one in bodies)
        owner = int(documents.parents[number])
        if owner == NOTHING:
            return
        if documents[owner].level is Level.FUNCTION:
            yield owner
        if is_test_document(documents, number):
            yield from self.tests_run_with(number)
            return
        yield from self.registrars.of(number)
        yield from self.held.users_of_registries(number) if not direct else ()
        if documents[owner].level is Level.CLASS:
            name = own_name(documents[number].id)
            is_special = name.startswith("__") and name.endswith("__")
            is_operator = is_special and self.names.with_operator(name) is not None
            if not is_operator and (
                is_special or not (direct or self.names.mentioning(name) or any(self._overridden(number)))
            ):
                yield from self._users_of_object(owner)

    def _users_of_overridden(self, number: int) -> Iterator[int]:
        """Who calls what a method overrides; other methods that override it call that of their base itself."""
        if self._is_function(number):
            name = own_name(self.documents[number].id)
            users = (user for above in self._overridden(number) for user in self._direct_users(above))
            yield from (user for user in users if not self._is_override(name, user))

    def _is_override(self, name: str, user: int) -> bool:
        """Whether a function has a name and calls it on its own object or base alone."""
        mentions = [each for each in self.names.mentioning(name) if each.number == user]
        return own_name(self.documents[user].id) == name and all(each.is_of_own for each in mentions)

    def _users_of_object(self, class_: int) -> Iterator[int]:
        """Who creates objects of a class or of its subclasses, or names it."""
        heirs = [each.number for each in related_documents(self.documents, class_, Relation.SUBCLASSES, depth=6)]
        for one in (class_, *heirs):
            yield from self._direct_users(one)

    def _tests_run_with(self, number: int, owner: int) -> Iterator[int]:
        """The tests for which a framework runs a function of test code by itself."""
        if own_name(self.documents[number].id).replace("_", "").lower().startswith(_RUN_AROUND_TESTS):
            yield from self.tests_in(owner)
            if self.documents[owner].level is Level.CLASS:
                for relative in relatives_of(self.documents, owner):
                    yield from self.tests_in(relative)
        yield from self.fixtures.users_of(number)

    def _direct_users(self, number: int) -> list[int]:
        """Who calls a document, or is handed it; who reads it where a class or file keeps it under a name."""
        found = callers_of(self.documents, self.documents.uses, number)
        for user in self._of_kind(number, EdgeKind.REFERENCE):
            is_holder = self.documents[user].level is not Level.FUNCTION and self._is_outside(number, user)
            names = self.held.names(user, number) if is_holder else None
            # A file that only names something runs nothing of it.
            is_run = names is None and self.documents[user].level is not Level.FILE
            readers = [] if is_run else self._readers(user, names or [])
            # What nobody reads, whoever made the base of the class reads.
            found += readers or ([user] if is_run or self.documents[user].level is Level.CLASS else [])
        return found

    def _is_outside(self, number: int, holder: int) -> bool:
        return number != holder and self.documents[number].level in (Level.FUNCTION, Level.CLASS)

    def _readers(self, holder: int, names: list[str]) -> list[int]:
        """Whoever reads what a class or file keeps under some names."""
        if self.documents[holder].level is Level.FILE:
            return [*self.held.users_of_file(holder, names)]
        family = {holder, *relatives_of(self.documents, holder)}
        mentions = (each for name in names for each in self.names.mentioning(name))
        return [each.number for each in mentions if int(self.documents.parents[each.number]) in family]

    def _of_kind(self, number: int, kind: EdgeKind) -> Sequence[int]:
        uses = self.documents.uses
        return uses.users_of(number, kind) if number < len(uses) else ()

    def _overridden(self, number: int) -> Iterator[int]:
        """The methods of the same name in what a method's class is built on: a call of one of them may run it."""
        documents = self.documents
        owner, name = int(documents.parents[number]), own_name(documents[number].id)
        if owner == NOTHING or documents[owner].level is not Level.CLASS:
            return
        if constructed_class(documents, number) is not None:
            return
        for base in related_documents(documents, owner, Relation.BASES, depth=6)[:_MOST_BASES]:
            yield from (one for one in self._children.get(base.number, ()) if own_name(documents[one].id) == name)

    def _is_in_no_function(self, number: int) -> bool:
        owner = int(self.documents.parents[number])
        return owner == NOTHING or self.documents[owner].level is not Level.FUNCTION

    def _inside(self, number: int) -> list[int]:
        if self.documents[number].level is Level.FILE:
            return self._in_files.get(number, [])
        found, waiting = list[int](), [number]
        while waiting:
            one = waiting.pop()
            found.append(one)
            waiting += self._children.get(one, ())
        return sorted(found)

    @cached_property
    def _children(self) -> dict[int, list[int]]:
        return self.documents.grouped(self.documents.parents)

    @cached_property
    def _in_files(self) -> dict[int, list[int]]:
        return self.documents.grouped(self.documents.files)
