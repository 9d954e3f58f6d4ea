"""The allowed fields of an entry of `intents.yaml`, and the errors for others.

A language is one of ISO 639-1, by English name or by tag: `German`, `de` and `de-CH` are known, `Germn` is not, which a
model would take for English.
"""

import difflib
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from datetime import time
from importlib import resources
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.printable import plain_reason, shorten_text
from codesum_pipeline.foundation.data_model.standing_question import (
    DEFAULT_TEMPLATE,
    DEFAULT_THRESHOLD,
    Cadence,
    Intent,
    IntentSchedule,
    Weekday,
)
from codesum_pipeline.texts.llm.templates import check_template_name

# A tag as of BCP 47, as far as a writer needs it: language, script, region.
_TAG = re.compile(r"(?P<language>[a-z]{2})(?:[-_](?P<script>[A-Z][a-z]{3}))?(?:[-_](?P<region>[A-Z]{2}|[0-9]{3}))?")
LANGUAGES: Mapping[str, str] = tomllib.loads(
    resources.files(__package__).joinpath("digest_languages.toml").read_text(encoding="utf-8")
)
_BY_NAME = {name.lower(): name for name in LANGUAGES.values()}


def language_name(written: str) -> str:
    """The English name of a language's name or tag, with its script and region: `de-CH` is `German (CH)`.

    Raises `ValueError` with the way out for one that is not known.
    """
    text = written.strip()
    if found := _BY_NAME.get(text.lower()):
        return found
    tag = _TAG.fullmatch(text)
    if tag and tag["language"] in LANGUAGES:
        parts = [part for part in (tag["script"], tag["region"]) if part]
        return LANGUAGES[tag["language"]] + (f" ({', '.join(parts)})" if parts else "")
    named, _, rest = text.partition(" (")
    if rest.endswith(")") and (found := _BY_NAME.get(named.lower())):
        code = next(code for code, name in LANGUAGES.items() if name == found)
        return language_name("-".join([code, *rest[:-1].split(", ")]))
    near = difflib.get_close_matches(text[:60].lower(), _BY_NAME, n=1)
    hint = f"; the nearest is {_BY_NAME[near[0]]!r}" if near else ""
    raise ValueError(f"unknown language{hint}: write its English name or its tag ('German', 'de', 'pt-BR')")


# An embedding model reads a few hundred words of it.
LONGEST_TEXT = 4_000
# A wrong value is shown as far as a person needs to find it.
_SHOWN_VALUE = 100
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")
# The attributes of an intent that have another name than their field.
_ATTRIBUTES = {"system": "system_template", "instruction": "instruction_template"}


class FieldProblem(ConfigurationError):
    """What is wrong with an entry, and in which of its fields."""

    def __init__(self, problem: str, *, path: tuple[str, ...] = ()) -> None:
        super().__init__(problem)
        self.path = path


def check_name(name: str) -> str:
    """The name of an intent, if it is allowed; raises `FieldProblem`."""
    if not _NAME.fullmatch(name):
        raise FieldProblem(
            "a name is up to 60 letters (a-z), digits, '.', '_' and '-', and begins with a letter or digit: rename it"
        )
    return name


def intent_of(name: str, fields: object) -> Intent:
    """The intent that an entry describes; raises `FieldProblem`."""
    check_name(name)
    if not isinstance(fields, Mapping):
        raise FieldProblem("has no fields: give it a text")
    try:
        data = IntentData.model_validate(fields)
    except ValidationError as error:
        raise _explained(error) from error
    found = {_ATTRIBUTES.get(field, field): getattr(data, field) for field in IntentData.model_fields}
    found |= {"repositories": tuple(data.repositories), "channels": tuple(data.channels)}
    if data.threshold is None and data.top_k is None:
        found["threshold"] = DEFAULT_THRESHOLD
    return Intent(name, **{**found, "schedule": data.schedule.as_schedule()})


def fields_of(intent: Intent) -> dict[str, Any]:
    """An intent's fields as they are written: those that differ from their default."""
    plain = Intent(name=intent.name, text="", threshold=DEFAULT_THRESHOLD)
    found = {}
    for field in IntentData.model_fields:
        value = getattr(intent, _ATTRIBUTES.get(field, field))
        if value is not None and value != getattr(plain, _ATTRIBUTES.get(field, field)):
            found[field] = list(value) if isinstance(value, tuple) else value
    return found | ({"schedule": _written_schedule(intent.schedule)} if "schedule" in found else {})


def _written_schedule(schedule: IntentSchedule) -> str | dict[str, str]:
    default = IntentSchedule(schedule.cadence)
    written = {
        "on": "" if schedule.weekday == default.weekday else schedule.weekday.name.lower(),
        "at": "" if schedule.at == default.at else schedule.at.strftime("%H:%M"),
        "timezone": "" if schedule.timezone == default.timezone else schedule.timezone,
    }
    more = {name: value for name, value in written.items() if value}
    return {"every": schedule.cadence.value, **more} if more else schedule.cadence.value


def _readable_text(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty: write what you want to be told about")
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"it has {len(text):,} characters; at most {LONGEST_TEXT:,}: shorten it")
    if any(unicodedata.category(letter) in ("Cc", "Cs") and letter not in "\n\t" for letter in text):
        raise ValueError("it has control characters: remove them")
    return text.strip()


def _some(values: list[str]) -> list[str]:
    if not values:
        raise ValueError("it names no repository: leave it out for all")
    return _once(values)


def _once(values: list[str]) -> list[str]:
    for value in values:
        if not value.strip() or values.count(value) > 1:
            raise ValueError(f"{_short(value)} is empty or occurs twice: remove it")
    return values


def _template(name: str) -> str:
    try:
        return check_template_name(name)
    except ConfigurationError as error:
        raise ValueError(str(error)) from error


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        by_end = {zone.rpartition("/")[2].lower(): zone for zone in sorted(available_timezones())}
        near = difflib.get_close_matches(name[:60].rpartition("/")[2].lower(), by_end, n=1)
        hint = f"; the nearest is {by_end[near[0]]!r}" if near else ""
        raise ValueError(f"unknown time zone{hint}: write one as 'Europe/Berlin' or 'UTC'") from error
    return name


def _time(text: str) -> str:
    if not _TIME.fullmatch(text):
        raise ValueError("write hours and minutes from 00:00 to 23:59, as 07:00")
    return text


class ScheduleData(BaseModel):
    """A schedule as it is written."""

    model_config = ConfigDict(extra="forbid", strict=True)

    every: Literal["build", "daily", "weekly"]
    on: Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] | None = None
    at: Annotated[str, AfterValidator(_time)] | None = None
    timezone: Annotated[str, AfterValidator(_zone)] | None = None

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if self.every != "weekly" and self.on is not None:
            raise ValueError(f"'on' goes with weekly, not with {self.every}: remove it")
        if self.every == "build" and (self.at or self.timezone):
            raise ValueError("'at' and 'timezone' go with daily and weekly, not with build: remove them")
        return self

    def as_schedule(self) -> IntentSchedule:
        default = IntentSchedule()
        return IntentSchedule(
            cadence=Cadence(self.every),
            at=time.fromisoformat(self.at) if self.at else default.at,
            weekday=Weekday[self.on.upper()] if self.on else default.weekday,
            timezone=self.timezone or default.timezone,
        )


class IntentData(BaseModel):
    """An entry as it is written."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    text: Annotated[str, AfterValidator(_readable_text)]
    repositories: Annotated[list[str], AfterValidator(_some)] = ["*"]
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=1, le=10_000)] | None = None
    schedule: Annotated[
        ScheduleData, BeforeValidator(lambda value: {"every": value} if isinstance(value, str) else value)
    ] = ScheduleData(every="build")
    system: Annotated[str, AfterValidator(_template)] = DEFAULT_TEMPLATE
    instruction: Annotated[str, AfterValidator(_template)] = DEFAULT_TEMPLATE
    language: Annotated[str, AfterValidator(language_name)] = "English"
    channels: Annotated[list[str], AfterValidator(_once)] = []
    enabled: bool = True

    @model_validator(mode="after")
    def _has_one_measure(self) -> Self:
        if self.threshold is not None and self.top_k is not None:
            raise ValueError("threshold and top_k are both set: keep one of them")
        return self


def _explained(error: ValidationError) -> FieldProblem:
    first = error.errors()[0]
    path = tuple(str(part) for part in first["loc"] if not isinstance(part, int))
    name = ".".join(path)
    message = plain_reason(first["msg"])
    if first["type"] == "missing":
        return FieldProblem(f"lacks {name!r}", path=path)
    if first["type"] == "extra_forbidden":
        known = (ScheduleData if path[0] == "schedule" else IntentData).model_fields
        near = difflib.get_close_matches(path[-1], list(known), n=1, cutoff=0.0)[0]
        return FieldProblem(f"unknown field {_short(path[-1])}; the nearest is {near!r}", path=path)
    if first["type"] == "value_error" and path in ((), ("schedule",)):
        return FieldProblem(message, path=path)
    return FieldProblem(f"{name} = {_short(first['input'])}: {message}", path=path)


def _short(value: object) -> str:
    return shorten_text(repr(value[: _SHOWN_VALUE * 2] if isinstance(value, str) else value), _SHOWN_VALUE)
