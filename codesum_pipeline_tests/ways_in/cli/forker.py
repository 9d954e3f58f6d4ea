"""A process that has imported what `codesum` imports, and is forked for each call: see `calling.fork`."""

import gc
import json
import math
import os
import signal
import sys
import traceback
from collections.abc import Mapping
from typing import Any

import codesum_pipeline.builds.dagster.control  # noqa: F401
from codesum_pipeline.ways_in.cli import progress_bar
from codesum_pipeline.ways_in.cli.cli_app import COMMANDS, load_command, main


def serve() -> None:
    """For each line of stdin a call; a line of stdout says how it ended, and the next one begins."""
    for command in COMMANDS:
        load_command(command.name)
    # What is told only because a machine is busy would stand in outputs that are compared.
    progress_bar._NEWS_EVERY_S = progress_bar._LATER_EVERY_S = math.inf
    # The collector would write to pages that the processes share.
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            become(json.loads(line))
            call()
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        sys.stdout.flush()


def become(call: Mapping[str, Any]) -> None:
    """What a shell gives a process that it starts."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.umask(call["mask"])
    os.chdir(call["folder"])
    os.environ.clear()
    os.environ.update(call["environment"])
    sys.argv = ["codesum", *call["arguments"]]
    for stream, path in enumerate(call["streams"]):
        opened = os.open(path, os.O_WRONLY if stream else os.O_RDONLY)
        os.dup2(opened, stream)
        os.close(opened)
    sys.stdin, sys.stdout = open(0), open(1, "w")  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1)  # noqa: SIM115


def call() -> None:
    """End as the interpreter does, but for taking apart all that was imported."""
    status = 1
    try:
        main()
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    serve()
