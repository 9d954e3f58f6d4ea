"""Sends JSON as Standard Webhooks specifies: a constant id, a time, and a signature over both and the body.

The body of a post is the same on each try, so that a receiver can recognise a repeat
by its id alone. The host is looked up once, checked, and connected to by that
very address; redirects and proxies are not followed.
"""

import asyncio
import base64
import binascii
import hashlib
import hmac
import ipaddress
import json
import os
import socket
import ssl
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from msgspec import to_builtins

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, DeliveryFailed, DeliveryRefused
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.settings.certificates import CERTIFICATES_VARIABLE
from codesum_pipeline.foundation.settings.channel_settings import WebhookChannelSettings
from codesum_pipeline.notifications.delivery.posts import OutgoingMessage, Post, PostKind

SCHEMA = "codesum.post/1"
# Before a secret of Standard Webhooks, whose key goes on in base64.
SECRET_PREFIX = "whsec_"
# How much of an answer is read, and how much is kept.
_READ_BYTES = 64 * 1024
_KEPT_CHARS = 200
# Connecting to one address may take the total time divided by this.
_CONNECT_SHARE = 3
_UNREACHED = (httpx.ConnectError, httpx.ConnectTimeout)
# Too early, too slow and too often pass; all other refusals of what was asked do not.
_PASSING = frozenset((408, 425, 429))


class WebhookChannel:
    """One address."""

    def __init__(self, name: str, settings: WebhookChannelSettings, *, secret: str, home: Path) -> None:
        self._settings = settings
        self._home = home
        try:
            self._key = signing_key_of(secret)
        except binascii.Error as error:
            raise ConfigurationError(
                f"channel {name!r}: its secret begins with 'whsec_' and does not go on in base64"
            ) from error
        self.secrets = (secret, secret.removeprefix(SECRET_PREFIX)) if secret else ()

    def send(self, message: OutgoingMessage) -> str:
        return asyncio.run(self._send(message))

    async def _send(self, message: OutgoingMessage) -> str:
        url, limit = urlsplit(self._settings.url), self._settings.timeout_s
        host, port = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)
        may_have_arrived = False
        try:
            async with asyncio.timeout(limit):
                addresses = await self._look_up(host, port)
                may_have_arrived = True
                own, verify = self._settings.ca_file, url.scheme == "https"
                file = str(self._home / own.expanduser()) if own else os.environ.get(CERTIFICATES_VARIABLE)
                async with httpx.AsyncClient(
                    # Loading certificates takes half a second, and nothing is verified without TLS.
                    verify=ssl.create_default_context(cafile=file) if file and verify else verify,
                    trust_env=False,
                    timeout=httpx.Timeout(None, connect=limit / _CONNECT_SHARE),
                    follow_redirects=False,
                ) as client:
                    return await _read(await self._post(client, message, addresses, host=host, port=port))
        except TimeoutError as error:
            raise DeliveryFailed(f"{host}: no answer within {limit:g} s", may_have_arrived=may_have_arrived) from error
        except _UNREACHED as error:
            raise DeliveryFailed(f"{host}:{port} cannot be reached: {_words(error)}") from error
        except httpx.HTTPError as error:
            what = f"{host}: the connection ended before an answer: {_words(error)}"
            raise DeliveryFailed(what, may_have_arrived=True) from error

    async def _post(
        self, client: httpx.AsyncClient, message: OutgoingMessage, addresses: list[str], *, host: str, port: int
    ) -> httpx.Response:
        """The answer of the first address that can be reached; of the certificate the name of the host is checked."""
        body = json.dumps(payload_of(message.post), ensure_ascii=False).encode()
        headers = {**self._headers(message, body), "Host": urlsplit(self._settings.url).netloc}
        for place, address in enumerate(addresses, 1):
            shown = f"[{address}]" if ":" in address else address
            url = httpx.URL(self._settings.url).copy_with(host=shown, port=port)
            request = client.build_request(
                "POST", url, content=body, headers=headers, extensions={"sni_hostname": host}
            )
            try:
                return await client.send(request, stream=True)
            except _UNREACHED:
                if place == len(addresses):
                    raise
        raise DeliveryFailed(f"{host} has no address")

    async def _look_up(self, host: str, port: int) -> list[str]:
        """The addresses of a host, all of which may be connected to."""
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            raise DeliveryFailed(f"{host} cannot be found: {error.strerror}") from error
        addresses = [str(each[4][0]) for each in found]
        for address in () if self._settings.allow_private else addresses:
            if not ipaddress.ip_address(address.partition("%")[0]).is_global:
                raise DeliveryRefused(
                    f"{host} is {address}, an address of this machine or of a private network: set allow_private = "
                    "true for this channel if that is meant"
                )
        return addresses

    def _headers(self, message: OutgoingMessage, body: bytes) -> dict[str, str]:
        moment = str(int(datetime.now(UTC).timestamp()))
        headers = {
            "Content-Type": "application/json; charset=utf-8",
            "User-Agent": "codesum",
            "Accept-Encoding": "identity",
            "webhook-id": message.key,
            "webhook-timestamp": moment,
            "Idempotency-Key": message.key,
            "Codesum-Attempt": str(message.attempt),
            "Codesum-May-Be-Repeat": str(message.is_repeat).lower(),
        }
        if self._key:
            headers["webhook-signature"] = signature_of(body, self._key, id_=message.key, moment=moment)
        return headers


def payload_of(post: Post) -> dict[str, Any]:
    """The JSON of a post, which docs/webhook.schema.json describes."""
    fields: dict[str, Any] = {
        "schema": SCHEMA,
        "id": post.id,
        "kind": post.kind.value,
        "created_at": post.created_at,
        "subject": post.subject,
    }
    if post.kind is PostKind.NOTICE:
        return {**fields, "text": post.text}
    citations = [
        {"number": number, **to_builtins(each), "url": url}
        for number, (each, url) in enumerate(zip(post.citations, post.links, strict=True), 1)
    ]
    return {**fields, "intent": post.intent_name, "summary": post.text, "citations": citations}


async def _read(answer: httpx.Response) -> str:
    """The receiver's answer; raises where it did not take the message."""
    status = answer.status_code
    read = bytearray()
    try:
        async for part in answer.aiter_raw():
            read += part
            if len(read) >= _READ_BYTES:
                break
    except httpx.HTTPError as error:
        # The status is all that counts, and it came.
        read += f" (the answer broke off: {_words(error)})".encode()
    finally:
        await answer.aclose()
    outcome = f"{status} {one_line(read.decode('utf-8', 'replace'))[:_KEPT_CHARS]}".strip()
    if 200 <= status < 300:
        return outcome
    if 300 <= status < 400:
        to = one_line(answer.headers.get("location", ""))[:_KEPT_CHARS]
        raise DeliveryRefused(f"{outcome}: it redirects to {to!r}, which is not followed: set the channel's url to it")
    if 400 <= status < 500 and status not in _PASSING:
        raise DeliveryRefused(outcome)
    raise DeliveryFailed(outcome, retry_after_s=_retry_after(answer.headers.get("retry-after", "")))


def _retry_after(value: str) -> float | None:
    """The seconds of a `Retry-After` header, which has a number or a date; None for anything else."""
    if value.strip().isdecimal():
        return float(value[:9])
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds())


def signing_key_of(secret: str) -> bytes:
    """The key that a secret encodes; raises `binascii.Error` if it is not one of Standard Webhooks."""
    if not secret.startswith(SECRET_PREFIX):
        return secret.encode()
    return base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)


def signature_of(body: bytes, key: bytes, *, id_: str, moment: str) -> str:
    """The signature of a message, as Standard Webhooks has it."""
    digest = hmac.digest(key, f"{id_}.{moment}.".encode() + body, hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode()}"


def _words(error: BaseException) -> str:
    return one_line(str(error)) or type(error).__name__
