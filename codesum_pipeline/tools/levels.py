"""Levels as callers name them."""

from collections.abc import Sequence

from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.finding import shortened


def known_levels(call: ToolContext, names: Sequence[str]) -> Sequence[Level]:
    """Those that there are, all without a name; unknown ones are told. Raises where none is known."""
    known = ", ".join(LEVELS)
    unknown = [name for name in names if name.lower() not in LEVELS]
    if names and len(unknown) == len(names):
        raise ConfigurationError(f"level {shortened(unknown[0])!r} is unknown; levels are: {known}")
    for name in unknown:
        call.tell(f"left out: level {shortened(name)!r} is unknown; levels are: {known}")
    wanted = {name.lower() for name in names}
    return [level for level in LEVELS if level in wanted] or LEVELS
