"""Submodules of a repository on a server: who asks for them, and what a server that refuses costs.

A real server on loopback speaks git's protocol over https; it shows one of its repositories only to who has a token.
"""

import base64
import http.server
import os
import ssl
import subprocess
import threading

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.file import Submodule
from codesum_pipeline.foundation.settings.stage_settings import ScanSettings
from codesum_pipeline.source.files.snapshot import take_snapshot
from codesum_pipeline.source.git.locations import named_locations
from codesum_pipeline_tests.support.repositories import GitRepo

TOKEN = "t0ken"
_WANTED = "Basic " + base64.b64encode(f"me:{TOKEN}".encode()).decode()


class _Git(http.server.BaseHTTPRequestHandler):
    """Answers by git's own program; `private` asks for the token, and `seen` are the paths of requests that had one."""

    def do_GET(self):
        self._answer(b"")

    def do_POST(self):
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _answer(self, body):
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

    def log_message(self, *_):
        """Nothing is printed."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificate")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture
def server(tmp_path, certificate, monkeypatch):
    """`team/app` with the submodules `lib`, `private` and `gone`, each beside it."""
    monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate / "cert.pem"))
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    (tmp_path / "me").mkdir()
    (tmp_path / "me/.netrc").write_text(f"machine 127.0.0.1 login me password {TOKEN}\n")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Git)
    served.seen, served.root = [], tmp_path / "served"
    served.socket = context.wrap_socket(served.socket, server_side=True)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    app = GitRepo.create(tmp_path / "made/app", {"a.py": "x = 1\n"})
    lines = []
    for name in ("lib", "private", "gone"):
        made = GitRepo.create(tmp_path / f"made/{name}", {f"{name}.py": "y = 1\n"})
        pinned = made.git("rev-parse", "HEAD").strip()
        made.commit({f"{name}.py": "y = 2\n"})
        app.git("update-index", "--add", "--cacheinfo", f"160000,{pinned},third/{name}")
        lines.append(f'[submodule "{name}"]\n\tpath = third/{name}\n\turl = ../{name}.git\n')
    app.write({".gitmodules": "".join(lines)})
    app.git("add", ".gitmodules")
    app.git("commit", "-q", "-m", "submodules")
    for name in ("app", "lib", "private"):
        target = served.root / f"team/{name}.git"
        subprocess.run(["git", "clone", "-q", "--bare", tmp_path / f"made/{name}", target], check=True)
    yield served
    served.shutdown()
    served.server_close()


def place(server, name="app"):
    return f"127.0.0.1:{server.server_port}/team/{name}.git"


def indexed(ws):
    rows = ws.tables.read("files", ws.key).to_pylist()
    return {row["path"] for row in rows if row["status"] == "indexed"}


def test_a_submodule_is_asked_for_as_nobody_and_one_that_is_refused_stops_no_other(server, make_source_workspace):
    ws = make_source_workspace(f"https://me:{TOKEN}@{place(server)}", submodules=True)
    report = take_snapshot(ws)

    assert indexed(ws) == {"a.py", ".gitmodules", "third/lib/lib.py"}
    assert {failure.item: failure.is_settled for failure in report.failures} == {
        "third/private": False, "third/gone": False
    }  # fmt: skip
    # Neither the token of the repository's own address, nor that of the user's file.
    assert not [path for path in server.seen if "/app.git" not in path]
    assert TOKEN not in "".join(failure.reason for failure in report.failures)
    found = {each.path: each for each in ws.tables.read_rows("submodules", ws.key, Submodule)}
    assert (found["third/lib"].address, found["third/lib"].is_indexed) == (f"https://{place(server, 'lib')}", True)


def test_a_token_opens_one_that_it_names(server, make_source_workspace):
    named = named_locations([f"https://me:{TOKEN}@{place(server, 'private')}"])
    ws = replace(make_source_workspace(f"https://{place(server)}", submodules=True), named=named)
    take_snapshot(ws)

    assert {"third/private/private.py", "third/lib/lib.py"} <= indexed(ws)
    assert {path.split("/")[2] for path in server.seen} == {"private.git"}


def test_one_that_comes_back_is_indexed_by_the_next_build_as_by_a_clean_one(server, make_source_workspace, tmp_path):
    ws = make_source_workspace(f"https://{place(server)}", submodules=True)
    take_snapshot(ws)
    subprocess.run(["git", "clone", "-q", "--bare", tmp_path / "made/gone", server.root / "team/gone.git"], check=True)
    report = take_snapshot(ws)

    assert "third/gone/gone.py" in indexed(ws)
    clean = make_source_workspace(f"https://{place(server)}", home="clean", submodules=True)
    assert take_snapshot(clean).table_hash == report.table_hash


def test_offline_what_was_fetched_stays_indexed(server, make_source_workspace):
    take_snapshot(make_source_workspace(f"https://{place(server)}", submodules=True))
    asked = len(server.seen)
    ws = make_source_workspace(f"https://{place(server)}", submodules=True, scan=ScanSettings(offline=True))
    report = take_snapshot(ws)

    assert "third/lib/lib.py" in indexed(ws)
    assert {failure.item for failure in report.failures} == {"third/private", "third/gone"}
    assert len(server.seen) == asked


def test_a_commit_that_the_server_does_not_have_is_named_and_tried_again(server, make_source_workspace, tmp_path):
    app = GitRepo(tmp_path / "made/app")
    app.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},third/lib")
    app.git("commit", "-q", "-m", "not pushed there")
    app.git("push", "-q", str(server.root / "team/app.git"), "main")
    report = take_snapshot(make_source_workspace(f"https://{place(server)}", submodules=True))

    (failure,) = [failure for failure in report.failures if failure.item == "third/lib"]
    assert "does not give out commit 111111111111" in failure.reason
    assert not failure.is_settled
