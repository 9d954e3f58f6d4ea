"""What a file of data or settings holds: its keys with their values, or what its usual keys say that it is for."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import yaml

from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.texts.summaries.author_texts.plain_sentences import clip_text, make_printable, split_sentences
from codesum_pipeline.texts.summaries.extractive.translated_texts import (
    language_of_translation,
    list_quoted,
    spoken_language,
    translation_statement,
)
from codesum_pipeline.texts.summaries.extractive.words import list_first, make_fact

# Longer ones are read by their keys alone; YAML is read at some 100,000 characters a second.
_LONGEST, _LONGEST_YAML = 400_000, 20_000
_MAX_KEYS, _MOST_KEYS, _MAX_INNER, _MAX_VALUE, _MAX_SENTENCE, _MAX_COMMENT = 6, 60, 3, 60, 120, 600
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


def read_data(text: str, kind: str) -> Any:
    """The content of a JSON, TOML or YAML file; None of one that is too long or broken. Values of YAML stay text."""
    try:
        if kind == "json" and len(text) <= _LONGEST:
            return read_json(text)
        if kind == "toml" and len(text) <= _LONGEST:
            return tomllib.loads(text)
        if kind == "yaml" and len(text) <= _LONGEST_YAML:
            return yaml.load(text, Loader=yaml.BaseLoader)
    except (ValueError, RecursionError, yaml.YAMLError, TypeError):
        return None
    return None


_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*+"?)|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?')
_LAST_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*+"?)|,(?=\s*+[}\]])')


def read_json(text: str) -> Any:
    """The content of a JSON file, which may have comments and last commas; `ValueError` of a broken one."""
    bare = text.lstrip("\ufeff")
    try:
        return json.loads(bare)
    except ValueError:
        return json.loads(_LAST_COMMA.sub(r"\1", _COMMENT.sub(r"\1", bare)))


def data_statement(path: str, text: str, kind: str) -> str:
    """One sentence about a file of data; "" where only its keys can be read."""
    if kind == "lines":
        pairs = _pairs(text[:_LONGEST_YAML])
        language = language_of_translation(path)
        if not language:
            return _shape(pairs)
        return translation_statement(language, _leaves(pairs), are_all=len(text) <= _LONGEST_YAML)
    content = read_data(text, kind)
    if isinstance(content, list):
        return _of_list(content)
    if not isinstance(content, dict) or not content:
        return ""
    return next(filter(None, (rule(path, content) for rule in _RULES)), "") or _shape(content)


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
    images = [one for one in _list(content.get("images")) if isinstance(one, dict)]
    filed = [one for one in images if _text(one.get("filename"))]
    files = [_text(one["filename"]) for one in filed]
    held = f" of {list_first(files, 3)}" if files else f" of {count_noun(len(images), 'size')}" if images else ""
    sizes = dict.fromkeys(text for one in filed if (text := _text(one.get("scale"))))
    scaled = f" for the scales {list_first(sizes, 4)}" if files and len(sizes) > 1 else ""
    return f'{kind} "{make_printable(name)}"{held}{scaled}'


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
    inner = _dict(content.get("package")) or _dict(content.get("project")) or content
    name, about = _text(inner.get("name")), _text(inner.get("description"))
    needs = _dict(content.get("dependencies") or content.get("require")) or map(
        _name_of, _list(inner.get("dependencies"))
    )
    told = [
        f"Package {name}: {about}" if name and about and "__" not in about else f"Package {name}" if name else "",
        make_fact(
            "Members:", list_first(filter(_text, _list(_dict(content.get("workspace")).get("members"))), _MAX_KEYS)
        ),
        make_fact("Scripts:", list_first(_dict(content.get("scripts")), _MAX_KEYS)),
        "" if content.get("scripts") else make_fact("Needs", list_first(needs, _MAX_KEYS)),
    ]
    return ". ".join(one.rstrip(".") for one in told if one)


def _name_of(one: object) -> str:
    return re.split(r"[\s<>=!~\[;(]", one, maxsplit=1)[0] if isinstance(one, str) else ""


def _workflow(path: str, content: Mapping[str, Any]) -> str:
    """A workflow of GitHub: when it runs, and its jobs. An action: what it is for."""
    title = _text(content.get("name"))
    if path.rpartition("/")[2] in ("action.yml", "action.yaml") and "runs" in content:
        return f"Action of GitHub: {_text(content.get('description')) or title}"
    if "/.github/workflows/" not in f"/{path}":
        return ""
    when = content.get("on")
    events = [when] if isinstance(when, str) else [str(one).replace("_", " ") for one in (when or ())]
    names = {str(key): _text(_dict(job).get("name")) or str(key) for key, job in _dict(content.get("jobs")).items()}
    lead = f'Workflow "{title}" of GitHub Actions' if title else "Workflow of GitHub Actions"
    return f"{lead}: runs on {list_first(events, 4)}; jobs: {list_first(names.values(), _MAX_KEYS)}" if events else ""


def _compose(path: str, content: Mapping[str, Any]) -> str:
    if "compose" not in path.rpartition("/")[2]:
        return ""
    images = {str(key): _text(_dict(one).get("image")) for key, one in _dict(content.get("services")).items()}
    said = [f"{name} ({image})" if image else name for name, image in images.items()]
    return f"Starts together: {list_first(said, _MAX_KEYS)}" if said else ""


def _schema(path: str, content: Mapping[str, Any]) -> str:
    """A JSON schema or a description of an interface: its title, and its properties or paths."""
    info = _dict(content.get("info"))
    if ("openapi" in content or "swagger" in content) and _text(info.get("title")):
        paths = list_first([*_dict(content.get("paths"))], 4)
        return f'Describes the HTTP interface "{_text(info["title"])}"' + (f": {paths}" if paths else "")
    if "$schema" not in content or "properties" not in content:
        return ""
    about = _text(content.get("description")) or _text(content.get("title"))
    properties = list_first([*_dict(content["properties"])], _MAX_KEYS)
    return f"JSON schema{f' of {about}' if about else ''} with the properties {properties}" if properties else ""


_Rule = Callable[[str, Mapping[str, Any]], str]
_RULES: Sequence[_Rule] = (
    _asset,
    _translations,
    _package,
    _workflow,
    _compose,
    _schema,
)


def _of_list(content: Sequence[Any]) -> str:
    """How many entries of which keys, and the first names, descriptions or texts among them."""
    lead = f"List of {count_noun(len(content), 'entry', 'entries')}"
    if not content or not isinstance(content[0], dict):
        texts = list_first(filter(None, map(_text, content[:_MAX_KEYS])), _MAX_KEYS)
        return f"{lead}: {texts}" if texts else lead
    told = next((key for key in _TELLING_KEYS if _text(content[0].get(key))), "")
    shown = list_quoted((_text(one.get(told)) for one in content[:3] if isinstance(one, dict)), 3)
    keys = list_first((_key(one) for one in content[0] if str(one)[:1] != "$"), _MAX_KEYS)
    return f"{lead} with {keys}{f', such as {shown}' if shown else ''}"


def _shape(content: Mapping[str, Any]) -> str:
    """The keys with what is below them: a short value, the first keys, or how many entries."""
    # `"//"` is the key of a comment, `"/users"` of a path.
    pairs = [(key, value) for key, value in content.items() if _key(key)[:1].isalnum() or _key(key)[:1] in "._@/"]
    named = [pair for pair in pairs if not _key(pair[0]).startswith("//")]
    pairs, are_all = named[:_MOST_KEYS], len(named) <= _MOST_KEYS
    parts = [_described(_key(key), value) for key, value in pairs]
    comments = " ".join(value for key, value in content.items() if str(key)[:2] == "//" and isinstance(value, str))
    about = next(iter(split_sentences(make_printable(comments[:_MAX_COMMENT]), limit=1)), "")
    lead = f"{about.rstrip('.')}. " if about.endswith(".") else ""
    held = list_first(parts, _MAX_KEYS, are_all=are_all)
    return f"{lead}Holds {held}" if parts != [_key(key) for key, _ in pairs] else ""


def _described(key: str, value: object) -> str:
    if isinstance(value, dict):
        keys = list_first([_key(one) for one in value if one != "<<"], _MAX_INNER)
        return f"{key} ({keys or len(value)})" if value else key
    if is_secret(key):
        return key
    if isinstance(value, list):
        texts = [*filter(None, map(_text, value[:_MAX_INNER]))]
        more = ["and more"] if texts and len(value) > _MAX_INNER else []
        return f"{key} ({', '.join([*texts, *more]) or len(value)})" if value else key
    is_number = isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < _LARGEST)
    text = _text(value) if isinstance(value, str) else str(value).lower() if is_number else ""
    shown = f'"{text}"' if " " in text and '"' not in text else text
    return f"{key} {shown}" if shown else key


def is_secret(key: str) -> bool:
    """Whether what stands under a key may be meant for nobody's eyes."""
    return bool(_SECRET.search(key))


def _key(key: object) -> str:
    return clip_text(make_printable(str(key)), _MAX_VALUE)


def _text(value: object) -> str:
    """A text that is short and plain enough to be said; "" of others."""
    text = make_printable(value[:300]) if isinstance(value, str) else ""
    is_plain = (
        any(map(str.isalnum, text))
        and max(map(len, text.split())) <= _MAX_VALUE
        and not any(mark in text for mark in (*"${}<>\\`", "--"))
    )
    return clip_text(text, _MAX_SENTENCE if " " in text else _MAX_VALUE) if is_plain else ""


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
