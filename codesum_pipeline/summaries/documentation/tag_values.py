"""What follows a tag such as `@param`: a type, a name and a text, in the order of each language's tool."""

import re
from dataclasses import dataclass

_NAME = re.compile(r"\[?\s*[$&*]*(?:\.\.\.)?\$?([^\W\d][\w.]*[?!]?)(?:\.\.\.)?:?\s*(?:=[^\]]*)?\]?(?=\s|$|,)")
_MARK = re.compile(r"^(?:-{1,2}|\u2013|\u2014|:)?\s*")
_BRACES = {"{": "}", "[": "]"}
# LDoc and LuaCATS put a type before the text; only what looks like one is taken for it.
_LUA_TYPE = re.compile(
    r"(?:fun\([^()]*\)(?::\S+)?|(?:nil|any|boolean|bool|string|number|integer|int|function|table|thread|userdata|\w+\|"
    r"|\w+\.\w+|\w+\[\])[\w|.?<>,\[\]]*):?(?=\s|$)"
)


@dataclass(frozen=True, slots=True)
class TypedValue:
    """What a tag says; each part empty where it does not say it."""

    name: str
    type: str
    text: str


def typed_value(said: str, language: str, *, name: str, is_named: bool) -> TypedValue:
    """Take a tag's text apart; `name` where the tag itself has held it."""
    kind, rest = _leading_type(said, language)
    if is_named and not name:
        match = _NAME.match(rest)
        if match is None:
            return TypedValue("", kind, rest)
        name, rest = match[1], rest[match.end() :].strip(" ,")
        # The property of a parameter, `options.depth`, is no parameter.
        name = "" if "." in name.rstrip(".") else name
        if not kind and ((language == "ruby" and rest.startswith("[")) or language == "lua"):
            kind, rest = _leading_type(rest, language)
    return TypedValue(name, kind, _MARK.sub("", rest.strip(), count=1))


def _leading_type(said: str, language: str) -> tuple[str, str]:
    closing = _BRACES.get(said[:1], "")
    if said.startswith("{") or (language == "ruby" and closing):
        end = _closing(said, closing)
        return said[1:end].strip(), said[end + 1 :].strip()
    if language == "php" and said and not said.startswith(("$", "&", "...")):
        kind = _first_word(said)
        return kind.strip(), said[len(kind) :].strip()
    if language == "lua" and (match := _LUA_TYPE.match(said)):
        return match[0].rstrip(":"), said[match.end() :].strip()
    return "", said


def _closing(text: str, bracket: str) -> int:
    depth = 0
    for position, char in enumerate(text):
        depth += (char == text[0]) - (char == bracket)
        if not depth:
            return position
    return len(text)


def _first_word(said: str) -> str:
    """Up to the first blank outside of brackets."""
    depth = 0
    for position, char in enumerate(said):
        depth += (char in "([{<") - (char in ")]}>")
        if char == " " and depth <= 0:
            return said[:position]
    return said
