"""What an index lacks that its reader may take it to have: submodules, clones inside, or everything."""

import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from codesum_pipeline.answers.agent_tools.submodule_answers import read_submodules, told_left_out
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.foundation.data_model.file import SkipReason
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line, some_of
from codesum_pipeline.source.git.locations import is_url

_NAMED = 5


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
