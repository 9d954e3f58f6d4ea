"""Names of callers and callees that an answer must not repeat.

A function's text says what the function does, whoever calls it: a name from the
context would make the text wrong as soon as that neighbour goes, without
anything that the text depends on having changed.
"""

import re
from collections.abc import Iterable, Sequence

_OCCURRENCE = re.compile(r"#\d+$")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2,}[a-z]")
_BACKTICKS = re.compile(r"`([^`]*)`")
_DIGIT = re.compile(r"\d")


def leaked_names(texts: Sequence[str], hidden: Iterable[str]) -> list[str]:
    """Those of the `hidden` names (qualified names or ids) that one of the texts repeats as code, sorted."""
    found = {form for name in hidden for form in _forms(name) if any(_stands_in(form, text) for text in texts)}
    return sorted(found)


def looks_like_code(name: str) -> bool:
    """Whether a name can be told from a word of English wherever it stands."""
    return any(sign in name for sign in ("_", ".", "::")) or bool(_INNER_CAPITAL.search(name) or _DIGIT.search(name))


def _forms(name: str) -> set[str]:
    """The ways to write a qualified name or id: whole, with dots or double colons, and its last part alone."""
    path, *below = _OCCURRENCE.sub("", name).split("::")
    if "/" in path and not below:
        return {path, path.rpartition("/")[2]}
    kept = below if below and ("/" in path or "." in path) else [path, *below]
    parts = [part for piece in kept for part in piece.split(".") if part]
    return {".".join(parts), "::".join(parts), parts[-1]} if parts else set()


def _stands_in(name: str, text: str) -> bool:
    """Whether a text has the name: as a whole, and one that could be a word only in backticks or as a call."""
    whole = rf"(?<!\w){re.escape(name)}"
    if looks_like_code(name):
        return bool(re.search(rf"{whole}(?!\w)", text))
    in_code = " ".join(_BACKTICKS.findall(text))
    return bool(re.search(rf"{whole}(?!\w)", in_code) or re.search(rf"{whole}\(", text))
