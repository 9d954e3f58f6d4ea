"""`codesum`: the command line. It translates arguments, calls one function of a stage and shows the result."""

import gc

# Start-up makes a million objects and little garbage: looking for it every 700 objects takes a fifth of the time.
OBJECTS_BEFORE_COLLECTION = 100_000


def main() -> None:
    """The entry point."""
    gc.set_threshold(OBJECTS_BEFORE_COLLECTION, 20, 20)
    from codesum_pipeline.cli.app import main as run

    run()


__all__ = ["main"]
