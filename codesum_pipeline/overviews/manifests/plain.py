"""Untrusted JSON, TOML, YAML and XML as plain values, with bounds on size and depth and without expansion."""

import json
import tomllib
from collections.abc import Mapping
from typing import Any, NoReturn
from xml.parsers import expat

import yaml
from msgspec import Struct, field

from codesum_pipeline.overviews.manifests.manifest import MalformedManifest

_DEEPEST = 60
# The parser reads some 100,000 characters a second.
_LARGEST_YAML = 100_000


def read_json(text: str) -> dict[str, Any]:
    """A JSON object."""
    try:
        return _object(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise MalformedManifest(f"not valid JSON: {error}") from error


def read_toml(text: str) -> dict[str, Any]:
    """A TOML file."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedManifest(f"not valid TOML: {error}") from error


def _object(content: object) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise MalformedManifest("not an object")
    return content


def table(content: object, *names: str) -> dict[str, Any]:
    """A nested object; empty where there is none."""
    for name in names:
        content = content.get(name) if isinstance(content, dict) else None
    return content if isinstance(content, dict) else {}


def texts(content: object) -> list[str]:
    """The texts of a list; a text alone is a list of one."""
    if isinstance(content, str):
        return [content]
    return [item for item in content if isinstance(item, str)] if isinstance(content, list) else []


def text_of(content: Mapping[str, Any], name: str) -> str | None:
    """A text of an object."""
    found = content.get(name)
    return found if isinstance(found, str) and found else None


def yaml_pairs(text: str) -> list[tuple[tuple[str, ...], str, int]]:
    """Every scalar of a YAML file: the keys that lead to it, its text, its line.

    Nodes are read without making values: an alias is the node that it names, visited once.
    """
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
        """The first child of a name."""
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
