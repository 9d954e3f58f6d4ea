"""The tools as a server of the Model Context Protocol.

Nothing lives in a session: each call says which repository it is about, opens
the versions that are published when it begins, and answers from these.
"""

import json
import threading
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import anyio.from_thread
import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError, UnexpectedToolError
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp.server.mcpserver.tools import Tool as McpTool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import PrivateAttr

from codesum_pipeline.mcp_server.resource_events import ResourceEvents
from codesum_pipeline.mcp_server.schemas import input_schema, output_schema, structured
from codesum_pipeline.model.cancellation import wanted_until
from codesum_pipeline.model.errors import CodesumError, ConfigurationError
from codesum_pipeline.model.printable import one_line
from codesum_pipeline.model.progress import Progress
from codesum_pipeline.serving.audit import Auditor, request_of_now
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.catalogue import IndexCatalogue
from codesum_pipeline.tools.registry import Tool, tools_by_name

NAME = "codesum"
INSTRUCTIONS = (
    "An index of what every function, class, file and folder of these repositories does, with the graph of calls, "
    "imports and inheritance. Use it before grep where you know what code does but not what it is called, where "
    "you want callers or users rather than equal names, and in a repository you do not know; use grep for an "
    "exact string. In a checkout they know edits that are not committed; `as of` says so. Begin "
    "with `search` (or `overview`), then `read` the path:line that fits, several at once. Rows are `path:line  "
    "kind  one line`; `read`, `graph` and others take these places, ids and names as they stand."
)
_NOTHING_WRITTEN = Auditor(None, "mcp")
_READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
# A name of a document is no path of this machine: it is looked up in an index.
_ANY_ID = ResourceSecurity(exempt_params={"id"})


class IndexTool(McpTool):
    """A tool of ours. Its own model checks the arguments; it answers with text, beside structured content or alone."""

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
        # Who is told a schema expects content of it.
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
        """Answer in a thread. Whoever cancels does not wait for it; it ends at its next step."""

        def answer() -> CallToolResult:
            call = ToolContext(self._catalogue, self._folder, progress=_progress_of(context))
            with wanted_until(anyio.from_thread.check_cancelled):
                page = self._tool.ask(call, arguments)
            request_of_now().answered((each.repo for each in page.as_of), page.shown)
            text = TextContent(type="text", text=self._tool.text(page))
            return CallToolResult(content=[text], structured_content=structured(page) if self.output_schema else None)

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
) -> MCPServer[Any]:
    """A server of one home; `folder` is where whoever started it stands."""
    tools: list[McpTool] = [
        IndexTool(tool, catalogue, folder, is_text_only=is_text_only, audit=audit)
        for tool in tools_by_name(every=every_tool).values()
    ]
    server: MCPServer[Any] = MCPServer(
        NAME,
        version=_version(),
        instructions=INSTRUCTIONS,
        tools=tools,
        log_level="WARNING",
        subscriptions=ResourceEvents(catalogue, folder),
    )
    _add_documents(server, catalogue, folder, audit)
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
                return read.text(page)
        except ConfigurationError as error:
            raise ResourceNotFoundError(one_line(str(error))) from error
        except CodesumError as error:
            raise ResourceError(one_line(str(error))) from error


def _progress_of(context: Context[Any, Any]) -> Progress:
    """Steps of a call, told from its thread; a call that was cancelled ends at its next step."""
    steps = iter(range(1, 1_000_000))
    lock = threading.Lock()

    def report(doing: str, done: int, total: int) -> None:
        anyio.from_thread.check_cancelled()
        with lock:
            step = next(steps)
        told: Callable[..., Any] = context.report_progress
        anyio.from_thread.run(told, float(step), None, one_line(doing))

    return report


def _version() -> str:
    try:
        return version("codesum-pipeline")
    except PackageNotFoundError:
        return "0"
