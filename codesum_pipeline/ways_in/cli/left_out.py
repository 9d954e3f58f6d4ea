"""What an index lacks that its reader may take it to have: submodules, clones inside, definitions, what failed, or
everything."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from codesum_pipeline.answers.agent_tools.submodule_answers import read_submodules, told_left_out
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.reports.kept_failures import read_failures
from codesum_pipeline.foundation.data_model.file import SkipReason
from codesum_pipeline.foundation.data_model.guard import Failure
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line, some_of
from codesum_pipeline.source.git.locations import is_url

_NAMED = 5
# Failed items of a step that are named.
_MOST_FAILED = 3
# What came of each kind of item: the noun, and what could not be done.
_FAILURES = {
    "repo_snapshot": ("path", "could not be used"),
    "symbols": ("file", "could not be parsed, indexed as plain text where possible"),
    "call_graph": ("file", "could not be resolved, so without edges"),
    "dense_index": ("document", "could not be embedded"),
    "sparse_index": ("document", "could not be split into words"),
    "retrieval_evaluation": ("question", "could not be asked"),
    "intent_matches": ("standing question", "could not be looked at"),
    "intent_digests": ("digest", "could not be written, so what changed is kept for the next try"),
}
_FAILED_TEXT = ("text", "could not be written, so another one is used")


def left_out_lines(home: Home, key: str) -> Iterator[str]:
    """A line about each kind of thing that the last build left out of the index of a repository."""
    rows = home.tables.read_or_empty("files", key, columns=["path", "reason", "encoding_problem"])
    paths, reasons = rows.column("path").to_pylist(), rows.column("reason").to_pylist()
    if home.tables.content_hash("snapshot", key) and None not in reasons:
        yield f"nothing is indexed: {_why_nothing(Counter(map(str, reasons)))}"
    if told := told_left_out(key, read_submodules(home.layout, key)):
        yield told
    problems = zip(paths, reasons, rows.column("encoding_problem").to_pylist(), strict=True)
    unread = [f"{one_line(path)} ({one_line(why)})" for path, reason, why in problems if reason == SkipReason.NOTEBOOK]
    if unread:
        yield f"{count_noun(len(unread), 'notebook')} that cannot be read: {some_of(unread, _NAMED)}"
    nested = [path for path, reason in zip(paths, reasons, strict=True) if reason == SkipReason.NESTED_REPOSITORY]
    if nested:
        entry = home.registry.get(key)
        named = [path if is_url(entry.location) else str(Path(entry.location) / path) for path in nested]
        yield (
            f"{count_noun(len(nested), 'repository', 'repositories')} inside, not indexed: "
            f"{some_of([one_line(path) for path in nested], _NAMED)}; `codesum add {shlex.join(named[:_NAMED])}`"
        )


def _why_nothing(reasons: Counter[str]) -> str:
    if not reasons:
        return "the repository has no files"
    total = count_noun(sum(reasons.values()), "name")
    counts = ", ".join(f"{number:,} {reason}" for reason, number in sorted(reasons.items()))
    return f"none of {total} in it may be: {counts}"


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


def failure_lines(key: str, found: Mapping[str, Sequence[Failure]]) -> Iterator[str]:
    """What the steps of a build failed on while the rest was published: one line a step, with the first items."""
    for step, failures in found.items():
        noun, what = _FAILURES.get(step, _FAILED_TEXT)
        named = ", ".join(one_line(f"{failure.item} ({failure.reason})") for failure in failures[:_MOST_FAILED])
        more = (
            f", and {len(failures) - _MOST_FAILED:,} more: `codesum status {key} --json`"
            if failures[_MOST_FAILED:]
            else ""
        )
        yield f"{count_noun(len(failures), noun)} {what}: {named}{more}"


def failures_json(home: Home, key: str) -> list[dict[str, str]]:
    """The failed items of a repository's last build, for programs."""
    return [
        {"step": step, "item": failure.item, "reason": failure.reason}
        for step, failures in read_failures(home.layout.memos(key)).items()
        for failure in failures
    ]


def lacking_lines(home: Home, key: str, *, is_built: bool = True) -> Iterator[str]:
    """All that the last build failed on, could not read and, if it came to its end, left out."""
    yield from failure_lines(key, read_failures(home.layout.memos(key)))
    yield from left_out_lines(home, key) if is_built else ()
    if places := _places(home, key):
        yield f"definitions could not be read: {places}"
