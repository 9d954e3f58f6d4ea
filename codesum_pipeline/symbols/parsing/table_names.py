"""Tables that give code a name: keys before functions, and commands that say their name beside what they run."""

import re
from collections.abc import Collection, Iterator
from operator import itemgetter
from typing import NamedTuple

from tree_sitter import Node

from codesum_pipeline.languages.declarations.naming_calls import NamingCalls
from codesum_pipeline.symbols.parsing.call_shapes import expression_of, path_to, raw, text_of, unwrapped


class TableEntry(NamedTuple):
    """The names that lead to an entry, outermost first, and what it holds: a function without a name, or code that
    names one. `command` is what a command line calls it."""

    place: int
    names: tuple[str, ...]
    held: Node | str
    command: str = ""


# Of more entries in one file the rest have no names.
_MOST_ENTRIES = 500
# What has more entries is a table, and no record with a title.
_MOST_FIELDS = 100
_FUNCTION_ENTRY = re.compile(rb"[\"\w]\s{0,20}:\s{0,20}(?:[\w.]{1,60}+\(\s{0,20}){0,2}func\s{0,5}\(")
_NAMED_ENTRY = re.compile(
    rb"[\"']([\w :./*-]{2,60})[\"']\s{0,5}(?::|=>)\s{0,20}([A-Za-z_$][\w.$]{1,80})\s{0,5}(?=[,}\])\n])"
)
_ADDED_PARSER = re.compile(rb"\b(\w++)\s*+=\s*+[\w.]{1,80}\.add_parser\(\s{0,80}[\"']([^\"'\n]{1,60})[\"']")
_SET_FUNCTION = re.compile(
    rb"\b(\w++)\.set_defaults\(\s{0,80}+(?:\w{1,60}+\s?=\s?[\w.\"']{1,60}+,\s{0,80}+){0,5}\w{1,60}+\s?=\s?([\w.]{2,80})"
)
_WORDS = frozenset({b"true", b"false", b"null", b"nil", b"None", b"True", b"False", b"undefined", b"this", b"self"})
_NAMES = ("name", "left")
_KEYS = ("keyed_element",)
_WRAPPERS = ("call_expression", "argument_list")


def names_in_tables(source: bytes, root: Node, rules: NamingCalls, closures: Collection[str]) -> list[TableEntry]:
    """The entries of a file's tables in source order; those that are functions in languages where these are no
    definitions."""
    found = [*_records(source, root, rules, closures)] if rules.titles else []
    found += _named_entries(source, root)
    found += _added_parsers(source) if b"add_parser" in source else ()
    return sorted(found, key=itemgetter(0))


def _named_entries(source: bytes, root: Node) -> Iterator[TableEntry]:
    matches = (match for match in _NAMED_ENTRY.finditer(source) if match[2] not in _WORDS)
    for match, _ in zip(matches, range(_MOST_ENTRIES), strict=False):
        key, said = match[1].decode("utf-8", "replace"), match[2].decode("utf-8", "replace")
        if key != said and not any("comment" in node.type for node in path_to(root, match.start(2))):
            yield TableEntry(match.start(), (key,), said)


def _added_parsers(source: bytes) -> Iterator[TableEntry]:
    """The commands of `argparse`: the parser that is added under a name is given the function that it runs."""
    parsers: dict[bytes, str] = {}
    events = [*_ADDED_PARSER.finditer(source), *_SET_FUNCTION.finditer(source)]
    for event in sorted(events, key=re.Match.start):
        if event.re is _ADDED_PARSER:
            parsers[event[1]] = event[2].decode("utf-8", "replace")
        elif event[1] in parsers:
            yield TableEntry(event.start(), (), event[2].decode("utf-8", "replace"), parsers[event[1]])


def _records(source: bytes, root: Node, rules: NamingCalls, closures: Collection[str]) -> Iterator[TableEntry]:
    """Functions under keys, by the names that lead to them; and the commands that records name beside what they run."""
    for match, _ in zip(_FUNCTION_ENTRY.finditer(source), range(_MOST_ENTRIES), strict=False):
        path = path_to(root, match.end() - 1)
        place = next((at for at in range(len(path) - 1, -1, -1) if path[at].type in closures), None)
        if place is not None and (names := _names_on(path[:place])):
            record = next((node for node in reversed(path[:place]) if node.type == "literal_value"), None)
            command = _title_of(record, rules) if names[-1] in rules.keys else ""
            yield TableEntry(path[place].start_byte, names, path[place], command)
    for match, _ in zip(rules.titled.finditer(source), range(_MOST_ENTRIES), strict=False):
        path = path_to(root, match.end())
        record = next((node for node in reversed(path) if node.type == "literal_value"), None)
        command = _title_of(record, rules)
        run = next(
            (said for key, value in _entries(record) if key in rules.keys if (said := expression_of(raw(value)))), ""
        )
        if command and run:
            yield TableEntry(match.start(), (), run, command)


def _title_of(record: Node | None, rules: NamingCalls) -> str:
    """The first word of what a record is called by."""
    titles = (text_of(value)[0].split() for key, value in _entries(record) if key in rules.titles)
    return next((words[0] for words in titles if words), "")


def _entries(record: Node | None) -> list[tuple[str, Node]]:
    elements = record.named_children if record is not None and record.named_child_count <= _MOST_FIELDS else ()
    pairs = [one.named_children for one in elements if one.type in _KEYS and len(one.named_children) == 2]
    return [(raw(key).strip('"'), unwrapped(value)) for key, value in pairs]


def _names_on(path: list[Node]) -> tuple[str, ...]:
    """The variable and the keys on the way to a value inside of the innermost definition; a record in a list is called
    by its title, and one that a call is given by its type."""
    names: list[str] = []
    is_given = False
    # A function in a wrapper is what its key holds.
    while path and path[-1].type in _WRAPPERS:
        path = path[:-1]
    for node in path:
        if node.type in ("function_declaration", "method_declaration", "func_literal"):
            names, is_given = [], False
        elif node.type == "call_expression":
            # What a call gives is no record that the call is given.
            names, is_given = [], True
        elif node.type == "composite_literal" and is_given:
            names, is_given = [_last_name(node.child_by_field_name("type"))], False
        elif node.type in ("var_spec", "const_spec", "short_var_declaration", "assignment_statement"):
            target = next((found for name in _NAMES if (found := node.child_by_field_name(name)) is not None), None)
            names = [raw(target)] if target is not None and raw(target).replace(".", "").isidentifier() else []
        elif node.type in _KEYS and node.named_children:
            names.append(raw(node.named_children[0]).strip('"`'))
        elif node.type == "literal_value" and names:
            title = next((text_of(value)[0] for key, value in _entries(node) if key == "Name"), "")
            names += title.split()[:1]
    return tuple(filter(None, names[-5:]))


def _last_name(type_: Node | None) -> str:
    """The name of a type without its package; empty for one that is written out."""
    name = raw(type_).rpartition(".")[2]
    return name if name.isidentifier() else ""
