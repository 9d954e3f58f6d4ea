"""A request as LiteLLM takes it: system prompt, tool or format, and the conversation so far.

What is the same in all requests comes first and ends in a mark, so that a provider that caches prefixes bills them
once: after the system prompt and after the tool. LiteLLM drops the marks for providers that do not know them.
"""

import json
from typing import Any

from codesum_pipeline.llm.answers import AnswerTool
from codesum_pipeline.llm.chat import ChatRequest
from codesum_pipeline.llm.pins import AnswerForm, SummaryRequest
from codesum_pipeline.llm.templates import ResolvedTemplate

# Anthropic's format takes no empty turn.
_NOTHING = "(no answer)"
_MARK = {"cache_control": {"type": "ephemeral"}}


def arguments_of(request: SummaryRequest, template: ResolvedTemplate, tool: AnswerTool) -> dict[str, Any]:
    """The named arguments of a completion: messages, what forces the form of the answer, and the parameters."""
    form = request.parameters.form
    return {
        "model": request.model_name,
        "messages": [_system(form, template, tool), *_conversation(request, tool)],
        "temperature": request.parameters.temperature,
        "max_tokens": request.parameters.max_tokens,
        **_form(form, tool),
    }


def chat_arguments(request: ChatRequest) -> dict[str, Any]:
    """The named arguments of a conversation's next message."""
    first, *others = request.messages
    system = {"role": first["role"], "content": [{"type": "text", "text": first["content"], **_MARK}]}
    arguments: dict[str, Any] = {
        "model": request.model_name,
        "messages": [system, *map(dict, others)],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
    }
    if request.tools:
        *tools, last = map(dict, request.tools)
        arguments |= {"tools": [*tools, {**last, **_MARK}], "tool_choice": request.tool_choice.value}
    return arguments


def _system(form: AnswerForm, template: ResolvedTemplate, tool: AnswerTool) -> dict[str, Any]:
    text = template.system
    if form is AnswerForm.JSON_TEXT:
        text += f"\n\nThe schema of the JSON object that you answer with:\n\n{tool.schema_bytes.decode()}"
    return {"role": "system", "content": [{"type": "text", "text": text, **_MARK}]}


def _form(form: AnswerForm, tool: AnswerTool) -> dict[str, Any]:
    if form is AnswerForm.TOOL:
        function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
        return {
            "tools": [{"type": "function", "function": function, **_MARK}],
            "tool_choice": {"type": "function", "function": {"name": tool.name}},
        }
    if form is AnswerForm.JSON_SCHEMA:
        # Not strict: OpenAI's strict mode refuses bounds on lengths, which the schema has.
        schema = {"name": tool.name, "schema": tool.schema, "strict": False}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    return {}


def _conversation(request: SummaryRequest, tool: AnswerTool) -> list[dict[str, Any]]:
    """The user's turn; then each answer as its model gave it, and the complaint as the answer to that."""
    prompt, *turns = request.sources
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    for number, (answer, complaint) in enumerate(zip(turns[::2], turns[1::2], strict=True), start=1):
        if request.parameters.form is AnswerForm.TOOL and _is_object(answer):
            messages += _tool_turns(f"call_{number}", tool.name, answer, complaint)
        else:
            said = answer if answer.strip() else _NOTHING
            messages += [{"role": "assistant", "content": said}, {"role": "user", "content": complaint}]
    return messages


def _tool_turns(call_id: str, name: str, answer: str, complaint: str) -> list[dict[str, Any]]:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": answer}}
    # OpenAI's format has no field for a failed call, and LiteLLM passes none on to others: the text has to say it.
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": f"Error: {complaint}"},
    ]


def _is_object(answer: str) -> bool:
    """Whether an answer can be the arguments of a call: in Anthropic's format these are always an object."""
    try:
        return isinstance(json.loads(answer), dict)
    except ValueError:
        return False
