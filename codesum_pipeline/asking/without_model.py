"""What the index alone has to say to a question: the hits where they fit it, else overviews."""

from collections.abc import Mapping, Sequence

from codesum_pipeline.asking.tool import ModelTool, ToolResult
from codesum_pipeline.model.errors import CodesumError

NOTHING = "The index has nothing to say to this question."
_SEARCH, _OVERVIEW = "search", "get_codebase_overview"
_EXCERPT_LINES = 3
_MOST_OVERVIEWS = 3
# Of a long question the beginning says what it is about.
_LONGEST_QUERY = 1000


def best_without_model(question: str, *, tools: Mapping[str, ModelTool], repos: Sequence[str]) -> str:
    """Never empty."""
    hits = _run(tools, _SEARCH, query=question[:_LONGEST_QUERY], excerpt=_EXCERPT_LINES)
    if hits and hits.structured is not None and hits.structured.fits_well:
        return hits.text
    overviews = [_run(tools, _OVERVIEW, repo=repo) for repo in repos[:_MOST_OVERVIEWS]]
    found = [result.text for result in overviews if result]
    return "\n\n".join(found) or (hits.text if hits and hits.text.strip() else NOTHING)


def _run(tools: Mapping[str, ModelTool], name: str, **arguments: object) -> ToolResult | None:
    """None where there is no such tool, or nothing came of it."""
    tool = tools.get(name)
    if tool is None:
        return None
    try:
        result = tool.run(tool.arguments.model_validate(arguments))
    except CodesumError:
        return None
    return None if result.is_error else result
