"""A bundle is fetched over https alone, without the user's passwords, within a size and a time."""

import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.builds.bundles import bundle_download
from codesum_pipeline.builds.bundles.bundle_download import MOST_REDIRECTS, fetch_bundle
from codesum_pipeline.foundation.data_model.errors import BundleRefused, RepositoryUnavailable
from codesum_pipeline.foundation.settings.operation_settings import BundleSettings
from codesum_pipeline_tests.support.settings import changed

MB = 1 << 20


class Host(BaseHTTPRequestHandler):
    """Gives a bundle, redirects, gives too much, or is slow, by the path."""

    seen: list[dict[str, str]]
    elsewhere = ""

    def do_GET(self) -> None:
        self.seen.append({name.lower(): value for name, value in self.headers.items()})
        _, kind, *more = self.path.split("/")
        if kind == "hops":
            left = int(more[0])
            self._answer(302, {"Location": f"/hops/{left - 1}" if left else "/bundle"})
        elif kind == "to":
            self._answer(301, {"Location": {"http": "http://127.0.0.1:1/b", "file": "file:///etc/passwd"}[more[0]]})
        elif kind == "bundle":
            self._answer(200, {"Set-Cookie": "a=b"}, b"the bundle")
        elif kind == "large":
            self._answer(200, {"Content-Length": str(64 * MB)}, b"x")
        elif kind == "endless":
            self._answer(200, {})
            self._write_endlessly(b"x" * MB, 0.0)
        elif kind == "silent":
            time.sleep(float(more[0]))
            self._answer(200, {}, b"the bundle")
        elif kind == "slow":
            self._answer(200, {})
            self._write_endlessly(b"x", 0.05)
        else:
            self._answer(404, {}, b"no such thing")

    def _answer(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _write_endlessly(self, part: bytes, wait_s: float) -> None:
        try:
            while True:
                self.wfile.write(part)
                time.sleep(wait_s)
        except OSError:
            pass

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    file, key = folder / "cert.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    return file, key


@pytest.fixture
def host(
    certificate: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """The address of a host, and the headers of its requests; a password for it lies where git would find it."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password not-for-strangers\n")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate)
    handler = type("OneHost", (Host,), {"seen": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"https://127.0.0.1:{server.server_port}", handler.seen  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()


def test_a_bundle_is_fetched_through_redirects_without_passwords_or_cookies(
    host: tuple[str, list[dict[str, str]]], tmp_path: Path
) -> None:
    address, seen = host

    fetch_bundle(f"{address}/hops/{MOST_REDIRECTS - 1}", tmp_path / "bundle", BundleSettings())

    assert (tmp_path / "bundle").read_bytes() == b"the bundle"
    assert len(seen) == MOST_REDIRECTS + 1
    assert {"authorization", "cookie"}.isdisjoint(name for headers in seen for name in headers)


REFUSED = {
    "/hops/9": "it cannot be fetched: Exceeded maximum allowed redirects",
    "/to/http": "only https addresses without a password are fetched, not one of http://127.0.0.1",
    "/to/file": "only https addresses without a password are fetched, not one of file://",
    "/none": "the server answers 404: no bundle is there",
    "/large": r"it has more than 1 MB: raise bundles.max_mb",
    "/endless": r"it has more than 1 MB: raise bundles.max_mb",
    "/slow": r"its download took more than 0.3 s",
}


@pytest.mark.parametrize(("path", "message"), REFUSED.items(), ids=REFUSED)
def test_what_a_host_must_not_do_is_refused(
    host: tuple[str, list[dict[str, str]]], tmp_path: Path, path: str, message: str
) -> None:
    settings = changed(BundleSettings(max_mb=1), timeout_s=0.3 if path == "/slow" else 60)

    with pytest.raises(BundleRefused, match=f"^{host[0]}{path}: {message}"):
        fetch_bundle(f"{host[0]}{path}", tmp_path / "bundle", settings)


def test_a_host_may_be_silent_for_a_while(
    host: tuple[str, list[dict[str, str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle_download, "_SILENCE_S", 1.0)
    fetch_bundle(f"{host[0]}/silent/0.05", tmp_path / "bundle", BundleSettings())

    assert (tmp_path / "bundle").read_bytes() == b"the bundle"
    with pytest.raises(RepositoryUnavailable, match="it cannot be fetched: ReadTimeout: try again later"):
        fetch_bundle(f"{host[0]}/silent/5", tmp_path / "other", BundleSettings())


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1/b", "ftp://127.0.0.1/b", "https:///b", "https://me:secret@127.0.0.1/b"]
)
def test_an_address_that_is_not_asked_is_named_without_its_password(tmp_path: Path, address: str) -> None:
    with pytest.raises(BundleRefused, match="only https addresses without a password are fetched") as refused:
        fetch_bundle(address, tmp_path / "bundle", BundleSettings())

    assert "secret" not in str(refused.value)


def test_a_host_that_is_gone_or_unknown_is_asked_later(tmp_path: Path) -> None:
    with pytest.raises(RepositoryUnavailable, match=r"https://127.0.0.1:1/b: it cannot be fetched: .*try again later"):
        fetch_bundle("https://127.0.0.1:1/b", tmp_path / "bundle", BundleSettings())


def test_a_host_whose_certificate_nobody_vouches_for_is_not_asked(
    host: tuple[str, list[dict[str, str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")

    with pytest.raises(RepositoryUnavailable, match="certificate verify failed"):
        fetch_bundle(f"{host[0]}/bundle", tmp_path / "bundle", BundleSettings())

    assert host[1] == []
