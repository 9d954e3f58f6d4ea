"""Arguments between brackets in a line of code, with respect to brackets and texts inside of them."""

import re

_OPENING, _CLOSING = "([{", ")]}"
# A character in quotes, where single quotes hold no texts.
_CHARACTER = re.compile(r"'(?:[^'\\]|\\[^']{1,9})'")
# There a text may stand in single quotes.
_SINGLE_QUOTED = frozenset((
    "python", "ruby", "javascript", "typescript", "tsx", "php", "lua", "elixir", "bash",
))  # fmt: skip
_BACKTICKS = frozenset(("javascript", "typescript", "tsx", "go"))
_MAX_ARGUMENTS = 8


def split_arguments(text: str, at: int, language: str, *, is_open: bool = False) -> tuple[list[str], int] | None:
    """The arguments from the bracket at a place on, and where they end; with `is_open` those up to the end of the text.

    None where the brackets do not close or there are too many arguments.
    """
    depth, start, place, found = int(is_open), at + (not is_open), at, list[str]()
    while place < len(text):
        sign = text[place]
        if end := _end_of_text(text, place, language):
            place = end
            continue
        if sign in _OPENING:
            depth += 1
        elif sign in _CLOSING:
            depth -= 1
            if depth == 0:
                return (_with(found, text[start:place]), place + 1) if len(found) < _MAX_ARGUMENTS else None
        elif sign == "," and depth == 1:
            found.append(text[start:place].strip())
            start = place + 1
        place += 1
    if not is_open or depth != 1 or len(found) >= _MAX_ARGUMENTS:
        return None
    return _with(found, text[start:]), len(text)


def _with(found: list[str], last: str) -> list[str]:
    return [*found, last.strip()] if last.strip() else found


def _end_of_text(text: str, place: int, language: str) -> int:
    """Where a text in quotes ends that begins at a place; 0 where none does."""
    sign = text[place]
    if sign == "'" and language not in _SINGLE_QUOTED:
        match = _CHARACTER.match(text, place)
        return match.end() if match else 0
    if sign not in "\"'" and not (sign == "`" and language in _BACKTICKS):
        return 0
    at = place + 1
    while at < len(text) and text[at] != sign:
        at += 2 if text[at] == "\\" else 1
    return min(at + 1, len(text))


def outside_of_brackets(text: str, marks: tuple[str, ...], language: str) -> tuple[int, str]:
    """Where the first of some marks stands outside of brackets and texts, and which; (-1, "") where none does."""
    depth, place = 0, 0
    while place < len(text):
        if end := _end_of_text(text, place, language):
            place = end
            continue
        if depth == 0 and (mark := next((one for one in marks if text.startswith(one, place)), "")):
            return place, mark
        depth += (text[place] in _OPENING) - (text[place] in _CLOSING)
        place += 1
    return -1, ""
