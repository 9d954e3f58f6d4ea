"""Tokens that whoever asks must say: needed wherever another machine can ask. Each says which repositories it opens.

What a token does not open does not exist for its holder: every token has a server of its own, of its repositories
alone, so that no answer, name or error of another one can reach it.
"""

import base64
import binascii
import hmac
import stat
import tomllib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from codesum_pipeline.model.errors import CodesumError, ConfigurationError
from codesum_pipeline.serving.listening import DEFAULT_HOST, Address

# Guessing a shorter one takes no more than patience.
_SHORTEST_TOKEN = 16
# In place of keys: whatever the server has.
EVERY_REPOSITORY = "*"


@dataclass(frozen=True, slots=True)
class Token:
    """What is said, and the keys of the repositories that it opens; none: all that the server has."""

    secret: str
    repos: tuple[str, ...] = ()
    name: str = ""


class _Entry(BaseModel):
    """A token as its file has it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    token: str
    repos: Annotated[list[str], Field(min_length=1)]


_ENTRIES = TypeAdapter(dict[str, _Entry])


def read_tokens(file: Path | None, environ: Mapping[str, str], *, variable: str) -> list[Token]:
    """Those of a file that nobody else may read, else that of the environment; none without either.

    A file holds one token, which opens all repositories, or a TOML table for each: `[NAME]` with `token` and `repos`.
    """
    if file is None:
        said = environ.get(variable)
        return [_checked(Token(said.strip()), variable)] if said else []
    source = f"--token-file {file}"
    try:
        if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigurationError(f"{source}: others may read it: run `chmod 600 {file}`")
        content = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{source}: {error}") from error
    if len(content.split()) <= 1:
        return [_checked(Token(content.strip()), source)]
    return _of_table(content, source)


def _of_table(content: str, source: str) -> list[Token]:
    """No message repeats a value: it may be a token."""
    way_out = 'write one token alone, or `[NAME]` with `token = "…"` and `repos = ["KEY"]` for each ("*": all)'
    try:
        entries = _ENTRIES.validate_python(tomllib.loads(content))
    except tomllib.TOMLDecodeError as error:
        # Its text may quote the line; where it stands is enough.
        place = str(error).rpartition("(")[2].rstrip(")")
        raise ConfigurationError(f"{source}: it is no TOML ({place}): {way_out}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigurationError(f"{source}: {where}: {first['msg']}: {way_out}") from None
    tokens = [_token_of(name, entry, source) for name, entry in entries.items()]
    for number, token in enumerate(tokens):
        same = next((other for other in tokens[:number] if other.secret == token.secret), None)
        if same is not None:
            raise ConfigurationError(f"{source}: [{same.name}] and [{token.name}] have the same token: make another")
    return tokens


def _token_of(name: str, entry: _Entry, source: str) -> Token:
    if EVERY_REPOSITORY in entry.repos and len(entry.repos) > 1:
        raise ConfigurationError(f'{source}: [{name}]: repos has "*" beside keys: choose one of them')
    repos = () if EVERY_REPOSITORY in entry.repos else tuple(entry.repos)
    return _checked(Token(entry.token.strip(), repos, name), f"{source}: [{name}]")


def _checked(token: Token, source: str) -> Token:
    secret = token.secret
    if len(secret) < _SHORTEST_TOKEN or not secret.isascii() or any(each.isspace() for each in secret):
        raise ConfigurationError(f"{source}: a token has at least {_SHORTEST_TOKEN} letters and digits, without spaces")
    return token


def check_reachable(address: Address, tokens: Sequence[Token], *, variable: str) -> None:
    """Raise `ConfigurationError` where others could reach the server without a token."""
    if not tokens and not address.is_loopback:
        raise ConfigurationError(
            f"{address.option} can be reached from other machines: give a token with --token-file "
            f"or {variable}, or listen on {DEFAULT_HOST}"
        )


def behind_tokens(
    tokens: Sequence[Token], app_of: Callable[[Sequence[str]], Starlette], *, is_for_browsers: bool = False
) -> ASGIApp:
    """For each token what `app_of` gives for the keys that it opens; without tokens what it gives for no keys.

    Raises `ConfigurationError` where a token opens what is not there.
    """
    if not tokens:
        return app_of(())
    apps = []
    for token in tokens:
        try:
            apps.append((token, app_of(token.repos)))
        except CodesumError as error:
            raise ConfigurationError(f"the token file: [{token.name}]: {error}") from error
    return TokenChecked(apps, is_for_browsers)


@dataclass(frozen=True, slots=True)
class TokenChecked:
    """Whoever says no token gets no further. Browsers ask a person for it, as the password of any user."""

    apps: Sequence[tuple[Token, Starlette]]
    is_for_browsers: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await Starlette(lifespan=self._live)(scope, receive, send)
            return
        app = self._app_for(self._said(Headers(scope=scope)))
        await (self._refusal() if app is None else app)(scope, receive, send)

    @asynccontextmanager
    async def _live(self, own: Starlette) -> AsyncIterator[None]:
        """All of them begin and end with the server."""
        async with AsyncExitStack() as stack:
            for _, app in self.apps:
                await stack.enter_async_context(app.router.lifespan_context(app))
            yield

    def _app_for(self, said: str) -> Starlette | None:
        """That of the token which is said; all are compared, so that the time tells nothing."""
        found: Starlette | None = None
        for each, app in self.apps:
            # Bytes, since of texts only those in ASCII can be compared so.
            if hmac.compare_digest(said.encode(), each.secret.encode()):
                found = app
        return found

    def _said(self, headers: Headers) -> str:
        scheme, _, said = headers.get("authorization", "").partition(" ")
        said = said.strip()
        if self.is_for_browsers and scheme.lower() == "basic":
            return _password(said)
        return said if scheme.lower() == "bearer" else ""

    def _refusal(self) -> PlainTextResponse:
        way = 'Basic realm="codesum: the token is the password"' if self.is_for_browsers else "Bearer"
        told = "give the server's token: Authorization: Bearer TOKEN\n"
        return PlainTextResponse(told, status_code=401, headers={"WWW-Authenticate": way})


def _password(credentials: str) -> str:
    try:
        return base64.b64decode(credentials, validate=True).decode("utf-8").partition(":")[2]
    except (binascii.Error, ValueError):
        return ""
