"""Lists of locations that a person gives in a file: one a line.

Empty lines and lines that begin with `#` count for nothing. A relative path begins at the current folder, as one on the
command line does.
"""

import sys
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import ConfigurationError

STANDARD_INPUT = "-"
# As many repositories as one home is measured with.
MOST_LOCATIONS = 10_000
LARGEST_BYTES = 4 * 1024 * 1024


class GivenLocation(Struct, frozen=True):
    """A location, and how a message about it begins if it comes from a list: `FILE line 3: `."""

    text: str
    origin: str = ""


def read_locations(file: str) -> list[GivenLocation]:
    """The locations of a list; raises `ConfigurationError` for one that cannot be read or is too long."""
    name = "standard input" if file == STANDARD_INPUT else file
    lines = _read_text(file, name).split("\n")
    given = [
        GivenLocation(text, f"{name} line {number}: ")
        for number, line in enumerate(lines, start=1)
        if (text := line.strip()) and not text.startswith("#")
    ]
    if len(given) > MOST_LOCATIONS:
        raise ConfigurationError(
            f"--from {file}: {len(given):,} locations: a list has at most {MOST_LOCATIONS:,}; divide it"
        )
    if not given:
        raise ConfigurationError(f"--from {file}: {name} has no location: write one a line")
    return given


def _read_text(file: str, name: str) -> str:
    try:
        if file == STANDARD_INPUT:
            data = sys.stdin.buffer.read(LARGEST_BYTES + 1)
        else:
            with Path(file).expanduser().open("rb") as opened:
                data = opened.read(LARGEST_BYTES + 1)
        if len(data) > LARGEST_BYTES:
            raise ConfigurationError(f"--from {file}: {name} is larger than {LARGEST_BYTES // 2**20} MB: divide it")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise ConfigurationError(f"--from {file}: it cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"--from {file}: {name} is not UTF-8: {error.reason} at byte {error.start}") from error
