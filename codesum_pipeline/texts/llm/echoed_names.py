"""Whether the name under which a provider answers is that of the pinned model.

Many names are aliases: `claude-haiku-4-5` answers as `claude-haiku-4-5-20251001`. Such an echo adds a date or a
revision to the name and nothing else. What could be another model's name is none of these: `-5`, `-mini`, `-8b`, `-v3`,
`-preview`.
"""

import re
from datetime import date

# The newest dated model of its name.
_ALIAS = "-latest"
_YEAR = r"20[2-9]\d"
_MONTH = r"(?:0[1-9]|1[0-2])"
_DAY = r"(?:0[1-9]|[12]\d|3[01])"
_DATES = (
    rf"{_YEAR}{_MONTH}{_DAY}",
    rf"{_YEAR}-{_MONTH}-{_DAY}",
    rf"{_MONTH}-{_YEAR}",
    # Without a century: a day (`gpt-4-0613`), a month (`mistral-large-2411`), both (`doubao-260215`).
    rf"{_MONTH}{_DAY}",
    rf"[2-9]\d{_MONTH}",
    rf"[2-9]\d{_MONTH}{_DAY}",
)
# No size and no version of a family is written in three digits with a zero before them.
_REVISION = r"0\d\d"
# Bedrock's, with or without a date before it.
_NUMBERED = r"v\d+:\d+"
_SUFFIX = re.compile(rf"(?:[-@](?:(?P<date>{'|'.join(_DATES)})|{_REVISION}))?(?:-{_NUMBERED})?")
_HAS_DATE = re.compile(rf"[-@](?:{'|'.join(_DATES)}|{_REVISION})$")
_HAS_NUMBER = re.compile(rf"-{_NUMBERED}$")


def is_name_of(pinned: str, echoed: str) -> bool:
    """Whether an echo is the pinned name byte for byte; providers do not say their own name."""
    return echoed in _names(pinned)


def is_dated_name_of(pinned: str, echoed: str) -> bool:
    """Whether an echo is the pinned name with a date or revision added to it, and nothing else."""
    return any(_is_dated(name, echoed) for name in _names(pinned))


def _names(pinned: str) -> tuple[str, ...]:
    provider, _, name = pinned.partition("/")
    # The interface of Bedrock is no part of a model's name.
    routed = name.removeprefix("converse/").removeprefix("invoke/") if provider == "bedrock" else name
    return (pinned, name or pinned, routed or pinned)


def _is_dated(name: str, echoed: str) -> bool:
    # Vertex AI puts its sign before the date that the model itself writes with a hyphen.
    if "@" in name and name.replace("@", "-") == echoed:
        return True
    base = name.removesuffix(_ALIAS)
    suffix = echoed.removeprefix(base)
    if not echoed.startswith(base) or not suffix:
        return False
    if _HAS_NUMBER.search(base):
        return False
    if _HAS_DATE.search(base):
        # Another date would be another model.
        return _HAS_NUMBER.fullmatch(suffix) is not None
    found = _SUFFIX.fullmatch(suffix)
    return found is not None and _is_in_calendar(found["date"])


def _is_in_calendar(written: str | None) -> bool:
    """Whether a whole date is one; parts of one were checked by their pattern."""
    digits = re.sub(r"\D", "", written or "")
    if len(digits) != len("20251001") or not digits.startswith("20"):
        return True
    try:
        date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        return False
    return True
