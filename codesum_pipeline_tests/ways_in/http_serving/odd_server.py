"""The server of `odd_app` as a process of its own."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codesum_pipeline_tests.support.attacking import Target
from codesum_pipeline_tests.support.commands import environment


@dataclass(frozen=True)
class OddServer:
    process: "subprocess.Popen[str]"
    target: Target
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.target.port}"


@contextmanager
def odd_server(folder: Path, **limits: object) -> Iterator[OddServer]:
    """With these limits, else the defaults."""
    log = folder / "server.log"
    command = [sys.executable, "-m", "codesum_pipeline_tests.ways_in.http_serving.odd_app", json.dumps(limits)]
    with (
        log.open("w") as output,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=output, text=True, env=environment()) as process,
    ):
        try:
            assert process.stdout
            port = int(process.stdout.readline())
            yield OddServer(process, Target(port, post="/length", page="/large", websocket="/repeat"), log)
        finally:
            process.kill()
