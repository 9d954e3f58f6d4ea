"""The documents of a YAML file, or of a template of one, as plain data, read within bounds.

The parser's events are counted and nothing is composed of them before, so that no file costs more than these bounds: a
list that an alias names again is the same list and never a copy, and deep nesting ends the reading.
"""

import re
from importlib import metadata
from typing import Any

import yaml

# Part of the version of the texts that are written from such files.
YAML_VERSION = f"PyYAML/{metadata.version('PyYAML')}"

# About 0.5 s of reading. A description of an interface in 825,000 characters has 43,000 events.
_LONGEST, _MOST_EVENTS, _DEEPEST = 1_500_000, 200_000, 60
# libyaml is some 20 times as fast as the parser in Python.
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


# Lines of a template that hold code alone, and code within a value, as Helm has them.
_CODE_LINE = re.compile(r"^[ \t]*+(?:\{\{[^{}]*+\}\}[ \t]*+)++(?:\n|\Z)", re.M)
_CODE = re.compile(r"\{\{[^{}]*+\}\}")
# What stands for code: no value that is said has it.
_FILLED_IN = "$"


def read_documents(text: str) -> list[Any]:
    """The documents of a file, in which every value stays text; [] of one that is broken or beyond the bounds."""
    if len(text) > _LONGEST:
        return []
    if "{{" in text:
        text = _CODE.sub(_FILLED_IN, _CODE_LINE.sub("", text))
    builder = _DocumentBuilder()
    try:
        for count, event in enumerate(yaml.parse(text, Loader=_LOADER)):
            if count > _MOST_EVENTS or len(builder.opened) > _DEEPEST:
                return []
            builder.add(event)
    except (yaml.YAMLError, ValueError):
        return []
    return builder.documents


class _DocumentBuilder:
    """The lists and mappings that are open, the innermost last, and what anchors name."""

    def __init__(self) -> None:
        self.documents: list[Any] = []
        self.opened: list[list[Any] | dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.anchors: dict[str, Any] = {}

    def add(self, event: yaml.Event) -> None:
        match event:
            case yaml.DocumentStartEvent():
                self.anchors = {}
            case yaml.ScalarEvent():
                self._put(event.value, event.anchor)
            case yaml.AliasEvent():
                self._put(self.anchors.get(event.anchor or ""), None)
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                holder: list[Any] | dict[str, Any] = [] if isinstance(event, yaml.SequenceStartEvent) else {}
                self._put(holder, event.anchor)
                self.opened.append(holder)
                self.keys.append(None)
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self.opened.pop()
                self.keys.pop()

    def _put(self, value: Any, anchor: str | None) -> None:
        """Add a value to what is open; of a mapping, every other value is a key, `?` where that is no text."""
        if anchor:
            self.anchors[anchor] = value
        if not self.opened:
            self.documents.append(value)
        elif isinstance(holder := self.opened[-1], list):
            holder.append(value)
        elif (key := self.keys[-1]) is None:
            self.keys[-1] = value if isinstance(value, str) else "?"
        else:
            holder[key] = value
            self.keys[-1] = None
