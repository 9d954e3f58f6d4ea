"""What a text says of parameters and results that the signature does not show."""

import re
from collections.abc import Iterable, Mapping

# What a free text says of a parameter about which its author says nothing.
_OF_SIGNATURE = re.compile(r"Parameter .{0,200}, (?:required|any number|.{1,60} by default)\.", re.S)


def told_inputs(inputs: Iterable[Mapping[str, str]]) -> list[str]:
    """The parameters of which a text says more than the signature, each as `name: type - description`."""
    return [
        f"{each['name']}: {each['type']} - {each['description']}"
        for each in inputs
        if not _OF_SIGNATURE.fullmatch(each["description"])
    ]


def told_result(returns: Mapping[str, str] | None, signature: str) -> str:
    """What a text says of a result beyond the signature: words about it, or a type that the code alone shows."""
    if returns is None:
        return ""
    kind, details = returns["type"], returns["details"]
    bare = details.removesuffix(".").removesuffix(", as declared").removesuffix(", as its code shows")
    if bare not in (f"Returns {kind}", f"Yields {kind}"):
        return f"{kind}: {details}"
    return "" if kind in signature else kind
