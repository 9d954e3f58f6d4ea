"""A provider of language models on loopback: real HTTP in OpenAI's and in Anthropic's format, misbehaving on request.

    with ScriptedServer() as server:                     # every request is answered well
    with ScriptedServer(lambda request: Fails(500) if request.number == 1 else Answers()) as server:

`server.seen` is what it was asked, in order. As a process of its own it writes
that into a file of lines: `python -m codesum_pipeline_tests.support.llm_server --help`.
"""

from codesum_pipeline_tests.support.llm_server.answers import answer_of
from codesum_pipeline_tests.support.llm_server.behaviours import (
    Answers,
    Behaviour,
    Counts,
    Drips,
    Ends,
    Fails,
    Hangs,
    Resets,
    Says,
    Script,
    Sends,
    always_well,
)
from codesum_pipeline_tests.support.llm_server.model_requests import ModelRequest, Wire
from codesum_pipeline_tests.support.llm_server.process import ServerProcess, read_log
from codesum_pipeline_tests.support.llm_server.serving import ScriptedServer

__all__ = [
    "Answers",
    "Behaviour",
    "Counts",
    "Drips",
    "Ends",
    "Fails",
    "Hangs",
    "ModelRequest",
    "Resets",
    "Says",
    "Script",
    "ScriptedServer",
    "Sends",
    "ServerProcess",
    "Wire",
    "always_well",
    "answer_of",
    "read_log",
]
