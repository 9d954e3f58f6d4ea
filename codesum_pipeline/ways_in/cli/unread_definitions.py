"""The definitions that a build could not read: how many, and the lines that show them."""

from collections.abc import Iterator
from typing import Any

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.foundation.data_model.printable import count_noun, some_of

_COLUMNS = ["file_path", "syntax_errors", "lost_definitions", "lost_lines"]
_FILES_NAMED = 3
_LINES_NAMED = 10


def broken_files(broken: int, lost: int) -> str:
    """How many files have syntax errors, and how many definitions were not read, there or elsewhere."""
    errors = f"{count_noun(broken, 'file')} with syntax errors" if broken else ""
    losses = f"about {count_noun(lost, 'definition')} not read" if lost else ""
    return ", ".join(filter(None, (errors, losses)))


def broken_files_of(home: Home, key: str) -> str:
    """The same of a repository, with the first places."""
    facts = home.tables.read_or_empty("file_facts", key, columns=_COLUMNS)
    broken = sum(errors > 0 for errors in facts["syntax_errors"].to_pylist())
    lost = sum(number or 0 for number in facts["lost_definitions"].to_pylist())
    return ": ".join(filter(None, (broken_files(broken, lost), _places(home, key))))


def unread_lines(home: Home, key: str) -> Iterator[str]:
    """A line for a person that names the first places; none where all was read."""
    if places := _places(home, key):
        yield f"definitions could not be read: {places}"


def unread_json(home: Home, key: str) -> list[dict[str, Any]]:
    """All places, for programs."""
    rows = home.tables.read_or_empty("file_facts", key, columns=_COLUMNS).to_pylist()
    return [{"path": row["file_path"], "lines": row["lost_lines"]} for row in rows if row["lost_lines"]]


def _places(home: Home, key: str) -> str:
    """`a.rb:40, 97; b.swift:3; and 2 more`."""
    files = [
        f"{file['path']}:{some_of([*map(str, file['lines'])], _LINES_NAMED)}"
        for file in sorted(unread_json(home, key), key=lambda file: (-len(file["lines"]), file["path"]))
    ]
    more = f" (all of them: `codesum status {key} --json`)" if len(files) > _FILES_NAMED else ""
    return f"{some_of(files, _FILES_NAMED, mark='; ')}{more}"
