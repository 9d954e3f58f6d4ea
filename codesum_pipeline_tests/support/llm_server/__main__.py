"""Serve until told to stop; the first line of output is the port."""

import argparse
import asyncio
import signal
from importlib import import_module
from pathlib import Path

from aiohttp import web

from codesum_pipeline_tests.support.llm_server.behaviours import Answers, Script
from codesum_pipeline_tests.support.llm_server.model_requests import ModelRequest
from codesum_pipeline_tests.support.llm_server.process import RequestLog
from codesum_pipeline_tests.support.llm_server.serving import application, start


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m codesum_pipeline_tests.support.llm_server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--log", type=Path, help="a file to which each request and answer is appended as a line")
    parser.add_argument("--delay", type=float, default=0.0, metavar="SECONDS", help="before each good answer")
    parser.add_argument("--script", metavar="MODULE:FUNCTION", help="what to do with each request")
    options = parser.parse_args()
    script = _named(options.script) if options.script else lambda _request: Answers(delay_s=options.delay)
    asyncio.run(_serve(options.port, options.log, script))


def _named(name: str) -> Script:
    module, _, function = name.partition(":")
    script: Script = getattr(import_module(module), function)
    return script


async def _serve(port: int, log: Path | None, script: Script) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    kept = RequestLog(log) if log is not None else None
    saw, answered = (kept.saw, kept.answered) if kept else (_ignore, _ignore)
    runner, port = await start(application(script, saw, answered), port)
    print(port, flush=True)  # noqa: T201 - whoever started it waits for this line
    await stop.wait()
    await runner.cleanup()


def _ignore(_request: ModelRequest, _response: web.StreamResponse | None = None) -> None:
    """Nobody wants to know."""


if __name__ == "__main__":
    main()
