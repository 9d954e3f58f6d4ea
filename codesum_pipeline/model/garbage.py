"""How often Python looks for garbage."""

import gc


def collect_seldom() -> None:
    """A build makes millions of objects and little garbage: a look every 700 objects takes a fifth of its time."""
    gc.set_threshold(100_000, 20, 20)
