"""What a client can do to a server that costs the client little: bounded in count and time, to loopback alone."""

import base64
import json
import os
import resource
import select
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count

_CONNECT_S = 5.0
_MB = 1 << 20
_SENT = 1 << 16


@dataclass(frozen=True)
class Target:
    """A server on loopback. `post` takes bodies; `page` is the largest answer of `get`, which anybody may ask for."""

    port: int
    get: str = "/"
    post: str = "/"
    page: str = "/"
    websocket: str = ""
    search: str = ""

    def head(self, method: str, path: str, *headers: str) -> bytes:
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", *headers]
        return "\r\n".join([*lines, "", ""]).encode()

    @contextmanager
    def connected(self, *, reads_slowly: bool = False) -> Iterator[socket.socket]:
        with socket.socket() as client:
            if reads_slowly:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.settimeout(_CONNECT_S)
            client.connect(("127.0.0.1", self.port))
            yield client


Attack = Callable[[Target, float], str]


def answer_of(client: socket.socket, wait_s: float) -> str:
    """The status of the next answer, or how the connection ended."""
    client.settimeout(wait_s)
    received = b""
    try:
        while b"\r\n" not in received:
            part = client.recv(4096)
            if not part:
                return "closed" if not received else "cut"
            received += part
    except TimeoutError:
        return "no answer"
    except OSError:
        return "closed"
    words = received.split(b" ", 2)
    return words[1].decode("ascii", "replace") if len(words) > 1 else "no HTTP"


def _sent_all(client: socket.socket, parts: Iterator[bytes], *, most: int, seconds: float) -> int:
    """Send until the server closes, stops reading or answers; how many bytes it took."""
    deadline, sent = time.monotonic() + seconds, 0
    client.settimeout(0.5)
    for part in parts:
        if sent >= most or time.monotonic() > deadline or _has_answered(client):
            break
        left = part
        while left and time.monotonic() < deadline:
            try:
                done = client.send(left)
            except TimeoutError:
                if _has_answered(client):
                    return sent
                continue
            except OSError:
                return sent
            sent, left = sent + done, left[done:]
    return sent


def _has_answered(client: socket.socket) -> bool:
    return bool(select.select([client], [], [], 0)[0])


def _with_size(answer: str, sent: int) -> str:
    return f"{answer} after {sent / _MB:.1f} MB" if sent >= _MB // 10 else answer


def endless_headers(target: Target, seconds: float, most: int = 100 * _MB) -> str:
    with target.connected() as client:
        client.sendall(target.head("GET", target.get)[:-2])
        lines = (b"".join(b"X-%d-%d: %s\r\n" % (n, m, b"a" * 50) for m in range(1000)) for n in count())
        sent = _sent_all(client, lines, most=most, seconds=seconds)
        return _with_size(answer_of(client, 5), sent)


def one_long_line(target: Target, seconds: float, size: int = 80 * _MB) -> str:
    with target.connected() as client:
        client.sendall(target.head("GET", target.get)[:-2] + b"X-Long: ")
        sent = _sent_all(client, iter([b"a" * _MB] * (size // _MB)), most=size, seconds=seconds)
        with suppress(OSError):
            client.sendall(b"\r\n\r\n")
        return _with_size(answer_of(client, 15), sent)


def many_headers(target: Target, seconds: float, number: int = 100_000) -> str:
    with target.connected() as client:
        content = target.head("GET", target.get)[:-2] + b"A: b\r\n" * number + b"\r\n"
        sent = _sent_all(client, iter([content]), most=len(content), seconds=seconds)
        return _with_size(answer_of(client, 15), sent)


def long_address(target: Target, seconds: float, size: int = _MB) -> str:
    with target.connected() as client:
        content = target.head("GET", f"{target.get}?q={'a' * size}")
        sent = _sent_all(client, iter([content]), most=len(content), seconds=seconds)
        return _with_size(answer_of(client, 15), sent)


def large_body(target: Target, seconds: float, size: int = 100 * _MB) -> str:
    with target.connected() as client:
        client.sendall(target.head("POST", target.post, *_POSTED, f"Content-Length: {size}"))
        sent = _sent_all(client, iter([b" " * _MB] * (size // _MB)), most=size, seconds=seconds)
        return _with_size(answer_of(client, 5), sent)


def endless_chunks(target: Target, seconds: float, chunk: int = _SENT, most: int = 300 * _MB) -> str:
    with target.connected() as client:
        client.sendall(target.head("POST", target.post, *_POSTED, "Transfer-Encoding: chunked"))
        one = b"%x\r\n%s\r\n" % (chunk, b" " * chunk)
        sent = _sent_all(client, (one * max(1, _SENT // len(one)) for _ in count()), most=most, seconds=seconds)
        return _with_size(answer_of(client, 5), sent)


def tiny_chunks(target: Target, seconds: float) -> str:
    return endless_chunks(target, seconds, chunk=1, most=60 * _MB)


_POSTED = ("Content-Type: application/json", "Accept: application/json, text/event-stream")


def _held(target: Target, seconds: float, number: int, begin: bytes, drip: bytes) -> str:
    """Hold connections open, each with a byte a second if there is a `drip`; how many still are at the end."""
    _raise_limit(number + 200)
    clients: list[socket.socket] = []
    ends: Counter[str] = Counter()
    deadline = time.monotonic() + seconds
    try:
        for _ in range(number):
            client = socket.socket()
            clients.append(client)
            client.settimeout(1.0)
            try:
                client.connect(("127.0.0.1", target.port))
                client.sendall(begin)
            except OSError:
                ends["not accepted"] += 1
            if time.monotonic() > deadline:
                break
        while time.monotonic() < deadline:
            for client in clients if drip else ():
                with suppress(OSError):
                    client.sendall(drip)
            time.sleep(min(1.0, max(0.0, deadline - time.monotonic())))
        for client in clients:
            ends[_end_of(client)] += 1
    finally:
        for client in clients:
            client.close()
    return ", ".join(f"{number} {end}" for end, number in ends.most_common())


def _end_of(client: socket.socket) -> str:
    client.setblocking(False)
    try:
        received = client.recv(4096)
    except BlockingIOError:
        return "held"
    except OSError:
        return "closed"
    return received.split(b" ")[1].decode() if received.startswith(b"HTTP/1.1 ") else "closed"


def half_open(target: Target, seconds: float, number: int = 1_100) -> str:
    return _held(target, seconds, number, b"", b"")


def slow_heads(target: Target, seconds: float, number: int = 300) -> str:
    return _held(target, seconds, number, target.head("GET", target.get)[:-2] + b"X-Slow: ", b"a")


def slow_bodies(target: Target, seconds: float, number: int = 300) -> str:
    head = target.head("POST", target.post, *_POSTED, "Content-Length: 100000")
    return _held(target, seconds, number, head, b" ")


def idle_connections(target: Target, seconds: float, number: int = 300) -> str:
    """Each has had one answer, which is read away."""
    return _held(target, seconds, number, target.head("GET", target.get), b"")


def slow_readers(target: Target, seconds: float, number: int = 100) -> str:
    """Each asks for a large page many times, and reads nothing."""
    return _held_slow_readers(target, seconds, number)


def _held_slow_readers(target: Target, seconds: float, number: int) -> str:
    _raise_limit(number + 200)
    ends: Counter[str] = Counter()
    clients = []
    for _ in range(number):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(1.0)
        clients.append(client)
        with suppress(OSError):
            client.connect(("127.0.0.1", target.port))
            client.sendall(target.head("GET", target.page) * 200)
    time.sleep(seconds)
    for client in clients:
        # What was sent before the connection was cut is still there to be read.
        error = client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        state = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
        ends["held" if not error and state == 1 else "cut"] += 1
        client.close()
    return ", ".join(f"{number} {end}" for end, number in ends.most_common())


def pipelined(target: Target, seconds: float, number: int = 10_000) -> str:
    """The answers to many requests that were sent at once."""
    with target.connected() as client:
        content, answers = target.head("GET", target.get) * number, 0
        client.setblocking(False)
        deadline, rest = time.monotonic() + seconds, b""
        while time.monotonic() < deadline and answers < number:
            with suppress(BlockingIOError):
                content = content[client.send(content[:_SENT]) :] if content else b""
            try:
                part = client.recv(_SENT)
            except BlockingIOError:
                time.sleep(0.001)
                continue
            except OSError:
                break
            if not part:
                break
            answers += (rest[-8:] + part).count(b"HTTP/1.1 ")
            rest = part
        return f"{answers} answers"


def many_connections(target: Target, seconds: float, number: int = 3_000) -> str:
    """One request on each, one after the other."""
    answers: Counter[str] = Counter()
    deadline = time.monotonic() + seconds
    for _ in range(number):
        if time.monotonic() > deadline:
            break
        try:
            with target.connected() as client:
                client.sendall(target.head("GET", target.get))
                answers[answer_of(client, 5)] += 1
        except OSError:
            answers["not accepted"] += 1
    return ", ".join(f"{number} {answer}" for answer, number in answers.most_common())


_ODD: dict[str, tuple[str, ...]] = {
    "length and chunks": ("POST {post} HTTP/1.1", "Content-Length: 4", "Transfer-Encoding: chunked", "", "0", ""),
    "two lengths": ("POST {post} HTTP/1.1", "Content-Length: 4", "Content-Length: 5", "", "abcde"),
    "an encoding nobody knows": ("POST {post} HTTP/1.1", "Transfer-Encoding: xchunked", ""),
    "a negative length": ("POST {post} HTTP/1.1", "Content-Length: -1", ""),
    "a length of 30 digits": ("POST {post} HTTP/1.1", f"Content-Length: {'9' * 30}", ""),
    "a chunk of 16 digits": ("POST {post} HTTP/1.1", "Transfer-Encoding: chunked", "", "f" * 16, ""),
    "an absolute address": ("GET http://evil.example{get} HTTP/1.1", ""),
    "a null byte": ("GET /\0 HTTP/1.1", ""),
    "an encoded null byte": ("GET /%00 HTTP/1.1", ""),
    "a path that is no UTF-8": ("GET /\xff\xfe HTTP/1.1", ""),
    "an encoded path that is no UTF-8": ("GET /%ff%fe HTTP/1.1", ""),
    "a header with a null byte": ("GET {get} HTTP/1.1", "X: a\0b", ""),
    "a space before the colon": ("GET {get} HTTP/1.1", "Transfer-Encoding : chunked", ""),
    "no HTTP": ("\x16\x03\x01\x02\x00\x01\x00\x01", ""),
}


ODD_REQUESTS = (*_ODD, "bare line feeds", "empty lines")


def odd_request(target: Target, name: str) -> str:
    """The status of the answer to one of the odd requests."""
    with target.connected() as client:
        client.sendall(_odd_content(target, name))
        return answer_of(client, 3)


def _odd_content(target: Target, name: str) -> bytes:
    if name == "empty lines":
        return b"\r\n" * 1_000
    if name == "bare line feeds":
        return target.head("GET", target.get).replace(b"\r\n", b"\n")
    first, *others = _ODD[name]
    lines = [first.format(get=target.get, post=target.post), f"Host: 127.0.0.1:{target.port}", *others, ""]
    return "\r\n".join(lines).encode("latin-1")


def odd_requests(target: Target, seconds: float) -> str:
    answers = Counter(odd_request(target, name) for name in ODD_REQUESTS)
    return ", ".join(f"{number} {answer}" for answer, number in answers.most_common())


def hard_pattern(target: Target, seconds: float) -> str:
    """A pattern that a matcher that goes back would try in more ways than it ever could."""
    pattern = "*?" * 10 + "z9"
    with target.connected() as client:
        if target.search == "page":
            client.sendall(target.head("GET", f"/?q=x&path={pattern}", "Connection: close"))
            return answer_of(client, seconds)
        parameters = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        client.sendall(_call(target, "initialize", parameters))
        client.settimeout(_CONNECT_S)
        begun = client.recv(_SENT).decode("latin-1").lower()
        session = begun.partition("mcp-session-id: ")[2].partition("\r\n")[0]
    with target.connected() as client:
        called = {"name": "search", "arguments": {"query": "x", "path": pattern}}
        client.sendall(_call(target, "tools/call", called, f"Mcp-Session-Id: {session}"))
        # The head comes at once, the answer when there is one.
        answer_of(client, seconds)
        deadline, received = time.monotonic() + seconds, b""
        client.settimeout(0.5)
        while b"data:" not in received and time.monotonic() < deadline:
            with suppress(TimeoutError):
                received += client.recv(_SENT)
        return "an answer" if b"data:" in received else "no answer"


def _call(target: Target, method: str, params: object, *headers: str) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    return target.head("POST", target.post, *_POSTED, f"Content-Length: {len(body)}", *headers) + body


def _upgraded(target: Target, client: socket.socket) -> str:
    key = base64.b64encode(os.urandom(16)).decode()
    client.sendall(
        target.head(
            "GET",
            target.websocket,
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Protocol: graphql-ws",
        )
    )
    status = answer_of(client, 10)
    with suppress(TimeoutError, OSError):
        client.settimeout(0.3)
        client.recv(4096)
    return status


def frame(opcode: int, payload: bytes, *, is_last: bool = True, length: int | None = None) -> bytes:
    """A frame of a client; `length` is what it says of its own length."""
    size = len(payload) if length is None else length
    head = bytes([opcode | (0x80 if is_last else 0)])
    if size < 126:
        head += bytes([0x80 | size])
    elif size < 1 << 16:
        head += bytes([0x80 | 126]) + struct.pack("!H", size)
    else:
        head += bytes([0x80 | 127]) + struct.pack("!Q", size)
    return head + b"\0\0\0\0" + payload


def _flooded(target: Target, seconds: float, first: bytes, again: bytes, most: int) -> str:
    with target.connected(reads_slowly=True) as client:
        status = _upgraded(target, client)
        if status != "101":
            return status
        client.sendall(first)
        sent = _sent_until_closed(client, again, most=most, seconds=seconds)
        return f"{sent / _MB:.1f} MB taken, {_close_code(client)}"


def _sent_until_closed(client: socket.socket, again: bytes, *, most: int, seconds: float) -> int:
    deadline, sent = time.monotonic() + seconds, 0
    client.settimeout(0.5)
    while sent < most and time.monotonic() < deadline:
        with suppress(TimeoutError):
            try:
                sent += client.send(again)
            except (BrokenPipeError, ConnectionError):
                break
    return sent


def _close_code(client: socket.socket) -> str:
    """The code with which the server closed, if it did."""
    client.settimeout(0.5)
    received = b""
    try:
        while part := client.recv(_SENT):
            received = received[-64:] + part
    except TimeoutError:
        return "still open"
    except OSError:
        return "cut"
    found = received.rfind(b"\x88")
    return f"closed with {struct.unpack('!H', received[found + 2 : found + 4])[0]}" if found >= 0 else "closed"


def large_message(target: Target, seconds: float, size: int = 100 * _MB) -> str:
    return _flooded(target, seconds, frame(1, b"", length=size), b" " * _MB, size)


def endless_message(target: Target, seconds: float, most: int = 50 * _MB) -> str:
    """A message in parts, all of them empty, without an end."""
    return _flooded(target, seconds, frame(1, b"", is_last=False), frame(0, b"", is_last=False) * 10_000, most)


def endless_pings(target: Target, seconds: float, most: int = 200 * _MB) -> str:
    """Each has to be answered, and the client reads no answer."""
    return _flooded(target, seconds, b"", frame(9, b"p" * 125) * 500, most)


def endless_messages(target: Target, seconds: float, most: int = 100 * _MB) -> str:
    return _flooded(target, seconds, b"", frame(1, b'{"type":"connection_init"}') * 2_000, most)


def _raise_limit(files: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(soft, files)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard) if hard != resource.RLIM_INFINITY else wanted, hard))


ATTACKS: dict[str, Attack] = {
    "1,100 connections that say nothing": half_open,
    "300 heads, a byte a second": slow_heads,
    "300 bodies, a byte a second": slow_bodies,
    "300 idle connections": idle_connections,
    "100 clients that read nothing": slow_readers,
    "headers without end": endless_headers,
    "one header line of 80 MB": one_long_line,
    "100,000 headers": many_headers,
    "an address of 1 MB": long_address,
    "a body of 100 MB": large_body,
    "chunks without end": endless_chunks,
    "chunks of one byte without end": tiny_chunks,
    "10,000 requests at once on one connection": pipelined,
    "3,000 connections, one after the other": many_connections,
    f"{len(ODD_REQUESTS)} odd requests": odd_requests,
}
OF_WEBSOCKETS: dict[str, Attack] = {
    "a message of 100 MB": large_message,
    "a message of empty parts without end": endless_message,
    "pings without end, answers unread": endless_pings,
    "messages without end, answers unread": endless_messages,
}
OF_SEARCH: dict[str, Attack] = {"a pattern that breaks matchers": hard_pattern}


def attacks_of(target: Target) -> Sequence[tuple[str, Attack]]:
    """The attacks that this server can be tried with; the one that froze servers is last."""
    more = {**(OF_WEBSOCKETS if target.websocket else {}), **(OF_SEARCH if target.search else {})}
    return [*ATTACKS.items(), *more.items()]
