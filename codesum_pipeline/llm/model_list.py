"""What LiteLLM's list says of a model, read from the copy that comes with it, without loading LiteLLM.

So a price and a capability are the same on every machine and at any time, and
cost a tenth of a second instead of five.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_LIST = "model_prices_and_context_window_backup.json"
# Modes in which a model answers in words.
_MODES = ("chat", "completion", "responses")


def listed(model: str) -> Mapping[str, Any] | None:
    """The entry of a model as LiteLLM names it: `MODEL` or `PROVIDER/MODEL`."""
    entries = _entries()
    provider, _, name = model.partition("/")
    for entry in (entries.get(model), entries.get(name)):
        if entry is not None and entry.get("mode") in _MODES and _is_of(entry, provider if name else None):
            return entry
    return None


def declares(model: str, capability: str) -> bool:
    """Whether the list says that a model has a capability (`supports_…`)."""
    return bool((listed(model) or {}).get(capability))


def _is_of(entry: Mapping[str, Any], provider: str | None) -> bool:
    # Some providers have several kinds: of `bedrock` there is also `bedrock_converse`.
    return provider is None or str(entry.get("litellm_provider", "")).startswith(provider)


@cache
def _entries() -> dict[str, dict[str, Any]]:
    found = find_spec("litellm")
    assert found is not None and found.origin is not None, "litellm is a dependency"
    entries: dict[str, dict[str, Any]] = json.loads((Path(found.origin).parent / _LIST).read_text(encoding="utf-8"))
    return entries
