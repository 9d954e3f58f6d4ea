"""YAML as plain data of a bounded size: what a person writes into a settings file, and nothing that unfolds."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.source.locations import redact

# A registry of 10,000 repositories takes 1 MB.
LARGEST_BYTES = 16 * 1024 * 1024


def read_plain_yaml(file: Path) -> Any:
    """The content of a file; raises `ConfigurationError` naming the file and the place in it."""
    text = read_bounded(file)
    try:
        return yaml.load(text, Loader=PlainLoader)
    except RecursionError as error:
        raise ConfigurationError(f"{file}: not valid YAML: nested deeper than any registry is") from error
    # Numbers and dates that cannot be raise ValueError.
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigurationError(f"{file}: not valid YAML: {redact(str(error))}") from error


def read_bounded(file: Path) -> str:
    """The text of a file with its own line ends; raises `ConfigurationError` naming the file."""
    try:
        if file.stat().st_size > LARGEST_BYTES:
            raise ConfigurationError(f"{file}: larger than {LARGEST_BYTES // 2**20} MB, which no such file is")
        return file.read_bytes().decode("utf-8")
    except OSError as error:
        raise ConfigurationError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file}: not valid YAML: it is not UTF-8: {error}") from error


class PlainLoader(yaml.SafeLoader):
    """Plain data alone, no key twice in one mapping, of which YAML would keep the last, and no alias.

    A few nested aliases stand for billions of values.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            problem = f"an alias (*{event.anchor}) is not read: write the value out"
            raise yaml.constructor.ConstructorError(None, None, problem, event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                continue
            if key_node.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key_node.value!r} stands twice", key_node.start_mark
                )
            seen.add(key_node.value)
        return super().construct_mapping(node, deep=deep)
