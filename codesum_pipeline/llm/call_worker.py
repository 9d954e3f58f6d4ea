"""The process that makes calls for another one, which holds the other end of a socket.

It imports LiteLLM, reads the settings, and answers requests until the socket
ends, as it does when its parent ends. Keys come with the environment and go
to providers alone.
"""

import asyncio
import gc
import os
import pickle
import socket
import traceback
from asyncio import StreamReader, StreamWriter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct

from codesum_pipeline.llm.litellm_calls import LiteLlmCalls
from codesum_pipeline.llm.litellm_door import litellm_client, without_secrets
from codesum_pipeline.llm.pins import SummaryRequest, SummaryResponse
from codesum_pipeline.llm.templates import ResolvedTemplate
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import SummaryCallFailed
from codesum_pipeline.model.guard import told
from codesum_pipeline.settings.llm import LlmSettings

_LENGTH_BYTES = 4


class WorkerSetup(Struct, frozen=True):
    """The first message to a worker."""

    settings: LlmSettings
    templates: Mapping[Level, ResolvedTemplate]


class Fault(Struct, frozen=True):
    """An unexpected error in one line, and its traceback."""

    told: str
    traceback: str


def send(writer: StreamWriter, value: Any) -> None:
    """Write one value; `receive` reads it."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    writer.write(len(data).to_bytes(_LENGTH_BYTES) + data)


async def receive(reader: StreamReader) -> Any:
    """Read one value; raises `EOFError` where there are no more, and `ConnectionError`."""
    length = int.from_bytes(await reader.readexactly(_LENGTH_BYTES))
    return pickle.loads(await reader.readexactly(length))


def main(descriptor: int) -> None:
    """Serve over an inherited socket."""
    # The output of the command is its parent's alone.
    os.dup2(2, 1)
    # Importing makes a million objects and little garbage.
    gc.disable()
    litellm_client()
    gc.freeze()
    gc.enable()
    with suppress(EOFError, ConnectionError):
        asyncio.run(_serve(socket.socket(fileno=descriptor)))
    os._exit(0)


async def _serve(parent: socket.socket) -> None:
    reader, writer = await asyncio.open_unix_connection(sock=parent)
    setup: WorkerSetup = await receive(reader)
    calls = LiteLlmCalls(setup.settings, setup.templates)
    send(writer, None)
    under_way: set[asyncio.Task[None]] = set()
    while True:
        number, request = await receive(reader)
        call = asyncio.create_task(_answer(calls, writer, number, request))
        under_way.add(call)
        call.add_done_callback(under_way.discard)


async def _answer(calls: LiteLlmCalls, writer: StreamWriter, number: int, request: SummaryRequest) -> None:
    said: SummaryResponse | SummaryCallFailed | Fault
    try:
        said = await calls.ask(request)
    except SummaryCallFailed as failure:
        said = failure
    except Exception as error:
        # Its caller raises it again.
        said = Fault(without_secrets(told(error)), without_secrets(traceback.format_exc()))
    send(writer, (number, said))
