"""The entry point of `codesum`, also as `python -m codesum_pipeline.cli`. The commands are in `ways_in/cli`."""

import gc
import os
import sys
from contextlib import suppress

from codesum_pipeline.foundation.store.memory import collect_seldom

# What a shell says of a program that Ctrl-C has ended.
_INTERRUPTED = 130


def main() -> None:
    """The entry point."""
    # Imported modules are never garbage: the collector is switched on once all are there.
    gc.disable()
    collect_seldom()
    # The next file opened would get the number of a stream that the caller has closed, and output would go into it.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)
    try:
        _run()
    except KeyboardInterrupt:
        # While modules are imported: afterwards Typer ends with it.
        os._exit(_INTERRUPTED)
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        # End without tidying up a million objects one by one, which takes up to 0.3 s: every file is closed by now.
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(ended.code or 0)
        raise


def _run() -> None:
    if "mcp" in sys.argv[1:]:
        # It imports next to nothing, and answers before the rest is imported.
        from codesum_pipeline.ways_in.mcp.stdio_front import FRONT

        FRONT.start(sys.argv[1:])
    if not _is_build(sys.argv[1:]):
        _run_command()
        return
    # Another process imports Dagster while this one imports everything else.
    from codesum_pipeline.builds.dagster.recorder import SPARE_RECORDER

    SPARE_RECORDER.start()
    try:
        _run_command()
    finally:
        SPARE_RECORDER.end()


def _run_command() -> None:
    # Before that the recorder is started, which works meanwhile.
    from codesum_pipeline.ways_in.cli.cli_app import main as run_command

    run_command()


def _is_build(arguments: list[str]) -> bool:
    """Whether the arguments call `codesum index`. Nothing is imported to find out."""
    if "index" not in arguments or not {"-h", "--help"}.isdisjoint(arguments):
        return False
    before = arguments[: arguments.index("index")]
    return not before or before[0].startswith("-")


if __name__ == "__main__":
    main()
