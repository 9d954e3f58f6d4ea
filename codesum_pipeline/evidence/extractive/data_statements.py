"""What a file of data or settings holds: its keys with their values, or what its usual keys say that it is for."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from itertools import islice
from typing import Any

import yaml

from codesum_pipeline.evidence.author_texts.plain_sentences import clip_text, make_printable
from codesum_pipeline.evidence.extractive.translated_texts import (
    language_of_translation,
    list_quoted,
    spoken_language,
    translation_statement,
)
from codesum_pipeline.evidence.extractive.words import list_first, make_fact
from codesum_pipeline.foundation.data_model.printable import count_noun

# What a name or a single word may have, and a sentence.
MAX_VALUE, MAX_SENTENCE = 60, 120
_LONGEST_VALUE = 300


def text_of(value: object) -> str:
    """A text that is short and plain enough to be said; "" of others."""
    text = make_printable(value[:_LONGEST_VALUE]) if isinstance(value, str) else ""
    is_plain = (
        any(map(str.isalnum, text))
        and max(map(len, text.split())) <= MAX_VALUE
        and not any(mark in text for mark in (*"${}<>\\`", "--"))
    )
    return clip_text(text, MAX_SENTENCE if " " in text else MAX_VALUE) if is_plain else ""


def name_of(value: object) -> str:
    """A name or path as it is written, clipped."""
    return clip_text(make_printable(str(value)[:_LONGEST_VALUE]), MAX_VALUE)


def dict_of(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


# Longer ones are read by their keys alone.
_LONGEST, _LONGEST_LINES = 1_500_000, 20_000
_MAX_KEYS, _MOST_KEYS, _MAX_INNER = 6, 60, 3
# Larger numbers say nothing, and Python refuses to write very large ones.
_LARGEST = 10**18
_MANIFESTS = frozenset(("package.json", "Cargo.toml", "composer.json", "pyproject.toml", "manifest.json"))
_TELLING_KEYS = ("description", "name", "title", "label", "id")
_MOST_TEXTS = 5000
_SECRET = re.compile(
    r"pass|pwd|pin$|secret|token|key$|credential|private|auth|api.?key|salt|hash|integrity|signature", re.I
)
_LINE = re.compile(r"([\w.\-/]{1,60})[ \t]*[=:][ \t]*(.{0,200})$")
_ASSETS = {"imageset": "Image set", "appiconset": "App icon", "colorset": "Color set", "launchimage": "Launch image",
           "symbolset": "Symbol set", "dataset": "Data set"}  # fmt: skip


def documents_of(text: str, kind: str) -> list[Any]:
    """The documents of a JSON, TOML or YAML file; [] of one that is too long or broken. Values of YAML stay text."""
    if kind == "yaml":
        return read_documents(text)
    with suppress(ValueError, RecursionError, TypeError):
        return [tomllib.loads(text) if kind == "toml" else read_json(text)] if len(text) <= _LONGEST else []
    return []


_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*+"?)|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?')
_LAST_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*+"?)|,(?=\s*+[}\]])')


def read_json(text: str) -> Any:
    """The content of a JSON file, which may have comments and last commas; `ValueError` of a broken one."""
    bare = text.lstrip("\ufeff")
    try:
        return json.loads(bare)
    except ValueError:
        return json.loads(_LAST_COMMA.sub(r"\1", _COMMENT.sub(r"\1", bare)))


def lines_statement(path: str, text: str) -> str:
    """One sentence about a file of settings, one a line."""
    pairs = _pairs(text[:_LONGEST_LINES])
    language = language_of_translation(path)
    if not language:
        return _shape(pairs)
    return translation_statement(language, _leaves(pairs), are_all=len(text) <= _LONGEST_LINES)


def data_statement(path: str, documents: Sequence[Any]) -> str:
    """One sentence about a file of data; "" where only its keys can be read."""
    content = documents[0] if len(documents) == 1 else None
    if isinstance(content, list):
        return _of_list(content)
    if not isinstance(content, dict) or not content:
        return ""
    return (
        _asset(path, content)
        or _translations(path, content)
        or _package(path, content)
        or _schema(content)
        or _shape(content)
    )


def _pairs(text: str) -> dict[str, Any]:
    """The settings of lines such as `key = value`, in their sections where there are some."""
    found: dict[str, Any] = {}
    section = found
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("[") and stripped.endswith("]"):
            section = found.setdefault(stripped.strip("[] "), {})
            section = section if isinstance(section, dict) else found
        elif match := _LINE.match(stripped):
            section[match[1]] = match[2].strip().strip("\"'")
    return found


def _asset(path: str, content: Mapping[str, Any]) -> str:
    """An entry of an asset catalogue of Xcode, named by its folder."""
    folder = path.rpartition("/")[0].rpartition("/")[2]
    name, _, ending = folder.rpartition(".")
    kind = _ASSETS.get(ending, "")
    if not kind or "/Contents" not in path:
        return "Folder of an asset catalogue" if path.endswith(".xcassets/Contents.json") else ""
    images = [one for one in list_of(content.get("images")) if isinstance(one, dict)]
    files = [file for one in images if (file := text_of(one.get("filename")))]
    return f'{kind} "{make_printable(name)}"{f" of {list_first(files, 3)}" if files else ""}'


def _translations(path: str, content: Mapping[str, Any]) -> str:
    """Messages of an extension, of Rails or of a page: nested texts under a language."""
    first = next(iter(content))
    language = language_of_translation(path) or (spoken_language(str(first)) if len(content) == 1 else "")
    if not language:
        return ""
    values = content.values()
    if all(isinstance(one, dict) and isinstance(one.get("message"), str) for one in values):
        return translation_statement(language, [one["message"] for one in values])
    texts = [*islice(_leaves(content), _MOST_TEXTS + 1)]
    return translation_statement(language, texts[:_MOST_TEXTS], are_all=len(texts) <= _MOST_TEXTS)


def _leaves(content: object) -> Iterator[str]:
    waiting, seen = [content], 0
    # A list that is named may stand in many places.
    while waiting and seen < 2 * _MOST_TEXTS:
        one, seen = waiting.pop(), seen + 1
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict | list):
            waiting.extend(reversed([*(one.values() if isinstance(one, dict) else one)]))


def _package(path: str, content: Mapping[str, Any]) -> str:
    """A package of JavaScript, Rust, PHP or Python: its name, what it says that it is, its scripts or what it needs."""
    if path.rpartition("/")[2] not in _MANIFESTS:
        return ""
    inner = dict_of(content.get("package")) or dict_of(content.get("project")) or content
    name, about = text_of(inner.get("name")), text_of(inner.get("description"))
    needs = dict_of(content.get("dependencies") or content.get("require")) or map(
        _package_of, list_of(inner.get("dependencies"))
    )
    told = [
        f"Package {name}: {about}" if name and about and "__" not in about else f"Package {name}" if name else "",
        make_fact(
            "Members:",
            list_first(filter(text_of, list_of(dict_of(content.get("workspace")).get("members"))), _MAX_KEYS),
        ),
        make_fact("Scripts:", list_first(dict_of(content.get("scripts")), _MAX_KEYS)),
        "" if content.get("scripts") else make_fact("Needs", list_first(needs, _MAX_KEYS)),
    ]
    return ". ".join(one.rstrip(".") for one in told if one)


def _package_of(one: object) -> str:
    return re.split(r"[\s<>=!~\[;(]", one, maxsplit=1)[0] if isinstance(one, str) else ""


def _schema(content: Mapping[str, Any]) -> str:
    """A JSON schema: its title, and its properties."""
    if "$schema" not in content or "properties" not in content:
        return ""
    about = text_of(content.get("description")) or text_of(content.get("title"))
    properties = list_first([*dict_of(content["properties"])], _MAX_KEYS)
    return f"JSON schema{f' of {about}' if about else ''} with the properties {properties}" if properties else ""


def _of_list(content: Sequence[Any]) -> str:
    """How many entries of which keys, and the first names, descriptions or texts among them."""
    lead = f"List of {count_noun(len(content), 'entry', 'entries')}"
    if not content or not isinstance(content[0], dict):
        texts = list_first(filter(None, map(text_of, content[:_MAX_KEYS])), _MAX_KEYS)
        return f"{lead}: {texts}" if texts else lead
    told = next((key for key in _TELLING_KEYS if text_of(content[0].get(key))), "")
    shown = list_quoted((text_of(one.get(told)) for one in content[:3] if isinstance(one, dict)), 3)
    keys = list_first((name_of(one) for one in content[0] if str(one)[:1] != "$"), _MAX_KEYS)
    return f"{lead} with {keys}{f', such as {shown}' if shown else ''}"


def _shape(content: Mapping[str, Any]) -> str:
    """The keys with what is below them: a short value, the first keys, or how many entries."""
    # `"//"` is the key of a comment, `"/users"` of a path.
    pairs = [(key, value) for key, value in content.items() if name_of(key)[:1].isalnum() or name_of(key)[:1] in "._@/"]
    named = [pair for pair in pairs if not name_of(pair[0]).startswith("//")]
    pairs, are_all = named[:_MOST_KEYS], len(named) <= _MOST_KEYS
    parts = [_described(name_of(key), value) for key, value in pairs]
    held = list_first(parts, _MAX_KEYS, are_all=are_all)
    return f"Holds {held}" if parts != [name_of(key) for key, _ in pairs] else ""


def _described(key: str, value: object) -> str:
    if isinstance(value, dict):
        keys = list_first([name_of(one) for one in value if one != "<<"], _MAX_INNER)
        return f"{key} ({keys or len(value)})" if value else key
    if is_secret(key):
        return key
    if isinstance(value, list):
        texts = [*filter(None, map(text_of, value[:_MAX_INNER]))]
        more = ["and more"] if texts and len(value) > _MAX_INNER else []
        return f"{key} ({', '.join([*texts, *more]) or len(value)})" if value else key
    is_number = isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < _LARGEST)
    text = text_of(value) if isinstance(value, str) else str(value).lower() if is_number else ""
    shown = f'"{text}"' if " " in text and '"' not in text else text
    return f"{key} {shown}" if shown else key


def is_secret(key: str) -> bool:
    """Whether what stands under a key may be meant for nobody's eyes."""
    return bool(_SECRET.search(key))


_MOST_TOP_KEYS = 60
_TABLE = re.compile(r"^[ \t]*\[{1,2}\s*+([^\[\]\s](?:[^\[\]\s]|\s++(?=[^\]\s]))*+|(?<=\s))\s*+\]{1,2}", re.M)
_KEY = re.compile(r"^(?:export\s+|[ \t]{1,4}(?=\"))?[\"']?([A-Za-z_][\w.-]*)[\"']?\s*[=:]", re.M)


def top_level_keys(text: str, kind: str, documents: Sequence[Any]) -> list[str]:
    """Distinct keys of the documents in a text, and its tables; where none can be read, those that lines begin with."""
    keys = [str(key) for one in documents if isinstance(one, dict) for key in one if str(key)[:2] != "//"]
    tables = _TABLE.findall(text) if kind in ("", "toml") else []
    found = [*keys, *tables] or _KEY.findall(text)
    return [key for key in dict.fromkeys(make_printable(key.replace('"', "")) for key in found) if key][:_MOST_TOP_KEYS]


# Part of the version of the texts that are written from such files.
YAML_VERSION = f"PyYAML/{metadata.version('PyYAML')}"

# About 0.5 s of reading. A description of an interface in 825,000 characters has 43,000 events.
_LONGEST_YAML, _MOST_EVENTS, _DEEPEST = 1_500_000, 200_000, 60
# libyaml is some 20 times as fast as the parser in Python.
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


# Lines of a template that hold code alone, and code within a value, as Helm has them.
_CODE_LINE = re.compile(r"^[ \t]*+(?:\{\{[^{}]*+\}\}[ \t]*+)++(?:\n|\Z)", re.M)
_CODE = re.compile(r"\{\{[^{}]*+\}\}")
# What stands for code: no value that is said has it.
_FILLED_IN = "$"


def read_documents(text: str) -> list[Any]:
    """The documents of a file, in which every value stays text; [] of one that is broken or beyond the bounds."""
    if len(text) > _LONGEST_YAML:
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
