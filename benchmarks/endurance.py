"""What attacks of a client cost a server, and how long everybody else has to wait meanwhile.

    python -m benchmarks.endurance [--before CHECKOUT] [--seconds 8] [--servers web mcp webhooks ui] [--attacks TEXT]
    python -m benchmarks.endurance --files 20 [--bytes 1000000] [--attacks TEXT]

Each of the servers is started as people start it, with its default settings, on a home with one small repository. It is
attacked from 127.0.0.1 for some seconds with each of the attacks in `codesum_pipeline_tests/support/attacking.py`. A
second client asks for a page meanwhile, again and again, on a new connection each time, from the same address. At the
end fifty clients hold connections, and the server gets SIGTERM. With `--before`, the same is done with the code of
another checkout. Prints a table in Markdown.

A server that answers nobody for twenty seconds after an attack is started again. It may use 3 GB.

With `--files`, no server is attacked. So many kinds of hostile source files of each language, drawn anew each time, are
read instead, each in a process of its own, and the table has the dearest of each language.
"""

import argparse
import http.client
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path

import psutil

from codesum_pipeline_tests.support.attacking import Attack, Target, attacks_of
from codesum_pipeline_tests.support.hostile_reading import Reading, read_apart
from codesum_pipeline_tests.support.hostile_sources import hostile_sources
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.zoo import FILES

HERE = Path(__file__).parent.parent
_START_S = 240.0
_ANSWERED_S = 20.0
# Past it, the reading of a file is ended.
_MOST_SECONDS = 60
_MOST_BYTES = 3 << 30
_TARGETS: dict[str, dict[str, str]] = {
    "web": {"get": "/", "post": "/ask", "page": "/static/page.css", "search": "page"},
    "mcp": {"get": "/", "post": "/mcp", "search": "tool"},
    "webhooks": {"get": "/health", "post": "/webhooks", "page": "/health"},
    "ui": {"get": "/server_info", "post": "/graphql", "websocket": "/graphql"},
}
_OPTIONS = {
    "web": ("web", "--port"),
    "mcp": ("mcp", "--http"),
    "webhooks": ("webhooks", "--port"),
    "ui": ("dev", "--only", "webserver", "--port"),
}
SIGTERM = "SIGTERM while 50 clients hold connections"


@dataclass
class Server:
    """One of the servers, with the code of a checkout."""

    name: str
    code: Path
    home: Path
    _process: "subprocess.Popen[bytes] | None" = None
    _port: int = 0

    @property
    def target(self) -> Target:
        return Target(self._port, **_TARGETS[self.name])

    def make_ready(self) -> None:
        """Start it if it does not run, or answers nobody."""
        if self._process and self._process.poll() is None and self._is_answered(_ANSWERED_S):
            return
        self.stop()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        env = {**os.environ, "PYTHONPATH": str(self.code), "CODESUM_WEBHOOK_SECRET": "w" * 40}
        command = [sys.executable, "-P", "-m", "codesum_pipeline.cli", "--home", str(self.home)]
        self._process = subprocess.Popen(
            [*command, *_OPTIONS[self.name], str(self._port)],
            cwd=self.home.parent,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if not self._is_answered(_START_S):
            raise RuntimeError(f"{self.name} of {self.code} does not start")
        resource.prlimit(self._process.pid, resource.RLIMIT_DATA, (_MOST_BYTES, _MOST_BYTES))

    def stop(self) -> None:
        if self._process and self._process.poll() is None:
            children = psutil.Process(self._process.pid).children(recursive=True)
            self._process.kill()
            for each in children:
                with suppress(psutil.NoSuchProcess):
                    each.kill()
            self._process.wait()

    def memory_mb(self) -> float:
        assert self._process
        with suppress(psutil.NoSuchProcess):
            return float(psutil.Process(self._process.pid).memory_info().rss / 1e6)
        return 0.0

    def seconds_to_end(self, longest_s: float) -> float | None:
        """After SIGTERM; None if it does not end."""
        assert self._process
        with ExitStack() as held:
            for _ in range(50):
                with suppress(OSError):
                    held.enter_context(self.target.connected()).sendall(b"GET / HTTP/1.1\r\n")
            began = time.monotonic()
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(longest_s)
            except subprocess.TimeoutExpired:
                return None
            return time.monotonic() - began

    def _is_answered(self, within_s: float) -> bool:
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            if ask_page(self.target, deadline - time.monotonic()) is not None:
                return True
            if self._process and self._process.poll() is not None:
                return False
            time.sleep(0.2)
        return False


def ask_page(target: Target, longest_s: float) -> int | None:
    """The status of the page; None without an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", target.port, timeout=max(0.1, longest_s))
    try:
        connection.request("GET", target.get)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


@dataclass
class Bystander:
    """Asks for a page as long as the attack lasts."""

    server: Server
    worst_s: float = 0.0
    unanswered: int = 0
    peak_mb: float = 0.0
    _is_over: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def keep_asking(self) -> Iterator[None]:
        thread = threading.Thread(target=self._live)
        thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            thread.join()

    def _live(self) -> None:
        while not self._is_over.is_set():
            began = time.monotonic()
            self.unanswered += ask_page(self.server.target, _ANSWERED_S) is None
            self.worst_s = max(self.worst_s, time.monotonic() - began)
            self.peak_mb = max(self.peak_mb, self.server.memory_mb())
            self._is_over.wait(0.05)

    def cells(self) -> list[str]:
        missed = f", {self.unanswered} without an answer" if self.unanswered else ""
        return [f"{self.worst_s:.2f}{missed}", f"{self.peak_mb:.0f}"]


def run_attack(server: Server, attack: Attack, seconds: float) -> list[str]:
    """What the attacker sees, how long the other one waited, and the memory."""
    server.make_ready()
    bystander = Bystander(server)
    with bystander.keep_asking():
        try:
            seen = attack(server.target, seconds)
        except OSError as error:
            seen = f"no connection: {error.strerror}"
    return [seen, *bystander.cells()]


def measure(server: Server, seconds: float, wanted: str) -> dict[str, list[str]]:
    """The cells of each attack."""
    server.make_ready()
    rows = {}
    try:
        for name, attack in attacks_of(server.target):
            if wanted not in name:
                continue
            rows[name] = run_attack(server, attack, seconds)
            sys.stderr.write(f"{server.code.name} {server.name}: {name}: {rows[name]}\n")
        server.make_ready()
        ended = server.seconds_to_end(_ANSWERED_S)
        rows[SIGTERM] = [f"ended after {ended:.1f} s" if ended is not None else "never ended", "", ""]
    finally:
        server.stop()
    return rows


def make_home(folder: Path, code: Path) -> Path:
    """A home with one repository, made with the code that will serve it."""
    repository = GitRepo.create(folder / "zoo", FILES)
    home = folder / "home"
    env = {**os.environ, "PYTHONPATH": str(code)}
    for words in (["add", str(repository.path)], ["index"]):
        command = [sys.executable, "-P", "-m", "codesum_pipeline.cli", "--home", str(home), *words]
        subprocess.run(command, check=True, env=env, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return home


def read_files(count: int, size: int, wanted: str) -> list[Reading]:
    """Read so many hostile sources of each language, two at a time."""
    by_language: dict[str, list[str]] = {}
    for source in hostile_sources():
        if wanted in source.id:
            by_language.setdefault(source.language, []).append(source.id)
    names = [name for ids in by_language.values() for name in random.sample(ids, min(count, len(ids)))]
    with ThreadPoolExecutor(2) as threads:
        readings = []
        for reading in threads.map(partial(read_apart, size=size, seconds=_MOST_SECONDS), names):
            sys.stderr.write(f"{reading}\n")
            readings.append(reading)
    return readings


def print_files(readings: Sequence[Reading], size: int) -> None:
    """The dearest of each language, in seconds and in memory, and what did not end within the limits."""
    lines = ["| language | files | read | counted as failed | most seconds | of which kind | most MB | of which kind |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for language, some in groupby(readings, lambda reading: reading.source.partition(": ")[0]):
        group = list(some)
        slowest = max(group, key=lambda reading: reading.processor_s)
        largest = max(group, key=lambda reading: reading.memory_mb)
        failed = sum(bool(reading.failures) for reading in group)
        read = sum(reading.rows for reading in group) - failed
        cells = [language, len(group), read, failed, f"{slowest.processor_s:.1f}", _kind_of_file(slowest)]
        lines.append(f"| {' | '.join(map(str, [*cells, f'{largest.memory_mb:.0f}', _kind_of_file(largest)]))} |")
    lines += [f"\nNot read: {reading.source}: {reading.error}" for reading in readings if reading.error]
    sys.stdout.write(f"Files of {size:,} bytes\n\n" + "\n".join(lines) + "\n")


def _kind_of_file(reading: Reading) -> str:
    return reading.source.partition(": ")[2]


def print_table(found: Mapping[str, Mapping[str, Sequence[Sequence[str]]]], versions: Sequence[str]) -> None:
    heads = [
        f"{what}{version}" for version in versions for what in ("the attacker sees", "worst wait (s)", "peak (MB)")
    ]
    lines = [f"| server | attack | {' | '.join(heads)} |", "|---|---|" + "---|" * len(heads)]
    for server, rows in found.items():
        for attack, cells in rows.items():
            flat = [cell for each in cells for cell in each]
            lines.append(f"| {server} | {attack} | {' | '.join(flat)} |")
    sys.stdout.write("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="a checkout whose code is attacked first")
    parser.add_argument("--seconds", type=float, default=8.0, help="each attack lasts so long")
    parser.add_argument("--servers", nargs="+", choices=_TARGETS, default=[*_TARGETS])
    parser.add_argument("--attacks", default="", help="only those with this text in their name")
    parser.add_argument("--files", type=int, metavar="N", help="read N hostile files of each language instead")
    parser.add_argument("--bytes", type=int, default=1_000_000, help="the size of each of them")
    arguments = parser.parse_args()
    if arguments.files:
        print_files(read_files(arguments.files, arguments.bytes, arguments.attacks), arguments.bytes)
        return
    codes = [*([arguments.before.resolve()] if arguments.before else []), HERE]
    found: dict[str, dict[str, list[list[str]]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, code in enumerate(codes):
            (own := Path(folder) / str(number)).mkdir()
            home = make_home(own, code)
            for name in arguments.servers:
                for attack, cells in measure(Server(name, code, home), arguments.seconds, arguments.attacks).items():
                    found.setdefault(name, {}).setdefault(attack, []).append(cells)
    print_table(found, [", before", ", now"] if arguments.before else [""])


if __name__ == "__main__":
    main()
