"""The server over streamable HTTP: on loopback by default, with Host and Origin checked; elsewhere with tokens."""

from collections.abc import Callable, Sequence
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.types import ASGIApp

from codesum_pipeline.serving.audit import Auditor
from codesum_pipeline.serving.gate import behind_tokens
from codesum_pipeline.serving.listening import Address, allowed_hosts, allowed_origins
from codesum_pipeline.serving.token_source import TokenSource
from codesum_pipeline.serving.tokens import AccessToken, check_reachable

PATH = "/mcp"
TOKEN_VARIABLE = "CODESUM_MCP_TOKEN"
# The server of a token's holder; without a token, that of anybody.
MakeServer = Callable[[AccessToken | None], MCPServer[Any]]


def make_app(
    make: MakeServer, address: Address, *, tokens: TokenSource, audit: Auditor, host_names: Sequence[str] = ()
) -> ASGIApp:
    """A server for each token, behind their checks."""
    check_reachable(address, tokens.tokens, variable=TOKEN_VARIABLE)
    security = TransportSecuritySettings(
        allowed_hosts=allowed_hosts(address, [*host_names]), allowed_origins=allowed_origins(address, [*host_names])
    )

    def app_of(token: AccessToken | None) -> Starlette:
        server = make(token)
        return server.streamable_http_app(streamable_http_path=PATH, transport_security=security, host=address.host)

    return behind_tokens(tokens, app_of, audit)
