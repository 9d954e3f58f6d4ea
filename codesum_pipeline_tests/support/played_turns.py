"""What scripted models say in several tests."""

from collections.abc import Callable

from pydantic import BaseModel, ConfigDict

from codesum_pipeline.answers.question_answering.calls import ModelTool, ToolResult
from codesum_pipeline_tests.support.asking_shop import ENDINGS
from codesum_pipeline_tests.support.llm_server import Behaviour, ModelRequest, Script
from codesum_pipeline_tests.support.llm_server.streaming import Calls, Streams

OVERVIEW = Calls("get_codebase_overview", {"repo": "shop"})
SYNTHESIS = Streams(ENDINGS["overview"])


def is_synthesis(request: ModelRequest) -> bool:
    return "tools" not in request.body


def in_order(*behaviours: Behaviour) -> Script:
    """One for each request."""
    return lambda request: behaviours[request.number - 1]


def overview_then(*behaviours: Behaviour) -> Script:
    """The model asks for the overview; the synthesis and what follows behave so."""
    return in_order(Streams("Let me look.", [OVERVIEW]), *behaviours)


class Anything(BaseModel):
    """Takes whatever it is given."""

    model_config = ConfigDict(extra="allow")


def tool_giving(
    name: str, result: ToolResult, *, is_overview: bool = False, first: Callable[[], object] = lambda: None
) -> ModelTool:
    """A tool that always gives the same, after it did something `first`."""

    def run(_arguments: BaseModel) -> ToolResult:
        first()
        return result

    return ModelTool(name, name, Anything, run, is_overview)
