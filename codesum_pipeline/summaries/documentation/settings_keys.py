"""Top-level keys of a configuration file, by how each format writes them."""

import json
import re
from typing import Any

from codesum_pipeline.summaries.documentation.plain import printable

_MAX_KEYS = 60
_TABLE = re.compile(r"^[ \t]*\[{1,2}\s*([^\[\]]+?)\s*\]{1,2}", re.M)
_TOML_KEY = re.compile(r"^([\w.\"'-]+)\s*=", re.M)
_YAML_KEY = re.compile(r"^[\"']?([^\s#\"'{}\[\]&*!|>%@`:-][^:#\n{}\[\]]{0,60}?)[\"']?\s*:(?:\s|$)", re.M)
_INI_KEY = re.compile(r"^(?:export\s+)?([A-Za-z_][\w.-]*)\s*[=:]", re.M)
_JSON_KEY = re.compile(r"^(?: {1,4}|\t)?\"([^\"\n]{1,60})\"\s*:", re.M)


def top_level_keys(text: str, name: str, language: str) -> list[str]:
    """Distinct keys in the order they are written; a broken file gives those that can be read."""
    kind = name.rpartition(".")[2].lower() if "." in name else language.lower()
    if kind in ("toml", "lock") or language == "toml":
        keys = [*_TOML_KEY.findall(_TABLE.split(text, maxsplit=1)[0]), *_TABLE.findall(text)]
    elif kind in ("yaml", "yml", "cff") or language == "yaml":
        keys = _YAML_KEY.findall(text)
    elif kind.startswith("json") or language.startswith("json"):
        keys = _json(text)
    else:
        keys = _TABLE.findall(text) or _INI_KEY.findall(text)
    return [key for key in dict.fromkeys(printable(key.replace('"', "")) for key in keys) if key][:_MAX_KEYS]


def _json(text: str) -> list[str]:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return _JSON_KEY.findall(text)
    return [key for key in value if isinstance(key, str)] if isinstance(value, dict) else []
