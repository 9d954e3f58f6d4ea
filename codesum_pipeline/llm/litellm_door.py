"""The one door to LiteLLM: imported so that it asks nobody and writes down nothing."""

import os
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
