"""Which parameters a model is sent, and under which names: `llm.parameters`.

LiteLLM leaves parameters out and renames them by what its list has under a model's name. Of a model behind an alias, or
on a server of one's own, that list knows nothing. So what the setting says is done before LiteLLM sees a call, and a
renamed parameter is handed on past its mapping.

The changes are part of a request and of its hash, since an answer may depend on them: after a change of the setting an
unusable answer is not read again, and recordings made with and without it are kept apart. They are in no key of a kept
text: nobody pays again because a server was changed.
"""

from collections.abc import Mapping
from typing import Any

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.foundation.settings.parameter_settings import ParameterName
from codesum_pipeline.texts.llm.pins import Changes
from codesum_pipeline.texts.llm.prices import known_price, provider_of

# LiteLLM translates to these formats, whose names are fixed, and has no way past its translation.
_TRANSLATED = (
    "anthropic", "bedrock", "bedrock_converse", "cohere", "cohere_chat", "gemini", "ollama", "ollama_chat", "sagemaker",
    "sagemaker_chat", "vertex_ai", "watsonx",
)  # fmt: skip
# Names under which providers that bill by tokens take the limit of an answer.
_LIMITS = ("max_tokens", "max_completion_tokens")


def changes_of(settings: LlmSettings, model: str) -> Changes:
    """What `llm.parameters` changes in the calls of a model; nothing for most."""
    changed = settings.parameters.get(model, {})
    return tuple(sorted((str(name), sent or "") for name, sent in changed.items()))


def with_changes(arguments: Mapping[str, Any], changes: Changes) -> dict[str, Any]:
    """The named arguments of a completion with the changes made."""
    kept = dict(arguments)
    renamed = {sent: kept[name] for name, sent in changes if sent and name in kept}
    for name, _ in changes:
        kept.pop(name, None)
    return {**kept, "extra_body": renamed} if renamed else kept


def check_parameters(settings: LlmSettings) -> None:
    """Raise `ConfigurationError` for a change that cannot be made, or after which a cap in dollars would be none."""
    for model in settings.parameters:
        changes = changes_of(settings, model)
        place = f"llm.parameters: {model!r}"
        if provider_of(model) in _TRANSLATED:
            _check_translated(changes, place, provider_of(model))
        limit = dict(changes).get(ParameterName.MAX_TOKENS, _LIMITS[0])
        # A price that is not known is refused elsewhere.
        price = known_price(model, settings)
        costs = price is not None and (price.input > 0 or price.output > 0)
        if limit not in _LIMITS and not settings.asks_nobody and costs:
            sent = f"is sent as {limit!r}" if limit else "is left out"
            raise ConfigurationError(
                f"{place}: max_tokens {sent}, and the model costs money: an answer could pass every cap in dollars: "
                f"send it as {' or '.join(map(repr, _LIMITS))}, or set the price of a model that costs nothing to 0 "
                "(llm.prices)"
            )


def _check_translated(changes: Changes, place: str, provider: str) -> None:
    for name, sent in changes:
        if sent:
            raise ConfigurationError(
                f"{place}: {name} cannot be sent as {sent!r}, since the names in the format of {provider!r} are fixed: "
                f"leave the parameter out ({name} = false) or as it is"
            )
        if name == ParameterName.MAX_TOKENS and provider == "anthropic":
            raise ConfigurationError(f"{place}: max_tokens cannot be left out, since Anthropic's format requires it")
