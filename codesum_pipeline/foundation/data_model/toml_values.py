"""Values as a settings file has them, for messages that say what to set."""

import json
import re
from collections.abc import Mapping, Sequence

# JSON leaves these as they are; TOML forbids the first ones, and the others would not be seen.
_ESCAPED = re.compile(r"[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def toml_value(value: object) -> str:
    """A text, boolean, number, list or table on one line of TOML. A text must have no lone surrogates."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_quoted(str(key))} = {toml_value(each)}' for key, each in value.items())} }}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(toml_value, value))}]"
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _quoted(text: str) -> str:
    """The escapes of JSON are all TOML's."""
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))
