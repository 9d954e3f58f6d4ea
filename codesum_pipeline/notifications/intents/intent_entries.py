"""`intents.yaml` as it is written: its entries with their lines, and changes that leave the rest of the text alone.

An entry that is no YAML is found in its own lines, and the others are read.
Scalars are those of YAML 1.2: `on` and `no` are text, as is `10:00`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.source.git.git_addresses import with_shown_locations
from codesum_pipeline.source.repositories.plain_yaml import PlainLoader, read_bounded

ROOT = "intents"
# What an entry says of its file: its name in the file, and what to say of it.
Problems = dict[str, ConfigurationError]

_HEAD = re.compile(rf"{ROOT}\s*:\s*(#.*)?")
_NAME = re.compile(r"\s*(?P<quote>[\"']?)(?P<name>.*?)(?P=quote)\s*(?::.*)?", re.DOTALL)


class _Loader(PlainLoader):
    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012 - so the base class has it


class _Dumper(yaml.SafeDumper):
    """Writes what `_Loader` reads, text of several lines as lines."""

    yaml_implicit_resolvers: dict[Any, Any] = _Loader.yaml_implicit_resolvers

    def represent_str(self, data: str) -> yaml.ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:str", data, style="|" if "\n" in data else None)


_Dumper.add_representer(str, _Dumper.represent_str)
for _tag, _pattern in {
    "bool": r"true|True|TRUE|false|False|FALSE",
    "null": r"~|null|Null|NULL|",
    "int": r"[-+]?(?:0|[1-9][0-9]{0,17})",
    "float": r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
}.items():
    _Loader.yaml_implicit_resolvers.setdefault(None, []).append(
        (f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})\\Z"))
    )


class WrittenEntry(Struct, frozen=True):
    """One entry as its file has it: a name and the text below it."""

    key: yaml.Node
    value: yaml.Node

    @property
    def name(self) -> str:
        return self.key.value if isinstance(self.key, yaml.ScalarNode) else f"line {self.line}"

    @property
    def line(self) -> int:
        return int(self.key.start_mark.line) + 1

    @property
    def field_names(self) -> list[str]:
        return [key.value for key, _ in _pairs(self.value) if isinstance(key, yaml.ScalarNode)]

    def lines_of(self, field: str) -> list[int]:
        """The place of a field, or of the entry if it has no field of that name."""
        return [key.start_mark.line + 1 for key, _ in _pairs(self.value) if key.value == field] or [self.line]

    def field(self, name: str) -> yaml.Node | None:
        """The content of a field."""
        return next((value for key, value in _pairs(self.value) if key.value == name), None)

    def plain(self) -> Any:
        """The value as plain data; raises `yaml.YAMLError` or `ValueError` for what cannot be."""
        return _Loader("").construct_document(self.value)


class WrittenIntents(Struct, frozen=True):
    """A file's text, the entries in it, in their order, and what of it cannot be read, by name."""

    text: str
    entries: tuple[WrittenEntry, ...]
    problems: Mapping[str, ConfigurationError]


def read_written(file: Path) -> WrittenIntents:
    """The content of a file; a missing file has no entries.

    Raises `ConfigurationError` if it cannot be parsed.
    """
    if not file.exists():
        return WrittenIntents("", (), {})
    if not file.is_file():
        raise ConfigurationError(f"{file}: is no file: put the intents into one of this name")
    text = read_bounded(file)
    try:
        root = _compose(text)
    except (yaml.YAMLError, RecursionError) as error:
        return _read_pieces(file.name, text, error)
    entries, problems = _entries_of(file.name, root)
    return WrittenIntents(text, tuple(entries), problems)


def with_entry(text: str, name: str, fields: Mapping[str, Any]) -> str:
    """The text with one more entry at its end."""
    expected = {**_plain(text), name: dict(fields)}

    def append(mapping: yaml.Node | None) -> str:
        nodes = [key for key, _ in _pairs(mapping)]
        indent = nodes[0].start_mark.column if nodes else 2
        body = _dumped({name: dict(fields)})
        block = "".join(f"{' ' * indent}{line}" if line.strip() else line for line in body.splitlines(keepends=True))
        start = text if not text or text.endswith("\n") else f"{text}\n"
        head = "" if mapping is not None else f"{ROOT}:\n"
        return f"{start}{head}{block}"

    return _changed(text, expected, append)


def without_entry(text: str, name: str) -> str:
    """The text without an entry; comments around it stay."""
    expected = _plain(text)
    del expected[name]

    def cut(mapping: yaml.Node | None) -> str:
        key, value = next(pair for pair in _pairs(mapping) if pair[0].value == name)
        lines = _lines(text)
        return "".join(lines[: key.start_mark.line] + lines[_end_line(key, value) :])

    return _changed(text, expected, cut)


def with_field(text: str, names: list[str], field: str, value: str) -> str:
    """The text in which entries have `value` in a field that is text."""
    expected = _plain(text)
    for name in names:
        expected[name][field] = value

    def replace(mapping: yaml.Node | None) -> str:
        entries = [WrittenEntry(*pair) for pair in _pairs(mapping) if pair[0].value in names]
        changed = text
        for entry in reversed(entries):
            changed = _put(changed, entry, field, value)
        return changed

    return _changed(text, expected, replace)


def _put(text: str, entry: WrittenEntry, field: str, value: str) -> str:
    there = entry.field(field)
    if there is not None:
        return text[: there.start_mark.index] + value + text[there.end_mark.index :]
    first = next(_pairs(entry.value))[0].start_mark
    after = ", " if getattr(entry.value, "flow_style", False) else f"\n{' ' * first.column}"
    return f"{text[: first.index]}{field}: {value}{after}{text[first.index :]}"


def _changed(text: str, expected: dict[str, Any], edit: Callable[[yaml.Node | None], str]) -> str:
    """The edited text, if it says what is meant; where the edit does not fit the form of the text, a new text."""
    try:
        edited = edit(next((value for key, value in _pairs(_compose(text)) if key.value == ROOT), None))
        if _plain(edited) == expected:
            return edited
    except (ConfigurationError, yaml.YAMLError, IndexError):
        pass
    return _dumped({ROOT: expected})


def _plain(text: str) -> dict[str, Any]:
    """The entries of a text as plain data; raises `ConfigurationError` if the text cannot be read whole."""
    try:
        loader = _Loader(text)
        content = loader.get_single_data() or {}
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigurationError(f"line {_line_of(error, text) or 1}: {_describe_problem(error)}") from error
    if not isinstance(content, dict) or set(content) - {ROOT} or not isinstance(content.get(ROOT) or {}, dict):
        raise ConfigurationError(f"it is no mapping whose only key is {ROOT!r}")
    return content.get(ROOT) or {}


def _compose(text: str) -> yaml.Node | None:
    return _Loader(text).get_single_node()


def _entries_of(file: str, root: yaml.Node | None) -> tuple[list[WrittenEntry], Problems]:
    if root is None:
        return [], {}
    if not isinstance(root, yaml.MappingNode):
        raise ConfigurationError(f"{file}:{root.start_mark.line + 1}: expected a mapping with the key {ROOT!r}")
    entries: list[WrittenEntry] = []
    problems: Problems = {}
    first_line = 0
    for key, value in _pairs(root):
        place = f"{file}:{key.start_mark.line + 1}"
        if key.value != ROOT:
            problems[str(key.value)] = ConfigurationError(
                f"{place}: unknown key {key.value!r}; the only one is {ROOT!r}"
            )
            continue
        if first_line:
            message = f"{place}: {ROOT!r} is in line {first_line} already: put all intents below one"
            problems[ROOT] = ConfigurationError(message)
        first_line = first_line or key.start_mark.line + 1
        if isinstance(value, yaml.MappingNode):
            entries += [WrittenEntry(*pair) for pair in _pairs(value)]
        elif value.value not in ("", "~", "null"):
            raise ConfigurationError(f"{place}: {ROOT!r} is a mapping of names to intents")
    return entries, problems


def _read_pieces(file: str, text: str, error: Exception) -> WrittenIntents:
    """The entries of a text that is no YAML as a whole, each in its own lines.

    Raises `ConfigurationError` if the text has no such form, or every piece of it can be read.
    """
    entries: list[WrittenEntry] = []
    problems: Problems = {}
    for name, start, piece in _pieces(text):
        try:
            found, more = _entries_of(file, _compose(piece))
        except ConfigurationError as wrong:
            problems[name] = wrong
        except (yaml.YAMLError, RecursionError) as wrong:
            problems[name] = ConfigurationError(
                f"{file}:{_line_of(wrong, piece) or start}: {name!r}: {_describe_problem(wrong)}"
            )
        else:
            entries += found
            problems.update(more)
    if not problems:
        raise ConfigurationError(f"{file}:{_line_of(error, text) or 1}: {_describe_problem(error)}") from error
    return WrittenIntents(text, tuple(entries), problems)


def _pieces(text: str) -> Iterator[tuple[str, int, str]]:
    """For each entry of a block its name, its line, and its lines below a head of their own, at their place."""
    lines = _lines(text)
    head = next((number for number, line in enumerate(lines) if _HEAD.fullmatch(line.rstrip())), None)
    starts = [number for number, line in enumerate(lines) if line.strip() and line.lstrip()[0] != "#"]
    starts = [number for number in starts if head is not None and number > head]
    if not starts:
        return
    indent = _indent(lines[starts[0]])
    starts = [number for number in starts if _indent(lines[number]) <= indent]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        named = _NAME.fullmatch(lines[start].strip())
        is_inside = _indent(lines[start]) == indent
        above = "\n" * (start - 1) + f"{ROOT}:\n" if is_inside else "\n" * start
        yield (named["name"] if named else lines[start].strip()), start + 1, above + "".join(lines[start:end])


def _indent(line: str) -> int:
    """The indent of a line; a tab counts as a person sees it."""
    wide = line.expandtabs()
    return len(wide) - len(wide.lstrip())


def _lines(text: str) -> list[str]:
    """The lines as YAML counts them, with their ends."""
    return re.findall(r"[^\r\n\x85\u2028\u2029]*(?:\r\n|[\r\n\x85\u2028\u2029])|[^\r\n\x85\u2028\u2029]+\Z", text)


def _pairs(node: yaml.Node | None) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        yield from node.value


def _end_line(key: yaml.Node, value: yaml.Node) -> int:
    """The number of the first line after an entry, counted from 0."""
    last = value
    while isinstance(last, yaml.MappingNode | yaml.SequenceNode) and not last.flow_style and last.value:
        tail = last.value[-1]
        last = tail[1] if isinstance(tail, tuple) else tail
    mark = last.end_mark
    return max(int(mark.line) if mark.column == 0 else int(mark.line) + 1, int(key.start_mark.line) + 1)


def _dumped(content: Mapping[str, Any]) -> str:
    dumped: str = yaml.dump(dict(content), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return dumped


def _line_of(error: Exception, text: str) -> int:
    """Where something was found; 0 if that is not known."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is not None:
        return int(mark.line) + 1
    return len(_lines(text[: error.position + 1])) if isinstance(error, yaml.reader.ReaderError) else 0


def _describe_problem(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "not valid YAML: nested deeper than any intent is"
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    way_out = "put the text into quotes" if "mapping values" in str(problem) else "mend the entry there"
    return f"not valid YAML: {with_shown_locations(str(problem))}: {way_out}"
