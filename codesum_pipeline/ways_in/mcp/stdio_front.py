"""The lines of a server over stdio, read and answered from the first moment on.

Importing the tools takes more than a second of a processor, and a client may give up before. What it asks first
(`initialize`, and which tools, prompts and resources there are) depends on no home: the answers are in
`first_answers.json`, as the server itself writes them (a test compares both). They are sent from here, with nothing
imported but a little of the standard library; all other lines wait for the server.
"""

import json
import os
import queue
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from codesum_pipeline.foundation.data_model.installed_version import installed_version

FIRST_ANSWERS = Path(__file__).with_name("first_answers.json")
# Of the `initialize` that the server gets in place of one that was answered here; its answer is not sent.
HANDSHAKE_ID = "codesum: answered already"
# Longer lines are refused, as bodies over HTTP are.
MOST_LINE_BYTES = 16 << 20
PARSE_ERROR, INVALID_REQUEST = -32700, -32600
# The words of a call whose answers are known before it is read, each with the number of words behind it.
_WORDS = {"--home": 1, "--settings-file": 1, "--offline": 0, "--debug": 0, "mcp": 0}
_WORDS_OF_MCP = {"--tools": 1, "--text-only": 0, "--structured": 0, "--repo": 1}
_WAITING_LINES = 64


class StdioFront:
    """stdin and stdout of this process. While they are open here, the process's own are the null device and stderr,
    so that nothing else is read or written there."""

    def __init__(self) -> None:
        self.lines: queue.Queue[str | None] = queue.Queue(_WAITING_LINES)
        self._lock = threading.Lock()
        self._in: BinaryIO | None = None
        self._out = -1
        self._tools = ""
        self._answers: dict[str, Any] = {}
        self._is_first = True
        self._is_known = False

    def start(self, arguments: Sequence[str]) -> None:
        """Answer the first line before anything else is done, and read on in a thread; only for the arguments of a
        server over stdio, and not on a terminal, where a person waits for messages about them."""
        options = _options_of(arguments)
        if options is None or os.isatty(0):
            return
        self._answers = json.loads(FIRST_ANSWERS.read_bytes())
        self._tools = str(options.get("--tools", "default"))
        if "--structured" in options:
            # With the schemas of answers, which are long and wanted by programs that wait.
            del self._answers["results"]["tools/list"]
        self._open()
        if self._read_line():
            self._read_on_aside()

    def take_over(self) -> None:
        """From now on the server answers everything: `lines` has the next line, None at the end."""
        if self._in is None:
            self._open()
            self._read_on_aside()
        with self._lock:
            self._answers = {}

    def send(self, text: str) -> None:
        """Write one line."""
        with self._lock:
            self._write(text)

    def refuse(self, request_id: object, code: int, message: str) -> None:
        """Answer a line that is no message of the protocol; `request_id` is None where it cannot be read."""
        error = {"code": code, "message": message}
        self.send(json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}))

    def _open(self) -> None:
        self._in = os.fdopen(os.dup(0), "rb")
        self._out = os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(2, 1)
        os.close(null)

    def _read_on_aside(self) -> None:
        threading.Thread(target=self._read_on, name="stdin", daemon=True).start()

    def _read_on(self) -> None:
        while self._read_line():
            pass

    def _read_line(self) -> bool:
        """Answer or queue the next line; False at the end, and where nobody reads answers any more."""
        assert self._in is not None
        try:
            line = self._in.readline(MOST_LINE_BYTES + 1)
            end = line
            while end and not end.endswith(b"\n"):
                end = self._in.readline(MOST_LINE_BYTES)
            if len(line) > MOST_LINE_BYTES:
                told = f"a line has more than {MOST_LINE_BYTES >> 20} MB: ask for less at once"
                self.refuse(None, INVALID_REQUEST, told)
            elif (kept := self._answer_early(line.decode("utf-8", errors="replace").strip())) is not None:
                self.lines.put(kept)
        except OSError:
            line = b""
        if not line:
            self.lines.put(None)
        return bool(line)

    def _answer_early(self, text: str) -> str | None:
        """What the server must still get of a line."""
        if not text:
            return None
        is_first, self._is_first = self._is_first, False
        with self._lock:
            if not self._answers or not (is_first or self._is_known):
                return text
            try:
                message = json.loads(text)
            except (ValueError, RecursionError):
                return text
            if is_first:
                return self._shake_hands(message) or text
            method = message.get("method") if isinstance(message, dict) else None
            result = self._answers["results"].get(method) if isinstance(method, str) else None
            if result is None or not _is_request(message) or message.get("params"):
                return text
            if method == "tools/list":
                names = self._answers[self._tools]
                result = {"tools": [tool for tool in result["tools"] if tool["name"] in names]}
            self._write(_result(message["id"], result))
        return None

    def _shake_hands(self, message: Any) -> str | None:
        """The `initialize` for the server, if it was answered."""
        is_asked = _is_request(message) and message["method"] == "initialize"
        params = message.get("params") if is_asked else None
        if not isinstance(params, dict) or "_meta" in params or not _is_handshake(params):
            return None
        asked = params["protocolVersion"]
        version = asked if asked in self._answers["versions"] else self._answers["latest"]
        result = {**self._answers["initialize"], "protocolVersion": version}
        result["serverInfo"] = {**result["serverInfo"], "version": served_version()}
        self._write(_result(message["id"], result))
        self._is_known = True
        # What a client says of itself changes nothing that it gets.
        client = {"name": params["clientInfo"]["name"], "version": params["clientInfo"]["version"]}
        known = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
        return json.dumps({"jsonrpc": "2.0", "id": HANDSHAKE_ID, "method": "initialize", "params": known})

    def _write(self, text: str) -> None:
        rest = memoryview(f"{text}\n".encode())
        while rest:
            rest = rest[os.write(self._out, rest) :]


# Of this process, which has one stdin.
FRONT = StdioFront()


def served_version() -> str:
    """What a client is told; the protocol wants a text."""
    return installed_version() or "0"


def _options_of(arguments: Sequence[str]) -> dict[str, str] | None:
    """The options of a server over stdio, or None: for anything else, and for whatever may be an error."""
    found: dict[str, str] = {}
    known, words = _WORDS, iter(arguments)
    for word in words:
        if word not in known:
            return None
        value = next(words, None) if known[word] else ""
        if value is None or value.startswith("-"):
            return None
        found[word] = value
        known = _WORDS_OF_MCP if word == "mcp" else known
    return found if "mcp" in found and found.get("--tools", "all") in ("default", "all") else None


def _is_request(message: Any) -> bool:
    """Whether a message is a request with an id that the protocol allows."""
    return (
        isinstance(message, dict)
        and message.get("jsonrpc") == "2.0"
        and "method" in message
        and type(message.get("id")) in (int, str)
    )


def _is_handshake(params: dict[str, Any]) -> bool:
    client = params.get("clientInfo")
    texts = [params.get("protocolVersion")]
    texts += [client.get("name"), client.get("version")] if isinstance(client, dict) else [None]
    return all(isinstance(text, str) and text.isprintable() for text in texts) and isinstance(
        params.get("capabilities"), dict
    )


def _result(request_id: int | str, result: dict[str, Any]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result})
