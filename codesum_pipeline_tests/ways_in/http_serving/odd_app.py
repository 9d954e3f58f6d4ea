"""`python -m codesum_pipeline_tests.ways_in.http_serving.odd_app LIMITS` serves an application that can go wrong.

LIMITS are those of a server, as JSON. The port is printed.
"""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from codesum_pipeline.foundation.settings.operation_settings import ServingSettings
from codesum_pipeline.ways_in.http_serving.access_tokens import Address
from codesum_pipeline.ways_in.http_serving.http_server import listen_on, serve_app
from codesum_pipeline_tests.support.settings import changed

LARGE = 4 << 20


async def client(request: Request) -> Response:
    return JSONResponse([*(request.client or ()), request.url.scheme])


async def length(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def unread(_: Request) -> Response:
    return PlainTextResponse("answered without the body")


def spin(_: Request) -> Response:
    """Runs in a thread, and never ends."""
    while True:
        pass


def freeze(_: Request) -> Response:
    """The thread never gives the interpreter's lock back."""
    re.match(r"(a+)+$", "a" * 60 + "b")
    raise AssertionError("not in this life")


def child(request: Request) -> Response:
    """A process, perhaps in a session of its own, which ignores that it should end."""
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(600)"
    started = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session="alone" in request.query_params
    )
    assert started.stdout
    started.stdout.readline()
    return PlainTextResponse(str(started.pid))


async def stream(_: Request) -> Response:
    async def parts() -> AsyncIterator[bytes]:
        while True:
            yield b"data: still here\n\n"
            await asyncio.sleep(0.05)

    return StreamingResponse(parts(), media_type="text/event-stream")


async def large(_: Request) -> Response:
    return PlainTextResponse(b"x" * LARGE)


async def repeat(socket: WebSocket) -> None:
    await socket.accept()
    try:
        while True:
            await socket.send_text(str(len(await socket.receive_text())))
    except WebSocketDisconnect:
        return


APP = Starlette(
    routes=[
        Route("/", client),
        Route("/length", length, methods=["POST"]),
        Route("/unread", unread, methods=["POST"]),
        Route("/spin", spin),
        Route("/freeze", freeze),
        Route("/child", child),
        Route("/stream", stream),
        Route("/large", large),
        WebSocketRoute("/repeat", repeat),
    ]
)

if __name__ == "__main__":
    bound, address = listen_on(Address("127.0.0.1", 0))
    sys.stdout.write(f"{address.port}\n")
    sys.stdout.flush()
    serve_app(APP, bound, changed(ServingSettings(), **json.loads(sys.argv[1])), has_websockets=True)
