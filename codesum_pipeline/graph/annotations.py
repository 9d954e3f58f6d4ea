"""A type annotation taken apart: names and their arguments, strings read as what they quote."""

import re
from dataclasses import dataclass
from functools import lru_cache

UNION = "|"
UNREADABLE = "?"

# Deeper annotations are never about one class.
_MAX_DEPTH = 6

_TOKEN = re.compile(
    r"""\s+ | \#.* | (?P<name>[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*(?!['"\w]))
    | [A-Za-z]{0,2}(?:'(?P<single>[^'\\\n]*)'|"(?P<double>[^"\\\n]*)") | (?P<other>\.\.\.|.)""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Annotation:
    """A dotted name with its arguments; `|` holds alternatives, `?` stands for what cannot be read."""

    name: str
    arguments: tuple["Annotation", ...] = ()


_NOT_READABLE = Annotation(UNREADABLE)


@lru_cache(maxsize=50_000)
def parse_annotation(text: str, *, depth: int = 0) -> Annotation:
    """Read one annotation as written."""
    if depth > _MAX_DEPTH:
        return _NOT_READABLE
    parser = _Parser(text, depth)
    read = parser.alternatives()
    return read if parser.is_done() else _NOT_READABLE


class _Parser:
    def __init__(self, text: str, depth: int) -> None:
        self._tokens = [match for match in _TOKEN.finditer(text) if match.lastgroup is not None]
        self._position = 0
        self._depth = depth

    def is_done(self) -> bool:
        return self._position == len(self._tokens)

    def alternatives(self) -> Annotation:
        parts = [self._term()]
        while self._take("|"):
            parts.append(self._term())
        return parts[0] if len(parts) == 1 else Annotation(UNION, tuple(parts))

    def _take(self, symbol: str) -> bool:
        if self.is_done() or self._tokens[self._position]["other"] != symbol:
            return False
        self._position += 1
        return True

    def _term(self) -> Annotation:
        if self.is_done():
            return _NOT_READABLE
        token = self._tokens[self._position]
        self._position += 1
        if token["name"]:
            return Annotation("".join(token["name"].split()), self._arguments())
        quoted = token["single"] if token["single"] is not None else token["double"]
        if quoted is not None:
            return parse_annotation(quoted, depth=self._depth + 1)
        if token["other"] == "[":
            self._position -= 1
            return Annotation(UNREADABLE, self._arguments())
        return _NOT_READABLE

    def _arguments(self) -> tuple[Annotation, ...]:
        if not self._take("["):
            return ()
        self._depth += 1
        found: list[Annotation] = []
        while not self.is_done() and not self._take("]"):
            if self._depth > _MAX_DEPTH:
                self._position = len(self._tokens)
                return ()
            found.append(self.alternatives())
            if not self._take(",") and not self.is_done() and self._tokens[self._position]["other"] != "]":
                self._position += 1
        self._depth -= 1
        return tuple(found)
