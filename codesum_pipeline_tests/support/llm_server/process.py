"""The server as a process of its own, which outlives the clients that a test kills."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from codesum_pipeline_tests.support.llm_server.model_requests import ModelRequest


@dataclass(frozen=True)
class Logged:
    """One request as the log has it. `answer` is None where the client was gone before the answer was."""

    number: int
    body: dict[str, Any]
    status: int | None = None
    answer: dict[str, Any] | None = None


class RequestLog:
    """A file of lines: each request when it came, and again when its answer was ready to be sent."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8", buffering=1)

    def saw(self, request: ModelRequest) -> None:
        self._write({"number": request.number, "body": request.body})

    def answered(self, request: ModelRequest, response: web.StreamResponse) -> None:
        body = response.body if isinstance(response, web.Response) else None
        answer = None
        if isinstance(body, bytes) and response.content_type == "application/json":
            answer = json.loads(body)
        self._write({"number": request.number, "status": response.status, "answer": answer})

    def _write(self, row: dict[str, Any]) -> None:
        self._file.write(json.dumps(row) + "\n")


def read_log(path: Path) -> list[Logged]:
    """The requests in the order in which they came."""
    rows: dict[int, dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        rows.setdefault(row["number"], {}).update(row)
    return [Logged(**rows[number]) for number in sorted(rows)]


class ServerProcess:
    """A server process for the time of a `with` block. `script` names one: `module:function`."""

    def __init__(self, *, log: Path | None = None, delay_s: float = 0.0, script: str | None = None) -> None:
        self._arguments = ["--delay", str(delay_s)]
        if log is not None:
            self._arguments += ["--log", str(log)]
        if script is not None:
            self._arguments += ["--script", script]

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "codesum_pipeline_tests.support.llm_server", *self._arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        return self

    @property
    def base(self) -> str:
        """The `api_base` of an OpenAI-compatible provider."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)
        if self.process.stdout is not None:
            self.process.stdout.close()
