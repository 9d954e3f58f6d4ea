"""The file format in which answers are recorded: the request with its pins, and the response.

A folder holds one file per request, named by its hash; or one file holds a
list of `entries`. Each entry has the version of this format; one without it is
of the first. Of a call's transport (addresses, headers, keys) nothing is
kept.
"""

import difflib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from msgspec import ValidationError, to_builtins

from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.errors import CallFailure, SummaryCallFailed
from codesum_pipeline.foundation.data_model.printable import shorten_text
from codesum_pipeline.foundation.store.atomic import write_text_atomically
from codesum_pipeline.texts.llm.pins import (
    ChatRequest,
    ChatResponse,
    Parameters,
    SummaryRequest,
    SummaryResponse,
    TokenUsage,
    ToolCall,
)

_SUFFIX = ".json"
_CHAT = "chat"
# It rises when entries of an earlier version cannot be read any more. A field with a default that leaves the hashes of
# requests as they were does not raise it.
VERSION = 1
_UNKNOWN_FIELD = re.compile(r"unknown field `([^`]*)`")
_RECORD_AGAIN = 'record again (llm.backend = "record"), or replay with the codesum that wrote it'

Request = TypeVar("Request", SummaryRequest, ChatRequest)
Response = TypeVar("Response", SummaryResponse, ChatResponse)


def write_recording(folder: Path, request: Request, response: SummaryResponse | ChatResponse) -> Path:
    """Write one entry, of a summary or a conversation's message; an earlier one of the same request is replaced."""
    kind = {"kind": _CHAT} if isinstance(request, ChatRequest) else {}
    entry = {"version": VERSION, **kind, "request": to_builtins(request), "response": to_builtins(response)}
    path = folder / f"{request.request_hash.partition(':')[2]}{_SUFFIX}"
    folder.mkdir(parents=True, exist_ok=True)
    write_text_atomically(path, json.dumps(entry, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    return path


def read_recordings(path: Path) -> dict[str, SummaryResponse]:
    """The answers of a folder or file by the hash of their request, which is computed anew.

    Raises `SummaryCallFailed` if something cannot be read, or a request has two answers.
    """
    return _read(path, None, SummaryRequest, SummaryResponse)


def read_chats(path: Path) -> dict[str, ChatResponse]:
    """The messages of conversations, which may be in the same folder as answers."""
    return _read(path, _CHAT, ChatRequest, ChatResponse)


def _read(path: Path, kind: str | None, requests: type[Request], responses: type[Response]) -> dict[str, Response]:
    """The entries of one kind."""
    found: dict[str, Response] = {}
    for place, entry in _entries(path):
        _check_version(place, entry)
        if isinstance(entry, dict) and entry.get("kind") != kind:
            continue
        try:
            request, response = convert(entry["request"], requests), convert(entry["response"], responses)
        except (KeyError, TypeError, ValidationError) as error:
            detail = f"not a request and its response: {error}{_explain(error)}: {_RECORD_AGAIN}"
            raise _unreadable(f"{place}: {detail}") from error
        if request.request_hash in found:
            raise _unreadable(f"{place}: a second answer to {request.request_hash}: remove one of them")
        found[request.request_hash] = response
    return found


_KINDS = (SummaryRequest, Parameters, SummaryResponse, TokenUsage, ChatRequest, ChatResponse, ToolCall)
_FIELDS = sorted({field for kind in _KINDS for field in kind.__struct_fields__})


def _explain(error: Exception) -> str:
    """The field that may be meant by one that is unknown."""
    unknown = _UNKNOWN_FIELD.search(str(error))
    near = difflib.get_close_matches(unknown[1][:200], _FIELDS, n=1, cutoff=0.0) if unknown else ()
    return f" (the nearest known field is {near[0]!r})" if near else ""


def _check_version(place: str, entry: Any) -> None:
    version = entry.get("version", VERSION) if isinstance(entry, dict) else VERSION
    if type(version) is not int or version != VERSION:
        raise _unreadable(
            f"{place}: it is a recording of version {shorten_text(repr(version))}, and this codesum reads version "
            f"{VERSION}: {_RECORD_AGAIN}"
        )


def _entries(path: Path) -> Iterator[tuple[str, Any]]:
    if path.is_dir():
        for file in sorted(path.glob(f"*{_SUFFIX}")):
            yield str(file), _load(file)
        return
    document = _load(path)
    _check_version(str(path), document)
    entries = document.get("entries") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise _unreadable(f"{path}: there is no list of 'entries' in it")
    yield from ((f"{path}: entry {number}", entry) for number, entry in enumerate(entries, start=1))


def _load(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _unreadable(f"{file}: {error}: record again, or name another folder in llm.recording") from error


def _unreadable(detail: str) -> SummaryCallFailed:
    return SummaryCallFailed(detail, failure=CallFailure.UNREADABLE, was_sent=False)
