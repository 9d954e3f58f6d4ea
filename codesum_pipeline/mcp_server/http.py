"""The server over streamable HTTP: on loopback by default, with Host and Origin checked; elsewhere with a token."""

from collections.abc import Sequence
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from codesum_pipeline.serving.listening import Address, allowed_hosts, allowed_origins
from codesum_pipeline.serving.tokens import TokenChecked, check_reachable

PATH = "/mcp"
TOKEN_VARIABLE = "CODESUM_MCP_TOKEN"


def make_app(server: MCPServer[Any], address: Address, *, token: str | None, host_names: Sequence[str] = ()) -> ASGIApp:
    """The server behind its checks."""
    check_reachable(address, token, variable=TOKEN_VARIABLE)
    security = TransportSecuritySettings(
        allowed_hosts=allowed_hosts(address, [*host_names]), allowed_origins=allowed_origins(address, [*host_names])
    )
    app = server.streamable_http_app(streamable_http_path=PATH, transport_security=security, host=address.host)
    return app if token is None else TokenChecked(app, token)
