"""How many texts a second are written, against a provider that takes half a second for each.

    python -m benchmarks.llm_throughput [--concurrency N ...] [--rounds N] [--delay SECONDS]

The provider is the scripted server of the tests, on loopback and in a process
of its own. `ideal` is concurrency / delay; each figure is a ratio to it, of
`rounds` x concurrency calls:

- litellm: `litellm.acompletion` alone, with the arguments that our backend sends
- backend: our backend: pins, limits, the answer checked, its cost counted
- written: `write_all`: each attempt reserved and settled in the ledger on disk, the answer read, the cache filled

Then the processor time of a call of each, with no delay. The three take turns,
so that whatever else the machine does falls on all; of CPU time the median
turn is told. Prints tables, and a JSON line.
"""

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from codesum_pipeline.llm.answers import answer_tool
from codesum_pipeline.llm.cache import AnswerCache
from codesum_pipeline.llm.checking import Shown
from codesum_pipeline.llm.conversation import WritingTask
from codesum_pipeline.llm.ledger import open_ledger
from codesum_pipeline.llm.litellm_backend import LiteLlmBackend
from codesum_pipeline.llm.litellm_door import litellm_client
from codesum_pipeline.llm.messages import arguments_of
from codesum_pipeline.llm.outcomes import Caps
from codesum_pipeline.llm.pins import SummaryRequest
from codesum_pipeline.llm.prices import price_of
from codesum_pipeline.llm.scheduling import write_all
from codesum_pipeline.llm.tokens import tokens_upper
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.options import LlmOptions
from codesum_pipeline_tests.llm.asking import KEY, KEY_VARIABLE, MODEL, prompt_for, request_for, templates
from codesum_pipeline_tests.llm.server import ServerProcess

CONCURRENCIES = (8, 32, 64, 128)
# CPU time is measured in so many turns of so many calls.
TURNS = 5
CALLS_PER_TURN = 200
CPU_CONCURRENCY = 16
# About as long as the functions that a model is asked about.
BODY = "".join(f"    total += prices[{line}] * amounts[{line}]  # of order\n" for line in range(20))

Run = Callable[[LlmOptions, int], None]


@dataclass(frozen=True)
class Spent:
    """What a number of calls took."""

    wall_s: float
    cpu_s: float


def source(number: int) -> str:
    return f"def total_{number}(prices, amounts):\n    total = 0\n{BODY}    return total\n"


def litellm_alone(options: LlmOptions, calls: int) -> None:
    """No backend, no pins, no limits."""
    litellm = litellm_client()
    tool = answer_tool(Level.FUNCTION)

    async def ask(request: SummaryRequest) -> Any:
        return await litellm.acompletion(
            **arguments_of(request, templates()[Level.FUNCTION], tool),
            api_base=options.api_base,
            api_key=KEY,
            timeout=options.timeout_s,
            num_retries=0,
            max_retries=0,
        )

    asyncio.run(_all(ask, options.concurrency, calls, litellm.close_litellm_async_clients))


def backend(options: LlmOptions, calls: int) -> None:
    """Through the backend, and no book is kept."""
    asked = LiteLlmBackend(options, templates())
    asyncio.run(_all(asked.summarize, options.concurrency, calls, asked.aclose))


def written(options: LlmOptions, calls: int) -> None:
    """As an index is built: from tasks to texts in the cache."""
    system = templates()[Level.FUNCTION].system
    tasks = [
        WritingTask(
            id=f"a.py::total_{number}",
            level=Level.FUNCTION,
            template_blake3=templates()[Level.FUNCTION].digest,
            prompt=(prompt := prompt_for(Level.FUNCTION, source(number))),
            shown=Shown(Level.FUNCTION, line_count=source(number).count("\n")),
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
                new_backend=lambda: LiteLlmBackend(options, templates()),
                ledger=ledger,
                cache=cache,
                caps=Caps(calls, None),
                price_of=lambda model: price_of(model, options),
                options=options,
            )
    unwritten = [outcome.failure for outcome in outcomes if outcome.text is None]
    assert not unwritten, unwritten[:3]


PATHS: dict[str, Run] = {"litellm": litellm_alone, "backend": backend, "written": written}


async def _all(
    ask: Callable[[SummaryRequest], Awaitable[Any]],
    concurrency: int,
    calls: int,
    close: Callable[[], Awaitable[None]],
) -> None:
    """`concurrency` askers, each of whom asks for one after another."""
    numbers = iter(range(calls))

    async def one_after_another() -> None:
        for number in numbers:
            await ask(request_for(source=source(number)))

    await asyncio.gather(*[one_after_another() for _ in range(concurrency)])
    await close()


def _now() -> datetime:
    return datetime.now(UTC)


def spent(run: Run, options: LlmOptions, calls: int) -> Spent:
    """What a run took; its first call, which loads what is loaded once, was made before."""
    wall, cpu = time.perf_counter(), time.process_time()
    run(options, calls)
    return Spent(time.perf_counter() - wall, time.process_time() - cpu)


def throughput(options: LlmOptions, concurrencies: list[int], rounds: int, delay_s: float) -> dict[str, list[float]]:
    """By path, the ratio to the ideal at each concurrency."""
    found: dict[str, list[float]] = {name: [] for name in PATHS}
    for concurrency in concurrencies:
        for name, run in PATHS.items():
            calls = rounds * concurrency
            took = spent(run, replace(options, concurrency=concurrency), calls)
            found[name].append(round(rounds * delay_s / took.wall_s, 3))
            print(
                f"{name:8} concurrency {concurrency:4} {calls / took.wall_s:7.1f} calls/s  {found[name][-1]} of ideal"
            )
    return found


def cpu_ms_per_call(options: LlmOptions) -> dict[str, float]:
    """By path, the median over turns."""
    turns: dict[str, list[float]] = {name: [] for name in PATHS}
    for _ in range(TURNS):
        for name, run in PATHS.items():
            took = spent(run, replace(options, concurrency=CPU_CONCURRENCY), CALLS_PER_TURN)
            turns[name].append(took.cpu_s / CALLS_PER_TURN * 1000)
    return {name: round(statistics.median(values), 2) for name, values in turns.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--concurrency", type=int, nargs="+", default=list(CONCURRENCIES))
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--delay", type=float, default=0.5)
    given = parser.parse_args()
    os.environ[KEY_VARIABLE] = KEY
    base = LlmOptions(enabled=True, model=MODEL, api_key_env=KEY_VARIABLE)
    with ServerProcess() as quick, ServerProcess(delay_s=given.delay) as slow:
        at_once, waiting = replace(base, api_base=quick.base), replace(base, api_base=slow.base)
        for run in PATHS.values():
            run(at_once, 1)
        ratios = throughput(waiting, given.concurrency, given.rounds, given.delay)
        cpu = cpu_ms_per_call(at_once)
    print("CPU per call, ms:", ", ".join(f"{name} {value}" for name, value in cpu.items()))
    print(json.dumps({"concurrency": given.concurrency, "ratio_to_ideal": ratios, "cpu_ms_per_call": cpu}))


if __name__ == "__main__":
    main()
