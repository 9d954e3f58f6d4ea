"""Settings of people who sign in at an OpenID provider, and of what their groups may read."""

from typing import Annotated, ClassVar, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, model_validator

from codesum_pipeline.foundation.data_model.client_addresses import is_loopback
from codesum_pipeline.foundation.settings.marks import SettingsGroup, check_patterns, setting

# A secret is no setting: the environment has it under this name.
CLIENT_SECRET_VARIABLE = "CODESUM_OIDC_CLIENT_SECRET"


def check_address(url: str) -> str:
    """The address of a server; raises `ValueError` for any other, and for one that others on the way could read."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"{url!r} is no address: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError(f"{url!r} is no address: write https://NAME, without user, query and fragment")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ValueError(f"{url!r} is not encrypted: write https:// (http:// is only for this machine)")
    return url


_Address = Annotated[str, AfterValidator(check_address)]


class IdentitySettings(SettingsGroup):
    """Who signs in people, and which repositories each group of theirs may read; see [sign-in](access.md#sign-in)."""

    issuer: _Address | None = None
    groups: dict[str, Annotated[tuple[str, ...], AfterValidator(check_patterns)]] = setting({})
    groups_claim: str = setting("groups", min_length=1)
    # A token that lists more than N groups is refused.
    max_groups: ClassVar[int] = 1000
    mcp_url: _Address | None = None
    mcp_audience: str | None = None
    mcp_scopes: tuple[str, ...] = ()
    web_url: _Address | None = None
    client_id: str | None = None
    scopes: tuple[str, ...] = ("openid", "profile")
    session_minutes: float = setting(60.0, gt=0, le=24 * 60)
    max_token_minutes: float = setting(90.0, gt=0, le=24 * 60)
    # The clocks of this machine and of the provider may differ by N seconds.
    clock_skew_s: ClassVar[float] = 60.0
    # One request to the provider takes at most N seconds.
    timeout_s: ClassVar[float] = 5.0

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
