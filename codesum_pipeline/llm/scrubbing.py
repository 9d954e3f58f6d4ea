"""Keys are taken out of all that comes back from a provider: its errors, its answers and its own name.

A proxy may repeat what it was sent, in an error or inside an answer that is
otherwise good. Any key that LiteLLM could have sent is looked for, as it is and
as it reads in an address, in JSON, in HTML and in base64.
"""

import html
import inspect
import json
import os
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any
from urllib.parse import quote, quote_plus

from codesum_pipeline.llm.litellm_door import litellm_client

REMOVED = "…"
_SECRET_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
_KEY_NAMES = re.compile(r"_(API_KEY|AUTH_TOKEN|API_TOKEN|SESSION_TOKEN)$")
_VARIABLE = re.compile(r"\"([A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD)[A-Z0-9_]*)(?<!_FILE)\"")
_ESCAPE_IN_ADDRESS = re.compile(r"%[0-9A-F]{2}")
# What is shorter is a placeholder, and would blot out words.
_SHORTEST_SECRET = 8
_LOOKS_SECRET = re.compile(r"\b(sk|pk|key|Bearer)[-_ ][\w*.-]{6,}", re.IGNORECASE)


def keys_in_use(*named: str) -> tuple[str, ...]:
    """Every key that a call may have been made with: `named` ones, and those that LiteLLM finds in the environment."""
    return (*named, *(value for name, value in os.environ.items() if name in _known() or _KEY_NAMES.search(name)))


def without_secrets(text: str, *secrets: str) -> str:
    """A message without `secrets`, the values of variables that are named like secrets, and what looks like a key."""
    named = (value for name, value in os.environ.items() if _SECRET_NAMES.search(name))
    return _LOOKS_SECRET.sub(REMOVED, without_keys(text, (*secrets, *named)))


def without_keys(text: str, keys: Iterable[str]) -> str:
    """A text without these keys in any of their forms; what is too short to be a key stands.

    A text that is JSON stays JSON, and none of its strings reads as a key, however it was escaped.
    """
    forms = sorted({form for key in keys for form in _forms(key)}, key=len, reverse=True)
    for form in forms:
        text = text.replace(form, REMOVED)
    return _without_escaped(text, forms) if forms and "\\" in text else text


def _without_escaped(text: str, forms: Iterable[str]) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    clean = _cleaned(value, tuple(forms))
    return text if clean == value else json.dumps(clean, ensure_ascii=False)


def _cleaned(value: Any, forms: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return {_cleaned(name, forms): _cleaned(part, forms) for name, part in value.items()}
    if isinstance(value, list):
        return [_cleaned(part, forms) for part in value]
    if isinstance(value, str):
        for form in forms:
            value = value.replace(form, REMOVED)
    return value


def _forms(key: str) -> Iterator[str]:
    """A key as it is, and as others write it."""
    for one in {key, key.strip()}:
        if len(one) < _SHORTEST_SECRET:
            continue
        in_json = json.dumps(one)[1:-1]
        data = one.encode("utf-8", "surrogateescape")
        yield from (one, in_json, in_json.replace("/", "\\/"), html.escape(one), html.escape(one, quote=False))
        for address in (quote(data, safe=""), quote(data), quote_plus(data)):
            yield from (address, _ESCAPE_IN_ADDRESS.sub(lambda found: found[0].lower(), address))
        for encoded in (b64encode(data), urlsafe_b64encode(data)):
            yield encoded.decode().rstrip("=")


@cache
def _known() -> frozenset[str]:
    """The variables that LiteLLM says it reads keys from."""
    return frozenset(_VARIABLE.findall(inspect.getsource(litellm_client().validate_environment)))
