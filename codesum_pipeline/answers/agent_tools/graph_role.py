"""What the graph says of a function or class beyond its text: its role in the repository.

The role is what it implements or overrides, the purposes that others use it for, the commands and routes that reach
it, and a test. Who refers to it without a call counts where nobody calls it, and among tests. The role is worked out
for each reader from the documents of the reader's tree, and is part of no text and no hash. Only what somebody wrote
about the others is repeated: silence is better than a name in other words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from codesum_pipeline.answers.agent_tools.document_tree import NOTHING, JoinedDocuments
from codesum_pipeline.answers.agent_tools.overridden_methods import overridden_by
from codesum_pipeline.answers.agent_tools.relations import callers_of
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.edge import EdgeKind
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.indexes.lanes.tokens import split_identifier, tokenize
from codesum_pipeline.texts.summaries.purposes import Purpose, purpose_of

# Commands, routes and programs by the id of the definition or file that they start.
StartNames = Mapping[str, Sequence[str]]

# Of callers, the most important are looked at, and fewer are read.
_MOST_CALLERS = 200
_MOST_CALLERS_READ = 20
_CALLERS_SHOWN = 2
# What more commands and routes reach is a tool of all.
_MOST_STARTS = 4
# Calls from where a command or route starts to the function, and the functions looked at on the way.
_MOST_CALLS = 3
_MOST_VISITED = 400
_MOST_TESTS = 50
# Functions among tests that are none: what prepares them and clears up.
_FIXTURES = frozenset({
    "setup", "teardown", "before", "after", "beforeeach", "aftereach", "beforeall", "afterall", "beforeclass",
    "afterclass", "setupclass", "teardownclass", "setupall", "teardownall", "init", "main",
})  # fmt: skip
# Words that names of most functions and tests have.
_COMMON_WORDS = frozenset(tokenize("get set is to test the"))


class GraphRole(Struct, frozen=True, omit_defaults=True):
    """Each field is named as people and agents read it, and its items are whole lines."""

    implements: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    used_by: tuple[str, ...] = ()
    serves: tuple[str, ...] = ()
    tested_by: tuple[str, ...] = ()

    def facts(self) -> dict[str, list[str]]:
        """The lines by words for people, without empty fields."""
        return {name.replace("_", " "): [*map(one_line, lines)] for name, lines in asdict(self).items() if lines}

    @property
    def first_line(self) -> str:
        """What tells most of a document that stands among others."""
        told = ((name, lines[0]) for name, lines in self.facts().items() if name in _TELLING)
        return next((f"{name.capitalize()} {line}" for name, line in told), "")


NO_ROLE = GraphRole()
# As `facts` names them.
ROLE_FACTS = tuple(name.replace("_", " ") for name in GraphRole.__struct_fields__)
_TELLING = frozenset(ROLE_FACTS) - {"tested by"}


def role_of(documents: JoinedDocuments, number: int, starts: StartNames) -> GraphRole:
    """The role of a function or class; files and folders have none."""
    if documents[number].level not in (Level.FUNCTION, Level.CLASS):
        return NO_ROLE
    document = documents[number].document()
    own = purpose_of(document)
    callers, referring = _callers(documents, number), _referring(documents, number)
    users = callers or referring
    from_tests = [user for user in dict.fromkeys([*callers, *referring]) if is_test_document(documents, user)]
    others = users if document["is_test"] else [user for user in users if user not in {*from_tests}]
    is_told = own is not None and own.is_authors
    above = None if is_told or documents[number].level is Level.CLASS else overridden_by(documents, number)
    line = (f"{above.name}: {above.purpose.text}",) if above else ()
    return GraphRole(
        implements=line if above and above.is_promise else (),
        overrides=() if above and above.is_promise else line,
        used_by=tuple(islice(_purposes(documents, others, own), _CALLERS_SHOWN)),
        serves=_starts_reaching(documents, number, starts),
        tested_by=() if document["is_test"] else _test_of(documents, document, from_tests),
    )


def _callers(documents: JoinedDocuments, number: int) -> list[int]:
    """What calls a document, most important first, without itself and what is in it."""
    return _most_important(documents, number, callers_of(documents, documents.uses, number))


def _referring(documents: JoinedDocuments, number: int) -> list[int]:
    """The same for what refers to a document and does not call it."""
    uses = documents.uses
    return _most_important(documents, number, uses.users_of(number, EdgeKind.REFERENCE) if number < len(uses) else [])


def _most_important(documents: JoinedDocuments, number: int, users: Sequence[int]) -> list[int]:
    inside = f"{documents[number].id}::"
    important = sorted(users, key=lambda user: (-documents.importance[user], user))[:_MOST_CALLERS]
    return [user for user in important if user != number and not documents[user].id.startswith(inside)]


def is_test_document(documents: JoinedDocuments, number: int) -> bool:
    found = documents[number]
    return bool(found.index.arrays["is_test"][found.row])


def _purposes(documents: JoinedDocuments, users: Sequence[int], own: Purpose | None) -> Iterator[str]:
    """What the most important callers are for, those first that an author describes; the own purpose is no news."""
    symbols = (user for user in users if documents[user].level is not Level.FILE)
    callers = [documents[user].document() for user in islice(symbols, _MOST_CALLERS_READ)]
    told = [(purpose, caller) for caller in callers if (purpose := purpose_of(caller)) and not purpose.is_of_name]
    seen = {own.text} if own else set()
    for purpose, caller in sorted(told, key=lambda each: not each[0].is_authors):
        if purpose.text not in seen:
            seen.add(purpose.text)
            yield f"{caller['qualified_name']}: {purpose.text}"


def _starts_reaching(documents: JoinedDocuments, number: int, starts: StartNames) -> tuple[str, ...]:
    """The commands, routes and programs that reach a document with the fewest calls."""
    seen, frontier = {number}, [number]
    # A script that is called as its file is no news there.
    ending = f" {documents[number].path.rpartition('/')[2]}"
    for _ in range(_MOST_CALLS + 1 if starts else 0):
        found = {name for each in frontier for name in started_at(documents, each, starts) if not name.endswith(ending)}
        if found:
            return tuple(sorted(found)) if len(found) <= _MOST_STARTS else ()
        callers = {user for each in frontier for user in _callers(documents, each)} - seen
        frontier = sorted(user for user in callers if not is_test_document(documents, user))
        seen.update(frontier)
        if len(seen) > _MOST_VISITED:
            break
    return ()


def started_at(documents: JoinedDocuments, number: int, starts: StartNames) -> Sequence[str]:
    """What starts at a document, or at the class whose method it is."""
    names = starts.get(documents[number].id)
    owner = int(documents.parents[number])
    return names or (starts.get(documents[owner].id, ()) if owner != NOTHING else ())


def _test_of(documents: JoinedDocuments, document: Mapping[str, Any], tests: Sequence[int]) -> tuple[str, ...]:
    """The test that is most about a document: with the most words of its name, of those the shortest; none where no
    test has half of the words."""
    words = _words(document["qualified_name"] or "")
    own = _words((document["qualified_name"] or "").rpartition(".")[2])
    ranked = []
    for test in (each for each in tests[:_MOST_TESTS] if is_whole_test(documents, each)):
        shown = documents[test].shown()
        of_test, last = _words(shown["qualified_name"]), _words(shown["qualified_name"].rpartition(".")[2])
        if own & last and 2 * len(own & of_test) >= len(own):
            length = shown["end_line"] - shown["start_line"]
            ranked.append((-len(words & of_test), length, documents[test].id, shown["qualified_name"]))
    return (min(ranked)[-1],) if ranked else ()


def is_whole_test(documents: JoinedDocuments, number: int) -> bool:
    """Whether a function of a test's file is a test: nobody calls it, it is in no other function, and no fixture. What
    is handed over is one only by its name."""
    owner = int(documents.parents[number])
    is_function = documents[number].level is Level.FUNCTION and documents[owner].level is not Level.FUNCTION
    name = documents[number].id.rpartition("::")[2].replace("_", "").lower()
    is_used = documents.uses.users_of(number, EdgeKind.CALL) or (
        "test" not in name and documents.uses.users_of(number, EdgeKind.REFERENCE)
    )
    return is_function and name not in _FIXTURES and not is_used


def _words(name: str) -> frozenset[str]:
    """The stemmed parts of a name, without the whole, which is a token too."""
    parts = (part for word in re.findall(r"\w+", name) for part in split_identifier(word))
    return frozenset(stem for part in parts for stem in tokenize(part)) - _COMMON_WORDS
