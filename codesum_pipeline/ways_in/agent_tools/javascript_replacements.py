"""What tests in JavaScript and TypeScript replace: `jest.mock`, `vi.mock`, `spyOn(…).mock…`, stubs of Sinon.

Read with the grammar of the language. A mocked module is replaced for the whole file, but for what its factory takes
from the original; a spy or stub of a test from its line on, one of `beforeEach` or at the top for all tests around it.
"""

import re
from collections.abc import Iterator
from posixpath import join, normpath
from typing import TYPE_CHECKING

from msgspec import Struct

from codesum_pipeline.foundation.language_facts.file_languages import language_of_path

if TYPE_CHECKING:
    from tree_sitter import Node

ENDINGS = (".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
MARK = re.compile(r"\bmock\(|\bspyOn\(|\bstub\(")
_MOCKING = re.compile(r"(?:jest|vi)\.mock")
_SPYING = re.compile(r"(?:jest|vi|vitest)\.spyOn")
_STUBBING = re.compile(r"[\w.]{0,100}\.stub")
_ACTUAL = re.compile(r"\b(?:requireActual|importActual|importOriginal|actual|original)\b")
# What gives a spy another implementation for good.
_ANOTHER = re.compile(r"mock(?:Implementation|ReturnValue|ResolvedValue|RejectedValue|ReturnThis)")
_TEST, _AROUND = re.compile(r"(?:it|test|specify)\b"), re.compile(r"(?:describe|suite|context)\b")
_BEFORE = re.compile(r"(?:before|beforeEach|beforeAll|setup|suiteSetup)\b")
_IMPORTED = re.compile(r"\bimport\s+([^;'\"]{1,500}?)\s+from\s+['\"]([^'\"\n]{1,300})['\"]")
_REQUIRED = re.compile(r"\b(?:const|let|var)\s+(\w+|\{[^}=]{1,500}\})\s*=\s*require\(\s*['\"]([^'\"\n]{1,300})['\"]")


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
    return [*_read(tree.root_node, path, _imports(path, text))]


def _read(root: "Node", path: str, imports: dict[str, tuple[str, str]]) -> Iterator[MockedName]:
    waiting, last = [root], root.end_point[0] + 1
    while waiting:
        node = waiting.pop()
        waiting += node.children
        function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if node.type != "call_expression" or function is None or given is None:
            continue
        name, values = _text(function), given.named_children
        if _MOCKING.fullmatch(name) and values and (module := _module(path, _string(values[0]))):
            for each in _of_factory(values[1] if len(values) > 1 else None):
                yield MockedName(module, each, 1, last)
        elif len(values) >= 2 and (_is_replacing_spy(node, name) or _is_stub(node, name)):
            owner, member = _text(values[0]).removesuffix(".prototype"), _string(values[1])
            span = _lines_in_force(node, last)
            if owner in imports and member and span:
                module, inside = imports[owner]
                yield MockedName(module, f"{inside}::{member}" if inside else member, *span)


def _of_factory(node: "Node | None") -> Iterator[str]:
    """The names that a factory replaces; the empty one for all. With `{spy: true}` everything runs."""
    if node is None or not _ACTUAL.search(_text(node)):
        if node is None or node.type != "object":
            yield ""
        return
    waiting = [node]
    while waiting:
        one = waiting.pop()
        key = one.child_by_field_name("key") if one.type == "pair" else one.child_by_field_name("name")
        if one.type in ("pair", "method_definition") and key is not None:
            yield _text(key).strip("'\"")
        elif one.type == "shorthand_property_identifier":
            yield _text(one)
        else:
            waiting += one.children


def _is_replacing_spy(node: "Node", name: str) -> bool:
    return bool(_SPYING.fullmatch(name) and _ANOTHER.fullmatch(_called_on(node)))


def _is_stub(node: "Node", name: str) -> bool:
    return bool(_STUBBING.fullmatch(name)) and _called_on(node) not in ("callThrough", "withArgs", "onCall")


def _called_on(node: "Node") -> str:
    """The name of the method that is called on the result of a call."""
    found = node.parent.child_by_field_name("property") if node.parent is not None else None
    return _text(found) if found is not None else ""


def _lines_in_force(node: "Node", last: int) -> tuple[int, int] | None:
    """The lines in which a spy or stub is in force; None in a function that somebody calls."""
    first, above = node.start_point[0] + 1, node.parent
    while above is not None:
        function = above.child_by_field_name("function") if above.type == "call_expression" else None
        name = _text(function) if function is not None else ""
        if _TEST.match(name):
            return first, above.end_point[0] + 1
        if _AROUND.match(name):
            return above.start_point[0] + 1, above.end_point[0] + 1
        is_called = above.type in ("function_declaration", "method_definition", "arrow_function", "function_expression")
        if is_called and not _is_handed_to_framework(above):
            return None
        above = above.parent
    return 1, last


def _is_handed_to_framework(node: "Node") -> bool:
    """Whether a function is the callback of a test, of a group, or of what runs before tests."""
    call = node.parent.parent if node.parent is not None and node.parent.type == "arguments" else None
    function = call.child_by_field_name("function") if call is not None else None
    name = _text(function) if function is not None else ""
    return any(each.match(name) for each in (_TEST, _AROUND, _BEFORE))


def _imports(path: str, text: str) -> dict[str, tuple[str, str]]:
    """What each imported name is: a module's path and a name in it, empty for the module itself."""
    found: dict[str, tuple[str, str]] = {}
    for names, written in [*_IMPORTED.findall(text), *_REQUIRED.findall(text)]:
        if not (module := _module(path, written)):
            continue
        before, _, inside = names.removeprefix("type ").partition("{")
        for each in before.replace("* as ", "").split(","):
            found[each.strip()] = (module, "")
        for each in inside.rstrip("} \n").split(","):
            name, _, bound = each.replace(":", " as ").partition(" as ")
            found[(bound or name).strip()] = (module, name.strip())
    found.pop("", None)
    return found


def _module(path: str, written: str) -> str:
    """The path of a relative module without its ending; empty for a package."""
    if not written.startswith("."):
        return ""
    found = normpath(join(path.rpartition("/")[0], written))
    return next((found.removesuffix(each) for each in ENDINGS if found.endswith(each)), found)


def _string(node: "Node") -> str:
    return _text(node).strip("'\"`") if node.type in ("string", "template_string") else ""


def _text(node: "Node") -> str:
    return node.text.decode(errors="replace") if node.text is not None else ""
