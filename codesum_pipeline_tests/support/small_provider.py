"""A small OpenID provider on loopback: it signs tokens with real keys, checks PKCE, and fails as it is told to.

It signs in whoever `signs_in` says without asking, and writes their claims into tokens.
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, Key, KeyParameters, RSAKey

METADATA = "/.well-known/openid-configuration"
CLIENT_ID = "codesum-page"
CLIENT_SECRET = "the-secret-of-the-page"
# A program on somebody's machine, which has no secret.
AGENT_ID = "an-agent"


@cache
def key_of(key_id: str, kind: str = "RSA") -> Key:
    """The key with this id, which is made once."""
    parameters: KeyParameters = {"kid": key_id, "use": "sig"}
    return ECKey.generate_key("P-256", parameters) if kind == "EC" else RSAKey.generate_key(2048, parameters)


class SmallProvider:
    """The provider, while it serves; its attributes may change at any time."""

    def __init__(self, address: str) -> None:
        self.issuer = address
        self.key = key_of("first")
        self.published: list[Key] = [self.key]
        self.clock_offset_s = 0.0
        self.answers: dict[str, tuple[int, bytes]] = {}
        self.requests: list[str] = []
        self.signs_in: dict[str, Any] = {"sub": "alice", "name": "Alice Example", "groups": ["tills"]}
        self.metadata: dict[str, Any] = {}
        self._codes: dict[str, dict[str, str]] = {}

    def sign(self, claims: Mapping[str, Any], *, key: Any = None, **header: Any) -> str:
        """A token with exactly these claims; what is None in the header is left out."""
        used = key or self.key
        algorithm = "ES256" if used.key_type == "EC" else "RS256"
        every = {"alg": algorithm, "kid": used.kid, **header}
        kept = {name: value for name, value in every.items() if value is not None}
        return jwt.encode(kept, dict(claims), used, [algorithm])

    def token(
        self, audience: str | list[str], *, key: Any = None, header: Mapping[str, Any] = {}, **claims: Any
    ) -> str:
        """An access token of whom it signs in; a claim of None is left out."""
        now = int(time.time() + self.clock_offset_s)
        every = {"iss": self.issuer, "aud": audience, "iat": now, "exp": now + 300, **self.signs_in, **claims}
        return self.sign({name: value for name, value in every.items() if value is not None}, key=key, **header)

    def rotate(self, key_id: str) -> None:
        """Sign with a new key from now on; the old one is gone."""
        self.key = key_of(key_id)
        self.published = [self.key]

    def answer(self, path: str, query: Mapping[str, str], form: Mapping[str, str], login: str) -> tuple[int, Any]:
        if path == METADATA:
            places: dict[str, Any] = {
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/jwks",
                "end_session_endpoint": f"{self.issuer}/end",
                "code_challenge_methods_supported": ["S256"],
            }
            return 200, {"issuer": self.issuer, **places, **self.metadata}
        if path == "/jwks":
            return 200, {"keys": [key.as_dict(private=False) for key in self.published]}
        if path == "/authorize":
            code = secrets.token_urlsafe(16)
            self._codes[code] = dict(query)
            back = urlencode({"code": code, "state": query["state"], "iss": self.issuer})
            return 302, f"{query['redirect_uri']}?{back}"
        if path == "/token":
            return self._exchange(form, login)
        return 404, {}

    def _exchange(self, form: Mapping[str, str], login: str) -> tuple[int, Any]:
        asked = self._codes.pop(form.get("code", ""), None)
        if asked is None:
            return 400, {"error": "invalid_grant", "error_description": "the code is unknown or used"}
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        is_right = asked["code_challenge_method"] == "S256" and asked["code_challenge"] == challenge
        expected = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        is_agent = asked["client_id"] == form.get("client_id") == AGENT_ID
        is_client = is_agent or login == f"Basic {expected}"
        if not is_right or not is_client or form.get("redirect_uri") != asked["redirect_uri"]:
            return 400, {"error": "invalid_grant", "error_description": "PKCE, client or address is another one"}
        if is_agent:
            access_token = self.token(form["resource"])
            return 200, {"access_token": access_token, "token_type": "Bearer", "expires_in": 300}
        nonce = {"nonce": asked["nonce"]} | {name: value for name, value in self.signs_in.items() if name == "nonce"}
        return 200, {"access_token": "x", "token_type": "Bearer", "id_token": self.token(CLIENT_ID, **nonce)}


@contextmanager
def small_provider() -> Iterator[SmallProvider]:
    """A provider that serves as long as the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
            self._answer({name: values[0] for name, values in parse_qs(body).items()})

        def _answer(self, form: Mapping[str, str]) -> None:
            parts = urlsplit(self.path)
            provider.requests.append(parts.path)
            if parts.path in provider.answers:
                status, body = provider.answers[parts.path]
                location = ""
            else:
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                status, found = provider.answer(parts.path, query, form, self.headers.get("Authorization", ""))
                location = found if status == 302 else ""
                body = b"" if location else json.dumps(found).encode()
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def date_time_string(self, timestamp: float | None = None) -> str:
            return super().date_time_string((timestamp or time.time()) + provider.clock_offset_s)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        provider = SmallProvider(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
