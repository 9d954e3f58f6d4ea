"""Errors become one line and an exit code."""

import errno
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import typer

from codesum_pipeline.model.errors import BrokenStore, CodesumError, ConfigurationError, MissingTable, RetryLater
from codesum_pipeline.model.printable import one_line
from codesum_pipeline.store.atomic import cannot_write, is_refusal

FAILED = 1
MISCONFIGURED = 2
TRY_LATER = 3
BROKEN = 4

# The first that fits. What was not built yet is not broken: the person asked too early.
_EXIT_CODES = {
    ConfigurationError: MISCONFIGURED,
    MissingTable: MISCONFIGURED,
    RetryLater: TRY_LATER,
    BrokenStore: BROKEN,
}

EPILOG = (
    "Exit codes: 0 done · 1 something failed, as said · 2 wrong usage or configuration · "
    "3 try again later (a repository cannot be reached, or another build holds it) · "
    "4 what is stored is broken or of another version: the message names the command that rebuilds it."
)


@contextmanager
def report_failures(*, debug: bool) -> Iterator[None]:
    """Turn the package's errors, and the system's, into a line on stderr; with `debug`, let them through."""
    try:
        yield
        sys.stdout.flush()
    except CodesumError as error:
        if debug:
            raise
        complain(str(error))
        raise typer.Exit(exit_code(type(error))) from error
    except OSError as error:
        if debug or error.errno == errno.EPIPE:
            raise
        told = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        if error.errno is not None and is_refusal(error.errno):
            told = str(cannot_write(str(error.filename or "a file"), error.errno))
        complain(told)
        raise typer.Exit(FAILED) from error


def exit_code(error: type[CodesumError]) -> int:
    """What the process ends with."""
    return next((code for kind, code in _EXIT_CODES.items() if issubclass(error, kind)), FAILED)


def exit_code_of_all(errors: Iterable[type[CodesumError] | None]) -> int:
    """What the process ends with where nothing came of several: the code that they have in common, else 1."""
    codes = {exit_code(error) if error else FAILED for error in errors}
    return codes.pop() if len(codes) == 1 else FAILED


def complain(message: str) -> None:
    """One line on stderr."""
    typer.echo(f"codesum: {one_line(message)}", err=True)
