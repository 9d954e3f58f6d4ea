"""The calls in a file of tests in JavaScript or TypeScript, with the test, group or hook around each, and the names
that keep what spies replace. Each node of the tree is looked at once, from the top down."""

import re
from bisect import bisect_left
from collections.abc import Collection
from enum import Enum
from posixpath import join, normpath
from typing import TYPE_CHECKING

from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled

if TYPE_CHECKING:
    from tree_sitter import Node

ENDINGS = (".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
# Bytes of a name, or of the path of a module, that are read.
_LONGEST = 400
# So many names may hand on what the one before keeps.
_MOST_ROUNDS = 4
_ACTUAL = re.compile(r"requireActual|importActual|importOriginal|actual|original|wrappedMethod")
# What ends the spies of a test, or may do so.
_RESTORING = re.compile(
    r"mockRestore|restoreAllMocks|mockReset|resetAllMocks|restore|resetModules|callThrough|restoreAll"
)
_FUNCTIONS = ("function_declaration", "method_definition", "arrow_function", "function_expression", "function")
_BRANCHES = (
    "if_statement", "for_statement", "for_in_statement", "while_statement", "do_statement", "switch_statement",
    "ternary_expression", "binary_expression", "catch_clause",
)  # fmt: skip
_NAMES = (
    "identifier", "property_identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern",
)  # fmt: skip
_DECLARING = ("variable_declarator", "function_declaration", "assignment_expression", "import_specifier")


class Kind(Enum):
    """What is run around a line of a file of tests."""

    TOP = ""
    GROUP = r"(?:describe|suite|context)\b"
    TEST = r"(?:it|test|specify)\b"
    EACH = r"(?:beforeEach|setup)\b"
    ONCE = r"(?:before|beforeAll|suiteSetup)\b"
    AFTER_EACH = r"(?:afterEach|teardown)\b"
    AFTER_ALL = r"(?:after|afterAll|suiteTeardown)\b"


_KINDS = {kind: re.compile(kind.value) for kind in Kind if kind.value}


class Around(Struct, frozen=True):
    """The test around something, or the hook or group with the lines of the group. What is doubtful may not be run: it
    is in a branch, or in a function that somebody calls."""

    kind: Kind
    first: int
    last: int
    is_doubtful: bool = False
    is_in_factory: bool = False

    @property
    def is_loose(self) -> bool:
        """Whether nobody can tell when it is run."""
        return self.is_doubtful and self.kind in (Kind.TOP, Kind.GROUP)


class CallOfTest(Struct, eq=False):
    """A call of a function or `method`; `called_after` is the method that is called on its result, with what it is
    given."""

    name: str
    method: str
    line: int
    values: "list[Node]"
    around: Around
    called_after: str
    given_after: "Node | None"


class Restore(Struct, frozen=True):
    """A line that may put back what spies replace."""

    line: int
    around: Around


class ScriptOfTests(Struct, eq=False):
    """A file of tests: its calls, what is `assigned` to a name or member, what each imported name is (a module's path
    and a name in it, empty for the module), and where names are."""

    path: str
    source: bytes
    last: int
    calls: list[CallOfTest] = field(default_factory=list)
    restores: list[Restore] = field(default_factory=list)
    assigned: list[tuple[str, Restore]] = field(default_factory=list)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    _names: list[tuple[int, str]] = field(default_factory=list)
    _declared: "list[tuple[str, Node]]" = field(default_factory=list)
    _kept: list[int] = field(default_factory=list)

    def text(self, node: "Node") -> str:
        """The first bytes of a node: the text of a chain of calls is as long as all before it."""
        return self.source[node.start_byte : min(node.end_byte, node.start_byte + _LONGEST)].decode(errors="replace")

    def string(self, node: "Node") -> str:
        return self.text(node).strip("'\"`") if node.type in ("string", "template_string") else ""

    def find_kept(self, members: Collection[str]) -> None:
        """Find where the file names the originals of some members, or what keeps one: `orig = money.round`."""
        self._names.sort()
        kept = {*members, *(name for _, name in self._names if _ACTUAL.fullmatch(name))} - {""}
        for _ in range(_MOST_ROUNDS):
            self._kept = [at for at, name in self._names if name in kept]
            found = {name for name, node in self._declared if name and self.has_kept(node)}
            if found <= kept:
                return
            kept |= found
        self._kept = [at for at, name in self._names if name in kept]

    def has_kept(self, node: "Node") -> bool:
        at = bisect_left(self._kept, node.start_byte)
        return at < len(self._kept) and self._kept[at] < node.end_byte

    def add(self, node: "Node", above: "tuple[Node | None, Node | None]", around: Around) -> Around:
        """Take in a node below its parent and the parent of that; returns what is around its parts."""
        if node.type in _NAMES:
            name = self.text(node)
            self._names.append((node.start_byte, name))
            if _RESTORING.fullmatch(name) and not around.is_in_factory:
                self.restores.append(Restore(node.start_point[0] + 1, around))
        elif node.type == "subscript_expression" and (index := node.child_by_field_name("index")) is not None:
            self._names.append((index.start_byte, self.string(index)))
        elif node.type in _DECLARING:
            self._declare(node)
        elif node.type == "import_statement":
            self._import(node)
        elif node.type == "call_expression":
            return self._call(node, above, around)
        if node.type == "assignment_expression" and (left := node.child_by_field_name("left")) is not None:
            name = self.text(left.child_by_field_name("property") or left)
            self.assigned.append((name, Restore(node.start_point[0] + 1, around)))
        is_called = node.type in _FUNCTIONS and not self._is_handed_to_framework(above)
        if (is_called or node.type in _BRANCHES) and not around.is_doubtful:
            return Around(around.kind, around.first, around.last, True, around.is_in_factory)
        return around

    def _call(self, node: "Node", above: "tuple[Node | None, Node | None]", around: Around) -> Around:
        function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or given is None:
            return around
        stop_if_cancelled()
        name = self.text(function)
        parent, call = above
        after = parent.child_by_field_name("property") if parent is not None else None
        given_after = call.child_by_field_name("arguments") if after is not None and call is not None else None
        line, method = function.end_point[0] + 1, self.text(function.child_by_field_name("property") or function)
        called_after = self.text(after) if after is not None else ""
        self.calls.append(CallOfTest(name, method, line, given.named_children, around, called_after, given_after))
        first, last = node.start_point[0] + 1, node.end_point[0] + 1
        kind = _kind_of(name)
        if kind in (Kind.TEST, Kind.GROUP):
            return Around(kind, first, last)
        if kind is not Kind.TOP:
            return Around(kind, around.first, around.last, around.is_doubtful)
        is_mock = name in ("jest.mock", "vi.mock")
        return Around(around.kind, around.first, around.last, around.is_doubtful, True) if is_mock else around

    def _is_handed_to_framework(self, above: "tuple[Node | None, Node | None]") -> bool:
        """Whether a function is the callback of a test, of a group, or of what runs before or after tests."""
        parent, call = above
        function = call.child_by_field_name("function") if call is not None else None
        is_given = parent is not None and parent.type == "arguments" and function is not None
        return is_given and function is not None and _kind_of(self.text(function)) is not Kind.TOP

    def _declare(self, node: "Node") -> None:
        """Names that a statement gives to something, and what `require` gives to them."""
        bound = next(filter(None, map(node.child_by_field_name, ("alias", "name", "left"))), None)
        if bound is None:
            return
        value = node.child_by_field_name("value")
        called = value.child_by_field_name("function") if value is not None else None
        given = value.child_by_field_name("arguments") if value is not None else None
        module = ""
        if called is not None and given is not None and self.text(called) == "require" and given.named_child_count:
            module = module_of(self.path, self.string(given.named_children[0]))
        for name, of in self._bound(bound):
            self._declared.append((name, node))
            if module:
                self.imports[name] = (module, of)

    def _bound(self, node: "Node") -> list[tuple[str, str]]:
        """The names in what stands before a value, each with the name of what it is in an object."""
        if node.type != "object_pattern":
            return [(self.text(node).rpartition(".")[2], "")]
        found = []
        for part in node.named_children:
            key, value = part.child_by_field_name("key"), part.child_by_field_name("value")
            own = self.text(part)
            found.append((own, own) if key is None or value is None else (self.text(value), self.text(key)))
        return found

    def _import(self, node: "Node") -> None:
        source = node.child_by_field_name("source")
        module = module_of(self.path, self.string(source)) if source is not None else ""
        clauses = [part for part in node.named_children if part.type == "import_clause"] if module else []
        for part in (each for clause in clauses for each in clause.named_children):
            if part.type == "named_imports":
                for one in part.named_children:
                    name, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
                    if name is not None:
                        self.imports[self.text(alias or name)] = (module, self.text(name))
            else:
                # `import money` or `* as money`.
                self.imports[self.text(part).removeprefix("*").strip().removeprefix("as").strip()] = (module, "")


def _kind_of(name: str) -> Kind:
    return next((kind for kind, pattern in _KINDS.items() if pattern.match(name)), Kind.TOP)


def module_of(path: str, written: str) -> str:
    """The path of a relative module without its ending; empty for a package."""
    if not written.startswith("."):
        return ""
    found = normpath(join(path.rpartition("/")[0], written))
    return next((found.removesuffix(each) for each in ENDINGS if found.endswith(each)), found)


def read_tests(path: str, source: bytes, root: "Node") -> ScriptOfTests:
    """The calls and names of a file of tests."""
    script = ScriptOfTests(path, source, root.end_point[0] + 1)
    above: tuple[Node | None, Node | None] = (None, None)
    waiting = [(root, above, Around(Kind.TOP, 1, script.last))]
    while waiting:
        node, above, around = waiting.pop()
        inside = script.add(node, above, around)
        waiting += [(child, (node, above[0]), inside) for child in node.named_children]
    script.calls.sort(key=lambda call: call.line)
    return script
