"""The one door to LiteLLM: imported so that it asks nobody and writes down nothing."""

import os
import re
from functools import cache
from typing import Any

# Its list of prices is fetched at import, and its messages go to the log, unless it is told otherwise before.
_BEFORE_IMPORT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOG": "ERROR",
    # OpenAI's own client walks through every request and answer: a third of the work of a call.
    "EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER": "True",
}
_SECRET_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
# What is shorter is a placeholder, and would blot out words.
_SHORTEST_SECRET = 8
_LOOKS_SECRET = re.compile(r"\b(sk|pk|key|Bearer)[-_ ][\w*.-]{6,}", re.IGNORECASE)


@cache
def litellm_client() -> Any:
    """The module `litellm`; importing it takes seconds."""
    os.environ.update(_BEFORE_IMPORT)
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # It takes a request's `max_retries=0` for "nothing said".
    litellm.DEFAULT_MAX_RETRIES = 0
    return litellm


def without_secrets(text: str, *secrets: str) -> str:
    """A message without `secrets`, the values of variables that are named like secrets, and what looks like a key."""
    named = (value for name, value in os.environ.items() if _SECRET_NAMES.search(name))
    for value in (*secrets, *named):
        text = without_key(text, value)
    return _LOOKS_SECRET.sub("…", text)


def without_key(text: str, key: str) -> str:
    """A text without a key; what is too short to be one stands."""
    return text.replace(key, "…") if len(key) >= _SHORTEST_SECRET else text
