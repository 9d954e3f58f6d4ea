"""The tools as a server of the Model Context Protocol, over stdio or streamable HTTP.

There is no state in a session: each call names its repository, opens the versions that are published when it begins,
and answers from these. Over HTTP the server listens on loopback by default, with Host and Origin checked; elsewhere it
needs tokens.
"""

import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.from_thread
import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError, UnexpectedToolError
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp.server.mcpserver.tools import Tool as McpTool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, PrivateAttr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.search_tool import fits_of
from codesum_pipeline.answers.agent_tools.tool_answers import tokens_of
from codesum_pipeline.answers.agent_tools.tool_registry import Tool, tools_by_name
from codesum_pipeline.foundation.data_model.cancellation import wanted_until
from codesum_pipeline.foundation.data_model.errors import CodesumError, ConfigurationError
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.data_model.progress import Progress
from codesum_pipeline.foundation.settings.operation_settings import ServingSettings
from codesum_pipeline.ways_in.http_serving.access_tokens import (
    Address,
    TokenSource,
    allowed_hosts,
    allowed_origins,
    check_reachable,
)
from codesum_pipeline.ways_in.http_serving.audit_log import Auditor, current_request
from codesum_pipeline.ways_in.http_serving.gate import Holder, behind_tokens
from codesum_pipeline.ways_in.mcp.stdio_front import served_version
from codesum_pipeline.ways_in.metrics.server_metrics import PATH as METRICS
from codesum_pipeline.ways_in.metrics.server_metrics import MetricsPage

if TYPE_CHECKING:
    from codesum_pipeline.ways_in.mcp.mcp_people import BearerPeople

# Titles repeat names; an error names a size that was exceeded, and an argument that is unknown.
_DROPPED = ("title", "maxLength", "minLength", "maxItems", "minItems", "maximum", "minimum")
_SAYS_NOTHING: tuple[Any, ...] = ("", [], {})


def input_schema(arguments: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's arguments, without the class's docstring."""
    schema: dict[str, Any] = _compact(arguments.model_json_schema())
    schema.pop("description", None)
    return schema


def output_schema(page: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's structured content, which has no fields with their default."""
    schema: dict[str, Any] = _compact(page.model_json_schema(mode="validation"))
    return schema


def structured_content(page: BaseModel) -> dict[str, Any]:
    """The content that `output_schema` describes."""
    return page.model_dump(mode="json", exclude_defaults=True)


def _compact(value: Any, *, is_properties: bool = False) -> Any:
    """A schema without keywords that say nothing to a caller. Names of properties are no keywords."""
    if isinstance(value, list):
        return [_compact(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {
        name: _compact(each, is_properties=name in ("properties", "$defs"))
        for name, each in value.items()
        if is_properties or not (name in _DROPPED or (name == "default" and each in _SAYS_NOTHING))
    }
    return kept


NAME = "codesum"
INSTRUCTIONS = " ".join(Path(__file__).with_name("instructions.txt").read_text(encoding="utf-8").splitlines())
_NOTHING_WRITTEN = Auditor(None, "mcp")
_READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
# An id is looked up in an index, and is no path of this machine.
_ANY_ID = ResourceSecurity(exempt_params={"id"})


class IndexTool(McpTool):
    """A tool of ours. Its own model checks the arguments; it answers with text, with or without structured content."""

    _tool: Tool = PrivateAttr()
    _catalogue: IndexCatalogue = PrivateAttr()
    _folder: Path = PrivateAttr()
    _audit: Auditor = PrivateAttr()

    def __init__(
        self,
        tool: Tool,
        catalogue: IndexCatalogue,
        folder: Path,
        *,
        is_text_only: bool = False,
        audit: Auditor = _NOTHING_WRITTEN,
    ) -> None:
        # A client that gets an output schema expects structured content.
        schema = None if is_text_only else output_schema(tool.page)
        super().__init__(
            fn=tool.ask,
            name=tool.name,
            title=None,
            description=tool.description,
            parameters=input_schema(tool.arguments),
            fn_metadata=FuncMetadata(arg_model=ArgModelBase, output_schema=schema),
            is_async=False,
            context_kwarg=None,
            annotations=_READ_ONLY,
        )
        self._tool, self._catalogue, self._folder, self._audit = tool, catalogue, folder, audit

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Answer in a thread. A caller who cancels does not wait for the thread, which ends at its next step."""

        def answer() -> CallToolResult:
            call = ToolContext(self._catalogue, self._folder, progress=_progress_of(context))
            with wanted_until(anyio.from_thread.check_cancelled):
                page = self._tool.ask(call, arguments)
            request, text = current_request(), page.text()
            request.answered((each.repo for each in page.as_of), page.shown, fits=fits_of(page))
            request.tokens = tokens_of(text)
            return CallToolResult(
                content=[TextContent(type="text", text=text)],
                structured_content=structured_content(page) if self.output_schema else None,
            )

        try:
            with self._audit.auditing(self.name) as request:
                if self._audit.has_questions:
                    request.question = json.dumps(arguments, ensure_ascii=False)
                return await anyio.to_thread.run_sync(answer, abandon_on_cancel=True)
        except CodesumError as error:
            raise ToolError(one_line(str(error))) from error
        except Exception as error:
            raise UnexpectedToolError(f"{self.name} met an error of codesum: the server's log has it") from error


def make_server(
    catalogue: IndexCatalogue,
    *,
    folder: Path,
    every_tool: bool = False,
    is_text_only: bool = False,
    audit: Auditor = _NOTHING_WRITTEN,
    metrics: MetricsPage | None = None,
) -> MCPServer[Any]:
    """A server of one home; `folder` is the working folder of whoever started it."""
    tools: list[McpTool] = [
        IndexTool(tool, catalogue, folder, is_text_only=is_text_only, audit=audit)
        for tool in tools_by_name(every=every_tool).values()
    ]
    server: MCPServer[Any] = MCPServer(
        NAME,
        version=served_version(),
        instructions=INSTRUCTIONS,
        tools=tools,
        log_level="WARNING",
    )
    _add_documents(server, catalogue, folder, audit)
    if metrics:

        async def show(request: Request) -> Response:
            return await anyio.to_thread.run_sync(metrics.show, request)

        server.custom_route(METRICS, methods=["GET"])(show)
    return server


def _add_documents(server: MCPServer[Any], catalogue: IndexCatalogue, folder: Path, audit: Auditor) -> None:
    @server.resource(
        "codesum://{repo}/{+id}",
        name="document",
        description="What a function, class, file or folder does, with its source, by its id",
        mime_type="text/plain",
        security=_ANY_ID,
    )
    def document(repo: str, id: str) -> str:
        read = tools_by_name()["read"]
        try:
            with audit.auditing("document") as request:
                request.question = id
                page = read.ask(ToolContext(catalogue, folder), {"ids": [id], "repo": repo})
                request.answered((each.repo for each in page.as_of), page.shown)
                return page.text()
        except ConfigurationError as error:
            raise ResourceNotFoundError(one_line(str(error))) from error
        except CodesumError as error:
            raise ResourceError(one_line(str(error))) from error


def _progress_of(context: Context[Any, Any]) -> Progress:
    """Reports the steps of a call from its thread; a cancelled call ends at its next step."""
    steps = iter(range(1, 1_000_000))
    lock = threading.Lock()

    def report(doing: str, done: int, total: int) -> None:
        anyio.from_thread.check_cancelled()
        with lock:
            step = next(steps)
        send: Callable[..., Any] = context.report_progress
        anyio.from_thread.run(send, float(step), None, one_line(doing))

    return report


PATH = "/mcp"
TOKEN_VARIABLE = "CODESUM_MCP_TOKEN"
# Makes the server for a holder, or for everybody.
MakeServer = Callable[[Holder | None], MCPServer[Any]]


def make_app(
    make: MakeServer,
    address: Address,
    *,
    tokens: TokenSource,
    audit: Auditor,
    people: "BearerPeople | None" = None,
    host_names: Sequence[str] = (),
) -> ASGIApp:
    """A server for each holder, behind the check of who asks."""
    check_reachable(address, tokens.tokens, variable=TOKEN_VARIABLE, has_people=people is not None)
    others, public_url = [*host_names], people.mcp_url if people else None
    security = TransportSecuritySettings(
        allowed_hosts=allowed_hosts(address, others, public_url),
        allowed_origins=allowed_origins(address, others, public_url),
    )

    def app_of(holder: Holder | None) -> Starlette:
        server = make(holder)
        return server.streamable_http_app(
            streamable_http_path=PATH,
            transport_security=security,
            host=address.host,
            max_request_body_size=ServingSettings().max_body_bytes,
        )

    return behind_tokens(tokens, app_of, audit, people=people)
