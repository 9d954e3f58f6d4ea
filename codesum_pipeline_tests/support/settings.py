"""Settings that tests change."""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from codesum_pipeline.foundation.settings.home_settings import Settings

S = TypeVar("S", bound=BaseModel)


def changed(settings: S, **changes: Any) -> S:
    """The same settings but for these, unchecked; those of a group are a mapping."""
    groups = {name: getattr(settings, name) for name, value in changes.items() if isinstance(value, dict)}
    inner = {name: changed(group, **changes[name]) for name, group in groups.items() if isinstance(group, BaseModel)}
    return settings.model_copy(update=changes | inner)


# For a stage that is tested alone: nothing is there.
DEFAULTS = Settings(home=Path("/nowhere"))
