"""YAML as plain data of a bounded size: what a person writes into a settings file, and nothing that unfolds."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.source.git.git_addresses import with_shown_locations

# A registry of 10,000 repositories takes 1 MB.
LARGEST_BYTES = 16 * 1024 * 1024


def read_plain_yaml(file: Path) -> Any:
    """The content of a file; raises `ConfigurationError` naming the file and the place in it."""
    text = read_bounded(file)
    try:
        return _load(text)
    except RecursionError as error:
        raise ConfigurationError(f"{file}: not valid YAML: nested deeper than any registry is") from error
    # Numbers and dates that cannot be raise ValueError.
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigurationError(f"{file}: not valid YAML: {_describe_problem(error)}") from None


def _describe_problem(error: yaml.YAMLError | ValueError) -> str:
    """What is wrong and where, without the lines around it, which may hold a password."""
    mark = getattr(error, "problem_mark", None)
    problem = with_shown_locations(str(getattr(error, "problem", None) or getattr(error, "reason", None) or error))
    return f"{problem} (line {mark.line + 1}, column {mark.column + 1})" if mark else problem


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


def _load(text: str) -> Any:
    """By libyaml, in an eighth of the time; what it refuses is read again for a message that shows the place."""
    if _FastLoader is None:
        return yaml.load(text, Loader=PlainLoader)
    try:
        return yaml.load(text, Loader=_FastLoader)
    except (yaml.YAMLError, ValueError):
        return yaml.load(text, Loader=PlainLoader)


class _PlainData:
    """Plain data alone, no key twice in one mapping, of which YAML would keep the last, and no alias.

    A few nested aliases can expand to billions of values.
    """

    def compose_node(self: Any, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            problem = f"an alias (*{event.anchor}) is not read: write the value out"
            raise yaml.constructor.ConstructorError(None, None, problem, event.start_mark)
        return Composer.compose_node(self, parent, index)

    def construct_mapping(self: Any, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                continue
            if key_node.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key_node.value!r} occurs twice", key_node.start_mark
                )
            seen.add(key_node.value)
        return SafeConstructor.construct_mapping(self, node, deep=deep)


class PlainLoader(_PlainData, yaml.SafeLoader):
    """Written in Python: slow, with messages that show the place."""


_FastLoader: Any = None
if yaml.__with_libyaml__:
    from yaml.cyaml import CParser  # type: ignore[attr-defined]

    class _LibyamlLoader(_PlainData, Composer, CParser, SafeConstructor, Resolver):
        """The parser of libyaml under the composer of Python, which the checks hook into."""

        def __init__(self, stream: str) -> None:
            CParser.__init__(self, stream)
            Composer.__init__(self)
            SafeConstructor.__init__(self)
            Resolver.__init__(self)

    _FastLoader = _LibyamlLoader
