"""What a manifest declares, each with its line; and how untrusted JSON, TOML, YAML, XML and programs are read.

Values have bounds on size and depth and are never expanded. Parsers of JSON and TOML give values without places: a
value is searched in the text, after the names of the sections around it. A Gemfile, a build.sbt or a setup.py is parsed
by its language's grammar and never run: the names around a string literal give its meaning.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from functools import lru_cache
from typing import Any, NoReturn
from xml.parsers import expat

import yaml
from msgspec import Struct, field
from tree_sitter import Language, Node, Parser

from codesum_pipeline.foundation.settings.stage_settings import STEPS_PER_BYTE
from codesum_pipeline.languages.declarations.language_registry import declaration_of
from codesum_pipeline.symbols.parsing.bounded import (
    TooCostly,
    TooMuchWork,
    WorkBudget,
    may_take_gigabytes,
    parse_within_bounds,
)


class DependencyScope(StrEnum):
    """The purpose of a dependency."""

    RUN = "run"
    DEV = "dev"
    BUILD = "build"


class Dependency(Struct, frozen=True):
    """A dependency as a manifest declares it; `ecosystem` names the registry that its name belongs to."""

    ecosystem: str
    name: str
    constraint: str | None
    line: int
    scope: DependencyScope = DependencyScope.RUN


RUN, DEV, BUILD = DependencyScope.RUN, DependencyScope.DEV, DependencyScope.BUILD


class EntryKind(StrEnum):
    """How something is started."""

    COMMAND = "command"
    MAIN = "main function"
    SCRIPT = "script"
    LIBRARY = "library entry"
    APPLICATION = "application"
    CONTAINER = "container"


class EntryPoint(Struct, frozen=True):
    """Where execution, or the use of a library, begins; `target` is the file or function that it leads to, if known."""

    name: str
    kind: EntryKind
    path: str
    line: int
    target: str | None = None


# A name for the project itself, a dependency, or an entry point.
Fact = str | Dependency | EntryPoint


class Manifest(Struct, frozen=True):
    """One manifest; `names` are its names for the project itself."""

    path: str
    names: tuple[str, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    entry_points: tuple[EntryPoint, ...] = ()


class MalformedManifest(Exception):
    """A manifest that its format's parser refuses."""


# What goes on with a name, before and behind it.
_BEFORE, _AFTER = (re.compile(r"[\w@./-]"), re.compile(r"[\w@/-]")), re.compile(r"[\w./-]")
# No person writes longer lines, and a regular expression may take the square of a line's length.
_LONGEST = 1_000


def short_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text with their numbers, from 1, without overlong ones."""
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if len(line) <= _LONGEST)


def line_of(text: str, *names: str) -> int:
    """The line of the last of these names that is found; each is searched after the one before."""
    position = 0
    for name in names:
        # As a word of its own, else as the last part of a dotted key.
        for before in _BEFORE:
            if (end := _end_of(name, text, position, before)) is not None:
                position = end
                break
    return text.count("\n", 0, max(position - 1, 0)) + 1


def _end_of(name: str, text: str, position: int, before: re.Pattern[str]) -> int | None:
    """Where a name ends that is found from a position on, neither behind nor before what goes on with it. Most texts
    have thousands of names, for which no expressions are compiled."""
    while (start := text.find(name, position)) >= 0:
        end = start + len(name)
        if not before.match(text, start - 1 if start else len(text)) and not _AFTER.match(text, end):
            return end
        position = start + 1
    return None


def read_requirement(line: int, text: str, scope: DependencyScope) -> Iterator[Dependency]:
    """One requirement of Python; none if the text is no requirement."""
    if len(text) > _LONGEST:
        return
    # Most builds read no manifest anew.
    from packaging.requirements import InvalidRequirement, Requirement

    with suppress(InvalidRequirement):
        wanted = Requirement(text.strip())
        yield Dependency("pypi", wanted.name, str(wanted.specifier) or None, line, scope)


_COORDINATE = re.compile(r"([\w.-]++):([\w.${}-]++)(?::([^:@]++))?.*")


def read_coordinate(line: int, text: str, configuration: str) -> Iterator[Dependency]:
    """`group:artifact:version` of Maven's repositories."""
    match = _COORDINATE.fullmatch(text)
    if match and "." in match[1]:
        scope = DEV if "test" in configuration.lower() else RUN
        yield Dependency("maven", f"{match[1]}:{match[2]}", match[3], line, scope)


def read_image(line: int, named: str) -> Iterator[Dependency]:
    """`registry/name:tag@digest`; the name decides."""
    name, _, tag = named.partition("@")[0].rpartition("/")[2].partition(":")
    if name and "$" not in name and name != "scratch":
        yield Dependency("image", name.lower(), tag or None, line)


_CABAL_PACKAGE = re.compile(r"\s*+(?:,\s*+)?([A-Za-z][\w-]*+)(?::[\w{}, -]++)?\s*+([^,]*+)")


def read_haskell_package(line: int, requirement: str, scope: DependencyScope) -> Iterator[Dependency]:
    """A package of Hackage with its bounds."""
    if match := _CABAL_PACKAGE.fullmatch(requirement):
        yield Dependency("hackage", match[1], match[2].strip() or None, line, scope)


_DEEPEST = 60
# The parser reads some 100,000 characters a second.
_LARGEST_YAML = 100_000


def read_json(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedManifest(f"not valid JSON: {error}") from error
    if not isinstance(content, dict):
        raise MalformedManifest("not an object")
    return content


def read_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedManifest(f"not valid TOML: {error}") from error


def table_of(content: object, *names: str) -> dict[str, Any]:
    """A nested object; empty if there is none."""
    for name in names:
        content = content.get(name) if isinstance(content, dict) else None
    return content if isinstance(content, dict) else {}


def texts_of(content: object) -> list[str]:
    """The texts of a list; a text alone is a list of one."""
    if isinstance(content, str):
        return [content]
    return [item for item in content if isinstance(item, str)] if isinstance(content, list) else []


def text_of(content: Mapping[str, Any], name: str) -> str | None:
    """A text of an object."""
    found = content.get(name)
    return found if isinstance(found, str) and found else None


def yaml_pairs(text: str) -> list[tuple[tuple[str, ...], str, int]]:
    """Every scalar of a YAML file: the keys that lead to it, its text, its line. Nodes are read without making values:
    an alias is the node that it names, visited once."""
    if len(text) > _LARGEST_YAML:
        raise MalformedManifest(f"longer than {_LARGEST_YAML:,} characters, which no such file is")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise MalformedManifest(f"not valid YAML: {error}") from error
    found: list[tuple[tuple[str, ...], str, int]] = []
    waiting: list[tuple[tuple[str, ...], yaml.Node | None]] = [((), root)]
    seen: set[int] = set()
    while waiting:
        keys, node = waiting.pop()
        if node is None or id(node) in seen or len(keys) > _DEEPEST:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            found.append((keys, node.value, node.start_mark.line + 1))
        elif isinstance(node, yaml.SequenceNode):
            waiting.extend((keys, child) for child in reversed(node.value))
        elif isinstance(node, yaml.MappingNode):
            waiting.extend(((*keys, str(key.value)), value) for key, value in reversed(node.value))
    return found


class Element(Struct):
    """An XML element: its name without a namespace, attributes, text and line."""

    name: str
    attributes: Mapping[str, str]
    line: int
    text: str = ""
    children: "list[Element]" = field(default_factory=list)

    def all(self, name: str) -> "list[Element]":
        """The elements of a name below this one, in order."""
        found, waiting = [], [*reversed(self.children)]
        while waiting:
            element = waiting.pop()
            if element.name == name:
                found.append(element)
            waiting.extend(reversed(element.children))
        return found

    def child(self, name: str) -> "Element | None":
        return next((child for child in self.children if child.name == name), None)

    def text_of(self, name: str) -> str | None:
        """The text of the first child of a name."""
        found = self.child(name)
        return found.text.strip() or None if found else None


def read_xml(text: str) -> Element:
    """The root element. A document that declares entities is refused: no manifest needs them, and they expand."""
    root = Element("", {}, 1)
    open_elements = [root]
    parser = expat.ParserCreate()

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > _DEEPEST:
            raise MalformedManifest(f"nested deeper than {_DEEPEST} elements")
        element = Element(name.rpartition(":")[2], attributes, parser.CurrentLineNumber)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def end(_name: str) -> None:
        open_elements.pop()

    def characters(data: str) -> None:
        open_elements[-1].text += data

    def refuse(*_declared: object) -> NoReturn:
        raise MalformedManifest("it declares entities, which are not read")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.EntityDeclHandler = characters, refuse
    parser.buffer_text = True
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise MalformedManifest(f"not valid XML: {error}") from error
    return root


_LITERALS = frozenset({"string", "string_literal", "line_string_literal", "interpolated_string", "atom"})
_NAMING = frozenset({
    "call", "call_expression", "function_call", "keyword_argument", "pair", "assignment", "assignment_statement",
    "assignment_expression", "value_argument", "field", "infix_expression", "property_declaration",
})  # fmt: skip
# The field of a naming node with its name; a node without one is named by its first child.
_NAME_FIELDS = ("method", "function", "target", "name", "key", "left")
_LONGEST_NAME = 80
# No manifest nests as deep.
_NAME = re.compile(r"[\w.@/-]+[?!]?")
_QUOTES = "\"'`"


class Literal(Struct, frozen=True):
    """A string, or an atom; `before` and `after` are the source up to the neighbouring literals. `under` are the names
    of the calls, arguments and assignments around it, outermost first; literals with the same innermost naming node
    have the same `call`."""

    text: str
    line: int
    under: tuple[str, ...]
    call: int
    before: str
    after: str


@lru_cache(maxsize=8)
def _grammar(language: str) -> Language:
    return Language(declaration_of(language).spec.grammar())


def read_literals(text: str, language: str) -> list[Literal]:
    """All literals in source order; raises `MalformedManifest` if the parser gives up."""
    source = text.encode()
    if may_take_gigabytes(source, language):
        raise MalformedManifest("more is begun in it than ended")
    try:
        # A new parser each time: parsers are not shared between threads.
        parser = Parser(_grammar(language))
        tree = parse_within_bounds(parser, source, WorkBudget.of(len(source), STEPS_PER_BYTE))
    except (TooMuchWork, TooCostly) as error:
        raise MalformedManifest(str(error)) from error
    found = list(_literals(tree.root_node))
    literals = []
    for number, (node, under, call) in enumerate(found):
        start = found[number - 1][0].end_byte if number else 0
        end = found[number + 1][0].start_byte if number + 1 < len(found) else len(source)
        literals.append(
            Literal(
                text=_text(source, node.start_byte, node.end_byte).strip(_QUOTES).removeprefix(":"),
                line=node.start_point.row + 1,
                under=under,
                call=call,
                before=_text(source, start, node.start_byte),
                after=_text(source, node.end_byte, end),
            )
        )
    return literals


def _literals(root: Node) -> Iterator[tuple[Node, tuple[str, ...], int]]:
    """Depth first, without recursion."""
    waiting: list[tuple[Node, tuple[str, ...], int]] = [(root, (), 0)]
    while waiting:
        node, under, call = waiting.pop()
        if node.type in _LITERALS:
            yield node, under, call
            continue
        if node.type in _NAMING and (name := _name(node)):
            under, call = (*under, name), node.id
        if len(under) < _DEEPEST:
            waiting.extend((child, under, call) for child in reversed(node.named_children))


def _name(node: Node) -> str:
    part = next((found for name in _NAME_FIELDS if (found := node.child_by_field_name(name))), None)
    if part is None:
        part = next((child for child in node.named_children[:1] if child.type not in _LITERALS), None)
    if part is None or part.end_byte - part.start_byte > _LONGEST_NAME or part.text is None:
        return ""
    name = part.text.decode("utf-8", "replace").strip(".: ").rpartition(".")[2].strip(_QUOTES)
    return name if _NAME.fullmatch(name) else ""


def _text(source: bytes, start: int, end: int) -> str:
    return source[start:end].decode("utf-8", "replace")
