"""The commands and routes that marks on definitions declare: decorators, annotations and attributes.

Only the marks before a definition are read, as they stand in its canonical source: `@app.get("/items")`,
`@GetMapping("/items")`, `[HttpGet("items")]`, `#[get("/items")]`. A path may begin in a mark of the class around. What
a program puts together itself is not known: prefixes given where routers are mounted, handlers passed to a call.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources

from msgspec import Struct

from codesum_pipeline.foundation.data_model.decoding import convert

# Longer heads are data.
_MOST_CHARACTERS = 2000
_DOCS = re.compile(r"\s*+(?:///[^\n]*+|//![^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)")
_OPENING = re.compile(r"\s*+(?:@|#?\[|,)\s*+([A-Za-z_][\w.:]*+)")
_CLOSING = re.compile(r"\s*+\]")
# A text that does not end takes all that is left: nothing is read twice.
_PIECE = re.compile(r"\"(?:[^\"\\]|\\.)*+\"?|'(?:[^'\\]|\\.)*+'?|[()]|[^()\"']++", re.S)
_TEXT = re.compile(r"(?:(\w+)\s*+[=:]\s*+[\[{(]?\s*+)?(?:\"((?:[^\"\\]|\\.)*+)\"?|'((?:[^'\\]|\\.)*+)'?)", re.S)
_METHODS = re.compile(r"\bmethods?\s*+[=:]\s*+([^=]{0,120})")
_METHOD = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\b")
_PATH_ARGUMENTS = ("", "path", "value", "rule", "template")
_NAME_ARGUMENTS = ("", "name")
# Click takes such endings off a function's name, and older versions do not.
_ENDS_UNSURE = ("_command", "_cmd", "_group", "_grp")


class StartMark(Struct, frozen=True):
    """A mark by its last name, with what is in its brackets; None without any."""

    name: str
    arguments: str | None = None

    def text_of(self, names: Sequence[str]) -> str | None:
        """The first text of the arguments that is given by position (`""`) or under one of some names."""
        for name, double, single in _TEXT.findall(self.arguments or ""):
            if name in names:
                return str(double or single)
        return None


class LanguageMarks(Struct, frozen=True):
    """The marks of a language that tell how code is started; `start_marks.toml` explains the fields."""

    routes: Mapping[str, str]
    verbs: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    rooted: bool = False


@cache
def marks_by_language() -> Mapping[str, LanguageMarks]:
    text = resources.files(__package__).joinpath("start_marks.toml").read_text(encoding="utf-8")
    return {language: convert(entry, LanguageMarks) for language, entry in tomllib.loads(text).items()}


def marks_of(source: str) -> list[StartMark]:
    """The marks at the beginning of a canonical source, behind its documentation."""
    head = source[:_MOST_CHARACTERS]
    place = 0
    while match := _DOCS.match(head, place):
        place = match.end()
    found = []
    while match := _OPENING.match(head, place):
        arguments, place = _arguments(head, match.end())
        found.append(StartMark(re.split(r"[.:]", match[1])[-1], arguments))
        while closing := _CLOSING.match(head, place):
            place = closing.end()
    return found


def _arguments(head: str, place: int) -> tuple[str | None, int]:
    """What is in the brackets at a place, and where they end."""
    if not head.startswith("(", place):
        return None, place
    depth, end = 0, place
    for piece in _PIECE.finditer(head, place):
        depth += {"(": 1, ")": -1}.get(piece[0], 0)
        end = piece.end()
        if depth == 0:
            return head[place + 1 : end - 1], end
    return None, len(head)


def routes_of(known: LanguageMarks, marks: Sequence[StartMark], around: Sequence[StartMark]) -> Iterator[str]:
    """The routes that a definition's marks and those of the class around it declare: `GET /items/{id}`."""
    outer = {mark.name for mark in around}
    if outer.intersection(known.clients) or (known.needed and outer.isdisjoint(known.needed)):
        return
    prefixes = (mark.text_of(_PATH_ARGUMENTS) for mark in around if mark.name in known.prefixes)
    prefix = next(filter(None, prefixes), "")
    verbs = [mark.name for mark in marks if mark.name in known.verbs and mark.arguments is None]
    routes = [mark for mark in marks if mark.name in known.routes]
    for mark in routes:
        path = mark.text_of(_PATH_ARGUMENTS) or ""
        named = _METHODS.search(mark.arguments or "")
        methods = _METHOD.findall(named[1]) if named else verbs
        methods = [known.routes[mark.name]] if known.routes[mark.name] else methods
        if (path or prefix) and (path.startswith("/") or not known.rooted):
            yield " ".join(filter(None, (",".join(methods), _joined(prefix, path))))
    if verbs and prefix and not routes:
        yield f"{','.join(verbs)} {_joined(prefix, '')}"


def command_of(known: LanguageMarks, language: str, name: str, marks: Sequence[StartMark]) -> str | None:
    """The name of the command that marks make of a definition with a name."""
    for mark in marks:
        if mark.name in known.commands:
            if given := mark.text_of(_NAME_ARGUMENTS):
                return given
            is_sure = language == "python" and not name.endswith(_ENDS_UNSURE)
            return name.replace("_", "-") if is_sure else None
    return None


def _joined(prefix: str, path: str) -> str:
    return f"{prefix.rstrip('/')}/{path.lstrip('/')}".removesuffix("/") or "/" if prefix else path
