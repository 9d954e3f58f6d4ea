"""Who may reach a server: its address and names, access tokens, and the file that names the tokens.

Memory has only the digests of tokens; the file may have digests, too. No message repeats a value of the file, which may
be a token.
"""

import hashlib
import hmac
import logging
import re
import socket
import stat
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from codesum_pipeline.foundation.data_model.client_addresses import is_loopback
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.printable import one_line, plain_reason
from codesum_pipeline.foundation.data_model.repository import EVERYTHING, RepositoryScope, read_scope
from codesum_pipeline.foundation.store.atomic import identify_file

DEFAULT_HOST = "127.0.0.1"
_MOST_PORT = 65_535
_ADDRESS = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]:|(?P<host>[^:\[\]]+):)?(?P<port>\d{1,5})")


@dataclass(frozen=True, slots=True)
class Address:
    """The address on which a server listens; port 0 is any free one. `option` is the option that gave it."""

    host: str
    port: int
    option: str = field(default="", compare=False)

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)

    @property
    def url(self) -> str:
        return f"http://{self._shown_host}:{self.port}"

    @property
    def names(self) -> list[str]:
        """The names by which a client may reach the server."""
        if self.is_loopback:
            return list(dict.fromkeys((self._shown_host, "127.0.0.1", "localhost", "[::1]")))
        return list(dict.fromkeys((self._shown_host, socket.gethostname(), socket.getfqdn())))

    @property
    def _shown_host(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


def parse_address(text: str, *, option: str) -> Address:
    """`PORT`, `HOST:PORT` or `[HOST]:PORT`."""
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match["port"]) > _MOST_PORT:
        raise ConfigurationError(f"{option} {text!r} is no address: give PORT, HOST:PORT or [HOST]:PORT")
    host, port = match["v6"] or match["host"] or DEFAULT_HOST, int(match["port"])
    return Address(host, port, f"{option} {host}:{port}")


def allowed_hosts(address: Address, others: list[str], public_url: str | None = None) -> list[str]:
    """The Host headers of this server, for its own names, `others`, and the address by which clients know it."""
    names = [*others, *address.names]
    public = [urlsplit(public_url).netloc.lower()] if public_url else []
    return public + [f"{name}:{address.port}" for name in names] + (names if address.port == 80 else [])


def allowed_origins(address: Address, others: list[str], public_url: str | None = None) -> list[str]:
    """The Origin headers of this server's pages."""
    names, parts = [*others, *address.names], urlsplit(public_url or "")
    public = [f"{parts.scheme}://{parts.netloc.lower()}"] if public_url else []
    return public + [f"{scheme}://{name}:{address.port}" for name in names for scheme in ("http", "https")]


# A shorter token could be guessed.
SHORTEST_TOKEN = 16
# Nobody writes a larger file.
_MOST_BYTES = 4 << 20
_HASHED = "sha256:"
_HEX = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_ALL = RepositoryScope((EVERYTHING,))


class AccessToken(Struct, frozen=True):
    """The sha256 of the secret, the repositories that the token opens, and the moment at which it expires."""

    digest: bytes
    scope: RepositoryScope = _ALL
    name: str = ""
    expires: datetime | None = None

    def is_valid(self, now: datetime) -> bool:
        return self.expires is None or now < self.expires

    @property
    def holder(self) -> str:
        """Whose the questions are that are asked with it."""
        return self.name

    @property
    def audited(self) -> Mapping[str, str]:
        return {"token": self.name}


def digest_of(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def hashed_token(secret: str) -> str:
    """The digest of a secret for a file of tokens, whose readers cannot use it."""
    return f"{_HASHED}{digest_of(secret).hex()}"


def find_token(digest: bytes, tokens: Sequence[AccessToken]) -> AccessToken | None:
    """The token with this digest; all are compared, so that the time does not depend on the digest."""
    found: AccessToken | None = None
    for each in tokens:
        if hmac.compare_digest(digest, each.digest):
            found = each
    return found


class _TokenEntry(BaseModel):
    """A token in its file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    token: str
    repos: Annotated[list[str], Field(min_length=1)]
    expires: datetime | date | None = None


_ENTRIES = TypeAdapter(dict[str, _TokenEntry])


def read_tokens(file: Path | None, environ: Mapping[str, str], *, variable: str) -> list[AccessToken]:
    """The tokens of a file that only its owner may read, else the token of an environment variable, else none.

    A file holds one token, which opens all repositories, or a TOML table for each: `[NAME]` with `token`, `repos` and
    perhaps `expires`.
    """
    if file is None:
        token = environ.get(variable)
        return [AccessToken(_digest(token.strip(), variable))] if token else []
    source = f"--token-file {file}"
    return parse_tokens(read_private_file(file, source), source)


def read_private_file(file: Path, source: str) -> str:
    """The text of a file that nobody but its owner may read; raises `ConfigurationError` that names the `source`."""
    try:
        with file.open("rb") as opened:
            if stat.S_IMODE(file.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
                raise ConfigurationError(f"{source}: others may read it: run `chmod 600 {file}`")
            return opened.read(_MOST_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is no text in UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        raise ConfigurationError(f"{source}: {reason}") from None


def parse_tokens(content: str, source: str) -> list[AccessToken]:
    """The tokens in the content of a file; raises `ConfigurationError` that names the `source`."""
    if len(content.split()) <= 1:
        return [AccessToken(_digest(content.strip(), source))]
    way_out = 'write one token alone, or `[NAME]` with `token = "…"` and `repos = ["KEY"]` for each ("*": all)'
    try:
        entries = _ENTRIES.validate_python(tomllib.loads(content))
    except tomllib.TOMLDecodeError as error:
        # The error's text may quote the line, so only its position is shown.
        place = str(error).rpartition("(")[2].rstrip(")")
        raise ConfigurationError(f"{source}: it is no TOML ({place}): {way_out}") from None
    except (ValidationError, RecursionError) as error:
        if isinstance(error, RecursionError):
            raise ConfigurationError(f"{source}: it is nested too deeply: {way_out}") from None
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigurationError(f"{source}: {where}: {plain_reason(first['msg'])}: {way_out}") from None
    tokens: dict[bytes, AccessToken] = {}
    for name, entry in entries.items():
        where = f"{source}: [{name}]"
        if not _NAME.fullmatch(name):
            raise ConfigurationError(f"{where}: a name has letters, digits, `.`, `_` and `-` alone")
        if EVERYTHING in entry.repos and not all(each == EVERYTHING or each.startswith("!") for each in entry.repos):
            raise ConfigurationError(f'{where}: repos has "*" beside keys: choose one of them')
        try:
            scope = read_scope(entry.repos)
        except ConfigurationError as error:
            raise ConfigurationError(f"{where}: repos: {error}") from None
        expires = entry.expires
        if isinstance(expires, datetime) and expires.tzinfo is None:
            moment = "write a day, or a time with its offset: 2027-01-01T12:00:00Z"
            raise ConfigurationError(f"{where}: expires: {moment}")
        # A day begins in UTC.
        until = expires if isinstance(expires, datetime | None) else datetime.combine(expires, time(), UTC)
        token = AccessToken(_digest(entry.token.strip(), where), scope, name, until)
        if same := tokens.get(token.digest):
            raise ConfigurationError(f"{source}: [{same.name}] and [{name}] have the same token: make another")
        tokens[token.digest] = token
    return [*tokens.values()]


def _digest(token: str, source: str) -> bytes:
    if token.startswith(_HASHED):
        if not _HEX.fullmatch(token.removeprefix(_HASHED)):
            raise ConfigurationError(f"{source}: after sha256: come 64 digits of 0-9 and a-f")
        return bytes.fromhex(token.removeprefix(_HASHED))
    if len(token) < SHORTEST_TOKEN or not token.isascii() or any(each.isspace() for each in token):
        raise ConfigurationError(f"{source}: a token has at least {SHORTEST_TOKEN} letters and digits, without spaces")
    return digest_of(token)


def check_reachable(
    address: Address, tokens: Sequence[AccessToken], *, variable: str, has_people: bool = False
) -> None:
    """Raise `ConfigurationError` if others could reach the server without a token, or without having signed in."""
    if not tokens and not has_people and not address.is_loopback:
        raise ConfigurationError(
            f"{address.option} can be reached from other machines: give a token with --token-file "
            f"or {variable}, let people sign in (the settings [identity]), or listen on {DEFAULT_HOST}"
        )


_log = logging.getLogger(__name__)


class TokenSource(Struct):
    """Rereads the file of tokens when it changes; a malformed or unreadable file keeps the last good tokens, with one
    warning.

    A change is noticed by the file's inode, size and times; a change of its mode, after which others might read it,
    changes one of the times, too.
    """

    file: Path | None
    tokens: tuple[AccessToken, ...]
    _seen: str = ""

    @classmethod
    def of(cls, file: Path | None, environ: Mapping[str, str], *, variable: str) -> "TokenSource":
        """Raises `ConfigurationError` for a malformed file."""
        # Its state is taken before it is read, so that a write in between is noticed as a change.
        seen = identify_file(file) if file else ""
        return cls(file, tuple(read_tokens(file, environ, variable=variable)), seen)

    @property
    def requires_token(self) -> bool:
        """Whether every request needs a token, also while the named file has none."""
        return self.file is not None or bool(self.tokens)

    def now(self) -> tuple[AccessToken, ...]:
        seen = identify_file(self.file) if self.file else ""
        if seen != self._seen:
            self._seen = seen
            try:
                self.tokens = tuple(read_tokens(self.file, {}, variable=""))
                _log.warning("--token-file %s was read again: %d tokens", self.file, len(self.tokens))
            except ConfigurationError as error:
                _log.warning("%s; the tokens that were read before are used further", one_line(str(error)))
        return self.tokens
