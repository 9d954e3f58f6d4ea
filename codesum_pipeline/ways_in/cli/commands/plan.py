"""`codesum plan`: what a build would rewrite and why, without building."""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins
from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.builds.codesum_home.wiring import Home, preview_of
from codesum_pipeline.foundation.data_model.document import LEVELS, Level, PlanAction, PlanRow
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line, some_of
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.llm_settings import BackendName
from codesum_pipeline.indexes.lanes.dense import EmbeddingPlan, plan_embedding
from codesum_pipeline.texts.llm.recordings import read_recordings
from codesum_pipeline.texts.summaries.by_model.choosing import ModelSetup, templates_of
from codesum_pipeline.texts.summaries.by_model.plan_prices import (
    NextBuild,
    PlannedCalls,
    PlanPrice,
    PlanPricing,
    describe_ways_on,
    spared_by_cache,
)
from codesum_pipeline.texts.summaries.by_model.predicted_prices import CostHistory, CostScope
from codesum_pipeline.texts.summaries.rewrite_plan import PlanPreview, PlanReport, preview_plan
from codesum_pipeline.ways_in.cli.entry_finding import EntryOptions, find_entry
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.progress_bar import show_progress
from codesum_pipeline.ways_in.cli.render import SHORT_COMMIT, indent_part, make_table, print_json, show_parts

_CAUSES_SHOWN = 3
_ACTIONS = {
    PlanAction.WRITE: "rewritten", PlanAction.MAYBE: "perhaps", PlanAction.KEEP: "kept", PlanAction.REMOVE: "removed",
}  # fmt: skip
_NUMBERS = (
    "asked for",
    "there already",
    "tokens read",
    "written",
    "expected $",
    "at most $",
    "stopped",
    "their expected $",
)


def plan(
    invocation: Invocation,
    target: str,
    ref: str | None = None,
    subdir: str | None = None,
    include: list[str] | None = None,
    exclude: list[str] | None = None,
    worktree: bool | None = None,
    submodules: bool | None = None,
    force: bool = False,
    llm: bool = False,
    limit: int = 20,
    as_json: bool = False,
) -> None:
    """Show what `codesum index` would rewrite and why, changing nothing.

    Above the function level, a document is rewritten only if the texts of its parts change; until these are written,
    the plan says [bold]perhaps[/]. With --llm, the texts of a model are planned and priced, even if `llm.enabled` is
    false.
    """
    settings = invocation.settings
    if llm:
        if not settings.llm.model:
            raise ConfigurationError(
                "--llm needs a model: set llm.model, as in CODESUM_LLM__MODEL=anthropic/claude-haiku-4-5"
            )
        # As if it were switched on.
        settings = settings.model_copy(update={"llm": settings.llm.model_copy(update={"enabled": True})})
    options = EntryOptions(None, ref, subdir, include, exclude, worktree, submodules)
    entry, is_known = find_entry(invocation.registry, target, options)
    with tempfile.TemporaryDirectory(prefix="codesum-plan-") as scratch:
        home = Home(settings)
        if not is_known:
            # One that is not registered in this form gets a registry of its own.
            home = Home(settings.model_copy(update={"repos_file": Path(scratch) / "home" / "repos.yaml"}))
            home.registry.add(entry)
        workspace = home.workspace(entry.key, run_id="plan", force=force)
        with show_progress() as progress:
            preview_workspace = preview_of(workspace, Path(scratch) / "preview")
            preview = preview_plan(workspace, preview_workspace, progress=progress)
            embedding = plan_embedding(preview_workspace, preview.rows)
    by_model = _ModelPlan(entry.key, invocation.settings, preview.plan)
    if as_json:
        fields = ("id", "level", "action", "cause", "cause_ids")
        documents = [{name: getattr(row, name) for name in fields} for row in preview.rows]
        planned = {"llm": by_model.as_json()} if llm else {}
        plan = {"repo": entry.key, "commit": preview.snapshot.commit, "documents": documents, "embedding": embedding}
        print_json(planned | plan)
        return
    if llm:
        show_parts(*by_model.price())
    show_parts(*_sections(entry, preview, embedding, limit=limit))
    if llm:
        show_parts(*by_model.sections())
    elif settings.llm.enabled:
        show_parts(by_model.line())


def _sections(
    entry: RepositoryEntry, preview: PlanPreview, embedding: EmbeddingPlan, *, limit: int
) -> Iterator[RenderableType]:
    snapshot = preview.snapshot
    yield Text.assemble(
        (entry.key, "bold"),
        (f"  {one_line(snapshot.ref)} at {snapshot.commit[:SHORT_COMMIT]}", "cyan"),
        (f"  {count_noun(snapshot.files_indexed, 'file')}, {snapshot.files_skipped:,} skipped", "dim"),
    )
    yield _counts(preview.rows)
    if embedding.texts:
        # A model that runs here costs nothing and names no price.
        old = embedding.replaces
        reason = f" instead of {old}, which made the present vectors: all anew" if old else ""
        usd = embedding.expected_usd
        price = "price unknown" if usd is None else f"expected ${usd:.4f}"
        bill = "" if usd == 0 else f", about {embedding.tokens:,} tokens, {price}"
        texts = count_noun(embedding.texts, "text")
        yield Text(f"at most {texts} embedded by {embedding.model}{reason}{bill}", style="dim")
    # Functions first, as they are written; in one level by action, then by id.
    actions, levels = list(_ACTIONS), list(Level)
    changed = sorted(
        (row for row in preview.rows if row.action is not PlanAction.KEEP),
        key=lambda row: (levels.index(row.level), actions.index(row.action), row.id),
    )
    if not changed:
        yield "nothing would be rewritten"
    elif limit:
        documents = count_noun(len(changed), "document")
        first = f"The first {limit:,} of {documents} (--limit shows more)"
        yield Text(f"\n{documents if len(changed) <= limit else first}", style="bold")
        yield _documents(changed[:limit])


def _counts(rows: Sequence[PlanRow]) -> RenderableType:
    """One line per level: what happens to how many documents, and the causes of what is written."""
    lines = []
    for level in LEVELS:
        here = [row for row in rows if row.level is level]
        actions = Counter(row.action for row in here)
        causes = Counter(str(row.cause) for row in here if row.cause).most_common()
        because = ", ".join(f"{number:,} {cause}" for cause, number in causes)
        lines.append((level, *(actions[action] for action in _ACTIONS), because))
    return make_table(("level", *_ACTIONS.values(), "because"), lines, right=_ACTIONS.values())


def _documents(rows: Sequence[PlanRow]) -> RenderableType:
    lines = []
    for row in rows:
        # The documents that cause a rewrite, other than itself.
        others = [id_ for id_ in row.cause_ids if id_ != row.id]
        lines.append((_ACTIONS[row.action], row.level, row.cause, row.id, some_of(others, _CAUSES_SHOWN)))
    return make_table(("what", "level", "cause", "document", "caused by"), lines, may_lack=("caused by",))


class _ModelPlan(Struct, eq=False, dict=True):
    """What a model would write, at which price, and how to go on; `settings` are without what --llm changes. Prices are
    added up once, when they are first asked for."""

    key: str
    settings: Settings
    plan: PlanReport

    @cached_property
    def all(self) -> PlanPrice:
        return sum(self.plan.forecast.values(), PlanPrice())

    @cached_property
    def spared(self) -> tuple[float, float]:
        """What the provider's prompt cache takes off the price of one call each, for the calls and for what gates
        stop."""
        return spared_by_cache(ModelSetup(self.settings, templates_of(self.settings)), self.plan.forecast)

    @cached_property
    def pricing(self) -> PlanPricing:
        return PlanPricing(self.settings.llm, self.plan.history or CostHistory())

    @property
    def whole(self) -> PlannedCalls:
        """What a model would be asked for if nothing stopped it; nothing where nobody is asked."""
        return PlannedCalls() if self.settings.llm.asks_nobody else self.all.asked + self.all.all_stopped

    @property
    def next_build(self) -> NextBuild:
        """What the next build spends as it is set."""
        nothing = NextBuild(0, 0.0, 0.0, "llm.enabled = false")
        return self.plan.next_build if self.plan.next_build and self.settings.llm.enabled else nothing

    def price(self) -> Iterator[RenderableType]:
        """What all texts would cost, below it what the next build spends, and how both prices come about."""
        llm, whole, following = self.settings.llm, self.whole, self.next_build
        if not whole.calls:
            because = f"llm.backend = {llm.backend.value!r}" if llm.asks_nobody else "nothing to write"
            yield Text.assemble((PlannedCalls().prices, "bold"), f": no call to {llm.model}, {because}\n")
            return
        texts = count_noun(whole.calls, "text")
        yield Text.assemble((whole.prices, "bold"), f": all {texts} that {llm.model} would write")
        if not llm.enabled:
            yield "the next build: $0.0000, since llm.enabled is false"
        elif following.prices != whole.prices:
            yield f"the next build: {following.prices}, for {count_noun(following.texts, 'text')}"
        yield from (Text(line, style="dim") for line in self.pricing.describe())
        yield ""

    def sections(self) -> Iterator[RenderableType]:
        """A table by level, and below it what stops what, and the way on."""
        about = "  tokens of one call each; above functions perhaps fewer texts"
        yield Text.assemble((f"\n{self.settings.llm.model}", "bold"), (about, "dim"))
        lines = []
        for name, found in (*self.plan.forecast.items(), ("all", self.all)):
            totals, stopped = found.asked, found.all_stopped
            tokens, by = (totals.input_tokens, totals.output_tokens), sorted(found.stopped.items())
            gates = ", ".join(f"{saving.calls:,} {gate.value}" for gate, saving in by)
            prices = (f"{totals.expected_usd:.4f}", f"{totals.at_most_usd:.4f}")
            held = (stopped.calls, f"{stopped.expected_usd:.4f}")
            lines.append((name, totals.calls, found.found, *tokens, *prices, *held, gates))
        yield make_table(("level", *_NUMBERS, "by"), lines, right=_NUMBERS)
        yield from (indent_part(Text(line), 2) for line in self._remarks())

    def as_json(self) -> dict[str, Any]:
        every, history, whole = self.all, self.pricing.history, to_builtins(self.whole)
        priced = zip(("asked", "stopped"), (every.asked, every.all_stopped), self.spared, strict=True)
        return {
            **{name: whole[name] for name in ("expected_usd", "at_most_usd")},
            **whole,
            "next_build": self.next_build,
            "measured": {
                "scope": history.scope.value,
                **{name: getattr(history.whole, name) for name in ("texts", "repairs", "repair_share", "factor")},
            },
            "model": self.settings.llm.model,
            "enabled": self.settings.llm.enabled,
            "levels": {level.value: _price_json(self.plan.forecast[level]) for level in LEVELS},
            "all": _price_json(every),
            "predicted_usd_with_cache": {name: calls.predicted_usd - saved for name, calls, saved in priced},
            "ways_on": describe_ways_on(self.key, self.settings, every),
        }

    def line(self) -> str:
        """The line about the model in a plan without --llm."""
        following, stopped = self.next_build, self.all.all_stopped.calls
        estimate = f"{count_noun(following.texts, 'text')} in the next build, {following.prices}"
        more = f", {stopped:,} stopped" if self.all.stopped else ""
        return f"{self.settings.llm.model}: {estimate}{more}: `codesum plan {self.key} --llm` says more"

    def _remarks(self) -> Iterator[str]:
        llm, found = self.settings.llm, self.all
        if found.documented.calls:
            documented, undocumented = found.documented, found.undocumented
            yield (
                f"undocumented: {count_noun(undocumented.calls, 'text')}, {undocumented.prices}; "
                f"documented by their authors: {count_noun(documented.calls, 'text')}, {documented.prices}"
            )
        yield from self._cache_remark()
        if not llm.enabled:
            yield "llm.enabled is false: this is what it would be"
        if llm.backend is BackendName.REPLAY:
            answers = len(read_recordings(llm.kept_answers))
            yield f"answers come from {llm.recording}, which holds {answers:,}: nothing is sent and nothing is paid"
        if llm.backend is BackendName.NOOP:
            yield "llm.backend = 'noop' asks nobody"
        yield from describe_ways_on(self.key, self.settings, found)
        if found.asked.calls and llm.enabled:
            yield f"`codesum index {self.key}` asks for them"

    def _cache_remark(self) -> Iterator[str]:
        """What the provider's prompt cache would make of the expected prices, where it has a price and nothing was
        measured yet: what texts were measured to cost is with the cache."""
        history = self.pricing.history
        priced = zip(("asked for", "stopped"), (self.all.asked, self.all.all_stopped), self.spared, strict=True)
        prices = [
            f"${history.whole.factor * (calls.predicted_usd - saved):,.4f} for what is {what}"
            for what, calls, saved in priced
            if saved and history.scope is CostScope.NOWHERE
        ]
        if prices:
            yield f"where the provider keeps the beginning that all prompts share: expected {', '.join(prices)}"


def _price_json(found: PlanPrice) -> dict[str, Any]:
    stopped = {gate.value: saving for gate, saving in sorted(found.stopped.items())}
    documented = {"documented": found.documented, "undocumented": found.undocumented}
    return {"asked": found.asked, "found": found.found, **documented, "stopped": stopped}
