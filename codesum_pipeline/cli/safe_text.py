"""Text of repositories, made safe for a terminal: for people without what acts on it, for programs escaped."""

import json
import re
import unicodedata
from typing import Any

from codesum_pipeline.model.printable import LINE_SEPARATORS, SUSPECT, UNPRINTABLE, clean, one_line

__all__ = ["clean", "escaped", "one_line", "safe_json"]


def safe_json(value: Any) -> str:
    """JSON on one line whose only characters beyond ASCII are printable ones; nothing is lost."""
    return escaped(json.dumps(value, ensure_ascii=False))


def escaped(text: str) -> str:
    """The text with every character that a terminal could act on written as JSON's escape; line feeds and tabs stay."""
    return SUSPECT.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    character = match.group()
    if character not in LINE_SEPARATORS and unicodedata.category(character) not in UNPRINTABLE:
        return character
    return json.dumps(character)[1:-1]
