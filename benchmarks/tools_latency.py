"""How long each tool takes, in process, on generated repositories of about 5,000 and 100,000 documents.

    python -m benchmarks.tools_latency [FOLDER] [--documents 5000 100000] [--rounds 20]

Prints a table in Markdown: the median and the 90th percentile of the wall time of a call, the median of its processor
time, and the characters of its text; then what `codesum mcp` takes from its start to its first answer, beside a server
that has the SDK and nothing else.
FOLDER keeps what was built for the next time.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_registry import TOOLS, Tool
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of

# A class with three methods, four functions and the file itself.
_DOCUMENTS_PER_FILE = 9
_FILES_PER_FOLDER = 20
# Answers what it is asked, and nothing else.
_BARE_SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("bare", log_level="WARNING")
@server.tool()
def search(query: str) -> str:
    return query
server.run("stdio")
"""
_VERBS = ("load", "parse", "count", "merge", "render", "check", "send", "store", "split", "close")
_NOUNS = ("order", "ticket", "session", "invoice", "packet", "layer", "token", "budget", "sensor", "route")


def files_of(documents: int) -> Iterator[tuple[str, str]]:
    """Python files that import and call each other."""
    for number in range(documents // _DOCUMENTS_PER_FILE):
        verb, noun = _VERBS[number % 10], _NOUNS[number // 10 % 10]
        earlier = number // 2
        path = f"area_{number // (_FILES_PER_FOLDER * 10)}/part_{number // _FILES_PER_FOLDER}/unit_{number}.py"
        base = f"area_{earlier // (_FILES_PER_FOLDER * 10)}.part_{earlier // _FILES_PER_FOLDER}.unit_{earlier}"
        lines = [f'"""To {verb} each {noun} of batch {number}."""', "", f"from {base} import {noun}_0_{earlier}", ""]
        lines += [f"class {noun.title()}{number}:", f'    """Keeps the {noun}s of batch {number}."""', ""]
        for place in range(3):
            lines += [
                f"    def {_VERBS[place]}_{noun}(self, items):",
                f'        """{_VERBS[place].title()} some {noun}s."""',
            ]
            lines += [f"        found = [{noun}_{place}_{number}(item) for item in items]", "        return found", ""]
        for place in range(4):
            lines += ["", f"def {noun}_{place}_{number}(item, scale={number % 7}):"]
            lines += [f'    """{_VERBS[(number + place) % 10].title()} one {noun} of batch {number}."""']
            lines += [
                f"    total = item * {place} + scale",
                f"    return {noun}_0_{earlier}(total) if total else scale",
                "",
            ]
        yield path, "\n".join(lines)


def build_catalogue(folder: Path, documents: int) -> IndexCatalogue:
    """The home of a generated repository, built unless it was."""
    home = folder / f"home-{documents}"
    if not home.exists():
        repository = folder / f"repository-{documents}"
        for name, content in files_of(documents):
            path = repository / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "made")):
            identity = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
            subprocess.run(["git", *identity, *arguments], cwd=repository, check=True)
        build(workspace_of(open_home(home), RepositoryEntry(key="made", location=str(repository))))
    return IndexCatalogue.of(load_settings({"home": home}, environ={}))


def calls_of(number: int) -> Mapping[str, Mapping[str, Any]]:
    """One call of each tool; the number keeps questions apart."""
    noun, other = _NOUNS[number % 10], _NOUNS[(number + 3) % 10]
    # The last digit but one of a file's number says which noun it is about.
    name = f"{noun}_2_{number % 10 * 10 + 200}"
    path = f"area_1/part_{(number % 10 * 10 + 200) // _FILES_PER_FOLDER}/unit_{number % 10 * 10 + 200}.py"
    return {
        "search": {"query": f"check every {noun} before it goes to the {other}", "excerpt": 5},
        "read": {"ids": [name, path]},
        "graph": {"id": name, "depth": 3},
        "overview": {},
        "status": {},
        "get_codebase_overview": {},
        "get_framework_analysis": {},
        "get_semantic_neighborhoods": {"id": name},
        "search_symbols": {"name": f"{noun}_2"},
        "get_symbol_info": {"id": name},
        "get_dependencies": {"path": "area_0", "depth": 2},
        "get_file_analysis": {"path": path},
        "watch_changes": {},
    }


def measure_tool(tool: Tool, catalogue: IndexCatalogue, rounds: int) -> tuple[float, float, float, int]:
    """Median and 90th percentile of the wall time in ms, the median processor time, and characters."""
    walls, processor, characters = [], [], 0
    for number in range(rounds + 1):
        begin, used = time.perf_counter(), time.process_time()
        page = tool.ask(ToolContext(catalogue, Path("/")), calls_of(number)[tool.name])
        characters = len(page.text())
        walls.append((time.perf_counter() - begin) * 1000)
        processor.append((time.process_time() - used) * 1000)
    # The first call opens what the others find open.
    return (
        statistics.median(walls[1:]),
        statistics.quantiles(walls[1:], n=10)[-1],
        statistics.median(processor[1:]),
        characters,
    )


def first_answers(home: Path, *, rounds: int = 7) -> dict[str, tuple[float, float]]:
    """From the start of a process to its first answer of `search` over stdio: medians of seconds by the clock and of a
    processor; of our server, of one that has the SDK and nothing else, and of importing the SDK."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}
    search = {"name": "search", "arguments": {"query": "check every order"}}
    messages = (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": search},
    )
    lines = [json.dumps(message) for message in messages]
    processes: dict[str, tuple[list[str], list[str]]] = {
        "importing the SDK": (
            [sys.executable, "-c", "import os; from mcp.server.mcpserver import MCPServer; os._exit(0)"],
            [],
        ),
        "a server of the SDK alone": ([sys.executable, "-c", _BARE_SERVER], lines),
        "`codesum mcp`": ([sys.executable, "-m", "codesum_pipeline.cli", "--home", str(home), "mcp"], lines),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in processes}
    # In turns, so that what else the machine does meets all alike.
    for _ in range(rounds):
        for name, (command, stdin_lines) in processes.items():
            found[name].append(_time_process(command, stdin_lines))
    return {
        name: (statistics.median(wall for wall, _ in times), statistics.median(used for _, used in times))
        for name, times in found.items()
    }


def _time_process(command: list[str], lines: list[str]) -> tuple[float, float]:
    """Of a process that is given lines and answers each request: to its last answer, by the clock and of a processor.

    How it ends is not counted: one tidies up, another leaves.
    """
    begin, before = time.perf_counter(), os.times()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        for line in lines:
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            if '"id"' in line:
                process.stdout.readline()
        if lines:
            used = sum(psutil.Process(process.pid).cpu_times()[:4])
        else:
            process.wait()
            after = os.times()
            used = after.children_user + after.children_system - before.children_user - before.children_system
        wall = time.perf_counter() - begin
        process.stdin.close()
    return wall, used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--documents", nargs="+", type=int, default=[5_000, 100_000])
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for documents in arguments.documents:
            catalogue = build_catalogue(arguments.folder or Path(temporary), documents)
            count = len(catalogue.open("made"))
            print(f"\n{count:,} documents\n\n| tool | median ms | 90 % ms | processor ms | characters |")
            print("|---|---|---|---|---|")
            for tool in TOOLS:
                median, ninety, used, characters = measure_tool(tool, catalogue, arguments.rounds)
                print(f"| `{tool.name}` | {median:.0f} | {ninety:.0f} | {used:.0f} | {characters:,} |", flush=True)
            begin = time.perf_counter()
            try:
                ToolContext(catalogue, Path("/")).find("area_1/part_x/unitt_9.py")
            except ConfigurationError:
                print(f"| an unknown id, with the nearest | {(time.perf_counter() - begin) * 1000:.0f} | | | |")
            print("\n| from the start of a process to its first answer | s | processor s |\n|---|---|---|")
            for name, (wall, used) in first_answers(catalogue.layout.home).items():
                print(f"| {name} | {wall:.2f} | {used:.2f} |", flush=True)


if __name__ == "__main__":
    main()
