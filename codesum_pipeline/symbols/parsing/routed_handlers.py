"""Routes that name their handlers in a way of their own: Axum, Actix, Rails, Phoenix."""

import re
from collections.abc import Iterator, Sequence

# `get(handler)` of Axum, `web::get().to(handler)` of Actix.
_ROUTER = re.compile(r"\b(get|post|put|patch|delete|head|options|any)(?:\(\)\s*+\.to)?\(\s*+([A-Za-z_][\w:]*+)\s*+\)")
_RAILS = re.compile(r"['\"]([a-z][\w/]*)#(\w+)['\"]")
_ELIXIR = re.compile(r"(?<![\w.])([A-Z][\w.]*+)\s*+,\s*+:(\w++[?!]?)")
_LIVE = re.compile(r"^[^,]*+,\s*+([A-Z][\w.]*+)")
_SPACE = "::"


def routed_elsewhere(written: str, word: str, modules: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The methods and handlers that a route names in a way of its own."""
    if word == "route":
        yield from ((method.upper(), said) for method, said in _ROUTER.findall(written))
    elif word == "live":
        yield from (("", ".".join([*filter(None, modules), said])) for said in _LIVE.findall(written))
    elif match := _RAILS.search(written):
        parts = [part for place in (*modules, match[1]) for part in place.split("/")]
        path = [part.title().replace("_", "") for part in parts if part.isidentifier()]
        yield "", f"{_SPACE.join(path)}Controller.{match[2]}"
    elif match := _ELIXIR.search(written):
        yield "", ".".join([*filter(None, modules), match[1], match[2]])
