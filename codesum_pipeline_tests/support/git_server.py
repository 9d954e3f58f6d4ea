"""A git server on loopback, which speaks git's protocol over http, or over https with a certificate of its own."""

import base64
import http.server
import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TOKEN = "t0ken"
_WANTED = "Basic " + base64.b64encode(f"me:{TOKEN}".encode()).decode()


class GitRequests(http.server.BaseHTTPRequestHandler):
    """Answers by git's own program; `private` asks for the token, and `seen` are the paths of requests that had one."""

    server: "GitServer"

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _answer(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        if self.headers.get("Authorization"):
            self.server.seen.append(path)
        if path.startswith("/team/private") and self.headers.get("Authorization") != _WANTED:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        environment = {
            **os.environ, "GIT_PROJECT_ROOT": str(self.server.root), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
            "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
            "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }  # fmt: skip
        done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


class GitServer(http.server.ThreadingHTTPServer):
    """Serves the bare repositories below `root`; by https with a `certificate`, the folder of `make_certificate`."""

    def __init__(self, root: Path, certificate: Path | None = None) -> None:
        super().__init__(("127.0.0.1", 0), GitRequests)
        self.root, self.seen = root, list[str]()
        self.scheme = "https" if certificate else "http"
        if certificate:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
            self.socket = context.wrap_socket(self.socket, server_side=True)

    @property
    def address(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_port}"

    def serve(self, work_tree: Path, place: str) -> str:
        """Serve a clone of a repository; its address."""
        subprocess.run(["git", "clone", "-q", "--bare", work_tree, self.root / place], check=True)
        return f"{self.address}/{place}"

    @contextmanager
    def answering(self) -> Iterator["GitServer"]:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        try:
            yield self
        finally:
            self.shutdown()
            self.server_close()


def make_certificate(folder: Path) -> Path:
    """The folder with a certificate for 127.0.0.1, `cert.pem`, its `key.pem`, and `ca.pem` of the authority that gave
    it."""
    authority = ["-subj", "/CN=test authority", "-keyout", "ca.key", "-out", "ca.pem"]
    given = ["-CA", "ca.pem", "-CAkey", "ca.key", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    given += ["-addext", "basicConstraints=critical,CA:FALSE", "-keyout", "key.pem", "-out", "cert.pem"]
    for options in (authority, given):
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *options]
        subprocess.run(command, check=True, capture_output=True, cwd=folder)
    return folder
