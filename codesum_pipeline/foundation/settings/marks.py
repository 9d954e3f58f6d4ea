"""The marks of a setting, in its `Annotated`, which say more than its type.

A setting has a `Shapes`, `LIMITS` or `NOTHING`, or is in a group that has one of them; without, it is an error of
`marked_settings`, so that none is forgotten. What a setting means stands in `settings.toml`, below its class.
"""

import re
from collections.abc import Iterator
from enum import Enum
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import read_scope

_MOST_SHOWN = 60


class Shapes(Struct, frozen=True):
    """An index depends on the setting: the fingerprint of a build has it in `part`, under `name` or else its own name.

    With `by_model`, only texts by a language model depend on it.
    """

    part: str = ""
    name: str = ""
    by_model: bool = False


class SettingMark(Enum):
    """What else a setting can be."""

    NOTHING = "no index depends on it"
    LIMITS = "it limits how much a model writes in one build"
    # Nothing that names a place, an address, a key or a model, sends more to one, or lets it cost more.
    BY_RUN = "the config of a run may set it for that run"
    BELOW_HOME = "a path that is relative to the home"


NOTHING, LIMITS, BY_RUN, BELOW_HOME = SettingMark


def spelled(expression: str, complaint: str) -> AfterValidator:
    """Takes the texts that an expression fits as a whole; `complaint` follows any other in the message about it."""

    def check(text: str) -> str:
        if not re.fullmatch(expression, text):
            raise ValueError(f"{text[:_MOST_SHOWN]!r} {complaint}")
        return text

    return AfterValidator(check)


def check_http_address(url: str) -> str:
    """An address of a server, for a field; raises `ValueError` for others, and for what may hold a key or a password:
    settings are shown in files, logs and messages."""
    is_one = re.fullmatch(r"https?://[^@?#\s/]+(/[^@?#\s]*)?", url) and url.isprintable()
    if not is_one:
        raise ValueError(
            "write http(s)://HOST/PATH without a key or password: keys belong in the environment (a channel names it "
            "with secret_env or secret_file)"
        )
    # Raises `ValueError` for a port that is none.
    if not urlsplit(url).hostname or urlsplit(url).port == 0:
        raise ValueError("the address has no host, or port 0")
    return url


def check_patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Patterns of repositories' keys, for a field; raises `ValueError` for others."""
    try:
        read_scope([*patterns])
    except ConfigurationError as error:
        raise ValueError(str(error)) from None
    return patterns


def check_pattern(pattern: str) -> str:
    """As `check_patterns`, of one."""
    return check_patterns((pattern,))[0]


class SettingsGroup(BaseModel):
    """Settings that stand together."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def setting(default: Any, *marks: Shapes | SettingMark, **bounds: Any) -> Any:
    """A field of a group; it may be declared without `Annotated`, which would take two lines more for each."""
    field: FieldInfo = Field(default=default, **bounds)
    field.metadata += marks
    return field


def group_of(field: FieldInfo | None) -> type[BaseModel] | None:
    """The model of a field that is a group of settings."""
    kind = field.annotation if field else None
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def marked_settings(settings: BaseModel, above: str = "") -> Iterator[tuple[str, Shapes | SettingMark, Any]]:
    """Each setting's key, mark and value, in the order of their declaration; a group with a mark is one of them."""
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        marks = [mark for mark in field.metadata if isinstance(mark, Shapes) or mark in (NOTHING, LIMITS)]
        if marks:
            yield f"{above}{name}", marks[0], value
        elif group_of(field):
            yield from marked_settings(value, f"{above}{name}.")
        else:
            raise TypeError(f"{type(settings).__name__}.{name} has no mark that says whether it shapes an index")
