"""What a host and this server both know. Several are valid at once, so that one can be replaced by another."""

import base64
import binascii
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codesum_pipeline.model.errors import ConfigurationError

VARIABLE = "CODESUM_WEBHOOK_SECRET"
# Guessing a shorter one takes no more than patience.
_SHORTEST = 16
# More are a mistake, and each costs a computation for each request.
_MOST = 20
_SIGNING_PREFIX = "whsec_"


@dataclass(frozen=True, slots=True)
class Secret:
    """As a person typed it at the host. `signing_key` is that of Standard Webhooks, in which form GitLab makes some."""

    text: bytes = field(repr=False)
    signing_key: bytes | None = field(default=None, repr=False)


def read_secrets(file: Path | None, environ: Mapping[str, str]) -> list[Secret]:
    """Those of a file that nobody else may read, one a line, else those of the environment, between spaces.

    Raises `ConfigurationError` where there is none: what is not signed is never believed, not even on this machine,
    where a proxy passes on what others send.
    """
    if file is None:
        source, found = VARIABLE, environ.get(VARIABLE, "").split()
    else:
        source = f"--secret-file {file}"
        found = _lines_of(file, source)
    if not found:
        raise ConfigurationError(
            f"no webhook secret: give the host's with --secret-file or {VARIABLE}; "
            "`openssl rand -hex 32` makes one for both sides"
        )
    if len(found) > _MOST:
        raise ConfigurationError(f"{source}: {len(found)} secrets; at most {_MOST} are valid at once")
    return [_secret(text, source, number) for number, text in enumerate(found, start=1)]


def _lines_of(file: Path, source: str) -> list[str]:
    try:
        if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigurationError(f"{source}: others may read it: run `chmod 600 {file}`")
        content = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{source}: {error}") from error
    lines = (line.strip() for line in content.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _secret(text: str, source: str, number: int) -> Secret:
    """No message repeats a secret."""
    if len(text) < _SHORTEST:
        raise ConfigurationError(f"{source}: secret {number} is shorter than {_SHORTEST} characters: make another")
    if not text.startswith(_SIGNING_PREFIX):
        return Secret(text.encode())
    try:
        key = base64.b64decode(text.removeprefix(_SIGNING_PREFIX), validate=True)
    except binascii.Error:
        raise ConfigurationError(f"{source}: secret {number} begins with whsec_ and is not base64 after it") from None
    return Secret(text.encode(), key)
