"""Good answers as models and servers wrap them, each by its name; and answers in which no answer may be found.

`ODD_ANSWERS` come in the format of the request, `ODD_BODIES` as bodies of OpenAI's format that are not quite in it, and
`ODD_ANTHROPIC_BODIES` likewise. Each holds the good answer to its request once. `NO_ANSWERS` hold none, or two.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from codesum_pipeline_tests.support.llm_server.answers import answer_of
from codesum_pipeline_tests.support.llm_server.behaviours import body_of
from codesum_pipeline_tests.support.llm_server.model_requests import ModelRequest, Wire

TOOL = "emit_symbol_summary"
Message = dict[str, Any]


@dataclass(frozen=True)
class Odd:
    """The good answer in a message that `write` makes of it, in OpenAI's format; sent in that of the request."""

    write: Callable[[Mapping[str, Any]], Message]

    async def treat(self, request: ModelRequest, connection: web.Request) -> web.StreamResponse:
        message = self.write(answer_of(request))
        body = body_of(request, None, model=None)
        if request.wire is Wire.ANTHROPIC:
            body["content"] = _blocks(message)
        else:
            body["choices"][0]["message"] = {"role": "assistant", "content": None} | message
        return web.json_response(body)


@dataclass(frozen=True)
class OddBody:
    """The good answer in a whole body, of which `change` alters the message or, in Anthropic's format, the body."""

    change: Callable[[Message, Mapping[str, Any]], None]

    async def treat(self, request: ModelRequest, connection: web.Request) -> web.StreamResponse:
        body = body_of(request, None, model=None)
        self.change(body if request.wire is Wire.ANTHROPIC else body["choices"][0]["message"], answer_of(request))
        return web.json_response(body)


@dataclass(frozen=True)
class Quotes:
    """The JSON object of the system prompt that has a field, as a call of the tool or in text."""

    field: str = "purpose"
    is_call: bool = True

    async def treat(self, request: ModelRequest, connection: web.Request) -> web.StreamResponse:
        examples = re.findall(r"```json\n(\{.*?\n\})\n```", request.system, re.DOTALL)
        quoted = next(text for text in examples if self.field in json.loads(text))
        return await Odd(lambda _answer: _called(quoted) if self.is_call else {"content": quoted}).treat(
            request, connection
        )


def _blocks(message: Message) -> list[Message]:
    """The content of a message in Anthropic's format."""
    blocks: list[Message] = [{"type": "text", "text": message["content"]}] if message.get("content") else []
    for call in message.get("tool_calls", ()):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        try:
            given = json.loads(arguments)
        except ValueError:
            given = arguments
        blocks.append({"type": "tool_use", "id": call["id"], "name": name, "input": given})
    return blocks


def _called(arguments: Any, name: str | None = TOOL) -> Message:
    return {"tool_calls": [_call(arguments, name)]}


def _call(arguments: Any, name: str | None = TOOL, number: int = 1) -> Message:
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


def _tagged(answer: Mapping[str, Any], field: Callable[[str, str], str]) -> str:
    """Each field in a tag; lists and objects as JSON."""
    return "\n".join(
        field(name, value if isinstance(value, str) else json.dumps(value)) for name, value in answer.items()
    )


def _with_raw_line_ends(text: str) -> str:
    """Line ends and tabs between words inside of strings."""
    return re.sub(r"(?<=[a-z]) (?=by )", "\n\t", text)


# What stands where the JSON of the answer should, in a call's arguments and in text alike.
SHAPES: Mapping[str, Callable[[str], str]] = {
    "encoded twice": json.dumps,
    "encoded three times": lambda text: json.dumps(json.dumps(text)),
    "encoded, an extra brace": lambda text: f"{json.dumps(text)}}}",
    "encoded, no quotes around it": lambda text: json.dumps(text)[1:-1],
    "fenced": lambda text: f"```json\n{text}\n```",
    "a fence without an end": lambda text: f"```\n{text}",
    "an extra brace": lambda text: f"{text}}}",
    "braces and blanks": lambda text: f"\n{text} }}\n}}",
    "a closing tag": lambda text: f"{text}</tool_call>",
    "an end mark": lambda text: f"{text}<|im_end|>",
    "raw line ends": _with_raw_line_ends,
    "a comma too much": lambda text: f"{text[:-1]},}}",
    "words of Python": lambda text: text.replace(": null", ": None"),
    "in arguments": lambda text: f'{{"arguments": {text}}}',
    "a string in arguments": lambda text: json.dumps({"arguments": text}),
    "a broken string in arguments": lambda text: json.dumps({"arguments": f"{text}}}"}),
    "in name and parameters": lambda text: f'{{"name": "{TOOL}", "parameters": {text}}}',
    "in a call": lambda text: json.dumps({"type": "function", "function": {"name": TOOL, "arguments": text}}),
    "in properties": lambda text: f'{{"type": "object", "properties": {text}}}',
    "under the tool's name": lambda text: f'{{"{TOOL}": {text}}}',
    "in a list": lambda text: f"[{text}]",
    "twice the same": lambda text: f"{text}\n{text}",
    "a wrapper without an end": lambda text: f'{{"name": "{TOOL}", "arguments": {text}',
}
# A call or an answer in text.
TEXT_SHAPES: Mapping[str, Callable[[str], str]] = {
    "plain": str,
    "prose with braces": lambda text: f"The set {{a, b}} and {{}} are said to be read. So: {text} Anything else?",
    "<tool_call>": lambda text: f'<tool_call>\n{{"name": "{TOOL}", "arguments": {text}}}\n</tool_call>',
    "[TOOL_CALLS] and a list": lambda text: f'[TOOL_CALLS] [{{"name": "{TOOL}", "arguments": {text}}}]',
    "[TOOL_CALLS] and a name": lambda text: f"[TOOL_CALLS]{TOOL}[ARGS]{text}",
    "<function=>": lambda text: f"<function={TOOL}>{text}</function>",
    "<function=> with parameters": lambda text: (
        f"<tool_call>\n<function={TOOL}>\n"
        + _tagged(json.loads(text), lambda name, value: f"<parameter={name}>\n{value}\n</parameter>")
        + "\n</function>\n</tool_call>"
    ),
    "<invoke> with parameters": lambda text: (
        f'<invoke name="{TOOL}">'
        + _tagged(json.loads(text), lambda name, value: f'<parameter name="{name}">{value}</parameter>')
        + "</invoke>"
    ),
    "<arg_key> and <arg_value>": lambda text: (
        f"<tool_call>{TOOL}\n"
        + _tagged(json.loads(text), lambda key, value: f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>")
        + "\n</tool_call>"
    ),
    "<|python_tag|>": lambda text: f'<|python_tag|>{{"name": "{TOOL}", "parameters": {text}}}<|eom_id|>',
    "channels": lambda text: f"<|channel|>analysis<|message|>{{so}}<|end|><|channel|>final<|message|>{text}",
    "reasoning": lambda text: f'<think>Is it {{"a": 1}}, or {{ {{ "b"? </think>\n{text}',
    "a draft in reasoning": lambda text: f"Hm.<thinking>{_other(text)}</thinking>{text}",
    "reasoning without its first tag": lambda text: f"So {{x: 1}}.\n{_other(text)}\n</think>\n\n{text}",
    "reasoning without its last tag": lambda text: f"<think>Is it {{x: 1}}? No:\n{text}",
}
# As the tool is named by models and servers.
NAMES: Mapping[str, str | None] = {
    "another case": "Emit_Symbol_Summary",
    "capitals in place of underscores": "emitSymbolSummary",
    "hyphens": "emit-symbol-summary",
    "blanks around it": f" {TOOL}\n",
    "functions.": f"functions.{TOOL}",
    "functions. and a number": f"functions.{TOOL}:0",
    "default_api:": f"default_api:{TOOL}",
    "tool.": f"tool.{TOOL}",
    "mcp__": f"mcp__codesum__{TOOL}",
    "a prefix with an underscore": f"default_api_{TOOL}",
    "brackets": f"{TOOL}()",
    "a mark of a channel": f"{TOOL}<|channel|>commentary",
    "empty": "",
    "a blank": " ",
}


def _other(text: str) -> str:
    """Another valid answer."""
    answer = json.loads(text)
    return json.dumps(answer | {"business_intent": "Was thought of first and then given up."})


ODD_ANSWERS: Mapping[str, Odd] = {
    **{
        f"arguments, {name}": Odd(lambda answer, shape=shape: _called(shape(json.dumps(answer))))  # type: ignore[misc]
        for name, shape in SHAPES.items()
    },
    **{
        f"text, {name}": Odd(lambda answer, shape=shape: {"content": shape(json.dumps(answer))})  # type: ignore[misc]
        for name, shape in {**SHAPES, **TEXT_SHAPES}.items()
    },
    **{
        f"name, {name}": Odd(lambda answer, written=written: _called(json.dumps(answer), written))  # type: ignore[misc]
        for name, written in NAMES.items()
    },
    "two equal calls": Odd(
        lambda answer: {"tool_calls": [_call(json.dumps(answer)), _call(json.dumps(answer), number=2)]}
    ),
    "two calls, the first is empty": Odd(
        lambda answer: {"tool_calls": [_call("{}"), _call(json.dumps(answer), number=2)]}
    ),
    "a call and words": Odd(lambda answer: {"content": "I call {it}.", **_called(json.dumps(answer))}),
    "a call without arguments, the answer in text": Odd(lambda answer: {"content": json.dumps(answer), **_called("")}),
}


def _changed(**fields: Callable[[Mapping[str, Any]], Any]) -> OddBody:
    """A body with these fields in place of the calls and the content."""

    def change(message: Message, answer: Mapping[str, Any]) -> None:
        message.pop("tool_calls", None)
        message.update({"content": None} | {name: make(answer) for name, make in fields.items()})

    return OddBody(change)


def _part(text: str) -> Message:
    return {"type": "text", "text": text}


ODD_BODIES: Mapping[str, OddBody] = {
    "content is a list of texts": _changed(content=lambda answer: [json.dumps(answer)]),
    "content is a list of parts": _changed(content=lambda answer: [_part(json.dumps(answer))]),
    "content is one part": _changed(content=lambda answer: _part(json.dumps(answer))),
    "content is cut into parts": _changed(
        content=lambda answer: [_part(json.dumps(answer)[:50]), _part(json.dumps(answer)[50:])]
    ),
    "content has a part of reasoning": _changed(
        content=lambda answer: [
            {"type": "thinking", "thinking": [_part(_other(json.dumps(answer)))]},
            _part(json.dumps(answer)),
        ]
    ),
    "content is the object": _changed(content=dict),
    "arguments are an object": _changed(tool_calls=lambda answer: [_call(answer)]),
    "arguments are a list": _changed(tool_calls=lambda answer: [_call([answer])]),
    "function_call": _changed(function_call=lambda answer: {"name": TOOL, "arguments": json.dumps(answer)}),
    "function_call with an object": _changed(function_call=lambda answer: {"name": TOOL, "arguments": answer}),
    "function_call beside an empty list of calls": _changed(
        tool_calls=lambda _answer: [], function_call=lambda answer: {"name": TOOL, "arguments": json.dumps(answer)}
    ),
    "a call without its name": _changed(
        tool_calls=lambda answer: [{"id": "1", "type": "function", "function": {"arguments": json.dumps(answer)}}]
    ),
    "a call whose name is null": _changed(tool_calls=lambda answer: [_call(json.dumps(answer), None)]),
    "a call without id and type": _changed(
        tool_calls=lambda answer: [{"function": {"name": TOOL, "arguments": json.dumps(answer)}}]
    ),
    "a call without function": _changed(
        tool_calls=lambda answer: [{"id": "1", "name": TOOL, "arguments": json.dumps(answer)}]
    ),
    "a call with parameters": _changed(tool_calls=lambda answer: [{"id": "1", "name": TOOL, "parameters": answer}]),
    "one call in place of a list": _changed(tool_calls=lambda answer: _call(json.dumps(answer))),
    "calls in a string": _changed(tool_calls=lambda answer: json.dumps([_call(json.dumps(answer))])),
    "function is null, the answer in text": _changed(
        tool_calls=lambda _answer: [{"id": "1", "type": "function", "function": None}], content=json.dumps
    ),
    "no role": _changed(content=json.dumps, role=lambda _answer: None),
}
ODD_ANTHROPIC_BODIES: Mapping[str, OddBody] = {
    "content is a string": _changed(content=json.dumps),
    "a list of texts": _changed(content=lambda answer: [json.dumps(answer)]),
    "one block in place of a list": _changed(
        content=lambda answer: {"type": "tool_use", "id": "1", "name": TOOL, "input": answer}
    ),
    "a block without its id": _changed(content=lambda answer: [{"type": "tool_use", "name": TOOL, "input": answer}]),
}
NO_ANSWERS: Mapping[str, Odd | Quotes] = {
    "two different answers in text": Odd(
        lambda answer: {"content": f"{json.dumps(answer)}\n{_other(json.dumps(answer))}"}
    ),
    "two different calls": Odd(
        lambda answer: {"tool_calls": [_call(json.dumps(answer)), _call(_other(json.dumps(answer)), number=2)]}
    ),
    "a worked example, called": Quotes(),
    "a worked example, in text": Quotes(is_call=False),
    "cut inside the object": Odd(lambda answer: {"content": json.dumps(answer)[:-40]}),
    "cut before the last brace": Odd(lambda answer: _called(json.dumps(answer)[:-1])),
    "cut inside a string": Odd(lambda answer: _called(json.dumps(json.dumps(answer))[:-40])),
    "cut inside a tag": Odd(
        lambda answer: {
            "content": TEXT_SHAPES["<function=> with parameters"](json.dumps(answer)).rpartition("</parameter>")[0]
        }
    ),
    "only reasoning": Odd(lambda answer: {"content": f"<think>It is {json.dumps(answer)}</think>"}),
    "reasoning that is cut off": Odd(
        lambda answer: {"content": f"<think>It could be {json.dumps(answer)}. But is that"}
    ),
    "reasoning and words": Odd(lambda answer: {"content": f"<think>{json.dumps(answer)}</think> I am done."}),
    "NaN": Odd(lambda answer: _called(json.dumps({**answer, "mood": float("nan")}))),
    "a field with two values": Odd(
        lambda answer: _called(json.dumps(answer)[:-1] + ', "purpose": "Does something else, and says so here."}')
    ),
    "a call of another tool in text": Odd(
        lambda answer: {"content": json.dumps({"name": "show_weather", "arguments": answer})}
    ),
    "<function=> of another tool": Odd(
        lambda answer: {"content": f"<function=show_weather>{json.dumps(answer)}</function>"}
    ),
}
