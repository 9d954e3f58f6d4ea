"""What a build says when it ends: its table, failures, the work and price of a model, and edits that are not in it."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from rich.console import Group, RenderableType
from rich.text import Text

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.reports.build_values import DAMAGED
from codesum_pipeline.builds.steps.freshness import compare_fingerprints, is_complete
from codesum_pipeline.foundation.data_model.document import LEVELS, Gate, Level
from codesum_pipeline.foundation.data_model.errors import CallFailure, CodesumError, SummaryCallFailed
from codesum_pipeline.foundation.data_model.model_call import AvoidanceReason, AvoidedRow, CallTotals, LedgerRow
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.indexes.file_formats.version_folder import read_published
from codesum_pipeline.indexes.publishing.publish import published_version
from codesum_pipeline.search.evaluation.lift import find_savings
from codesum_pipeline.source.files.path_rules import PathRules
from codesum_pipeline.source.files.work_trees import uncommitted_files
from codesum_pipeline.source.git.mirror import Mirror
from codesum_pipeline.texts.llm.ledger_readings import Totals, add_up_calls, avoided_by_cause
from codesum_pipeline.texts.summaries.by_model.gates import TrustCount, count_trust
from codesum_pipeline.texts.summaries.by_model.plan_prices import describe_held_back
from codesum_pipeline.ways_in.cli.left_out import broken_files, failures_json, left_out_lines, unread_json
from codesum_pipeline.ways_in.cli.render import SHORT_COMMIT, make_table, write_note

if TYPE_CHECKING:
    from codesum_pipeline.builds.reports.build_values import RunOutcome

# A level's columns, and what its step's report calls them.
_COUNTS = {
    "documents": "rows", "written": "written", "kept": "kept", "removed": "removed", "placeholders": "placeholders",
}  # fmt: skip
_UNPUBLISHED = {False: "nothing changed, nothing published", True: "held back, the last version stays published"}
# They wait for git, and do not compute.
_READERS = 8


def built_table(outcomes: "Sequence[RunOutcome]") -> RenderableType:
    """One repository by level, several by repository; of a single one that was not published nothing is shown."""
    if len(outcomes) > 1:
        return _by_repository(outcomes)
    parts: list[RenderableType] = []
    for outcome in outcomes:
        # Also where it failed for want of a model's texts.
        if outcome.succeeded or "published_index" in outcome.numbers:
            rows = [(level, *_level_counts(outcome, level)) for level in LEVELS]
            totals = [sum(numbers) for numbers in list(zip(*rows, strict=True))[1:]]
            parts.append(make_table((outcome.key, *_COUNTS), [*rows, ("all", *totals)], right=_COUNTS))
            parts.append(_remarks(outcome))
    return Group(*parts)


def _by_repository(outcomes: "Sequence[RunOutcome]") -> RenderableType:
    rows = []
    for outcome in outcomes:
        result, style = ("built", "green") if outcome.succeeded else ("failed", "red")
        rows.append(
            (
                outcome.key,
                Text("held back", "yellow") if outcome.is_held else Text(result, style),
                *map(sum, zip(*(_level_counts(outcome, level) for level in LEVELS), strict=True)),
                _number(outcome, "dense_index", "embedded"),
                _number(outcome, "repo_snapshot", "files_skipped"),
                f"{outcome.seconds:.1f}",
            )
        )
    numbers = (*_COUNTS, "vectors", "skipped", "seconds")
    return make_table(("repository", "result", *numbers), rows, right=numbers)


def _remarks(outcome: "RunOutcome") -> Text:
    """Remarks that the table by level does not contain."""
    number = partial(_number, outcome)
    files, skipped = number("repo_snapshot", "files_indexed"), number("repo_snapshot", "files_skipped")
    guessed, doubted = number("repo_snapshot", "encodings_guessed"), number("repo_snapshot", "encodings_in_doubt")
    computed = number("dense_index", "embedded")
    confirmed = count_noun(number("call_graph", "edges_trusted"), "edge")
    digests, unsent = number("intent_digests", "digests"), number("intent_digests", "messages_not_sent")
    parts = (
        f"{count_noun(files, 'file')} indexed, {skipped:,} skipped",
        f"{count_noun(guessed, 'file')} in a guessed encoding" if guessed else "",
        f"{count_noun(doubted, 'file')} not read as declared, or not in full (`codesum status {outcome.key}`)"
        if doubted
        else "",
        f"{count_noun(computed, 'vector')} computed, {number('dense_index', 'carried'):,} kept",
        broken_files(number("symbols", "files_with_syntax_errors"), number("symbols", "lost_definitions")),
        f"{confirmed} confirmed by a compiler's index" if number("call_graph", "index_files") else "",
        "published" if number("published_index", "published") else _UNPUBLISHED[outcome.is_held],
        f"{count_noun(digests, 'digest')} written" if digests else "",
        f"{count_noun(unsent, 'message')} not sent (`codesum digest outbox`)" if unsent else "",
        f"{outcome.seconds:.1f} s",
    )
    return Text(" · ".join(filter(None, parts)), style="dim")


def _level_counts(outcome: "RunOutcome", level: Level) -> tuple[int, ...]:
    return tuple(_number(outcome, f"{level}_summaries", name) for name in _COUNTS.values())


def _number(outcome: "RunOutcome", step: str, name: str) -> int:
    """A step that the run did not reach has none."""
    return int(outcome.numbers.get(step, {}).get(name, 0))


def outcome_json(home: Home, outcome: "RunOutcome") -> dict[str, Any]:
    """One run, for programs, with the commit of the index that is published now."""
    published = read_published(home.layout, outcome.key)
    return {
        **_nothing_done(home, outcome.key),
        "run_id": outcome.run_id,
        "succeeded": outcome.succeeded,
        "held": outcome.is_held,
        "seconds": round(outcome.seconds, 3),
        "commit": published.commit if published else None,
        "message": outcome.message or None,
        "steps": {step: dict(numbers) for step, numbers in outcome.numbers.items()},
        "llm": ModelReport(home, outcome).as_json(),
    }


def _nothing_done(home: Home, key: str) -> dict[str, Any]:
    """The fields of a repository of which no run is told, and what its index lacks."""
    nothing: dict[str, Any] = {
        "repo": key, "run_id": None, "succeeded": True, "up_to_date": False, "held": False, "seconds": 0.0,
        "commit": None, "message": None, "steps": {}, "llm": None,
    }  # fmt: skip
    return nothing | {
        "failures": failures_json(home, key),
        "left_out": [*left_out_lines(home, key)],
        "unread": unread_json(home, key),
        "uncommitted_files": _uncommitted(home, home.registry.get(key)),
    }


class LastBuild(Struct, frozen=True):
    """The commit of the last build, and why it was not published, if it was held back."""

    commit: str
    held_because: str | None = None


def standing_builds(home: Home, keys: Sequence[str], *, is_confirmed: bool = False) -> dict[str, LastBuild]:
    """The last builds of those repositories that need no other, by key; a build that is confirmed is another one.

    Nothing is taken on trust: the repository is asked for its commit (of a folder that means reading its files), the
    published index and the memos of all steps are compared with what is there, and Dagster must have recorded each
    asset. A repository of which something is wrong needs a build, if only to say what.
    """
    found = {key: _last_build(home, key, is_confirmed=is_confirmed) for key in keys}
    return {key: last for key, last in found.items() if last is not None}


def _last_build(home: Home, key: str, *, is_confirmed: bool) -> LastBuild | None:
    try:
        workspace = home.workspace(key, run_id="look", is_confirmed=is_confirmed)
        layout = workspace.layout
        version = published_version(layout, key)
        if version is None or not layout.duckdb_file.exists() or home.has_digest_waiting(key):
            return None
        found = compare_fingerprints(
            workspace, commit=version.manifest["commit"], fingerprint=version.manifest["fingerprint"], head=None
        )
        is_held = found.hold is not None
        if found.snapshot is None or found.needs_build or not is_complete(workspace, is_held=is_held):
            return None
        commit = found.snapshot.commit
        mirror = Mirror(layout.mirror(key), timeout_s=home.settings.git_timeout_s)
        is_at_head = mirror.head_commit(workspace.entry, offline=home.settings.offline) == commit
        if not is_at_head or not _is_recorded(home, key, found.fingerprints.wanted or "", is_held=is_held):
            return None
        return LastBuild(commit, found.hold.because if found.hold else None)
    except CodesumError:
        return None


def _is_recorded(home: Home, key: str, fingerprint: str, *, is_held: bool) -> bool:
    """Whether all assets that the build reached have the fingerprint; Dagster is asked where that is not noted."""
    noted = home.layout.recorded(key)
    if noted.exists():
        return noted.read_text(encoding="utf-8") == fingerprint
    if not home.layout.dagster_home.exists():
        return False
    from codesum_pipeline.builds.dagster.control import is_recorded

    return is_recorded(home, key, fingerprint, was_held=is_held)


def standing_json(home: Home, key: str, last_build: LastBuild) -> dict[str, Any]:
    """A repository that needed no run, for programs: the same fields as `outcome_json`."""
    why = last_build.held_because
    is_held = why is not None
    own = {"up_to_date": not is_held, "held": is_held, "commit": last_build.commit, "message": why}
    return _nothing_done(home, key) | own


def standing_line(key: str, last_build: LastBuild) -> str:
    """A repository that needed no run, for a person."""
    commit, why = last_build.commit[:SHORT_COMMIT], last_build.held_because
    return f"{key}: held back at {commit}: {why}" if why else f"{key}: up to date at {commit}, nothing to do"


def damage_lines(outcome: "RunOutcome") -> Iterator[str]:
    """The tables that the run found to be damaged."""
    for numbers in outcome.numbers.values():
        for name, kept in numbers.items():
            if name.startswith(DAMAGED):
                table = name.removeprefix(DAMAGED)
                yield (
                    f"the file of table {table!r} was damaged and is mended: {count_noun(int(kept), 'row')} of it "
                    "could be kept, and what follows from the sources was made anew"
                )


def tell_uncommitted(home: Home, keys: Iterable[str]) -> None:
    """A line for each repository whose work tree has edits that are not committed, and how to have them."""
    wanted = set(keys)
    entries = [entry for entry in home.registry.entries() if entry.key in wanted]
    with ThreadPoolExecutor(_READERS) as pool:
        for entry, number in zip(entries, pool.map(lambda entry: _uncommitted(home, entry), entries), strict=True):
            if number:
                command = f"codesum index {entry.key} --worktree"
                if entry.ref is not None:
                    # A folder that is read as it is has no ref, so an entry with one gets a companion.
                    subdir = f" --subdir {shlex.quote(entry.subdir)}" if entry.subdir else ""
                    named = f"{shlex.quote(entry.location)}{subdir}"
                    command = f"codesum index {named} --worktree --key {entry.key}-worktree"
                write_note(
                    f"{entry.key}: uncommitted changes in {count_noun(number, 'file')} are not in this index; "
                    f"`{command}` reads the folder as it is"
                )


def _uncommitted(home: Home, entry: RepositoryEntry) -> int | None:
    """How many files have uncommitted changes; None if there is no work tree, and where git fails."""
    try:
        return uncommitted_files(entry, PathRules.of(entry, home.settings), home=home.layout.home)
    except CodesumError:
        return None


class ModelReport(Struct, eq=False, dict=True):
    """What a build asked of a model: dollars spent and predicted, texts left and why, calls that were not needed.

    It is empty if no model writes. Each table is read once, when it is first asked for.
    """

    home: Home
    outcome: "RunOutcome"

    @cached_property
    def attempts(self) -> list[LedgerRow]:
        rows = self.home.tables.read_rows_or_empty("ledger", self.outcome.key, LedgerRow)
        return [row for row in rows if row.run_id == self.outcome.run_id]

    @cached_property
    def spent(self) -> Totals:
        return add_up_calls(self.attempts)

    @cached_property
    def gates(self) -> dict[str, int]:
        """How many texts are not the model's, by what stopped it."""
        gates = self.home.tables.read_or_empty("documents", self.outcome.key, columns=["gate"]).column("gate")
        return dict(sorted(Counter(gate for gate in gates.to_pylist() if gate is not None).items()))

    @cached_property
    def avoided(self) -> dict[AvoidanceReason, CallTotals]:
        rows = self.home.tables.read_rows_or_empty("avoided", self.outcome.key, AvoidedRow)
        return avoided_by_cause(row for row in rows if row.run_id == self.outcome.run_id)

    @cached_property
    def trust(self) -> TrustCount | None:
        return count_trust(self.home.tables, self.outcome.key, self.home.settings)

    @property
    def is_shut_out(self) -> bool:
        """Whether the run would have asked for more, had its key been taken."""
        return self.home.settings.llm.enabled and self.sum("no_credentials") > 0

    def sum(self, name: str) -> float:
        """A number of the levels, added up; a step that the run did not reach has none."""
        steps = [self.outcome.numbers.get(f"{level}_summaries", {}) for level in Level]
        return sum(step.get(f"model_{name}", 0) for step in steps)

    def lines(self) -> Iterator[str]:
        if not self.home.settings.llm.enabled:
            return
        spent, predicted, with_cache = self.spent, self.sum("predicted_usd"), self.sum("predicted_usd_with_cache")
        cached = "" if with_cache == predicted else f", ${with_cache:,.4f} with the provider's prompt cache"
        yield (
            f"{self.home.settings.llm.model}: {count_noun(spent.texts, 'text')} in {count_noun(spent.calls, 'call')}, "
            f"{self.sum('found'):,.0f} found, ${spent.cost_usd:,.4f} spent (${predicted:,.4f} predicted{cached}), "
            f"{self.sum('pending'):,.0f} left for the next run"
        )
        if self.trust:
            waiting = self.trust.waiting
            yield (
                f"llm.trust = 'scip': {count_noun(self.trust.passing, 'document')} pass (${predicted:,.4f} predicted), "
                f"{waiting.calls:,} wait ({waiting.prices})"
            )
        if self.gates:
            yield f"texts that are not the model's: {listed_counts(self.gates)}"
        if spent.failures:
            yield f"calls without a text: {listed_counts(dict(spent.failures))}"
        if self.avoided:
            yield _avoided_line(self.avoided)

    def warnings(self) -> Iterator[str]:
        """What somebody has to do before a model writes, and what need not be paid for."""
        home, outcome = self.home, self.outcome
        if not home.settings.llm.enabled:
            return
        if held := describe_held_back(home.tables, outcome.key, home.settings):
            yield held
        if self.trust and not self.trust.edges:
            yield (
                f"llm.trust = 'scip' lets no document pass: no edge is confirmed by a compiler's index; "
                f"`codesum doctor {outcome.key}` says why"
            )
        if outcome.numbers.get("retrieval_evaluation", {}).get("model_texts_cost_usd"):
            # Rarely needed, and it imports what evaluates.
            from codesum_pipeline.search.evaluation.records import last_lift

            yield from find_savings(last_lift(home.workspace(outcome.key, run_id=outcome.run_id)))

    def as_json(self) -> dict[str, Any] | None:
        if not self.home.settings.llm.enabled:
            return None
        spent, trust = self.spent, self.trust
        return {
            "model": self.home.settings.llm.model,
            "texts": spent.texts,
            "calls": spent.calls,
            "found": int(self.sum("found")),
            "pending": int(self.sum("pending")),
            "cost_usd": spent.cost_usd,
            "predicted_usd": self.sum("predicted_usd"),
            "predicted_usd_with_cache": self.sum("predicted_usd_with_cache"),
            "gates": self.gates,
            "trust": trust,
            "failures": dict(spent.failures),
            "avoided": {cause.value: saving.calls for cause, saving in self.avoided.items()},
            "skipped_reason": Gate.NO_CREDENTIALS.value if self.is_shut_out else None,
            "warnings": [*self.warnings(), *filter(None, [shut_out_line([self])])],
        }


def shut_out_line(reports: Iterable[ModelReport]) -> str | None:
    """One line for all repositories whose texts no model wrote because its key is missing or refused."""
    skipped = [report for report in reports if report.is_shut_out]
    if not skipped:
        return None
    first, keys = skipped[0], [report.outcome.key for report in skipped]
    refusal = next((row.error for row in first.attempts if row.failure == CallFailure.CREDENTIALS), None)
    why = (refusal or first.home.settings.llm.model).removeprefix(f"{SummaryCallFailed.discriminator}: ")
    return (
        f"{', '.join(keys)}: skipped_reason: {Gate.NO_CREDENTIALS.value}: {why}; "
        f"`codesum index {' '.join(keys)}` then goes on"
    )


def _avoided_line(found: Mapping[AvoidanceReason, CallTotals]) -> str:
    """What was not asked for, and why, in one line."""
    spared = {cause: saving for cause, saving in found.items() if cause is not AvoidanceReason.NOT_AVOIDED}
    saving = sum(spared.values(), CallTotals())
    causes = ", ".join(f"{each.calls:,} {cause.value}" for cause, each in spared.items())
    tokens = saving.input_tokens + saving.output_tokens
    line = f"avoided: {saving.calls:,} calls, about {tokens:,} tokens, ${saving.usd:,.4f}"
    return f"{line} ({causes})" if causes else line


def listed_counts(counts: Mapping[str, int]) -> str:
    """`12 small, 3 documented`."""
    return ", ".join(f"{number:,} {name}" for name, number in counts.items())
