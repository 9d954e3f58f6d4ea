"""Servers as people run them themselves: without a name for their model, or with parameters that they do not take."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from codesum_pipeline_tests.support.llm_server.behaviours import Answers, Behaviour, Fails, body_of
from codesum_pipeline_tests.support.llm_server.model_requests import ModelRequest

# What OpenAI says of the parameters that its reasoning models do not take; a model behind an alias says the same.
REASONING_MODEL = {
    "temperature": "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is "
    "supported.",
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
    "instead.",
}
# And Mistral of the options of a stream.
MISTRAL = {
    "stream_options": '[{"type":"extra_forbidden","loc":["body","stream_options","include_usage"],"msg":"Extra inputs '
    'are not permitted","input":true}]'
}
ABSENT = object()


@dataclass(frozen=True)
class Unnamed:
    """A good answer with `name` where the model's name belongs: null, blanks, or nothing at all."""

    name: Any = ABSENT

    async def treat(self, request: ModelRequest, connection: web.Request) -> web.StreamResponse:
        body = body_of(request, None, model=None)
        del body["model"]
        return web.json_response(body if self.name is ABSENT else {**body, "model": self.name})


@dataclass(frozen=True)
class TakesNot:
    """A server that refuses requests with certain parameters, each in words of its own, and treats others as `then`."""

    refused: Mapping[str, str]
    then: Behaviour = field(default_factory=Answers)

    async def treat(self, request: ModelRequest, connection: web.Request) -> web.StreamResponse:
        for name, words in self.refused.items():
            if name in request.body:
                return await Fails(400, words).treat(request, connection)
        return await self.then.treat(request, connection)
