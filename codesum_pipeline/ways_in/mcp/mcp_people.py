"""People at MCP over HTTP: clients bring an access token of the provider, as the protocol's authorisation has it.

A refused client is told where the metadata of this resource (RFC 9728) is; they name the provider at which it gets a
token. The token must name this resource as its audience, so that one for another server opens nothing here.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from msgspec import Struct
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Scope

from codesum_pipeline.foundation.data_model.errors import (
    CodesumError,
    ConfigurationError,
    OpensNothing,
    ProviderUnusable,
)
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.settings.identity_settings import IdentitySettings
from codesum_pipeline.ways_in.http_serving.identity_provider import RETRY_AFTER_S, IdentityProvider
from codesum_pipeline.ways_in.http_serving.people import AdmittedPerson, person_of

WELL_KNOWN = "/.well-known/oauth-protected-resource"
# An address without a path stays without a slash: tokens and metadata are compared letter for letter.
_ADDRESS = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))


class BearerPeople(Struct, frozen=True):
    """Those with an access token for `mcp_url`."""

    provider: IdentityProvider
    mcp_url: str
    metadata_url: str
    routes: Sequence[BaseRoute]

    @classmethod
    def of(cls, settings: IdentitySettings) -> "BearerPeople":
        provider = IdentityProvider(settings)
        assert settings.mcp_url
        resource = _ADDRESS.validate_python(settings.mcp_url)
        found = create_protected_resource_routes(
            resource,
            [_ADDRESS.validate_python(provider.issuer)],
            [*settings.mcp_scopes] or None,
            resource_name="codesum",
        )
        # A client may ask at the root of the server, too.
        at_root = [Route(WELL_KNOWN, route.endpoint, methods=["GET", "OPTIONS"]) for route in found]
        metadata_url = str(build_resource_metadata_url(resource))
        return cls(provider, settings.mcp_url, metadata_url, [*found, *at_root])

    @property
    def settings(self) -> IdentitySettings:
        return self.provider.settings

    async def admitted(self, headers: Headers, secret: str) -> AdmittedPerson | None:
        if secret.count(".") != 2:
            return None
        settings = self.settings
        claims = await self.provider.claims(secret, settings.mcp_audience or self.mcp_url)
        person = person_of(claims, settings)
        granted = claims.get("scope", claims.get("scp", ""))
        listed = granted.split() if isinstance(granted, str) else granted if isinstance(granted, list) else []
        missing = [scope for scope in settings.mcp_scopes if scope not in listed]
        if missing:
            raise OpensNothing(f"the token lacks the scopes {' '.join(missing)}", person=person.subject)
        leeway = timedelta(seconds=settings.clock_skew_s)
        return AdmittedPerson(person, datetime.fromtimestamp(claims["exp"], UTC) + leeway)

    def refusal(self, scope: Scope, error: CodesumError | None) -> Response:
        if isinstance(error, ProviderUnusable):
            headers = {"Retry-After": str(RETRY_AFTER_S)}
            return PlainTextResponse(f"{one_line(str(error))}\n", 503, headers=headers)
        settings = self.settings
        message = f"give an access token of {self.provider.issuer}, or the server's token: Authorization: Bearer TOKEN"
        said = []
        if error:
            message = one_line(str(error))
            kind = "insufficient_scope" if isinstance(error, OpensNothing) else "invalid_token"
            said = [f'error="{kind}"', f'error_description="{_quotable(message)}"']
        if settings.mcp_scopes:
            said.append(f'scope="{" ".join(settings.mcp_scopes)}"')
        said.append(f'resource_metadata="{self.metadata_url}"')
        status = 403 if isinstance(error, OpensNothing) else 401
        return PlainTextResponse(f"{message}\n", status, headers={"WWW-Authenticate": f"Bearer {', '.join(said)}"})


def people_of(settings: IdentitySettings, *, has_tokens: bool) -> BearerPeople | None:
    """Those who sign in at the provider of the settings; None without one. Raises `ConfigurationError` if it is not
    said for which address their tokens must be, unless tokens of the server guard it anyway."""
    if settings.has_mcp:
        return BearerPeople.of(settings)
    if settings.issuer and not has_tokens:
        raise ConfigurationError(
            "identity.issuer is set, but not the address that access tokens must name: set identity.mcp_url, "
            "or give --token-file"
        )
    return None


def _quotable(text: str) -> str:
    """The text as a quoted string of a header may have it."""
    return text.encode("ascii", "replace").decode().replace('"', "'").replace("\\", "/")
