"""A run of many documents that somebody may kill: `python -m … HOME BASE COUNT CONCURRENCY plain|litellm|shared`.

Documents are functions `f1` to `fCOUNT`, each of one line that nobody else has.
Prints the ids and hashes of the texts at the end.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings, ModelPrice
from codesum_pipeline.texts.llm.answer_shapes import answer_tool
from codesum_pipeline.texts.llm.backend import SummaryBackend
from codesum_pipeline.texts.llm.ledger import Caps, open_ledger
from codesum_pipeline.texts.llm.litellm_calls import arguments_of
from codesum_pipeline.texts.llm.pins import SummaryRequest, SummaryResponse, TokenUsage
from codesum_pipeline.texts.llm.templates import ResolvedTemplate
from codesum_pipeline.texts.llm.writing_run import TaskOutcome, write_all
from codesum_pipeline_tests.support.settings import changed
from codesum_pipeline_tests.texts.llm.making import CALL_USD, MODEL, SETTINGS, cache_in, noon, price_of, task

TEMPLATE = ResolvedTemplate(Level.FUNCTION, "Write a summary.", "", "blake3:template")


class PlainBackend(SummaryBackend):
    """OpenAI's format over HTTP with nothing in between, which is ready in a tenth of LiteLLM's time."""

    max_prompt_chars = 100_000

    def __init__(self, base: str) -> None:
        self._base = base
        self._session: aiohttp.ClientSession | None = None

    async def summarize(self, request: SummaryRequest) -> SummaryResponse:
        if self._session is None:
            self._session = aiohttp.ClientSession()
        # The provider does not know its own name, as LiteLLM has it.
        model = request.model_name.partition("/")[2]
        body = arguments_of(request, TEMPLATE, answer_tool(request.level)) | {"model": model}
        async with self._session.post(f"{self._base}/chat/completions", json=body) as response:
            answer: dict[str, Any] = await response.json()
        usage = answer["usage"]
        (call,) = answer["choices"][0]["message"]["tool_calls"]
        return SummaryResponse(
            claim=call["function"]["arguments"],
            has_tool_call=True,
            usage=TokenUsage(usage["prompt_tokens"], usage["completion_tokens"]),
            model_name_echoed=answer["model"],
            cost_usd=CALL_USD,
        )

    async def health(self) -> bool:
        return True

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()


def prompt_of(number: int) -> str:
    return f"Write about f{number}.\n1 | def f{number}(): return {number}"


def run(home: Path, count: int, settings: LlmSettings, new_backend: Callable[[], SummaryBackend]) -> list[TaskOutcome]:
    """All documents, in order of their numbers."""
    tasks = [task(number, prompt=prompt_of(number)) for number in range(1, count + 1)]
    with open_ledger(home / "shop.sqlite", run_id=str(os.getpid()), now=noon) as ledger:
        return write_all(
            tasks, new_backend=new_backend, ledger=ledger, cache=cache_in(home), caps=Caps(count, None),
            price_of=price_of, settings=settings,
        )  # fmt: skip


def litellm_backend(settings: LlmSettings) -> SummaryBackend:
    """The real one."""
    from codesum_pipeline.texts.llm.backends import LiteLlmBackend

    return LiteLlmBackend(settings, {Level.FUNCTION: TEMPLATE})


def shared_backend(settings: LlmSettings) -> SummaryBackend:
    """The real one, with workers."""
    from codesum_pipeline_tests.texts.llm.sharing import SharingBackend

    return SharingBackend(settings, {Level.FUNCTION: TEMPLATE})


def hashes_of(outcomes: list[TaskOutcome]) -> list[tuple[str, str | None]]:
    return [(outcome.id, outcome.text and outcome.text.text_hash) for outcome in outcomes]


if __name__ == "__main__":
    home, base, count, concurrency, client = sys.argv[1:]
    os.environ["TESTED_KEY"] = "any-word-will-do"
    prices = (ModelPrice(model=MODEL, input=1.0, output=1.0),)
    settings = changed(SETTINGS, api_base=base, api_key_env="TESTED_KEY", concurrency=int(concurrency), prices=prices)
    make = {
        "plain": lambda: PlainBackend(base),
        "litellm": lambda: litellm_backend(settings),
        "shared": lambda: shared_backend(settings),
    }[client]
    sys.stdout.write(json.dumps(hashes_of(run(Path(home), int(count), settings, make))))
