"""Receivers and types, which come as text: cut into the steps that lead to what they stand for."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_OPEN = {"(": ")", "[": "]", "{": "}", "<": ">"}
_NAME = re.compile(r"[@$#]{0,2}[^\W\d][\w$]*[!?]?(?=$|[^\w])|@\"[^\"]*\"")
_MARK = re.compile(r"\s*(?:\?\.|!!\.|!\.|\.|->|::|:|\\)\s*")
_PREFIX = re.compile(r"(?:(?:await|try|co_await|move|&mut)\s+|&|\*(?!\*))")
_NEW = re.compile(r"new\s+")
_CAST = re.compile(r"\(\(([\w.<>, ?]+)\)\s*[\w.()]+\)|\(.+ as ([\w.<>\[\]]+)\)", re.DOTALL)
# Words before a type that do not change which class it is.
_TYPE_WORD = re.compile(
    r"(?:const|volatile|struct|class|enum|union|final|mut|dyn|impl|readonly|in|out|ref|params|inout|some|any|unsafe|"
    r"typename|static|inline|extern|comptime|override|async)\s+|'\w+\s+|\.\.\.|[&*?!]+"
)
_TYPE_NAME = re.compile(r"[^\W\d][\w$]*(?:(?:\.|::|\\)[^\W\d][\w$]*)*|\\[\w\\]+|@This\(\)")
_ELEMENTS = re.compile(r"\[\w*\]|\[:?\w+\]")
_NOTHING = frozenset({"null", "undefined", "nil", "None", "void"})
NO_CALL = -2


class Link(NamedTuple):
    """One step: a name, and with how many arguments it is called (-1: unknown; NO_CALL: not called).

    The name `[]` takes an element, `?` what is in a result or an option.
    """

    name: str
    arguments: int = NO_CALL
    is_new: bool = False


class TypeText(NamedTuple):
    """A type's name, its arguments, and whether it is a list of what the name says."""

    name: str
    arguments: tuple[str, ...]
    is_list: bool


@lru_cache(maxsize=100_000)
def read_chain(text: str) -> tuple[Link, ...] | None:
    """The steps of an expression; None for one that is no chain of names, calls and elements."""
    links: list[Link] = []
    at, is_new = _skip_prefixes(text, 0)
    while at < len(text) and text[at] == "(" and _end_of(text, at) == len(text):
        if (cast := _CAST.fullmatch(text, at)) is not None:
            return (Link(f":{cast[1] or cast[2]}"),)
        text, at = text[at + 1 : -1], 0
        at, is_new = _skip_prefixes(text, 0)
    if mark := re.match(r"::|\\", text[at:]):
        at += mark.end()
    while True:
        found = _NAME.match(text, at)
        if found is None:
            return None
        name, at = found[0], found.end()
        is_forced = name[-1] in "!?" and not text.startswith("(", at)
        at, count = _suffixes(text, at, links, name.rstrip("!?") if is_forced else name, is_new)
        if count is None:
            return None
        if at >= len(text):
            return tuple(links)
        mark_ = _MARK.match(text, at)
        if mark_ is None:
            return None
        at = mark_.end()
        if text.startswith("<", at):
            at = _end_of(text, at)
            # A bracket that nothing closes: reading on from -1 would begin anew, for ever.
            if at < 0:
                return None
            at = _MARK.match(text, at).end() if _MARK.match(text, at) else at  # type: ignore[union-attr]
            if text.startswith("(", at):
                links[-1] = links[-1]._replace(arguments=-1)
                at = _end_of(text, at)
                if at < 0:
                    return None


def _skip_prefixes(text: str, at: int) -> tuple[int, bool]:
    while (prefix := _PREFIX.match(text, at)) is not None:
        at = prefix.end()
    new = _NEW.match(text, at)
    return (new.end(), True) if new else (at, False)


def _suffixes(text: str, at: int, links: list[Link], name: str, is_new: bool) -> tuple[int, int | None]:
    """Read what stands right after a name: type arguments, a call, elements."""
    links.append(Link(name, NO_CALL, is_new))
    while at < len(text):
        sign = text[at]
        if sign == "<":
            end = _end_of(text, at)
            if end < 0 or text[end : end + 1] not in ("(", ".", ":", "{"):
                return at, None
            at = end
        elif sign in "([":
            end = _end_of(text, at)
            if end < 0:
                return at, None
            if sign == "[":
                links.append(Link("[]"))
            elif links[-1].arguments == NO_CALL and links[-1].name not in ("[]", "?"):
                links[-1] = links[-1]._replace(arguments=len(split_top(text[at + 1 : end - 1])))
            else:
                return at, None
            at = end
        elif sign == "?" and text[at : at + 2] != "?.":
            links.append(Link("?"))
            at += 1
        elif sign == "!" and text[at : at + 2] != "!.":
            at += 1
        else:
            break
    return at, 0


def _end_of(text: str, at: int) -> int:
    """After the bracket that closes the one here; -1 without it."""
    depth, quote = 0, ""
    for position in range(at, len(text)):
        sign = text[position]
        if quote:
            quote = "" if sign == quote and text[position - 1] != "\\" else quote
        elif sign in '"`':
            quote = sign
        elif sign in _OPEN and (sign != "<" or text[at] == "<"):
            depth += 1
        elif sign in ")]}" or (sign == ">" and text[at] == "<" and text[position - 1] not in "-="):
            depth -= 1
            if depth == 0:
                return position + 1
    return -1


def split_top(text: str) -> list[str]:
    """What commas outside of all brackets part."""
    parts, depth, start, quote = [], 0, 0, ""
    for position, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote and text[position - 1] != "\\" else quote
        elif sign in '"`':
            quote = sign
        elif sign in "([{<":
            depth += 1
        elif sign in ")]}" or (sign == ">" and text[position - 1 : position] not in ("-", "=")):
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


@lru_cache(maxsize=100_000)
def read_type(text: str) -> TypeText | None:
    """A type without what does not change its class; None for functions and other types without a name."""
    text = text.strip()
    alternatives = [part.strip() for part in text.split("|")] if "|" in text and "<" not in text else [text]
    alternatives = [part for part in alternatives if part not in _NOTHING]
    if len(alternatives) != 1:
        return None
    text, is_list = alternatives[0], False
    for _ in range(12):
        if word := _TYPE_WORD.match(text):
            text = text[word.end() :].lstrip()
        elif elements := _ELEMENTS.match(text):
            text, is_list = text[elements.end() :].lstrip(), True
        elif text.startswith("(") and _end_of(text, 0) == len(text):
            text = (split_top(text[1:-1]) or [""])[0]
            text = text.rpartition(" ")[2] if re.fullmatch(r"\w+ [*\w.]+", text) else text
        elif text.startswith("[") and text.endswith("]") and _end_of(text, 0) == len(text):
            text, is_list = text[1:-1].strip(), True
        else:
            break
    return _named_type(text, is_list)


def _named_type(text: str, is_list: bool) -> TypeText | None:
    found = _TYPE_NAME.match(text)
    if found is None:
        return None
    rest = text[found.end() :].strip()
    arguments: tuple[str, ...] = ()
    rest = rest.removeprefix("::") if rest.startswith("::<") else rest
    if rest[:1] in ("<", "["):
        end = _end_of(rest, 0)
        inner = rest[1 : end - 1].strip() if end > 0 else ""
        if rest[0] == "[" and (not inner or inner.isdigit()):
            is_list = True
        else:
            arguments = tuple(part for part in split_top(inner) if not part.startswith("'"))
        rest = rest[end:].strip() if end > 0 else "?"
        if found[0] == "map" and rest:
            arguments, rest = (*arguments, rest), ""
    if rest.startswith("[]") or rest == "...":
        is_list, rest = True, ""
    if rest.strip("*&?!: ").removeprefix("const").strip("*& ") and not rest.startswith(("+", "where", "=", "{")):
        return None
    return TypeText(found[0].lstrip("\\"), arguments, is_list)


def names_in(pattern: str) -> Iterator[str]:
    """The names that a pattern in place of a name binds."""
    return (found[0] for found in re.finditer(r"[^\W\d][\w$]*", pattern))
