"""Why no model may be asked, whatever is asked."""

from codesum_pipeline.settings.llm import BackendName, LlmSettings


def why_shut(llm: LlmSettings, *, is_offline: bool) -> str | None:
    """The first of these that holds, in a line: offline, switched off, a backend that gives no answer."""
    if is_offline and not llm.asks_nobody:
        return "codesum is offline"
    if not llm.enabled:
        return "no model is set up (llm.enabled is false)"
    if llm.backend is BackendName.NOOP:
        return "llm.backend is 'noop'"
    return None
