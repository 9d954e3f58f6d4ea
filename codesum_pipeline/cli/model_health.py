"""Whether the language model of a home could be asked now, for free."""

import asyncio

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.wiring import Home


def reach_model(home: Home) -> tuple[str, str | None]:
    """What is found, and the way out where it cannot be reached. Raises `ConfigurationError` where none is set up.

    Keys are looked for and a server of one's own is called; no model is asked, so a wrong name is not noticed.
    """
    from codesum_pipeline.llm.factory import build_backend
    from codesum_pipeline.summaries.by_model.setup import templates_of

    llm = home.settings.llm
    if not llm.enabled:
        raise ConfigurationError("--llm: no language model is set up (llm.enabled is false)")
    if asyncio.run(build_backend(llm, templates_of(home.settings)).health()):
        return f"{llm.model} can be reached; whether a model has this name shows with the first call", None
    if llm.asks_nobody:
        return f"llm.backend = {llm.backend.value!r} cannot answer", "set llm.backend, or llm.recording to a recording"
    key = f"put its key into {llm.api_key_env}" if llm.api_key_env else "put its key into the environment"
    server = f", and see that something listens at {llm.api_base}" if llm.api_base else ""
    return f"{llm.model} cannot be reached: its key is missing or nobody answers", f"{key}{server}"
