"""`codesum`: the command line. It translates arguments, calls one function of a stage and shows the result."""

import gc
import os
import sys
from typing import NoReturn

from codesum_pipeline.store.memory import collect_seldom


def main() -> None:
    """The entry point."""
    # What is imported is never garbage; `commands` looks for some once all is.
    gc.disable()
    collect_seldom()
    _open_standard_streams()
    try:
        _run()
    except SystemExit as ended:
        _leave(ended)


def _open_standard_streams() -> None:
    """Where the caller has closed one, its number would be given to the next file opened, and be written into."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def _leave(ended: SystemExit) -> NoReturn:
    """End without tidying up a million objects one by one, which takes up to 0.3 s: every file is closed by now."""
    if not isinstance(ended.code, int | None):
        raise ended
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        raise ended from None
    os._exit(ended.code or 0)


def _run() -> None:
    if not _is_build(sys.argv[1:]):
        _call()
        return
    # Another process imports Dagster while this one imports everything else.
    from codesum_pipeline.defs.recorder import end_recorder, start_recorder

    start_recorder()
    try:
        _call()
    finally:
        end_recorder()


def _call() -> None:
    from codesum_pipeline.cli.app import main as run

    run()


def _is_build(arguments: list[str]) -> bool:
    """Whether `codesum index` is called, as far as a look tells that imports nothing."""
    if "index" not in arguments or not {"-h", "--help"}.isdisjoint(arguments):
        return False
    before = arguments[: arguments.index("index")]
    return not before or before[0].startswith("-")


__all__ = ["main"]
