"""Real receivers on loopback: an address that is posted to, and a mail server."""

import asyncio
import json
import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session


@dataclass(frozen=True)
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class WebhookReceiver:
    """Answers by a script, its last line again and again: a status, or status, headers and text.

    `hang` and `cut` give no answer, `held` 200 once it is let go.
    """

    script: list[Any]
    received: list[Received] = field(default_factory=list)
    url: str = ""
    let_go: threading.Event = field(default_factory=threading.Event)
    came: threading.Event = field(default_factory=threading.Event)
    answered: threading.Event = field(default_factory=threading.Event)

    def next_answer(self) -> Any:
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    @property
    def ids(self) -> list[str]:
        return [each.headers["webhook-id"] for each in self.received]


@contextmanager
def webhook_receiver(*script: Any, tls: ssl.SSLContext | None = None) -> Iterator[WebhookReceiver]:
    """A receiver as long as the block runs."""
    found = WebhookReceiver(list(script) or [200])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = found.next_answer()
            found.received.append(Received(self.path, headers, body))
            found.came.set()
            if answer in ("hang", "held"):
                found.let_go.wait(120)
            answer = 200 if answer == "held" else answer
            if answer in ("hang", "cut"):
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            status, more, text = answer if isinstance(answer, tuple) else (answer, {}, f"said {answer}")
            self.send_response(status)
            for name, value in more.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())
            found.answered.set()

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    found.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}/hook"
    try:
        yield found
    finally:
        found.let_go.set()
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class MailReceiver:
    """A mail server that keeps what it gets, and answers each part as it is told."""

    mails: list[EmailMessage] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    recipients: list[list[str]] = field(default_factory=list)
    recipient_answers: dict[str, str] = field(default_factory=dict)
    data_answers: list[str] = field(default_factory=list)
    logins: list[tuple[str, str]] = field(default_factory=list)
    was_encrypted: list[bool] = field(default_factory=list)
    port: int = 0

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: Sequence[str]
    ) -> str:
        if answer := self.recipient_answers.get(address):
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        answer = self.data_answers.pop(0) if self.data_answers else "250 kept"
        if answer.startswith(("250", "cut")):
            content = envelope.content or b""
            self.raw.append(content if isinstance(content, bytes) else content.encode())
            self.mails.append(message_from_bytes(self.raw[-1], policy=default))
            self.recipients.append(list(envelope.rcpt_tos))
            self.was_encrypted.append(session.ssl is not None)
        if answer == "cut":
            assert isinstance(server.transport, asyncio.WriteTransport)
            server.transport.abort()
        return answer

    def authenticate(
        self, _server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, data: Any
    ) -> AuthResult:
        self.logins.append((data.login.decode(), data.password.decode()))
        return AuthResult(success=data.password == b"right horse battery", handled=False)


@contextmanager
def mail_receiver(**options: Any) -> Iterator[MailReceiver]:
    """A mail server as long as the block runs; `options` are aiosmtpd's."""
    found = MailReceiver()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        found.port = free.getsockname()[1]
    controller = Controller(found, hostname="127.0.0.1", port=found.port, authenticator=found.authenticate, **options)
    controller.start()
    try:
        yield found
    finally:
        controller.stop()
