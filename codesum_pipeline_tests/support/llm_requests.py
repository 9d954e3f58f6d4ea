"""What tests of calls share: settings that lead to a scripted server, requests, and asking."""

import asyncio
from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import LEVELS, Level, WrittenText
from codesum_pipeline.foundation.data_model.errors import SummaryError
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.answer_forms import AnswerForms
from codesum_pipeline.texts.llm.answer_shapes import MAX_OUTPUT_BYTES, answer_tool
from codesum_pipeline.texts.llm.backend import SummaryBackend, Templates
from codesum_pipeline.texts.llm.backends import LiteLlmBackend
from codesum_pipeline.texts.llm.checking import AnswerBounds, AnswerProblem, read_answer
from codesum_pipeline.texts.llm.conversation import AnswerReading, converse, mark_ignored, reading_of_problem
from codesum_pipeline.texts.llm.marking import enclose, number_lines
from codesum_pipeline.texts.llm.pins import AnswerForm, Parameters, SummaryRequest, SummaryResponse
from codesum_pipeline.texts.llm.templates import PLACEHOLDERS, TemplateKind, resolve_template
from codesum_pipeline_tests.support.llm_server import ScriptedServer
from codesum_pipeline_tests.support.settings import changed

MODEL = "openai/gpt-4o-mini"
CLAUDE = "anthropic/claude-haiku-4-5"
KEY_VARIABLE = "TESTED_PROVIDER"
KEY = "sk-verysecret1234567890"
SOURCE = "def total(orders):\n    return sum(order.price for order in orders)\n"
SHOWN = AnswerBounds(Level.FUNCTION, line_count=2)
CHILDREN = "- total (function): Adds up prices.\n- Basket.add (function): Adds an order."


@cache
def templates() -> Templates:
    """The packaged ones."""
    return {level: resolve_template(None, level, language="English") for level in LEVELS}


def settings_for(server: ScriptedServer, **changes: Any) -> LlmSettings:
    """Settings under which `MODEL` is asked of the server with `KEY`, which the test has put into the environment."""
    base = LlmSettings(enabled=True, model=MODEL, api_base=server.base, api_key_env=KEY_VARIABLE, timeout_s=20.0)
    return changed(base, **changes)


def prompt_for(level: Level, source: str = SOURCE) -> str:
    """A user's turn as the packaged template gives it."""
    fields = dict.fromkeys(PLACEHOLDERS[TemplateKind.INSTRUCTION], "")
    shown: Mapping[str, str] = (
        {"body": enclose(number_lines(source), "source")}
        if level is Level.FUNCTION
        else {"children": enclose(CHILDREN, "children")}
    )
    return templates()[level].render(**{**fields, "level": level, "name": enclose("total", "name"), **shown})


def request_for(level: Level = Level.FUNCTION, *, source: str = SOURCE, **changes: Any) -> SummaryRequest:
    """A request that the backend of these settings sends."""
    request = SummaryRequest(
        level=level,
        model_name=MODEL,
        prompt_template_blake3=templates()[level].digest,
        schema_blake3=answer_tool(level).schema_blake3,
        parameters=Parameters(form=AnswerForm.TOOL),
        sources=(prompt_for(level, source),),
        max_output_bytes=MAX_OUTPUT_BYTES,
    )
    return replace(request, **changes)


def ask(settings: LlmSettings, *requests: SummaryRequest) -> list[SummaryResponse | SummaryError]:
    """What the LiteLLM backend of these settings gives or raises for each request, asked one after another."""
    return ask_backend(LiteLlmBackend(settings, templates()), *requests)


def talk(settings: LlmSettings, request: SummaryRequest) -> WrittenText | SummaryError:
    """What a conversation of at most three answers ends with, or raises, that begins with a request."""
    backend, forms = LiteLlmBackend(settings, templates()), AnswerForms(settings)
    bounds = replace(SHOWN, shown=(templates()[request.level].system, request.sources[0]))

    async def ask_once(request: SummaryRequest) -> AnswerReading[WrittenText]:
        response = await backend.summarize(request)
        try:
            return AnswerReading(response, read_answer(response, request.parameters.form, bounds))
        except AnswerProblem as problem:
            answered = reading_of_problem(request, response, problem, setting="llm.max_tokens")
            return mark_ignored(forms, request, answered)

    async def converse_and_close() -> WrittenText | SummaryError:
        try:
            found, _ = await converse(request, ask_once, about="a.py::total", max_attempts=3, forms=forms)
            return found
        except SummaryError as error:
            return error
        finally:
            await backend.aclose()

    return asyncio.run(converse_and_close())


def ask_backend(backend: SummaryBackend, *requests: SummaryRequest) -> list[SummaryResponse | SummaryError]:
    """What a backend gives or raises for each request, asked one after another; the backend is closed."""

    async def all_of_them() -> list[SummaryResponse | SummaryError]:
        found: list[SummaryResponse | SummaryError] = []
        for request in requests:
            try:
                found.append(await backend.summarize(request))
            except SummaryError as error:
                found.append(error)
        await backend.aclose()
        return found

    return asyncio.run(all_of_them())
