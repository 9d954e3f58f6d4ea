"""What the index alone has to say to a question: the hits where they fit it, else the overview."""

from collections.abc import Mapping

from codesum_pipeline.asking.tool import Tool, ToolResult
from codesum_pipeline.model.errors import CodesumError

NOTHING = "The index has nothing to say to this question."


def best_without_model(question: str, tools: Mapping[str, Tool]) -> str:
    """Never empty."""
    hits = _run(tools, "search", query=question[:1000], excerpt=3)
    if hits and hits.structured and hits.structured.fits_well:
        return hits.text
    overview = _run(tools, "get_codebase_overview")
    found = [result.text for result in (overview, hits) if result and not result.is_error and result.text.strip()]
    return found[0] if found else NOTHING


def _run(tools: Mapping[str, Tool], name: str, **arguments: object) -> ToolResult | None:
    tool = tools.get(name)
    if tool is None:
        return None
    try:
        return tool.run(tool.arguments.model_validate(arguments))
    except CodesumError as error:
        return ToolResult(str(error), is_error=True)
