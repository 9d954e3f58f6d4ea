"""Whether the name under which a provider answers is that of the pinned model.

Servers write one name in several ways. These are taken for the pinned name, alone or together:

| what differs | example | why it is the same model |
|---|---|---|
| case | `Qwen2.5-7B-Instruct` | no two models of a server differ in case alone |
| `:latest` | `llama3.2:latest` | Ollama adds it to a name without a tag |
| a variant of OpenRouter | `llama-3:free` | see `model_names.toml` |
| what stands before the last part | `models/gemini-2.0-flash` | one name has all parts of the other one, and more |
| a region or a vendor of Bedrock | `us.anthropic.claude-haiku-4-5` | as parts before the last one |
| a model's file | `C:\\models\\Llama-3.gguf` | its base name without the ending is the last part of the pinned name |
| a date or a revision added | `claude-haiku-4-5-20251001` | many names are aliases, and answers have the full name |

What could be another model's name is none of these: another size, version or quantisation (`-5`, `-mini`, `-8b`, `-v3`,
`-preview`, `-Q4_K_M`, `:1b`), another date, and another organisation where both names have one.
"""

import re

from codesum_pipeline.evidence.packaged_tables import packaged_table

# The newest dated model of its name.
_ALIAS = "-latest"
_TABLE = packaged_table(__package__, "model_names")
_DATES, _FILES, _REGIONS, _VENDORS = ("|".join(_TABLE[name]) for name in ("dates", "files", "regions", "vendors"))
# No size and no version of a family is written in three digits with a zero before them.
_REVISION = r"0\d\d"
# Bedrock's, with or without a date before it.
_NUMBERED = r"v\d+:\d+"
_SUFFIX = re.compile(rf"(?:[-@](?:{_DATES}|{_REVISION}))?(?:-{_NUMBERED})?")
_HAS_DATE = re.compile(rf"[-@](?:{_DATES}|{_REVISION})$")
_HAS_NUMBER = re.compile(rf"-{_NUMBERED}$")

# A model's file, or the first of several.
_FILE = re.compile(rf"(?:-\d{{5}}-of-\d{{5}})?\.(?:{_FILES})\Z")
_OF_BEDROCK = re.compile(rf"(?:({_REGIONS})\.)?(?:({_VENDORS})\.)")
_SEPARATOR = re.compile(r"[/\\]+")
_ROUTES = ("converse", "invoke")

# What stands for the name in messages and settings where an answer has none.
NO_NAME = "(no name)"
_LONGEST_NAME = 200
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def is_name_of(pinned: str, echoed: str) -> bool:
    """Whether an echo is the pinned name byte for byte; providers do not say their own name."""
    return echoed in _names(pinned)


def is_same_model(pinned: str, echoed: str) -> bool:
    """Whether an echo is the pinned name in another spelling, by the rules of this module."""
    asked, answered = _parts(pinned), _parts(echoed)
    if not asked or not answered:
        return False
    *folders, last = answered
    is_last = last == asked[-1] or _is_dated(asked[-1], last)
    if not is_last or _FILE.search(echoed.lower()):
        # The folders of a file are its owner's.
        return is_last
    # The provider is LiteLLM's word for the format, and no part of the model's name.
    before = asked[:-1]
    own = before[1:] if "/" in pinned else before
    own = own[1:] if before[:1] == ["bedrock"] and own[:1] and own[0] in _ROUTES else own
    return _ends_with(before, folders) or _ends_with(folders, own)


def bounded_name(echoed: str) -> str:
    """An echoed name as it is kept: without half characters, and never longer than a line or two."""
    name = _SURROGATE.sub("\ufffd", echoed[: _LONGEST_NAME + 1])
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def shown_name(echoed: str) -> str:
    """An echoed name as messages and `llm.echoed_names` have it: never empty."""
    return bounded_name(echoed) if echoed.strip() else NO_NAME


def _parts(name: str) -> list[str]:
    """A name's parts in lower case, the last one without a tag and an ending."""
    found = [part for part in _SEPARATOR.split(name.lower()) if part]
    if not found:
        return []
    base, colon, tag = found.pop().rpartition(":")
    last = _FILE.sub("", base if colon and tag in _TABLE["variants"] else f"{base}{colon}{tag}")
    vendored = _OF_BEDROCK.match(last)
    if vendored and last[vendored.end() :]:
        found += filter(None, vendored.groups())
        last = last[vendored.end() :]
    return [*found, last] if last else []


def _ends_with(longer: list[str], shorter: list[str]) -> bool:
    return len(shorter) <= len(longer) and longer[len(longer) - len(shorter) :] == shorter


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
    return _SUFFIX.fullmatch(suffix) is not None
