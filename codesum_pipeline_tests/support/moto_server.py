"""A bucket that speaks S3, in a process of its own, and a proxy before it that can be told to fail."""

import http.client
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import requests

_START_S = 120.0
BUCKET = "fleet"


@contextmanager
def moto_server(folder: Path) -> Iterator[str]:
    """The address of a server with an empty bucket."""
    port = _free_port()
    with (folder / "moto.log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log
        )
    try:
        address = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + _START_S
        while True:
            try:
                requests.put(f"{address}/{BUCKET}", timeout=10).raise_for_status()
                break
            except requests.ConnectionError:
                assert server.poll() is None and time.monotonic() < deadline, "moto does not start"
                time.sleep(0.1)
        yield address
    finally:
        server.kill()
        server.wait()


@dataclass
class Weather:
    """What the proxy does: `failing` answers 503; `swallow_puts` does so many writes of heads and answers none."""

    failing: threading.Event = field(default_factory=threading.Event)
    swallow_puts: int = 0
    refused: int = 0


@contextmanager
def proxy_before(address: str, weather: Weather) -> Iterator[str]:
    """The address of a proxy that passes requests on, unless the weather is bad."""
    host = address.removeprefix("http://")

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if weather.failing.is_set():
                weather.refused += 1
                self.send_response(503)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            upstream = http.client.HTTPConnection(host, timeout=60)
            upstream.request(self.command, self.path, body, dict(self.headers))
            answer = upstream.getresponse()
            data = answer.read()
            if self.command == "PUT" and weather.swallow_puts > 0 and "head.json" in self.path:
                weather.swallow_puts -= 1
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "connection", "content-length", "date", "server"):
                    self.send_header(name, value)
            size = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(data))
            self.send_header("Content-Length", size or "0")
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _pass_on  # noqa: N815

        def log_message(self, *_arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def s3_environment(address: str) -> dict[str, str]:
    """The variables by which a worker reaches a server."""
    return {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "a-secret-of-the-test",
        "AWS_REGION": "us-east-1",
    }


def worker_environment(address: str) -> dict[str, str]:
    """The environment of a worker in a process of its own."""
    return {**os.environ, **s3_environment(address)}


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
