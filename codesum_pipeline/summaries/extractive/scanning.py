"""A bracket-aware scan over canonical code: enough to read any language's expressions without a parser."""

import re
from functools import cache, lru_cache

RECEIVERS = frozenset(("self", "cls", "this", "super", "mcs", "klass"))
NAME_PATTERN = re.compile(r"[^\W\d]\w*")
LITERAL = re.compile(r"([a-zA-Z]{0,2})('''|\"\"\"|'|\"|`)")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_SPECIAL = re.compile(r"[\"'`()\[\]{}]")
# What a literal holds, by its quote.
_INSIDE = {quote: re.compile(rf"[^{quote}\\]*(?:\\.[^{quote}\\]*)*", re.S) for quote in "'\"`"}


@lru_cache(maxsize=16384)
def outline(text: str) -> str:
    """The text with what stands inside brackets and strings taken out: `a.b(c[0])` gives `a.b()`."""
    out: list[str] = []
    depth, position = 0, 0
    while found := _SPECIAL.search(text, position):
        at, char = found.start(), found[0]
        if not depth:
            out.append(text[position:at])
        position = at + 1
        if char in "'\"`":
            position = string_end(text, at)
            if not depth:
                out.append('""')
        elif char in _CLOSING:
            if not depth:
                out.append(char)
            depth += 1
        else:
            depth = max(0, depth - 1)
            if not depth:
                out.append(char)
    if not depth:
        out.append(text[position:])
    # A text that was shortened ends inside its brackets.
    if depth and out:
        out.append(_CLOSING.get(out[-1], ""))
    return "".join(out)


def closed(text: str) -> str:
    """A shortened text with the brackets and strings closed that its end cut open."""
    if not text.endswith("…"):
        return text
    text = text[:-1]
    waiting: list[str] = []
    position = 0
    while position < len(text):
        char = text[position]
        if char in "'\"`":
            end = string_end(text, position)
            if end > len(text):
                text += "…" + char * (3 if text.startswith(char * 3, position) else 1)
                break
            position = end
            continue
        if char in _CLOSING:
            waiting.append(_CLOSING[char])
        elif waiting and char == waiting[-1]:
            waiting.pop()
        position += 1
    return text.rstrip(" ,:") + "".join(reversed(waiting))


def string_end(text: str, start: int) -> int:
    """Where a literal ends that starts with the quote at `start`; beyond the text for one that does not."""
    quote = text[start]
    if text.startswith(quote * 3, start):
        end = text.find(quote * 3, start + 3)
        return len(text) + 1 if end < 0 else end + 3
    inside = _INSIDE[quote].match(text, start + 1)
    end = inside.end() if inside else start + 1
    return end + 1 if text.startswith(quote, end) else len(text) + 1


@lru_cache(maxsize=16384)
def names_in_chain(shape: str) -> list[str] | None:
    """The names of an attribute or call chain's outline, or None where it is something else."""
    shape = shape.removeprefix("await ").removeprefix("new ").strip()
    bare = shape.replace("()", "").replace("[]", "").replace("?.", ".").replace("->", ".").replace("::", ".")
    names = [part.strip() for part in bare.split(".")]
    return names if all(map(NAME_PATTERN.fullmatch, names)) else None


def is_class_name(name: str) -> bool:
    bare = name.lstrip("_")
    return (bare[:1].isupper() and not bare.isupper()) or (bare.isupper() and len(bare) == 1)


def string_content(text: str) -> str:
    """What stands between the quotes of a literal, its replacement fields as an ellipsis."""
    match = LITERAL.match(text)
    if match is None:
        return ""
    end = string_end(text, match.start(2))
    inner = text[match.end() : min(end, len(text)) - len(match[2])]
    following = text[end:].strip()
    return _readable(match, inner) + (string_content(following) if LITERAL.match(following) else "")


def _readable(match: re.Match[str], inner: str) -> str:
    if "f" in match[1].lower() or "{" in inner or match[2] == "`":
        inner = re.sub(r"\$?\{[^{}]*\}", "…", inner)
    inner = re.sub(r"%(?:\(\w+\))?[-#0 +]*\d*(?:\.\d+)?[sdrifgx]", "…", inner)
    return re.sub(r"\\[nrt]", " ", inner).replace("\\", "").replace('"', "'")


@cache
def _special_or(separator: str) -> re.Pattern[str]:
    return re.compile(rf"{_SPECIAL.pattern}|{re.escape(separator)}")


def split_top(text: str, separator: str = ",") -> list[str]:
    """The parts of a text between separators that stand outside brackets and strings."""
    parts, depth, start, position = [], 0, 0, 0
    special = _special_or(separator)
    while found := special.search(text, position):
        at, char = found.start(), found[0]
        position = at + 1
        if char in "'\"`":
            position = string_end(text, at)
        elif char == separator:
            if not depth:
                parts.append(text[start:at])
                start = position
        else:
            depth += 1 if char in _CLOSING else -1
    parts.append(text[start:])
    return [part for part in parts if part.strip()]


def top_index(text: str, needle: str) -> int:
    depth, position = 0, 0
    while position < len(text):
        char = text[position]
        if char in "'\"`":
            position = string_end(text, position)
            continue
        if not depth and text.startswith(needle, position):
            return position
        depth += (char in "([{") - (char in ")]}")
        position += 1
    return -1
