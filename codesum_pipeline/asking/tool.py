"""What a model may call: a name, what it is for, the arguments it takes, and what it gives."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave: `text` for a reader, `structured` for a program. An error says the way out.

    `whole` is the text without the bounds that the call set; None: `text` is all that there is.
    """

    text: str
    structured: Any = None
    is_error: bool = False
    whole: str | None = None


@dataclass(frozen=True, slots=True)
class ModelTool:
    """One tool. An overview tool speaks of a whole repository: its first good result is written up with sources."""

    name: str
    description: str
    arguments: type[BaseModel]
    run: Callable[[Any], ToolResult]
    is_overview: bool = False

    def schema(self) -> dict[str, Any]:
        """The tool as a model is told of it, in OpenAI's format."""
        parameters = self.arguments.model_json_schema()
        parameters.pop("title", None)
        function = {"name": self.name, "description": self.description, "parameters": parameters}
        return {"type": "function", "function": function}
