"""What a file of data or settings holds: its keys with their values, or what its usual keys say that it is for."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.texts.summaries.author_texts.plain_sentences import clip_text, make_printable
from codesum_pipeline.texts.summaries.extractive.translated_texts import (
    language_of_path,
    spoken_language,
    translation_statement,
)
from codesum_pipeline.texts.summaries.extractive.words import list_first

# Longer ones are read by their keys alone; YAML is read at some 100,000 characters a second.
_LONGEST, _LONGEST_YAML = 400_000, 20_000
_MAX_KEYS, _MAX_INNER, _MAX_VALUE = 6, 3, 40
_MOST_TEXTS = 5000
_SECRET = re.compile(r"pass|secret|token|credential|private|auth|api.?key|salt|hash|integrity|signature", re.I)
_LINE = re.compile(r"^[ \t]*([\w.\-/]{1,60})[ \t]*[=:][ \t]*([^\n]{0,200})$", re.M)
_ASSETS = {"imageset": "Image set", "appiconset": "App icon", "colorset": "Color set", "launchimage": "Launch image",
           "symbolset": "Symbol set", "dataset": "Data set"}  # fmt: skip


def read_data(text: str, kind: str) -> Any:
    """The content of a JSON, TOML or YAML file; None of one that is too long or broken. Of YAML every value is text, and
    nothing is merged or made."""
    try:
        if kind == "json" and len(text) <= _LONGEST:
            return json.loads(text.lstrip("\ufeff"))
        if kind == "toml" and len(text) <= _LONGEST:
            return tomllib.loads(text)
        if kind == "yaml" and len(text) <= _LONGEST_YAML:
            return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506
    except (ValueError, RecursionError, yaml.YAMLError, TypeError):
        return None
    return None


def data_statement(path: str, text: str, kind: str) -> str:
    """One sentence about a file of data; "" where only its keys can be read."""
    if kind == "lines":
        pairs = {key: value.strip().strip("\"'") for key, value in _LINE.findall(text[:_LONGEST_YAML])}
        if language := language_of_path(path):
            return translation_statement(language, pairs.values())
        return _shape(pairs)
    content = read_data(text, kind)
    if isinstance(content, list):
        return _of_list(content)
    if not isinstance(content, dict) or not content:
        return ""
    return next(filter(None, (rule(path, content) for rule in _RULES)), "") or _shape(content)


def _asset(path: str, content: Mapping[str, Any]) -> str:
    """An entry of an asset catalogue of Xcode, named by its folder."""
    folder = path.rpartition("/")[0].rpartition("/")[2]
    name, _, ending = folder.rpartition(".")
    kind = _ASSETS.get(ending, "")
    if not kind or not path.endswith("/Contents.json"):
        return "Folder of an asset catalogue" if path.endswith(".xcassets/Contents.json") else ""
    images = [one for one in _list(content.get("images")) if isinstance(one, dict)]
    files = [text for one in images if (text := _text(one.get("filename")))]
    held = f" of {list_first(files, 3)}" if files else f" of {count_noun(len(images), 'size')}" if images else ""
    sizes = dict.fromkeys(text for one in images if (text := _text(one.get("scale"))))
    return f'{kind} "{make_printable(name)}"{held}' + (f" for the scales {list_first(sizes, 4)}" if files and len(sizes) > 1 else "")


def _translations(path: str, content: Mapping[str, Any]) -> str:
    """Messages of an extension, of Rails or of a page: nested texts under a language."""
    first = next(iter(content))
    language = language_of_path(path) or (spoken_language(str(first)) if len(content) == 1 else "")
    if not language:
        return ""
    values = content.values()
    if all(isinstance(one, dict) and isinstance(one.get("message"), str) for one in values):
        return translation_statement(language, [one["message"] for one in values])
    return translation_statement(language, list(_leaves(content)))


def _leaves(content: object) -> Iterator[str]:
    waiting, seen = [content], 0
    while waiting and seen < _MOST_TEXTS:
        one, seen = waiting.pop(), seen + 1
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict | list):
            waiting.extend(reversed([*(one.values() if isinstance(one, dict) else one)]))


def _package(path: str, content: Mapping[str, Any]) -> str:
    """A package of JavaScript, Rust, PHP or Python: its name, what it says that it is, its scripts."""
    inner = next((content[key] for key in ("package", "project") if isinstance(content.get(key), dict)), content)
    if path.rpartition("/")[2] not in ("package.json", "Cargo.toml", "composer.json", "pyproject.toml", "manifest.json"):
        return ""
    name, about = _text(inner.get("name")), _text(inner.get("description"))
    scripts = list_first([*_dict(content.get("scripts"))], _MAX_KEYS)
    needs = [*_dict(content.get("dependencies") or content.get("require"))] or [_name_of(one) for one in _list(inner.get("dependencies"))]
    members = [one for one in _list(_dict(content.get("workspace")).get("members")) if isinstance(one, str)]
    told = [
        f"{name}: {about}" if name and about and "__" not in about else name,
        f"Members: {list_first(members, _MAX_KEYS)}" if members else "",
        f"Scripts: {scripts}" if scripts else "",
        f"Needs {list_first(needs, _MAX_KEYS)}" if needs and not scripts else "",
    ]
    return ". ".join(one.rstrip(".") for one in told if one)


def _name_of(one: object) -> str:
    return re.split(r"[\s<>=!~\[;(]", one, maxsplit=1)[0] if isinstance(one, str) else ""


def _workflow(path: str, content: Mapping[str, Any]) -> str:
    """A workflow of GitHub: when it runs, and its jobs. An action: what it is for."""
    if path.rpartition("/")[2] in ("action.yml", "action.yaml") and "runs" in content:
        return f"Action of GitHub: {_text(content.get('description')) or _text(content.get('name'))}"
    if "/.github/workflows/" not in f"/{path}":
        return ""
    when = content.get("on")
    events = [when] if isinstance(when, str) else [str(one).replace("_", " ") for one in (when or ())]
    jobs = [_text(_dict(job).get("name")) or str(key) for key, job in _dict(content.get("jobs")).items()]
    jobs = [job for job in jobs if "${" not in job] or [str(key) for key in _dict(content.get("jobs"))]
    title = f' "{_text(content.get("name"))}"' if _text(content.get("name")) else ""
    return f"Workflow{title} of GitHub Actions: runs on {list_first(events, 4)}; jobs: {list_first(jobs, _MAX_KEYS)}" if events and jobs else ""


def _compose(path: str, content: Mapping[str, Any]) -> str:
    services = _dict(content.get("services"))
    if "compose" not in path.rpartition("/")[2] or not services:
        return ""
    said = [f"{key} ({image})" if (image := _text(_dict(one).get("image"))) and "$" not in image else str(key) for key, one in services.items()]
    return f"Starts together: {list_first(said, _MAX_KEYS)}"


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


_RULES: Sequence[Callable[[str, Mapping[str, Any]], str]] = (_asset, _translations, _package, _workflow, _compose, _schema)


def _of_list(content: Sequence[Any]) -> str:
    """How many entries of which keys, and the first name, description or text among them."""
    if not content:
        return "Empty list"
    keys = [*content[0]] if isinstance(content[0], dict) else []
    if not keys:
        texts = [text for one in content[:50] if (text := _text(one))]
        return f"List of {count_noun(len(content), 'entry', 'entries')}" + (f": {list_first(texts[:_MAX_KEYS], _MAX_KEYS)}" if texts else "")
    told = next((key for key in ("description", "name", "title", "label", "id") if _text(content[0].get(key))), "")
    texts = [f'"{text}"' for one in content[:3] if isinstance(one, dict) and (text := _text(one.get(told))) and '"' not in text]
    shown = f", such as {list_first(texts, 3)}" if texts else ""
    return f"List of {count_noun(len(content), 'entry', 'entries')} with {list_first(map(_key, keys), _MAX_KEYS)}{shown}"


def _shape(content: Mapping[str, Any]) -> str:
    """The keys with what is below them: a short value, the first keys, or how many entries."""
    parts = [_described(_key(key), value) for key, value in [*content.items()][: _MAX_KEYS * 10]]
    return f"Holds {list_first(parts, _MAX_KEYS)}" if any(part != _key(key) for part, key in zip(parts, content, strict=False)) else ""


def _described(key: str, value: object) -> str:
    if isinstance(value, dict):
        return f"{key} ({list_first([_key(one) for one in [*value][:50]], _MAX_INNER)})" if value else key
    if isinstance(value, list):
        texts = [text for one in value[:_MAX_INNER] if (text := _text(one))]
        return f"{key} ({list_first(texts, _MAX_INNER) if texts else len(value)})" if value else key
    text = str(value).lower() if isinstance(value, bool) else str(value) if isinstance(value, int | float) else _text(value)
    return f"{key} {text}" if text and not _SECRET.search(key) else key


def _key(key: object) -> str:
    return clip_text(make_printable(str(key)), _MAX_VALUE)


def _text(value: object) -> str:
    """A text that is short and plain enough to be said; "" of others."""
    text = make_printable(value[:300]) if isinstance(value, str) else ""
    is_plain = any(map(str.isalnum, text)) and not any(mark in text for mark in "${}<>\\`")
    return clip_text(text, 120 if " " in text else _MAX_VALUE * 2) if is_plain and len(text) <= 240 else ""  # noqa: PLR2004


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
