"""What people are told of a bucket that does not do what it is asked."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType

import pytest

from codesum_pipeline.foundation.data_model.errors import BucketUnavailable, CodesumError, ConfigurationError
from codesum_pipeline.foundation.store.object_storage.objects import Objects, open_objects
from codesum_pipeline_tests.support.moto_server import s3_environment

ASK: MappingProxyType[str, Callable[[Objects], object]] = MappingProxyType(
    {
        "listing": lambda objects: [*objects.infos("home/")],
        "reading": lambda objects: objects.get("name"),
        "writing": lambda objects: objects.put("name", b"some"),
        "creating": lambda objects: objects.create("name", b"some"),
    }
)
ANSWERS = {
    "/wrong-key": (403, "InvalidAccessKeyId"),
    "/not-there": (404, "NoSuchBucket"),
    "/busy": (503, "SlowDown"),
}


class Refusing(BaseHTTPRequestHandler):
    """Answers each request by the bucket that it names."""

    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, code = next(answer for path, answer in ANSWERS.items() if self.path.startswith(path))
        body = f'<?xml version="1.0"?>\n<Error><Code>{code}</Code></Error>'.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_DELETE = _answer  # noqa: N815

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
@pytest.mark.parametrize(
    ("bucket", "kind", "reason", "told"),
    [
        (
            "wrong-key",
            ConfigurationError,
            ": no or wrong credentials: check those in the environment",
            "InvalidAccessKeyId",
        ),
        (
            "not-there",
            ConfigurationError,
            "s3://not-there/home: there is no such bucket: create it",
            "or name another home",
        ),
        (
            "busy",
            BucketUnavailable,
            "now: try again later; if it stays so, check the endpoint and the network: ",
            "SlowDown",
        ),
    ],
)
def test_whatever_is_asked_the_bucket_the_reason_and_the_way_out_are_told(
    ask: Callable[[Objects], object],
    bucket: str,
    kind: type[CodesumError],
    reason: str,
    told: str,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in s3_environment(address).items():
        monkeypatch.setenv(name, value)
    objects = open_objects(f"s3://{bucket}/home", retry_s=0)

    with pytest.raises(kind) as raised:
        ask(objects)

    message = str(raised.value)
    assert f"s3://{bucket}/home" in message
    assert reason in message
    assert "\n" not in message
    assert message.endswith(told)
    assert "prefix=" not in message
