"""An OpenID provider as this server sees it: its addresses, its keys, and what its tokens say.

A token counts only if a key of the provider has signed it with an asymmetric algorithm, for this server's audience, for
now. Keys are fetched again every few minutes, and when a token names an unknown one. While the provider does not
answer, or its clock differs, the last keys are used for some minutes more; after that nobody is admitted. All that it
sends has a bound in bytes and in time.
"""

import json
import logging
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import anyio
import httpx2
from joserfc import jws, jwt
from joserfc.errors import (
    ClaimError,
    ExceededSizeError,
    ExpiredTokenError,
    InvalidClaimError,
    InvalidKeyIdError,
    JoseError,
    MissingClaimError,
)
from joserfc.jwk import JWKRegistry, Key, KeySet
from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.errors import NotAdmitted, ProviderUnusable
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text
from codesum_pipeline.foundation.settings.identity_settings import IdentitySettings, check_address

# None of them signs with a secret that a verifier has, too.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519")
_KINDS_OF_KEYS = ("RSA", "EC", "OKP")
_MOST_BYTES = 1 << 20
_MOST_KEYS = 100
# Removed keys are noticed after so long; keys that could not be looked up again are used for so long.
_REFRESHED_AFTER_S = 300.0
_USED_FOR_S = 900.0
# Tokens with unknown keys, and a provider that is down, cause at most one request in so long.
RETRY_AFTER_S = 10
_SHOWN = 200
_LIFETIME = "lifetime"
_log = logging.getLogger(__name__)


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        received = 0
        async for part in self._stream:
            received += len(part)
            if received > _MOST_BYTES:
                raise httpx2.ReadError(f"the answer has more than {_MOST_BYTES:,} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


class BoundedTransport(httpx2.AsyncHTTPTransport):
    """Ends an answer that is too large; none may be compressed, since a small one could become large."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["Accept-Encoding"] = "identity"
        answer = await super().handle_async_request(request)
        if answer.headers.get("content-encoding", "identity") != "identity":
            await answer.aclose()
            raise httpx2.ReadError("the answer is compressed, though it was asked for as it is")
        assert isinstance(answer.stream, httpx2.AsyncByteStream)
        return httpx2.Response(
            answer.status_code,
            headers=answer.headers,
            stream=_BoundedStream(answer.stream),
            extensions=answer.extensions,
        )


class ProviderState(Struct, frozen=True):
    """What a provider said of itself `at` a moment of the monotonic clock."""

    metadata: Mapping[str, Any]
    keys: KeySet
    at: float

    def address(self, name: str) -> str:
        """An address of the provider; raises `ProviderUnusable`."""
        found = self.metadata.get(name)
        try:
            check_address(found if isinstance(found, str) else "")
        except ValueError as error:
            raise ProviderUnusable(f"the provider's {name}: {one_line(str(error))[:_SHOWN]}") from None
        return str(found)


class IdentityProvider(Struct):
    """The provider of the settings. `now` is the time of day, `clock` a monotonic clock in seconds."""

    settings: IdentitySettings
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    clock: Callable[[], float] = time.monotonic
    _trusted: ssl.SSLContext | None = None
    _state: ProviderState | None = None
    _asked_at: float | None = None
    _problem: str = ""
    _asking: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def issuer(self) -> str:
        assert self.settings.issuer
        return self.settings.issuer

    async def state(self, *, with_key: str | None = None) -> ProviderState:
        """What the provider says now, with a key of this id if there is one; raises `ProviderUnusable`."""
        state = self._state
        if state is None or self._is_stale(state, with_key):
            async with self._asking:
                # Another request may have asked in the meantime.
                if (self._state is None or self._is_stale(self._state, with_key)) and self._may_ask():
                    await self._ask()
            state = self._state
        if state is None or self.clock() - state.at > _USED_FOR_S:
            raise ProviderUnusable(f"nobody can sign in now: {self._problem or f'{self.issuer} was not asked yet'}")
        return state

    async def claims(self, token: str, audience: str, *, nonce: str | None = None) -> dict[str, Any]:
        """What a valid token says; raises `NotAdmitted` for another one, and `ProviderUnusable`."""
        try:
            header = jws.extract_compact(token.encode()).headers()
            kind, key_id = str(header.get("typ", "JWT")).lower().removeprefix("application/"), header.get("kid")
            if kind != "jwt" and (kind != "at+jwt" or nonce is not None):
                raise NotAdmitted(f"the token is of the type {_quoted(kind)}, which opens nothing here")
            state = await self.state(with_key=str(key_id) if key_id is not None else None)
            rules = jws.JWSRegistry(algorithms=_ALGORITHMS, strict_check_header=False)
            claims: dict[str, Any] = jwt.decode(token, state.keys, _ALGORITHMS, registry=rules).claims
        except ExceededSizeError:
            raise NotAdmitted(f"the token is too large: let {self.issuer} send fewer groups with it") from None
        except InvalidKeyIdError:
            raise NotAdmitted(f"the token names a key that {self.issuer} does not have now: sign in again") from None
        except (JoseError, ValueError, TypeError, OverflowError, RecursionError) as error:
            raise NotAdmitted(f"{self.issuer} has not signed this token: {_quoted(str(error))}") from None
        person = shorten_text(one_line(str(claims.get("sub", ""))), _SHOWN)
        try:
            self._check(claims, audience, nonce)
        except ClaimError as error:
            raise NotAdmitted(self._why(error, audience), person=person) from None
        except OverflowError:
            raise NotAdmitted("the token has no valid times: sign in again", person=person) from None
        return claims

    def _check(self, claims: dict[str, Any], audience: str, nonce: str | None) -> None:
        """Raises `ClaimError` for what is wrong with signed claims."""
        rules = {"iss": self.issuer, "aud": audience} | ({"nonce": nonce} if nonce is not None else {})
        registry = jwt.JWTClaimsRegistry(
            now=int(self.now().timestamp()),
            leeway=int(self.settings.clock_skew_s),
            **{name: {"essential": True, "value": value} for name, value in rules.items()},  # type: ignore[arg-type]
            **{name: {"essential": True} for name in ("sub", "exp", "iat")},  # type: ignore[arg-type]
        )
        registry.validate(claims)
        if nonce is None and claims["exp"] - claims["iat"] > self.settings.max_token_minutes * 60:
            raise InvalidClaimError(_LIFETIME)
        if isinstance(claims["aud"], list) and len(claims["aud"]) > 1 and nonce is not None:
            jwt.BaseClaimsRegistry(azp={"essential": True, "value": audience}).validate(claims)

    def _why(self, error: ClaimError, audience: str) -> str:
        """Why signed claims open nothing, and who can do what about it."""
        skew = f"{self.settings.clock_skew_s:g} s"
        clocks = f"or the clocks of {self.issuer} and of this server are more than {skew} apart"
        longest = f"{self.settings.max_token_minutes:g} minutes (identity.max_token_minutes)"
        if isinstance(error, ExpiredTokenError):
            return f"the token has expired: sign in again, {clocks}"
        if isinstance(error, MissingClaimError):
            return f"the token lacks {error.claim}: let {self.issuer} put that into it"
        reasons = {
            "iat": f"the token was issued in the future, {clocks}",
            "nbf": f"the token is not yet valid, {clocks}",
            _LIFETIME: f"the token is valid for too long: let {self.issuer} issue tokens for at most {longest}",
            "aud": f"the token is for another audience: ask {self.issuer} for one for {audience}",
            "iss": f"the token is from another issuer than {self.issuer}",
        }
        return reasons.get(error.claim, f"the token's claim {error.claim} is not the expected one: sign in again")

    def _is_stale(self, state: ProviderState, key_id: str | None) -> bool:
        is_known = key_id is None or any(key.kid == key_id for key in state.keys)
        return not is_known or self.clock() - state.at > _REFRESHED_AFTER_S

    def _may_ask(self) -> bool:
        return self._asked_at is None or self.clock() - self._asked_at >= RETRY_AFTER_S

    async def _ask(self) -> None:
        self._asked_at = self.clock()
        try:
            with anyio.fail_after(self.settings.timeout_s * 2):
                self._state, self._problem = await self._fetch(), ""
        except (ProviderUnusable, httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, OSError, ValueError) as error:
            reason = one_line(str(error)) or f"no answer within {self.settings.timeout_s:g} s"
            self._problem = shorten_text(f"the OpenID provider {self.issuer} cannot be used: {reason}", 2 * _SHOWN)
            _log.warning("%s", self._problem)

    async def _fetch(self) -> ProviderState:
        async with self.client() as client:
            metadata = await self._json(client, f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
            if metadata.get("issuer") != self.issuer:
                named = _quoted(str(metadata.get("issuer")))
                raise ProviderUnusable(f"it calls itself {named}: write identity.issuer exactly so")
            state = ProviderState(metadata, KeySet([]), self.clock())
            found = await self._json(client, state.address("jwks_uri"))
        keys = [*_readable_keys(found.get("keys"))]
        if not keys:
            raise ProviderUnusable("it has no key that this server can use (RSA, EC or Ed25519, for signatures)")
        return ProviderState(metadata, KeySet(keys), state.at)

    def client(self, make: Callable[..., Any] = httpx2.AsyncClient, **more: Any) -> Any:
        """A client for one request to the provider, with its bounds."""
        if self._trusted is None:
            self._trusted = httpx2.create_ssl_context()
        return make(
            transport=BoundedTransport(verify=self._trusted),
            timeout=self.settings.timeout_s,
            follow_redirects=False,
            **more,
        )

    async def _json(self, client: httpx2.AsyncClient, url: str) -> dict[str, Any]:
        answer = await client.get(url)
        if answer.status_code != 200:
            raise ProviderUnusable(f"{url} answers {answer.status_code}")
        self.check_clock(answer)
        try:
            found = json.loads(answer.content)
        except (ValueError, RecursionError):
            raise ProviderUnusable(f"{url} answers with something that is no JSON") from None
        if not isinstance(found, dict):
            raise ProviderUnusable(f"{url} answers with something that is no JSON object")
        return found

    def check_clock(self, answer: httpx2.Response) -> None:
        """Raise `ProviderUnusable` if an answer was written at another time than it is here: with a slow clock, tokens
        would open something after their end."""
        here = self.now()
        try:
            there = parsedate_to_datetime(answer.headers["date"]).timestamp() + int(answer.headers.get("age", "0"))
        except (KeyError, ValueError, TypeError, OverflowError):
            return
        if abs(there - here.timestamp()) > self.settings.clock_skew_s + answer.elapsed.total_seconds() + 1:
            shown = datetime.fromtimestamp(there, UTC)
            raise ProviderUnusable(
                f"its clock says {shown:%Y-%m-%d %H:%M:%S} and that of this machine {here:%Y-%m-%d %H:%M:%S} (UTC), "
                f"more than {self.settings.clock_skew_s:g} s apart: set the wrong one"
            )


def _readable_keys(found: object) -> list[Key]:
    """The public keys for signatures; others, malformed ones too, are left out."""
    keys: list[Key] = []
    for each in found[:_MOST_KEYS] if isinstance(found, list) else ():
        if isinstance(each, dict) and each.get("kty") in _KINDS_OF_KEYS and each.get("use", "sig") == "sig":
            try:
                key = JWKRegistry.import_key(each)
                key.ensure_kid()
            except (JoseError, ValueError, TypeError, KeyError):
                continue
            keys.append(key)
    return keys


def _quoted(text: str) -> str:
    return shorten_text(repr(one_line(text)), _SHOWN)
