"""The forms under which a route is looked up: parameters are alike however a framework writes them.

`GET /users/:id`, `/users/{id}`, `/users/<int:id>` and `/users/42` meet in `/users/{}`. A path is also found by its end,
since what mounts it may give it a beginning.
"""

import re
from collections.abc import Iterator

_METHODS = "get|post|put|patch|delete|head|options|all|any|use|live|websocket|route"
_ROUTE = re.compile(rf"(?:(?P<methods>(?:{_METHODS})(?:,(?:{_METHODS}))*+)\s++)?(?P<path>[^\s/]*+/\S*+)", re.IGNORECASE)
# A route in a sentence: `where is POST /users handled?`
_NAMED_ROUTE = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) {1,3}/[^\s?!,;\"'`]*+")
_ADDRESS = re.compile(r"^\w+://[^/]*")
# A parameter of a path, in brackets, behind a mark, as an expression, or the value that someone has tried.
_PARAMETER = re.compile(
    r"[:$*][\w?*]*(?:\([^()]*\))?|\{[^{}]*\}|<[^<>]*>|\[[^\[\]]*\]|\((?:\?P<\w+>)?[^()]*\)|\d+|[0-9a-f]{8}-[0-9a-f-]{20,40}"
)
_MOST_PARTS = 12
_LONGEST = 300


def route_forms(name: str) -> list[str]:
    """The forms of a route as code declares it, the whole path first; nothing for what is none. Its path may have no
    slash: `get "about"` of Rails, `^about$` of Django."""
    method, _, path = name.rpartition(" ")
    if "/" not in path and path.strip("^$*"):
        name = f"{method} /{path.removeprefix('^')}".strip()
    return [*_forms(name, with_ends=True)]


def asked_route_forms(text: str) -> list[str]:
    """The forms in which a route that someone asks for may be found."""
    asked = text.strip()
    if len(asked) <= _LONGEST and not _ROUTE.fullmatch(asked) and (named := _NAMED_ROUTE.search(asked)):
        asked = named[0]
    # Paths of files look like this, too.
    is_relative = not asked.startswith("/") and " " not in asked and "://" not in asked
    return [] if is_relative and not _PARAMETER.search(asked) else [*_forms(asked, with_ends=False)]


def _forms(name: str, *, with_ends: bool) -> Iterator[str]:
    match = _ROUTE.fullmatch(name.lower()) if len(name) <= _LONGEST else None
    if match is None:
        return
    path = _ADDRESS.sub("", match["path"]).partition("#")[0].removeprefix("^").removesuffix("$")
    parts = [_PARAMETER.sub("{}", part) for part in path.partition("?")[0].split("/") if part]
    if "(?" in path:
        parts = [part for part in _PARAMETER.sub("{}", path).split("/") if part]
    methods = match["methods"].split(",") if match["methods"] else []
    for start in range(max(1, len(parts[:_MOST_PARTS])) if with_ends else 1):
        end = parts[start:_MOST_PARTS]
        if start and not any(part != "{}" for part in end):
            return
        form = "/" + "/".join(end)
        yield from (f"{method} {form}" for method in methods)
        if with_ends or not methods:
            yield form
