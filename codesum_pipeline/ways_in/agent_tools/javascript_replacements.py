"""What tests in JavaScript and TypeScript replace: `jest.mock`, `vi.mock`, `spyOn(…).mock…`, stubs of Sinon.

Read with the grammar of the language. A mocked module is replaced for the whole file, but for what its factory takes
from the original; a spy or stub of a test from its line until something is restored, one of `beforeEach` or at the top
for all tests around it. Whatever is handed the original, or a name that keeps it, replaces nothing.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.ways_in.agent_tools.javascript_tests import (
    ENDINGS,
    CallOfTest,
    Kind,
    Restore,
    ScriptOfTests,
    module_of,
    read_tests,
)

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["ENDINGS", "MARK", "MockedName", "mocked_names"]

MARK = re.compile(r"\bmock\(|\bspyOn\(|\bstub\(")
_MOCKING = re.compile(r"(?:jest|vi)\.mock")
_SPYING = re.compile(r"(?:jest|vi|vitest)\.spyOn")
_STUBBING = re.compile(r"[\w.]{0,100}\.stub")
_ASKING = re.compile(r"(?:jest|vi|require)\.(?:requireActual|importActual|unmock|deepUnmock|dontMock|doUnmock)")
# What gives a spy another implementation for good; and what may give one the original.
_ANOTHER = re.compile(r"mock(?:Implementation|ReturnValue|ResolvedValue|RejectedValue|ReturnThis)")
_GIVING = re.compile(r"(?:mock\w{1,40}|callsFake|value|get)")
# Of more pairs of what sets spies before each test and what restores them, a file replaces nothing there.
MOST_COMPARED = 10_000
_INDEX = re.compile(r"(?:/index)?(?:\.\w{1,4})?$")


class MockedName(Struct, frozen=True):
    """What is replaced between two lines: of a module, which is a file's path without its ending, a name or the member
    of one (`Class::method`); all where `name` is empty."""

    module: str
    name: str
    first: int
    last: int


def mocked_names(path: str, text: str) -> list[MockedName]:
    """What a file of tests replaces; nothing where it cannot be parsed."""
    # The grammars of all languages, which other tools do without.
    from tree_sitter import Language, Parser

    from codesum_pipeline.symbols.parsing.bounded import TooCostly, TooMuchWork, parse_within_bounds
    from codesum_pipeline.symbols.parsing.parsers import PARSERS, usual_budget

    known, source = PARSERS.get(language_of_path(path) or ""), text.encode()
    if known is None:
        return []
    try:
        parser = Parser(Language(known.declaration.spec.grammar()))
        tree = parse_within_bounds(parser, source, usual_budget(source))
    except (TooMuchWork, TooCostly):
        return []
    script = read_tests(path, source, tree.root_node)
    spies = [call for call in script.calls if _is_replacing_spy(call) or _is_stub(call)]
    script.find_kept({script.string(call.values[1]) for call in spies})
    return [*dict.fromkeys((*_mocked(script), *_spied(script, spies)))]


def _mocked(script: ScriptOfTests) -> Iterator[MockedName]:
    """Modules that are mocked. Vitest moves the call to the top of the file, Jest to that of the block around it, where
    what the file imports is there already."""
    calls = [call for call in script.calls if not call.around.is_in_factory and call.values]
    asked = {_base_name(script.string(call.values[0])) for call in calls if _ASKING.fullmatch(call.name)}
    for call in calls:
        if not _MOCKING.fullmatch(call.name):
            continue
        written = script.string(call.values[0])
        is_at_top = call.around.kind is Kind.TOP and not call.around.is_doubtful
        if not (is_at_top or call.name.startswith("vi.")) or not asked.isdisjoint({"", _base_name(written)}):
            continue
        if module := module_of(script.path, written):
            for name in _of_factory(script, call.values[1] if len(call.values) > 1 else None):
                yield MockedName(module, name, 1, script.last)


def _base_name(written: str) -> str:
    return _INDEX.sub("", written[-300:]).rpartition("/")[2]


def _of_factory(script: ScriptOfTests, node: "Node | None") -> Iterator[str]:
    """The names that a factory replaces; the empty one for all. With `{spy: true}` everything runs."""
    if node is None:
        yield ""
        return
    takes = node.child_by_field_name("parameter"), node.child_by_field_name("parameters")
    takes_original = takes[0] is not None or (takes[1] is not None and takes[1].named_child_count > 0)
    if not takes_original and not script.has_kept(node):
        if node.type != "object":
            yield ""
        return
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type == "object":
            yield from _of_object(script, one)
        elif one.type not in ("variable_declarator", "function_declaration"):
            waiting += one.named_children


def _of_object(script: ScriptOfTests, node: "Node") -> Iterator[str]:
    """The names in an object behind what it takes over as a whole, with values that do not run the original."""
    parts = node.named_children
    spread = max((at for at, part in enumerate(parts) if part.type == "spread_element"), default=-1)
    for part in parts[spread + 1 :]:
        if part.type == "shorthand_property_identifier" and not script.has_kept(part):
            yield script.text(part)
        key = part.child_by_field_name("key") or part.child_by_field_name("name")
        value = part.child_by_field_name("value") or part.child_by_field_name("body")
        if key is not None and value is not None and not script.has_kept(value):
            yield script.text(key).strip("'\"")


def _spied(script: ScriptOfTests, spies: list[CallOfTest]) -> Iterator[MockedName]:
    """Names of modules and members of classes that spies and stubs replace."""
    giving = (call for call in script.calls if _GIVING.fullmatch(call.method))
    given = [Restore(call.line, call.around) for call in giving if any(map(script.has_kept, call.values))]
    members = {script.string(call.values[1]) for call in spies}
    restores = [*script.restores, *given, *(each for name, each in script.assigned if name in members)]
    if any(each.around.is_loose for each in restores):
        return
    restores.sort(key=lambda each: each.line)
    setting = sum(call.around.kind is Kind.EACH for call in spies)
    # What is set once is gone for the tests after the one behind which it is restored.
    is_lasting = all(each.around.kind is Kind.AFTER_ALL for each in restores)
    known = {Kind.TEST: True, Kind.EACH: setting * len(restores) <= MOST_COMPARED}
    for call in spies:
        owner, member = script.text(call.values[0]).removesuffix(".prototype"), script.string(call.values[1])
        handed = [*call.values[2:], *([call.given_after] if call.given_after is not None else [])]
        if owner in script.imports and member and not any(map(script.has_kept, handed)):
            module, inside = script.imports[owner]
            for span in _lines_in_force(call, restores) if known.get(call.around.kind, is_lasting) else ():
                yield MockedName(module, f"{inside}::{member}" if inside else member, *span)


def _is_replacing_spy(call: CallOfTest) -> bool:
    is_another = bool(_SPYING.fullmatch(call.name) and _ANOTHER.fullmatch(call.called_after))
    return is_another and len(call.values) >= 2


def _is_stub(call: CallOfTest) -> bool:
    is_stub = bool(_STUBBING.fullmatch(call.name)) and call.called_after not in ("callThrough", "withArgs", "onCall")
    return is_stub and len(call.values) >= 2


def _lines_in_force(call: CallOfTest, restores: list[Restore]) -> Iterator[tuple[int, int]]:
    """The lines in which a spy or stub is in force; none for one of a function that somebody calls, or of a branch.
    What restores is in the order of the lines; it restores nothing that is set once for several tests."""
    around = call.around
    if around.is_doubtful:
        return
    if around.kind is Kind.TEST:
        after = bisect_left(restores, call.line, key=lambda each: each.line)
        last = min(restores[after].line - 1 if after < len(restores) else around.last, around.last)
        if last >= call.line:
            yield call.line, last
    elif around.kind is not Kind.EACH:
        yield around.first, around.last
    else:
        yield from _without_restored(call, restores)


def _without_restored(call: CallOfTest, restores: list[Restore]) -> Iterator[tuple[int, int]]:
    """The lines of a group, for which something is set before each test, without tests and inner groups that restore
    it before they run."""
    around = call.around
    inside = [each for each in restores if around.first <= each.line <= around.last]
    early = [each.around for each in inside if each.around.kind in (Kind.EACH, Kind.TEST)]
    lines = (around.first, around.last)
    if any(each.around.kind is Kind.EACH and (each.around.first, each.around.last) == lines and each.line >= call.line
           for each in inside):  # fmt: skip
        return
    first = around.first
    for begin, end in sorted({(each.first, each.last) for each in early} - {lines}):
        if begin > first:
            yield first, begin - 1
        first = max(first, end + 1)
    if first <= around.last:
        yield first, around.last
