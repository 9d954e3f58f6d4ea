"""Where the names of a file's callees stand, so that what an index of places says of one can be told of its call."""

from dataclasses import dataclass

# Of a callee without a last name: what a call, an item or a lambda gives.
NAMELESS = -1


@dataclass(frozen=True, slots=True)
class References:
    """What a file refers to, as JSON; of each of its calls, in that order, the first byte of the callee's last name."""

    json: str
    names: tuple[int, ...]
