"""The setting `llm.parameters`: for each model, which parameters of a call are left out or sent under another name."""

import difflib
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator


class ParameterName(StrEnum):
    """What a call says to a model besides the messages and the tools; a server or a model may refuse each of these."""

    TEMPERATURE = "temperature"
    MAX_TOKENS = "max_tokens"
    TOOL_CHOICE = "tool_choice"
    RESPONSE_FORMAT = "response_format"
    STREAM_OPTIONS = "stream_options"


# LiteLLM sends the limit of an answer under this name to the models that it knows to want it so: in the settings both
# are names of one parameter.
_NEWER_LIMIT = "max_completion_tokens"
_NAMES_IN_SETTINGS = (*(name.value for name in ParameterName), _NEWER_LIMIT)
# What a call has besides, so that no parameter may take its name.
_OTHER_FIELDS = ("model", "messages", "tools", "stream")
# Usual names of parameters that servers have under several.
_USUAL_NAMES = (*_NAMES_IN_SETTINGS, "max_output_tokens", "max_new_tokens", "n_predict", "num_predict")
# From this likeness on a name is a usual one with a mistake in it.
_MISSPELT = 0.85
_FIELD_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}")


def find_nearest(wanted: str, names: Iterable[str]) -> str:
    """The name that is spelled most like another; ties break by name."""
    return difflib.get_close_matches(wanted[:200], sorted(names), n=1, cutoff=0.0)[0]


def _with_known_parameters(values: Any) -> Any:
    """Raises `ValueError` for a parameter that no call sends, or one that cannot be sent so; see `parameters`."""
    if not isinstance(values, Mapping):
        return values
    for model, changes in values.items():
        if not isinstance(changes, Mapping):
            raise ValueError(f"{model!r}: write a table of parameters, such as {{ temperature = false }}")
        for name, sent in changes.items():
            if name not in _NAMES_IN_SETTINGS:
                raise ValueError(
                    f"{model!r}: no call sends a parameter {name[:200]!r}; the nearest is "
                    f"{find_nearest(name, _NAMES_IN_SETTINGS)!r} (there are {', '.join(_NAMES_IN_SETTINGS)})"
                )
            _check_sent_name(model, name, sent)
        _check_together(model, changes)
    return {model: _by_one_name(changes) for model, changes in values.items()}


def _check_together(model: str, changes: Mapping[str, Any]) -> None:
    if len(_by_one_name(changes)) < len(changes):
        raise ValueError(f"{model!r}: max_tokens and {_NEWER_LIMIT} are one parameter: write one of them")
    sent_names = [sent for sent in changes.values() if sent is not False]
    if twice := [sent for sent in sent_names if sent_names.count(sent) > 1]:
        raise ValueError(f"{model!r}: two parameters cannot both be sent as {twice[0]!r}")


def _by_one_name(changes: Mapping[str, Any]) -> dict[str, Any]:
    return {ParameterName.MAX_TOKENS.value if name == _NEWER_LIMIT else name: sent for name, sent in changes.items()}


def _check_sent_name(model: str, name: str, sent: Any) -> None:
    place = f"{model!r}: {name} = {sent!r}"
    if sent is False:
        return
    if not isinstance(sent, str) or not _FIELD_NAME.fullmatch(sent):
        raise ValueError(f"{place}: write false to leave it out, or the name under which the server takes it")
    others = {one.value for one in ParameterName} - {name, *(("max_tokens",) if name == _NEWER_LIMIT else ())}
    if sent in _OTHER_FIELDS or sent in others:
        raise ValueError(f"{place}: a call has another field of this name")
    near = difflib.get_close_matches(sent, _USUAL_NAMES, n=1, cutoff=_MISSPELT)
    if near and sent not in _USUAL_NAMES:
        raise ValueError(f"{place}: no server is known to have this name; the nearest is {near[0]!r}")


ChangedParameters = Annotated[
    dict[str, dict[ParameterName, str | Literal[False]]], BeforeValidator(_with_known_parameters)
]
