"""Functions without a name of their own, called by what holds them; and other names of definitions.

`app.get("/users/:id", async (request) => …)` holds a function that people look for as `GET /users/:id`, and
`app.get("/users/:id", show)` gives `show` that name. Only calls with the words of `naming_calls.toml` and tables are
looked at: they are found in the bytes of a file, and then in its tree. What people start gets a document, and any other
function of a few lines; of a shorter one, the document around it has the name. Definitions keep their names, ids,
parents and sources: what is found here stands beside them.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from operator import attrgetter, itemgetter

from msgspec import Struct
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.ids import without_suffix
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.data_model.symbol import NameKind, SymbolType
from codesum_pipeline.languages.declarations.declaration import Declaration
from codesum_pipeline.languages.declarations.naming_calls import NamingCalls, naming_calls
from codesum_pipeline.symbols.parsing.call_shapes import (
    arguments_of,
    begin_of_link,
    body_of_function,
    brackets_of,
    expressions_in,
    functions_of,
    joined_path,
    options_of,
    raw,
    text_of,
    variable_of,
)
from codesum_pipeline.symbols.parsing.calls_with_names import LONGEST_CALLEE, NamingCall, naming_calls_in
from codesum_pipeline.symbols.parsing.comments import Comments
from codesum_pipeline.symbols.parsing.file_tokens import Tokens
from codesum_pipeline.symbols.parsing.nested_definitions import Definition, FileOutline, id_part
from codesum_pipeline.symbols.parsing.table_names import TableEntry, names_in_tables

# A shorter function says no more than the line that holds it; but people look for what they start.
LEAST_LINES = 3
_WORTH_A_LINE = (NameKind.ROUTE, NameKind.COMMAND, NameKind.TASK)
_MOST_FUNCTIONS = 2_000
# Longer routes are not looked up.
_LONGEST_PREFIX = 300
# So many nodes further on in a chain what a call begins is looked for; a link has two.
_MOST_LINKS = 200
_METHOD = re.compile(r"(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|ANY|ALL)\s++(\S++)$", re.IGNORECASE)
_VERB = re.compile(r"[A-Za-z]{3,7}")
_MEMBER = re.compile(r"(?<!\w)(\w++)\s*+$")
# Their own last names are their names.
_TOLD_BY_NAME = (NameKind.TEST, NameKind.KEY)
# Routes that name their handlers in a way of their own, in Axum and Actix, Rails, Phoenix.
# `get(handler)` of Axum, `web::get().to(handler)` of Actix.
_ROUTER = re.compile(r"\b(get|post|put|patch|delete|head|options|any)(?:\(\)\s*+\.to)?\(\s*+([A-Za-z_][\w:]*+)\s*+\)")
_RAILS = re.compile(r"['\"]([a-z][\w/]*)#(\w+)['\"]")
_ELIXIR = re.compile(r"(?<![\w.])([A-Z][\w.]*+)\s*+,\s*+:(\w++[?!]?)")
_LIVE = re.compile(r"^[^,]*+,\s*+([A-Z][\w.]*+)")
_SPACE = "::"
_start_byte = attrgetter("start_byte")


class HeldFunction(Struct, frozen=True):
    """A function without a name, as a definition whose parent is the number of the named one around it."""

    definition: Definition
    kind: NameKind
    comment: tuple[Node, ...]


class OtherName(Struct, frozen=True):
    """A name of the function with a number; without one, of what the code `said` leads to from inside of a definition,
    or without code of that definition. Where that is None, too, it is about the file."""

    kind: NameKind
    name: str
    function: int | None
    definition: int | None
    said: str = ""


class HeldNames(Struct):
    """The functions that one file holds, in source order, and the names that it gives."""

    functions: list[HeldFunction]
    names: list[OtherName]


class _Block(Struct, frozen=True):
    """A call whose block gives those in it the beginning of their names."""

    kind: NameKind
    text: str
    end: int
    module: str = ""

    @property
    def prefix(self) -> str:
        """The beginning of the paths of its routes: `namespace :admin` of Rails names tasks, too."""
        if self.kind is NameKind.TASK:
            return f"/{self.text.lstrip('/')}"
        return self.text if self.kind is NameKind.PREFIX else ""


def find_held(
    root: Node, source: bytes, declaration: Declaration, outline: FileOutline, tokens: Tokens, comments: Comments
) -> HeldNames:
    """What a file holds; nothing in a language whose calls name nothing."""
    rules = naming_calls(declaration.spec.name)
    if rules is None:
        return HeldNames([], [])
    return _HeldReader(root, source, declaration, outline, tokens, comments, rules).read()


class _HeldReader:
    """Goes over the calls of a file in source order; `blocks` are those around the present one."""

    def __init__(
        self,
        root: Node,
        source: bytes,
        declaration: Declaration,
        outline: FileOutline,
        tokens: Tokens,
        comments: Comments,
        rules: NamingCalls,
    ) -> None:
        self._root, self._source, self._rules = root, source, rules
        self._definitions, self._marks, self._comments = outline.definitions, tokens.marks, comments
        self._calls = {kind for kind in declaration.calls if "decorator" not in kind and "jsx" not in kind}
        self._calls |= {"call"} if declaration.callees else set()
        self._closures = declaration.closures
        self._is_handler_first = any(module.encode() in source for module in rules.handler_first)
        self._by_start = {
            node.start_byte: number for number, one in enumerate(self._definitions) for node in one.nodes[:1]
        }
        self._bodies = {body.id: number for number, one in enumerate(self._definitions) for body in one.bodies if body}
        self._blocks: list[_Block] = []
        # Beginnings of the paths of routers in variables.
        self._prefixes: dict[tuple[int, int, str], str] = {}
        self._found = HeldNames([], [])
        # Bytes that a found function takes: what is handed over inside of it is a part of it.
        self._taken = 0
        self._around: list[int] = []
        self._next = 0

    def read(self) -> HeldNames:
        for call in naming_calls_in(self._root, self._source, self._rules, self._calls):
            self._enter(call.place)
            while self._blocks and call.place >= self._blocks[-1].end:
                self._blocks.pop()
            if call.kind in (NameKind.GROUP, NameKind.PREFIX):
                self._open(call)
            else:
                self._read_call(call)
        self._blocks, self._around, self._next = [], [], 0
        for entry in names_in_tables(self._source, self._root, self._rules, self._closures):
            self._enter(entry.place)
            self._read_entry(entry)
        return self._found

    def _open(self, call: NamingCall) -> None:
        """The block of a call, or the variable that is given what the call makes, begins names."""
        if call.kind is NameKind.PREFIX and (variable := variable_of(call.path)):
            prefix = joined_path(self._prefixes.get(self._place_of(call.owner), ""), call.text)
            self._prefixes[self._place_of(variable)] = prefix[:_LONGEST_PREFIX]
            return
        options = options_of(call.node) if call.kind is NameKind.PREFIX else {}
        module = options.get("module") or next(iter(expressions_in(arguments_of(call.node)[1:])), "")
        # `scope module: "admin"` of Rails says no path.
        path = options.get("path", "") if call.text in options else call.text
        text = joined_path(self._prefixes.get(self._place_of(call.owner), ""), path)
        text = text if call.kind is NameKind.PREFIX else call.text
        self._blocks.append(_Block(call.kind, text, self._end_of(call), module))

    def _place_of(self, variable: str) -> tuple[int, int, str]:
        """Where a variable of a router counts: in its definition, and not in blocks that have a router of their own."""
        depth = sum(block.kind is NameKind.PREFIX for block in self._blocks)
        return self._around[-1] if self._around else -1, depth, variable

    def _enter(self, place: int) -> None:
        """Come to a byte: `around` are the definitions around it, the innermost last."""
        definitions, around = self._definitions, self._around
        while self._next < len(definitions) and definitions[self._next].start_byte <= place:
            around.append(self._next)
            self._next += 1
        while around and place >= definitions[around[-1]].end_byte:
            around.pop()

    @property
    def _is_in_function(self) -> bool:
        return any(self._definitions[one].type is SymbolType.FUNCTION for one in self._around)

    def _end_of(self, call: NamingCall) -> int:
        """Where the block of a call ends: behind the calls of what the call gives, too."""
        end = call.node.end_byte
        for node in reversed(call.path[:-1] if not functions_of(call.node, self._closures) else ()):
            if node.start_byte != call.node.start_byte:
                break
            end = node.end_byte if node.type in self._calls else end
        return end

    def _read_call(self, call: NamingCall) -> None:
        if call.place < self._taken or (call.kind is NameKind.EVENT and self._is_in_function):
            return
        if call.kind is NameKind.ROUTE:
            self._read_route(call)
            return
        links = [*self._links(call, self._rules.actions)] if call.kind is NameKind.COMMAND else []
        linked = [(one, function) for _, one in links for function in functions_of(one, self._closures)]
        if call.kind is NameKind.TASK and call.word == "namespace":
            self._blocks.append(_Block(NameKind.TASK, call.text, self._end_of(call), call.text))
            return
        text = call.text.split()[0] if call.kind is NameKind.COMMAND else call.text
        if call.kind is NameKind.TASK:
            text = ":".join([*(block.text for block in self._blocks if block.kind is NameKind.TASK), text])
        functions = linked or [(call.node, one) for one in self._functions(call)]
        self._name(call, call.kind, text, functions[-1:], said_in=[one for _, one in links] or [call.node])

    def _read_route(self, call: NamingCall) -> None:
        rules = self._rules
        last_owner = re.split(r"\W+", call.owner)[-1]
        if rules.clients.intersection((call.owner, last_owner)) or last_owner.lower().endswith("client"):
            return
        prefix = self._prefixes.get(self._place_of(call.owner), "")
        if not (call.text or prefix):
            return
        if rules.rooted and not prefix and not call.text.startswith(("/", "*")) and not _METHOD.match(call.text):
            is_owned = call.owner in rules.owners or last_owner in rules.owners
            if not is_owned:
                return
        if rules.unbracketed and not rules.rooted and call.owner not in rules.owners:
            return
        method = rules.routes[call.word] or self._method_of(call)
        if match := _METHOD.match(call.text):
            method, path = match[1].upper(), match[2]
        else:
            path = call.text
        for before in (prefix, *(block.prefix for block in reversed(self._blocks))):
            path = joined_path(before, path) if before else path
        if not method and (links := [*self._links(call, rules.methods)]):
            for word, link in links:
                name = f"{rules.routes[word]} {path}".strip()
                functions = [(link, one) for one in functions_of(link, self._closures)]
                self._name(call, NameKind.ROUTE, name, functions[-1:], said_in=[link])
            return
        given = brackets_of(call.node)
        written = raw(given) if given is not None and given.end_byte - given.start_byte < 2_000 else ""
        if found := [*_routed_elsewhere(written, call.word, [one.module for one in self._blocks])]:
            for said_method, said in found:
                self._add(NameKind.ROUTE, f"{said_method or method} {path}".strip(), None, said)
            return
        functions = [(call.node, one) for one in self._functions(call)]
        self._name(call, NameKind.ROUTE, f"{method} {path}".strip(), functions[-1:], said_in=[call.node])

    def _method_of(self, call: NamingCall) -> str:
        """The one method that a later link of a chain gives a route: `Handle("/x", show).Methods("GET")`."""
        for _, link in self._links(call, self._rules.verbs):
            given = arguments_of(link)
            text = (text_of(given[0])[0] or raw(given[0]).rpartition(".Method")[2]) if len(given) == 1 else ""
            return text.upper() if _VERB.fullmatch(text) else ""
        return ""

    def _functions(self, call: NamingCall) -> list[Node]:
        """The functions of a call; where what it gives is called with a block, that block."""
        found = functions_of(call.node, self._closures)
        above = call.path[-2:-1]
        if not found and above and above[0].type in self._calls and above[0].start_byte == call.node.start_byte:
            found = functions_of(above[0], self._closures)
        return found

    def _links(self, call: NamingCall, words: Collection[str]) -> Iterator[tuple[str, Node]]:
        """The calls further on in the chain that a call begins with one of some words, up to one with its own."""
        start = call.node.start_byte
        for node in reversed(call.path[-_MOST_LINKS - 1 : -1]):
            if node.start_byte != start or "argument" in node.type:
                return
            callee = node.child_by_field_name("function") if node.type in self._calls else None
            if callee is None:
                continue
            written = self._source[max(callee.start_byte, callee.end_byte - LONGEST_CALLEE) : callee.end_byte]
            match = _MEMBER.search(written.decode("utf-8", "replace"))
            if match and match[1] == call.word:
                return
            if match and match[1] in words:
                yield match[1], node

    def _name(
        self,
        call: NamingCall,
        kind: NameKind,
        text: str,
        functions: Sequence[tuple[Node, Node]],
        *,
        said_in: Sequence[Node],
    ) -> None:
        """Give a name to the function that is handed over, or to what the names that are handed over lead to."""
        name = clean_name(f"{call.word} {text}" if kind is NameKind.EVENT else text)
        if not name:
            return
        if not functions:
            for node in said_in if kind is not NameKind.TEST else ():
                arguments = arguments_of(node)[int(node is call.node) :]
                for said in expressions_in(arguments[:1] if self._is_handler_first else arguments):
                    self._add(kind, name, None, said)
                    return
            return
        node, function = functions[0]
        given = brackets_of(node)
        is_link = node is not call.node or (given is not None and given.start_point.row > node.start_point.row)
        begin = begin_of_link(node) if is_link else node.start_byte
        groups = [block.text for block in self._blocks if block.kind is NameKind.GROUP] if kind is NameKind.TEST else []
        is_told = kind in (NameKind.COMMAND, NameKind.TASK) or (kind is NameKind.ROUTE and " " not in name)
        own = f"{kind} {name}" if is_told else name
        self._hold(kind, name, [*map(clean_name, groups), own], function, begin, max(node.end_byte, function.end_byte))

    def _hold(self, kind: NameKind, name: str, parts: Sequence[str], function: Node, begin: int, end: int) -> None:
        body = body_of_function(function)
        known = self._bodies.get(body.id) if body is not None else None
        known = self._by_start.get(function.start_byte) if known is None else known
        if known is not None:
            if kind is NameKind.TEST and self._definitions[known].parts[-1] == id_part(name):
                return
            self._found.names.append(OtherName(kind, name, None, known))
            return
        lines = function.end_point.row - function.start_point.row + 1
        is_short = lines < LEAST_LINES and kind not in _WORTH_A_LINE
        if is_short or body is None or len(self._found.functions) >= _MOST_FUNCTIONS:
            if kind not in _TOLD_BY_NAME:
                self._add(kind, name, None, "")
            return
        holder = self._around[-1] if self._around else None
        prefix = self._definitions[holder].parts if holder is not None else ()
        docs = self._comments.before(begin, {})[1]
        definition = Definition(
            nodes=[function],
            wrapper=None,
            type=SymbolType.FUNCTION,
            parts=(*prefix, *map(id_part, filter(None, parts))),
            body=body,
            head=None,
            parent=holder,
            preambles=(),
            docs=(),
            start_byte=begin,
            code_start=begin,
            end_byte=end,
            is_unnamed=True,
            bodies=[body],
            marks=self._marks_in(function),
        )
        self._taken = max(self._taken, function.end_byte)
        self._found.functions.append(HeldFunction(definition, kind, docs))
        if kind not in _TOLD_BY_NAME:
            self._add(kind, name, len(self._found.functions) - 1, "")

    def _marks_in(self, function: Node) -> list[tuple[str, int, Node]]:
        """The marked nodes of a function but for those in definitions inside of it."""
        start, end = function.start_byte, function.end_byte
        first = bisect_left(self._marks, start, key=itemgetter(1))
        marks = self._marks[first : bisect_left(self._marks, end, first, key=itemgetter(1))]
        place = bisect_left(self._definitions, start, key=_start_byte)
        while place < len(self._definitions) and self._definitions[place].start_byte < end:
            inner = self._definitions[place]
            marks = [mark for mark in marks if not inner.start_byte <= mark[1] < inner.end_byte]
            place = bisect_left(self._definitions, inner.end_byte, place + 1, key=_start_byte)
        return marks

    def _read_entry(self, entry: TableEntry) -> None:
        """Take in an entry of a table: a function without a name, or the name of one."""
        command = clean_name(entry.command)
        if isinstance(entry.held, Node):
            held, count = entry.held, len(self._found.functions)
            names = [*map(clean_name, entry.names)]
            self._hold(NameKind.KEY, names[-1], names, held, held.start_byte, held.end_byte)
            if command:
                self._add(NameKind.COMMAND, command, count if count < len(self._found.functions) else None, "")
        elif command:
            self._add(NameKind.COMMAND, command, None, entry.held)
        elif not self._is_in_function:
            self._add(NameKind.KEY, clean_name(entry.names[-1]), None, entry.held)

    def _add(self, kind: NameKind, name: str, function: int | None, said: str) -> None:
        if name:
            self._found.names.append(OtherName(kind, name, function, self._around[-1] if self._around else None, said))


def clean_name(text: str) -> str:
    """A name as it may stand in ids, addresses and tables: printable, on one line; no part looks like a suffix."""
    name = " ".join(one_line(text).split())
    return f"{name}." if without_suffix(name) != name else name


def _routed_elsewhere(written: str, word: str, modules: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The methods and handlers that a route names in a way of its own."""
    if word == "route":
        yield from ((method.upper(), said) for method, said in _ROUTER.findall(written))
    elif word == "live":
        yield from (("", ".".join([*filter(None, modules), said])) for said in _LIVE.findall(written))
    elif match := _RAILS.search(written):
        parts = [part for place in (*modules, match[1]) for part in place.split("/")]
        path = [part.title().replace("_", "") for part in parts if part.isidentifier()]
        yield "", f"{_SPACE.join(path)}Controller.{match[2]}"
    elif match := _ELIXIR.search(written):
        yield "", ".".join([*filter(None, modules), match[1], match[2]])
