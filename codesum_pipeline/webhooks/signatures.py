"""Who sent a request: the host whose headers it has, if it is signed with a secret of ours.

| host | what says so |
|---|---|
| GitHub | `X-Hub-Signature-256`: `sha256=` and the HMAC-SHA256 of the body, in hexadecimal |
| Gitea, Forgejo | `X-Gitea-Signature`, `X-Forgejo-Signature`: the same without `sha256=` |
| GitLab | `webhook-signature`: `v1,` and the HMAC-SHA256 of id, time and body in base64 (Standard Webhooks), or |
| | `X-Gitlab-Token`: the secret itself |

The body is the one that was received, byte by byte. All secrets are compared, each in constant time: several are valid
at once, so that one can be replaced by another.
"""

import base64
import binascii
import hashlib
import hmac
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.source.organisations import HostKind

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


# What Standard Webhooks allows for clocks that differ and requests that wait.
CLOCK_TOLERANCE_S = 300
_SIGNED_PREFIX = "v1,"
_UNIX_TIME = re.compile(r"[0-9]{1,12}")
# Hosts send two while a secret is replaced.
_MOST_SIGNATURES = 10


class SignedEvent(Struct, frozen=True):
    """Whose request it is, what it tells of, and its id, by which it is known when it comes again."""

    host: HostKind
    event: str
    delivery_id: str


def sender_of(
    headers: Mapping[str, str], body: bytes, secrets: Sequence[Secret], *, now_s: float
) -> SignedEvent | None:
    """The sender of a request with these headers (their names in small letters); None where nothing proves one.

    Gitea's come first, since it sends GitHub's headers as well.
    """
    for name in ("forgejo", "gitea"):
        if f"x-{name}-event" in headers:
            is_proven = _is_signed(headers.get(f"x-{name}-signature", ""), body, secrets)
            return _sender(HostKind.GITEA, headers, name, is_proven=is_proven)
    if "x-gitlab-event" in headers:
        return _sender(HostKind.GITLAB, headers, "gitlab", is_proven=_is_gitlab(headers, body, secrets, now_s))
    prefix, _, signature = headers.get("x-hub-signature-256", "").partition("=")
    is_proven = prefix == "sha256" and _is_signed(signature, body, secrets)
    return _sender(HostKind.GITHUB, headers, "github", is_proven=is_proven)


def _sender(host: HostKind, headers: Mapping[str, str], name: str, *, is_proven: bool) -> SignedEvent | None:
    if not is_proven:
        return None
    ids = (f"x-{name}-delivery", "webhook-id", "x-gitlab-event-uuid")
    delivery = next((headers[each] for each in ids if each in headers), "")
    return SignedEvent(host, headers.get(f"x-{name}-event", ""), delivery)


def _is_signed(signature: str, body: bytes, secrets: Sequence[Secret]) -> bool:
    said = signature.encode()
    return _any_equal(said, [hmac.digest(each.text, body, hashlib.sha256).hex().encode() for each in secrets])


def _is_gitlab(headers: Mapping[str, str], body: bytes, secrets: Sequence[Secret], now_s: float) -> bool:
    """A signature decides alone where there is a key for it: leaving it out does not make its sender's token count."""
    keys = [each.signing_key for each in secrets if each.signing_key is not None]
    if "webhook-signature" in headers and keys:
        return _is_standard(headers, body, keys, now_s)
    tokens = [each.text for each in secrets if each.signing_key is None]
    return _any_equal(headers.get("x-gitlab-token", "").encode(), tokens)


def _is_standard(headers: Mapping[str, str], body: bytes, keys: Sequence[bytes], now_s: float) -> bool:
    sent_at = headers.get("webhook-timestamp", "")
    if not _UNIX_TIME.fullmatch(sent_at) or abs(int(sent_at) - now_s) > CLOCK_TOLERANCE_S:
        return False
    signed = f"{headers.get('webhook-id', '')}.{sent_at}.".encode() + body
    wanted = [base64.b64encode(hmac.digest(key, signed, hashlib.sha256)) for key in keys]
    said = [each for each in headers["webhook-signature"].split()[:_MOST_SIGNATURES] if each.startswith(_SIGNED_PREFIX)]
    return any(_any_equal(each.removeprefix(_SIGNED_PREFIX).encode(), wanted) for each in said)


def _any_equal(said: bytes, wanted: Sequence[bytes]) -> bool:
    """All are compared, so that the time tells nothing."""
    equal = [hmac.compare_digest(said, each) for each in wanted]
    return True in equal
