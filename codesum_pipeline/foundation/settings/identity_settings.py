"""Settings of people who sign in at an OpenID provider, and of what their groups may read."""

from typing import ClassVar, Self
from urllib.parse import urlsplit

from pydantic import field_validator, model_validator

from codesum_pipeline.foundation.data_model.client_addresses import is_loopback
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import read_scope
from codesum_pipeline.foundation.settings.marks import SettingsGroup, setting

# A secret is no setting: the environment has it under this name.
CLIENT_SECRET_VARIABLE = "CODESUM_OIDC_CLIENT_SECRET"


class IdentitySettings(SettingsGroup):
    """Who signs in people, and which repositories each group of theirs may read; see [sign-in](access.md#sign-in)."""

    issuer: str | None = setting(
        None, "The address of the OpenID provider, exactly as its tokens name it; unset: nobody signs in."
    )
    groups: dict[str, tuple[str, ...]] = setting(
        {},
        "The repositories that each group opens, by patterns as of a token: "
        '`{"payments" = ["payments-*", "!payments-secrets"]}`; a person reads what any of their groups opens.',
    )
    groups_claim: str = setting("groups", "The claim of a token that lists the groups.", min_length=1)
    # A token that lists more than N groups is refused.
    max_groups: ClassVar[int] = 1000
    mcp_url: str | None = setting(
        None, "The address at which clients reach `codesum mcp --http`, with its path: `https://code.example.org/mcp`."
    )
    mcp_audience: str | None = setting(
        None, "The audience that access tokens for MCP must name; default: `identity.mcp_url`."
    )
    mcp_scopes: tuple[str, ...] = setting(
        (), "The scopes that clients of MCP ask the provider for, all of which an access token must have."
    )
    web_url: str | None = setting(
        None, "The address at which browsers reach `codesum web`, without a path: `https://code.example.org`."
    )
    client_id: str | None = setting(
        None, "The page's client id at the provider. Its secret, if any, is in `CODESUM_OIDC_CLIENT_SECRET`."
    )
    scopes: tuple[str, ...] = setting(("openid", "profile"), "The scopes that the page asks the provider for.")
    session_minutes: float = setting(60.0, "A browser is sent to the provider again after N minutes.", gt=0, le=24 * 60)
    max_token_minutes: float = setting(
        90.0, "An access token that is valid for more than N minutes is refused.", gt=0, le=24 * 60
    )
    # The clocks of this machine and of the provider may differ by N seconds.
    clock_skew_s: ClassVar[float] = 60.0
    # One request to the provider takes at most N seconds.
    timeout_s: ClassVar[float] = 5.0

    @field_validator("issuer", "mcp_url", "web_url")
    @classmethod
    def _are_addresses(cls, url: str | None) -> str | None:
        if url is not None:
            check_address(url)
        return url

    @field_validator("groups")
    @classmethod
    def _are_patterns(cls, groups: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        for name, patterns in groups.items():
            try:
                if not patterns:
                    raise ConfigurationError('name what it opens, "*" for all')
                read_scope([*patterns])
            except ConfigurationError as error:
                raise ValueError(f"group {name!r}: {error}") from None
        return groups

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.web_url and urlsplit(self.web_url).path:
            raise ValueError(
                f"web_url {self.web_url!r} has a path: write it without one, and without a slash at its end"
            )
        if self.web_url and not self.client_id:
            raise ValueError("web_url needs client_id, which the provider gives to this page")
        if self.client_id and self.client_id in (self.mcp_url, self.mcp_audience):
            raise ValueError(
                "mcp_audience must not be the client_id of the page: the tokens of its sign-ins would open MCP"
            )
        if "openid" not in self.scopes:
            raise ValueError('scopes must have "openid": without it, the provider says nobody\'s name')
        return self

    @property
    def has_mcp(self) -> bool:
        return bool(self.issuer and self.mcp_url)

    @property
    def has_web(self) -> bool:
        return bool(self.issuer and self.web_url)


def check_address(url: str) -> None:
    """Raise `ValueError` for what is no address of a server, and for one that others on the way could read."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"{url!r} is no address: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError(f"{url!r} is no address: write https://NAME, without user, query and fragment")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ValueError(f"{url!r} is not encrypted: write https:// (http:// is only for this machine)")
