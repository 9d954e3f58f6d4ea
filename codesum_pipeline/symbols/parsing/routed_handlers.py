"""Routes that name their handlers in a way of their own: Axum, Actix, Rails, Phoenix."""

import re
from collections.abc import Iterator, Sequence

# `get(handler)` of Axum, `web::get().to(handler)` of Actix.
_ROUTER = re.compile(r"\b(get|post|put|patch|delete|head|options|any)(?:\(\)\s*+\.to)?\(\s*+([A-Za-z_][\w:]*+)\s*+\)")
_RAILS = re.compile(r"['\"]([a-z][\w/]*)#(\w+)['\"]")
_ELIXIR = re.compile(r"(?<![\w.])([A-Z][\w.]*+)\s*+,\s*+:(\w++[?!]?)")
_SPACE = "::"


def routed_elsewhere(written: str, word: str, modules: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The methods and handlers that a route names in a way of its own."""
    if word == "route":
        yield from ((method.upper(), said) for method, said in _ROUTER.findall(written))
    elif match := _RAILS.search(written):
        path = [part.title().replace("_", "") for part in match[1].split("/")]
        yield "", f"{_SPACE.join(path)}Controller.new.{match[2]}"
    elif match := _ELIXIR.search(written):
        yield "", ".".join([*(module for module in modules if module), match[1], match[2]])
