"""What the steps of a build failed on while the rest was published, in lines for people and as values for programs."""

from collections.abc import Iterator, Mapping, Sequence

from codesum_pipeline.building.failures import read_failures
from codesum_pipeline.cli.render import count
from codesum_pipeline.model.guard import Failure
from codesum_pipeline.wiring import Home

_SHOWN = 3
# What came of each kind of item: the noun, and what could not be done.
_SAID = {
    "repo_snapshot": ("file", "could not be judged, so left out"),
    "symbols": ("file", "could not be parsed, indexed as plain text where possible"),
    "call_graph": ("file", "could not be resolved, so without edges"),
    "dense_index": ("document", "could not be embedded"),
    "sparse_index": ("document", "could not be split into words"),
    "retrieval_evaluation": ("question", "could not be asked"),
    "intent_matches": ("standing question", "could not be looked at"),
    "intent_digests": ("digest", "could not be written, so what changed is kept for the next try"),
}
_TEXT = ("text", "could not be written, so another one stands in")


def failures_of(home: Home, key: str) -> Mapping[str, Sequence[Failure]]:
    """The failures of a repository's last build, by step."""
    return read_failures(home.layout.memos(key))


def failure_lines(key: str, found: Mapping[str, Sequence[Failure]]) -> Iterator[str]:
    """One line a step: how many items, and the first of them with their reasons."""
    for step, failures in found.items():
        noun, what = _SAID.get(step, _TEXT)
        named = ", ".join(f"{failure.item} ({failure.reason})" for failure in failures[:_SHOWN])
        more = f", and {len(failures) - _SHOWN:,} more: `codesum status {key} --json`" if failures[_SHOWN:] else ""
        yield f"{count(len(failures), noun)} {what}: {named}{more}"


def tracebacks(found: Mapping[str, Sequence[Failure]]) -> Iterator[str]:
    """Where in the code each item failed."""
    return (
        f"{step}: {failure.item}\n{failure.traceback}"
        for step, failures in found.items()
        for failure in failures
        if failure.traceback
    )


def failures_json(found: Mapping[str, Sequence[Failure]]) -> list[dict[str, str]]:
    """One object an item."""
    return [
        {"step": step, "item": failure.item, "reason": failure.reason}
        for step, failures in found.items()
        for failure in failures
    ]
