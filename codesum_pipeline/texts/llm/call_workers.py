"""Calls made in worker processes: a request goes out over a socket, its answer or why there is none comes back.

A worker imports LiteLLM, reads the settings and makes calls. It decides nothing and writes nothing down; keys come with
the environment and go to providers alone. When it ends, the calls that it was making count as sent and
interrupted, as after a lost connection, and the others go on without it. Workers are started once the processor is
what calls wait for.
"""

import asyncio
import gc
import logging
import os
import pickle
import socket
import subprocess
import time
import traceback
from asyncio import Future, StreamReader, StreamWriter
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.errors import CallFailure, SummaryCallFailed
from codesum_pipeline.foundation.data_model.guard import describe_error
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.foundation.worker_processes.child import start_child
from codesum_pipeline.foundation.worker_processes.pool import worker_count
from codesum_pipeline.texts.llm.backend import Templates
from codesum_pipeline.texts.llm.litellm_calls import LiteLlmCalls
from codesum_pipeline.texts.llm.litellm_door import litellm_client, without_secrets
from codesum_pipeline.texts.llm.pins import SummaryRequest, SummaryResponse
from codesum_pipeline.texts.llm.sent_requests import note_sent

# Below this share of a core one process reaches nine tenths of what is possible; above it, calls wait for each other.
_BUSY = 0.6
_WINDOW_S = 1.0
# About the processor time in which a worker imports LiteLLM: a run that ends just then has lost no more than that.
_PAYS_AFTER_S = 3.0

Clock = Callable[[], float]


class CallLoad(Struct):
    """How busy this process has been since its first call was over; a single core is not shared."""

    busy: float = _BUSY
    pays_after_s: float = _PAYS_AFTER_S
    cores: int = field(default_factory=worker_count)
    wall: Clock = time.monotonic
    cpu: Clock = time.process_time
    _window: tuple[float, float] | None = None
    _busy_s: float = 0.0

    def needs_workers(self) -> bool:
        """Whether this process was busy as long as a start takes, without a break; to be called after each call."""
        now = self.wall()
        if self._window is None:
            # What came before was the import of LiteLLM.
            self._window = now, self.cpu()
        since, cpu_then = self._window
        if now - since >= _WINDOW_S:
            cpu = self.cpu()
            is_busy = cpu - cpu_then >= self.busy * (now - since)
            self._busy_s = self._busy_s + now - since if is_busy else 0.0
            self._window = now, cpu
        return self.cores > 1 and self._busy_s >= self.pays_after_s


# Each does a hundred or two hundred calls a second: more of them would wait for the process that keeps the books.
_WORKERS = 2
# A worker keeps the time-out of a call; this is for one that is itself stopped.
_GRACE_S = 30.0
# Between the end of its socket and its own.
_END_S = 10.0
_log = logging.getLogger(__name__)


class CallFault(Exception):
    """An unexpected error in a worker; its traceback is in the notes."""


class CallWorkers:
    """The workers of one event loop, which start when this is made: one after the other, for an import takes a core.
    `starting` ends when all are ready or have ended."""

    def __init__(self, settings: LlmSettings, templates: Templates) -> None:
        _log.info("LiteLLM keeps a core busy: %d processes share its calls", _WORKERS)
        self._workers: list[_CallProcess] = []
        self.starting = asyncio.create_task(self._start(settings, dict(templates)))

    @property
    def are_ready(self) -> bool:
        """Whether one can take a call."""
        return any(worker.is_ready for worker in self._workers)

    async def ask(self, request: SummaryRequest) -> SummaryResponse:
        """The answer to a request, by the worker with the fewest calls; raises `SummaryCallFailed` and `CallFault`."""
        ready = [worker for worker in self._workers if worker.is_ready]
        return await min(ready, key=lambda worker: worker.under_way).ask(request)

    async def aclose(self) -> None:
        """End the workers, whatever they are doing."""
        self.starting.cancel()
        await asyncio.gather(self.starting, *(worker.aclose() for worker in self._workers), return_exceptions=True)

    async def _start(self, settings: LlmSettings, templates: Templates) -> None:
        for _ in range(_WORKERS):
            try:
                worker = _CallProcess(settings, templates)
            except OSError as error:
                _log.warning("no process can be started to share the calls: %s", error)
                return
            self._workers.append(worker)
            await worker.has_started.wait()


class _CallProcess:
    """One worker process, and the calls that it makes."""

    def __init__(self, settings: LlmSettings, templates: Templates) -> None:
        self.is_ready = False
        # Or will never be ready.
        self.has_started = asyncio.Event()
        self._timeout_s = settings.timeout_s + _GRACE_S
        self._numbers = count()
        self._calls: dict[int, Future[SummaryResponse]] = {}
        self._process, self._socket = start_child(__name__)
        self._writer: StreamWriter | None = None
        self._hearing = asyncio.create_task(self._hear(settings, templates))

    @property
    def under_way(self) -> int:
        return len(self._calls)

    async def ask(self, request: SummaryRequest) -> SummaryResponse:
        assert self._writer is not None, "it is ready"
        number = next(self._numbers)
        answer: Future[SummaryResponse] = asyncio.get_running_loop().create_future()
        self._calls[number] = answer
        try:
            note_sent()
            send_value(self._writer, (number, request))
            async with asyncio.timeout(self._timeout_s):
                return await answer
        except TimeoutError:
            # It would have the fewest calls for ever.
            self._process.kill()
            raise SummaryCallFailed(
                f"{request.model_name}: the worker process does not answer", failure=CallFailure.TIMEOUT
            ) from None
        except _CallProcessGone as ended:
            raise SummaryCallFailed(
                f"{request.model_name}: the worker process ended {ended}", failure=CallFailure.CONNECTION
            ) from None
        finally:
            del self._calls[number]

    async def aclose(self) -> None:
        self._hearing.cancel()
        await asyncio.gather(self._hearing, return_exceptions=True)
        # Nothing was heard where it ends before it began to listen.
        self._end()

    async def _hear(self, settings: LlmSettings, templates: Templates) -> None:
        """Give each answer to who waits for it, until the process ends or is to end."""
        try:
            reader, self._writer = await asyncio.open_unix_connection(sock=self._socket)
            send_value(self._writer, (settings, templates))
            await receive_value(reader)
            self.is_ready = True
            self.has_started.set()
            while True:
                number, result = await receive_value(reader)
                waiting = self._calls.get(number)
                # The caller may be gone.
                if waiting is None or waiting.done():
                    continue
                if isinstance(result, Exception):
                    waiting.set_exception(result)
                else:
                    waiting.set_result(result)
        except (EOFError, ConnectionError):
            self.is_ready = False
            how = await asyncio.to_thread(self._how_it_ended)
            _log.warning("a process that shared the calls to the model ended %s: the others go on", how)
            self._lose(how)
        finally:
            self._end()

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._lose("with this one")
        (self._writer or self._socket).close()

    def _lose(self, how: str) -> None:
        self.is_ready = False
        self.has_started.set()
        for waiting in self._calls.values():
            if not waiting.done():
                waiting.set_exception(_CallProcessGone(how))

    def _how_it_ended(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            status = self._process.wait(_END_S)
            return f"with status {status}" if status >= 0 else f"by signal {-status}"
        return "its connection"


class _CallProcessGone(Exception):
    """The process ended before it answered; says how."""


_LENGTH_BYTES = 4


def send_value(writer: StreamWriter, value: Any) -> None:
    """Write one value; `receive_value` reads it."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    writer.write(len(data).to_bytes(_LENGTH_BYTES) + data)


async def receive_value(reader: StreamReader) -> Any:
    """Read one value; raises `EOFError` if there are no more, and `ConnectionError`."""
    length = int.from_bytes(await reader.readexactly(_LENGTH_BYTES))
    return pickle.loads(await reader.readexactly(length))


def main(descriptor: int) -> None:
    """What a worker does: it serves over an inherited socket until that ends, as it does when its parent ends."""
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
    calls = LiteLlmCalls(*await receive_value(reader))
    send_value(writer, None)
    under_way: set[asyncio.Task[None]] = set()
    while True:
        number, request = await receive_value(reader)
        call = asyncio.create_task(_answer(calls, writer, number, request))
        under_way.add(call)
        call.add_done_callback(under_way.discard)


async def _answer(calls: LiteLlmCalls, writer: StreamWriter, number: int, request: SummaryRequest) -> None:
    result: SummaryResponse | Exception
    try:
        result = await calls.ask(request)
    except SummaryCallFailed as failure:
        result = failure
    except Exception as error:
        # Its caller raises it again.
        result = CallFault(without_secrets(describe_error(error)))
        result.add_note(without_secrets(traceback.format_exc()))
    send_value(writer, (number, result))
