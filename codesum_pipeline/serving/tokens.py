"""A token that whoever asks must say: needed wherever another machine can ask."""

import base64
import binascii
import hmac
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.serving.listening import DEFAULT_HOST, Address

# Guessing a shorter one takes no more than patience.
_SHORTEST_TOKEN = 16


def read_token(file: Path | None, environ: Mapping[str, str], *, variable: str) -> str | None:
    """The token of a file that nobody else may read, else of the environment; None without either."""
    if file is None:
        token = environ.get(variable)
        source = variable
        if not token:
            return None
    else:
        source = f"--token-file {file}"
        try:
            if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise ConfigurationError(f"{source}: others may read it: run `chmod 600 {file}`")
            token = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{source}: {error}") from error
    token = token.strip()
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or any(each.isspace() for each in token):
        raise ConfigurationError(f"{source}: a token has at least {_SHORTEST_TOKEN} letters and digits, without spaces")
    return token


def check_reachable(address: Address, token: str | None, *, variable: str) -> None:
    """Raise `ConfigurationError` where others could reach the server without a token."""
    if token is None and not address.is_loopback:
        raise ConfigurationError(
            f"{address.option} can be reached from other machines: give a token with --token-file "
            f"or {variable}, or listen on {DEFAULT_HOST}"
        )


@dataclass(frozen=True, slots=True)
class TokenChecked:
    """Whoever does not say the token gets no further. Browsers ask a person for it, as the password of any user."""

    app: ASGIApp
    token: str
    is_for_browsers: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_said(Headers(scope=scope)):
            answer = PlainTextResponse(
                "give the server's token: Authorization: Bearer TOKEN\n",
                status_code=401,
                headers={"WWW-Authenticate": 'Basic realm="codesum: the token is the password"'}
                if self.is_for_browsers
                else {"WWW-Authenticate": "Bearer"},
            )
            await answer(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _is_said(self, headers: Headers) -> bool:
        scheme, _, said = headers.get("authorization", "").partition(" ")
        said = said.strip()
        if self.is_for_browsers and scheme.lower() == "basic":
            said = _password(said)
        elif scheme.lower() != "bearer":
            return False
        # Bytes, since of texts only those in ASCII can be compared in a time that tells nothing.
        return hmac.compare_digest(said.encode(), self.token.encode())


def _password(credentials: str) -> str:
    try:
        return base64.b64decode(credentials, validate=True).decode("utf-8").partition(":")[2]
    except (binascii.Error, ValueError):
        return ""
