"""The table that a build ends with."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from codesum_pipeline.cli.freshness import LastBuild
from codesum_pipeline.cli.render import SHORT_COMMIT, count, table
from codesum_pipeline.model.documents import LEVELS, Level

if TYPE_CHECKING:
    from codesum_pipeline.defs.building.values import RunOutcome

_COUNTS = ("rows", "written", "kept", "removed", "placeholders")
_UNPUBLISHED = {False: "nothing changed, nothing published", True: "held back, the last version stays published"}
_HEADS = ("documents", "written", "kept", "removed", "placeholders")


def built_table(outcomes: "Sequence[RunOutcome]") -> RenderableType:
    """One repository by level, several by repository; of a single one that was not published there is nothing to
    show."""
    if len(outcomes) > 1:
        return _by_repository(outcomes)
    return Group(
        *(part for outcome in outcomes if is_built(outcome) for part in (_by_level(outcome), *_remarks(outcome)))
    )


def outcome_json(outcome: "RunOutcome", *, commit: str | None) -> dict[str, Any]:
    """One run, for programs; `commit` is that of the index which is published now."""
    return {
        "repo": outcome.key,
        "run_id": outcome.run_id,
        "succeeded": outcome.succeeded,
        "up_to_date": False,
        "held": outcome.is_held,
        "seconds": round(outcome.seconds, 3),
        "commit": commit,
        "message": outcome.message or None,
        "steps": {step: dict(numbers) for step, numbers in outcome.numbers.items()},
    }


def standing_line(key: str, standing: LastBuild) -> str:
    """A repository that needed no run."""
    if standing.held_because:
        return f"{key}: held back at {standing.commit[:SHORT_COMMIT]}: {standing.held_because}"
    return f"{key}: up to date at {standing.commit[:SHORT_COMMIT]}, nothing to do"


def standing_json(key: str, standing: LastBuild) -> dict[str, Any]:
    """As `outcome_json`, of a repository that needed no run."""
    return {
        "repo": key,
        "run_id": None,
        "succeeded": True,
        "up_to_date": standing.held_because is None,
        "held": standing.held_because is not None,
        "seconds": 0.0,
        "commit": standing.commit,
        "message": standing.held_because,
        "steps": {},
        "llm": None,
        "failures": [],
    }


def _by_level(outcome: "RunOutcome") -> RenderableType:
    rows = [(level, *_level_counts(outcome, level)) for level in LEVELS]
    totals = [sum(numbers) for numbers in list(zip(*rows, strict=True))[1:]]
    return table((outcome.key, *_HEADS), [*rows, ("all", *totals)], right=_HEADS)


def _by_repository(outcomes: "Sequence[RunOutcome]") -> RenderableType:
    rows = [
        (
            outcome.key,
            _result(outcome),
            *(sum(_level_counts(outcome, level)[place] for level in LEVELS) for place in range(len(_HEADS))),
            _number(outcome, "dense_index", "embedded"),
            _number(outcome, "repo_snapshot", "files_skipped"),
            f"{outcome.seconds:.1f}",
        )
        for outcome in outcomes
    ]
    numbers = (*_HEADS, "vectors", "skipped", "seconds")
    return table(("repository", "result", *numbers), rows, right=numbers)


def _result(outcome: "RunOutcome") -> Text:
    if outcome.is_held:
        return Text("held back", style="yellow")
    return Text("built", style="green") if outcome.succeeded else Text("failed", style="red")


def _remarks(outcome: "RunOutcome") -> list[Text]:
    """What a level does not say: files, vectors, time."""
    files, vectors = _numbers(outcome, "repo_snapshot"), _numbers(outcome, "dense_index")
    published = _numbers(outcome, "published_index")
    lines = (
        f"{count(int(files.get('files_indexed', 0)), 'file')} indexed, {files.get('files_skipped', 0):,} skipped",
        f"{count(int(vectors.get('embedded', 0)), 'vector')} computed, {vectors.get('carried', 0):,} kept",
        *broken_files(_numbers(outcome, "symbols")),
        *_confirmed(_numbers(outcome, "call_graph")),
        "published" if published.get("published") else _UNPUBLISHED[outcome.is_held],
        *_told(_numbers(outcome, "intent_digests")),
        f"{outcome.seconds:.1f} s",
    )
    return [Text(" · ".join(lines), style="dim")]


def broken_files(numbers: Mapping[str, int | float]) -> Iterator[str]:
    """The files with syntax errors, and what was lost in them."""
    broken, lost = int(numbers.get("files_with_syntax_errors", 0)), int(numbers.get("lost_definitions", 0))
    if broken:
        told = f", about {count(lost, 'definition')} lost in {'it' if broken == 1 else 'them'}" if lost else ""
        yield f"{count(broken, 'file')} with syntax errors{told}"


def _confirmed(numbers: Mapping[str, int | float]) -> Iterator[str]:
    """How much of the graph a compiler's index confirms; nothing where there is none."""
    if numbers.get("index_files"):
        yield f"{count(int(numbers.get('edges_trusted', 0)), 'edge')} confirmed by a compiler's index"


def _told(numbers: Mapping[str, int | float]) -> Iterator[str]:
    """The digests that were written, and messages that did not go out; nothing where nobody asked."""
    if written := int(numbers.get("digests", 0)):
        yield f"{count(written, 'digest')} written"
    if unsent := int(numbers.get("messages_not_sent", 0)):
        yield f"{count(unsent, 'message')} not sent (`codesum digest outbox`)"


def is_built(outcome: "RunOutcome") -> bool:
    """Whether the run came to its end, also where it failed for want of a model's texts."""
    return outcome.succeeded or "published_index" in outcome.numbers


def _level_counts(outcome: "RunOutcome", level: Level) -> tuple[int, ...]:
    numbers = _numbers(outcome, f"{level}_summaries")
    return tuple(int(numbers.get(name, 0)) for name in _COUNTS)


def _number(outcome: "RunOutcome", step: str, name: str) -> int:
    return int(_numbers(outcome, step).get(name, 0))


def _numbers(outcome: "RunOutcome", step: str) -> Mapping[str, int | float]:
    """A step that the run did not reach has none."""
    return outcome.numbers.get(step, {})
