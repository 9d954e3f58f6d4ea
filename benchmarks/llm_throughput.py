"""How many texts a second are written, against a provider that takes half a second for each.

    python -m benchmarks.llm_throughput [--concurrency N ...] [--rounds N] [--delay SECONDS]

The provider is `benchmarks.plain_provider`, on loopback and in a process of
its own. `ideal` is concurrency / delay; each figure is a ratio to it, of
`rounds` x concurrency calls:

- litellm: `litellm.acompletion` alone, with the arguments that our backend sends
- backend: our backend in one process: pins, limits, turns, the answer checked, its cost counted
- written: `write_all` in one process: each attempt reserved and settled in the ledger on disk, the answer read, the
  cache filled
- shared: the same with worker processes, which start by themselves once calls keep a core busy

`whole` is over all of a run, with the first call, which goes alone, and the
start of workers; `steady` over the answers between half and nine tenths of it.
Then the processor time of a call in one process, with no delay. The paths take
turns, so that whatever else the machine does falls on all; of CPU time the
median turn is told. Prints tables, and a JSON line.
"""

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from benchmarks.plain_provider import PlainProvider
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.answer_shapes import answer_tool
from codesum_pipeline.texts.llm.backends import LiteLlmBackend
from codesum_pipeline.texts.llm.call_workers import CallLoad
from codesum_pipeline.texts.llm.checking import AnswerBounds
from codesum_pipeline.texts.llm.conversation import WritingTask
from codesum_pipeline.texts.llm.ledger import Caps, open_ledger
from codesum_pipeline.texts.llm.litellm_calls import arguments_of
from codesum_pipeline.texts.llm.litellm_door import litellm_client
from codesum_pipeline.texts.llm.pins import SummaryRequest
from codesum_pipeline.texts.llm.prices import price_of, tokens_upper
from codesum_pipeline.texts.llm.text_cache import AnswerCache
from codesum_pipeline.texts.llm.writing_run import write_all
from codesum_pipeline_tests.support.llm_requests import KEY, KEY_VARIABLE, MODEL, prompt_for, request_for, templates

CONCURRENCIES = (8, 32, 64, 128)
STEADY = (0.5, 0.9)
# CPU time is measured in so many turns of so many calls.
TURNS = 5
CALLS_PER_TURN = 200
CPU_CONCURRENCY = 16
# About as long as the functions that a model is asked about.
BODY = "".join(f"    total += prices[{line}] * amounts[{line}]  # of order\n" for line in range(20))

# When each answer was there.
Moments = list[float]
Run = Callable[[LlmSettings, int, Moments], None]


@dataclass(frozen=True)
class Spent:
    """What a number of calls took, and how many a second there were in the middle of it."""

    wall_s: float
    cpu_s: float
    steady_per_s: float


def make_source(number: int) -> str:
    return f"def total_{number}(prices, amounts):\n    total = 0\n{BODY}    return total\n"


def run_litellm(settings: LlmSettings, calls: int, moments: Moments) -> None:
    """No backend, no pins, no limits."""
    litellm = litellm_client()
    tool = answer_tool(Level.FUNCTION)

    async def ask(request: SummaryRequest) -> Any:
        return await litellm.acompletion(
            **arguments_of(request, templates()[Level.FUNCTION], tool),
            api_base=settings.api_base,
            api_key=KEY,
            timeout=settings.timeout_s,
            num_retries=0,
            max_retries=0,
        )

    asyncio.run(_ask_all(ask, settings.concurrency, calls, litellm.close_litellm_async_clients, moments))


def run_backend(settings: LlmSettings, calls: int, moments: Moments) -> None:
    """Through the backend, and no book is kept."""
    litellm_backend = LiteLlmBackend(settings, templates(), CallLoad(cores=1))
    asyncio.run(_ask_all(litellm_backend.summarize, settings.concurrency, calls, litellm_backend.aclose, moments))


def run_writing(settings: LlmSettings, calls: int, moments: Moments) -> None:
    _write_texts(settings, calls, moments, CallLoad(cores=1))


def run_shared(settings: LlmSettings, calls: int, moments: Moments) -> None:
    _write_texts(settings, calls, moments, CallLoad())


def _write_texts(settings: LlmSettings, calls: int, moments: Moments, load: CallLoad) -> None:
    """As an index is built: from tasks to texts in the cache."""
    system = templates()[Level.FUNCTION].system
    tasks = [
        WritingTask(
            id=f"a.py::total_{number}",
            level=Level.FUNCTION,
            template_blake3=templates()[Level.FUNCTION].digest,
            prompt=(prompt := prompt_for(Level.FUNCTION, make_source(number))),
            bounds=AnswerBounds(Level.FUNCTION, line_count=make_source(number).count("\n")),
            exact_key=f"exact-{number}",
            body_key=f"body-{number}",
            context=None,
            prompt_tokens_upper=tokens_upper(system, prompt),
        )
        for number in range(calls)
    ]
    with tempfile.TemporaryDirectory() as folder:
        cache = AnswerCache(Path(folder) / "cache", now=_now)
        with open_ledger(Path(folder) / "state.sqlite", run_id="measured", now=_now) as ledger:
            outcomes = write_all(
                tasks,
                new_backend=lambda: LiteLlmBackend(settings, templates(), load),
                ledger=ledger,
                cache=cache,
                caps=Caps(calls, None),
                price_of=lambda model: price_of(model, settings),
                settings=settings,
                progress=lambda _of, _done, _count: moments.append(time.perf_counter()),
            )
    unwritten = [outcome.failure for outcome in outcomes if outcome.text is None]
    assert not unwritten, unwritten[:3]


PATHS: dict[str, Run] = {"litellm": run_litellm, "backend": run_backend, "written": run_writing, "shared": run_shared}


async def _ask_all(
    ask: Callable[[SummaryRequest], Awaitable[Any]],
    concurrency: int,
    calls: int,
    close: Callable[[], Awaitable[None]],
    moments: Moments,
) -> None:
    """`concurrency` askers, each of whom asks for one after another."""
    numbers = iter(range(calls))

    async def one_after_another() -> None:
        for number in numbers:
            await ask(request_for(source=make_source(number)))
            moments.append(time.perf_counter())

    await asyncio.gather(*[one_after_another() for _ in range(concurrency)])
    await close()


def _now() -> datetime:
    return datetime.now(UTC)


def measure_run(run: Run, settings: LlmSettings, calls: int) -> Spent:
    """What a run took; its first call, which loads what is loaded once, was made before."""
    moments: Moments = []
    wall, cpu = time.perf_counter(), time.process_time()
    run(settings, calls, moments)
    wall_s, cpu_s = time.perf_counter() - wall, time.process_time() - cpu
    first, last = (int(part * (calls - 1)) for part in STEADY)
    return Spent(wall_s, cpu_s, (last - first) / (moments[last] - moments[first]) if last > first else 0.0)


def measure_throughput(
    settings: LlmSettings, concurrencies: list[int], rounds: int, delay_s: float, provider: psutil.Process
) -> dict[str, list[tuple[float, float]]]:
    """By path, the ratios to the ideal at each concurrency: of the whole run, and of its steady part."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in PATHS}
    for concurrency in concurrencies:
        ideal, calls = concurrency / delay_s, rounds * concurrency
        for name, run in PATHS.items():
            before = sum(provider.cpu_times()[:2])
            took = measure_run(run, settings.model_copy(update={"concurrency": concurrency}), calls)
            provider_ms = (sum(provider.cpu_times()[:2]) - before) / calls * 1000
            found[name].append((round(calls / took.wall_s / ideal, 3), round(took.steady_per_s / ideal, 3)))
            whole, steady = found[name][-1]
            print(
                f"{name:8} concurrency {concurrency:4} {calls / took.wall_s:6.1f} calls/s, steady "
                f"{took.steady_per_s:6.1f}: {whole:.2f} and {steady:.2f} of ideal; CPU a call, ms: "
                f"{took.cpu_s / calls * 1000:.1f} here, {provider_ms:.2f} of the provider",
                flush=True,
            )
    return found


def measure_cpu_ms(settings: LlmSettings) -> dict[str, float]:
    """By path in one process, the median over turns."""
    alone = {name: run for name, run in PATHS.items() if run is not run_shared}
    turns: dict[str, list[float]] = {name: [] for name in alone}
    for _ in range(TURNS):
        for name, run in alone.items():
            took = measure_run(run, settings.model_copy(update={"concurrency": CPU_CONCURRENCY}), CALLS_PER_TURN)
            turns[name].append(took.cpu_s / CALLS_PER_TURN * 1000)
    return {name: round(statistics.median(values), 2) for name, values in turns.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--concurrency", type=int, nargs="+", default=list(CONCURRENCIES))
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--delay", type=float, default=0.5)
    arguments = parser.parse_args()
    os.environ[KEY_VARIABLE] = KEY
    base = LlmSettings(enabled=True, model=MODEL, api_key_env=KEY_VARIABLE)
    with PlainProvider(delay_s=0.0) as quick, PlainProvider(delay_s=arguments.delay) as slow:
        at_once, waiting = (
            base.model_copy(update={"api_base": quick.base}),
            base.model_copy(update={"api_base": slow.base}),
        )
        for run in PATHS.values():
            run(at_once, 1, [])
        ratios = measure_throughput(
            waiting, arguments.concurrency, arguments.rounds, arguments.delay, psutil.Process(slow.process.pid)
        )
        cpu = measure_cpu_ms(at_once)
    print("CPU per call, ms:", ", ".join(f"{name} {value}" for name, value in cpu.items()))
    print(json.dumps({"concurrency": arguments.concurrency, "ratio_to_ideal": ratios, "cpu_ms_per_call": cpu}))


if __name__ == "__main__":
    main()
