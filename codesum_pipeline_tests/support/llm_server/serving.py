"""The server itself: one event loop in a thread of its own, and a log of what it was asked."""

import asyncio
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from codesum_pipeline_tests.support.llm_server.behaviours import Script, always_well
from codesum_pipeline_tests.support.llm_server.model_requests import ModelRequest, Wire

_LARGEST_REQUEST = 64 * 1024 * 1024


def application(
    script: Script, saw: Callable[[ModelRequest], None], answered: Callable[[ModelRequest, Any], None]
) -> web.Application:
    """The paths of both formats. `saw` hears of a request before it is treated, `answered` after the last byte."""
    count = 0

    async def handle(connection: web.Request) -> web.StreamResponse:
        nonlocal count
        body = await connection.json()
        count += 1
        headers = {name.lower(): value for name, value in connection.headers.items()}
        request = ModelRequest(count, Wire("/v1/" + connection.path.partition("/v1/")[2]), headers, body)
        saw(request)
        response = await script(request).treat(request, connection)
        answered(request, response)
        return response

    app = web.Application(client_max_size=_LARGEST_REQUEST)
    app.add_routes([web.post(wire, handle) for wire in Wire])
    return app


async def start(app: web.Application, port: int) -> tuple[web.AppRunner, int]:
    """Serve on loopback; return what stops it and the port, which is free to choose for port 0."""
    # Handlers are cancelled when their client leaves, as a provider stops to write for nobody.
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024)
    await site.start()
    return runner, runner.addresses[0][1]


class ScriptedServer:
    """A server for the time of a `with` block. `script` may be set anew at any time."""

    def __init__(self, script: Script = always_well, *, port: int = 0) -> None:
        self.script = script
        self.seen: list[ModelRequest] = []
        self.port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="scripted-server", daemon=True)

    @property
    def base(self) -> str:
        """The `api_base` of an OpenAI-compatible provider."""
        return f"{self.root}/v1"

    @property
    def root(self) -> str:
        """The `api_base` of Anthropic's format."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        app = application(lambda request: self.script(request), self.seen.append, lambda _request, _response: None)
        self._runner, self.port = self._in_thread(start(app, self.port))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._in_thread(self._runner.cleanup())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _in_thread(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout=30)
