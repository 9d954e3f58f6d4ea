"""What a client waits for when it starts `codesum mcp` over stdio, and what an agent's hook costs.

    python -m benchmarks.mcp_start [--before CHECKOUT] [--rounds 11]

Of processes of their own, in turns: seconds by the clock and of a processor from the start of the server to its answers
to `initialize`, to all lists that clients ask for, and to a first call. `--before` adds the same of another checkout of
this project. Then the hook that hints at the tools while an agent greps, from its start to its end.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from codesum_pipeline.ways_in.mcp.agent_profiles import hint_command
from codesum_pipeline_tests.support.first_answers import first_requests

_CALL = {"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": {"name": "status", "arguments": {}}}
_GREP = {"tool_name": "Bash", "tool_input": {"command": "rg -n 'def parse_names' src | head"}}
Times = tuple[float, float]


def time_server(checkout: Path, home: Path) -> list[Times]:
    """Wall and processor seconds at each answer of a server, from its start."""
    hello, *lists = first_requests("2025-11-25")
    command = [sys.executable, "-P", "-m", "codesum_pipeline.cli", "--home", str(home), "mcp"]
    began, found = time.perf_counter(), []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=home,
        env={**os.environ, "PYTHONPATH": str(checkout)},
    ) as process:  # fmt: skip
        assert process.stdin and process.stdout
        for requests in ([hello], [{"jsonrpc": "2.0", "method": "notifications/initialized"}, *lists], [_CALL]):
            process.stdin.write("".join(f"{json.dumps(request)}\n" for request in requests))
            process.stdin.flush()
            for _ in range(sum("id" in request for request in requests)):
                process.stdout.readline()
            used = sum(psutil.Process(process.pid).cpu_times()[:2])
            found.append((time.perf_counter() - began, used))
        process.stdin.close()
    return found


def time_hook() -> Times:
    """Wall and processor seconds of one hook."""
    began, before = time.perf_counter(), os.times()
    subprocess.run(hint_command(), shell=True, input=json.dumps(_GREP), text=True, check=True, capture_output=True)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - began, used


def main() -> None:
    """Measure in turns, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--rounds", type=int, default=11)
    arguments = parser.parse_args()
    checkouts = {"now": Path(__file__).parent.parent, **({"before": arguments.before} if arguments.before else {})}
    answers = ("`initialize`", "all lists and `ping`", "a first call of `status`")
    found: dict[tuple[str, str], list[Times]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(arguments.rounds):
            for name, checkout in checkouts.items():
                for answer, times in zip(answers, time_server(checkout, Path(folder)), strict=True):
                    found.setdefault((answer, name), []).append(times)
            found.setdefault(("the hook of an agent's grep", "now"), []).append(time_hook())
    print("| until | | seconds by the clock: median, worst | of a processor |\n|---|---|---|---|")
    for (answer, name), every_time in sorted(found.items()):
        wall, used = zip(*every_time, strict=True)
        print(f"| {answer} | {name} | {statistics.median(wall):.2f}, {max(wall):.2f} | {statistics.median(used):.2f} |")


if __name__ == "__main__":
    main()
