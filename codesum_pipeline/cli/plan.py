"""`codesum plan`: what a build would rewrite and why, without building."""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import to_builtins
from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.options import (
    ExcludeOption,
    IncludeOption,
    RefOption,
    SubdirOption,
    WorktreeOption,
    complete_keys,
    switch,
)
from codesum_pipeline.cli.progress_bar import progress_bar
from codesum_pipeline.cli.registration import EntryOptions, find_entry
from codesum_pipeline.cli.render import SHORT_COMMIT, indented, safe_json, show, table
from codesum_pipeline.indexes.dense import EmbeddingPlan, plan_embedding
from codesum_pipeline.llm.recordings import read_recordings
from codesum_pipeline.model.documents import LEVELS, Level, PlanAction, PlanRow
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.ledger import CallTotals
from codesum_pipeline.model.printable import counted, one_line
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.settings.llm import BackendName
from codesum_pipeline.settings.models import Settings
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.by_model.prices import PlanPrice, price_all, price_levels, spared_by_cache, ways_on
from codesum_pipeline.summaries.preview import PlanPreview, preview_plan
from codesum_pipeline.wiring import Home, preview_of

_CAUSES_SHOWN = 3


def plan(
    ctx: typer.Context,
    target: Annotated[
        str,
        typer.Argument(
            metavar="KEY|LOCATION",
            autocompletion=complete_keys,
            help="A registered repository, or any path or git URL.",
        ),
    ],
    ref: RefOption = None,
    subdir: SubdirOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    worktree: WorktreeOption = None,
    force: Annotated[bool, switch("--force", "As `codesum index --force` would do it.")] = False,
    llm: Annotated[
        bool, switch("--llm", "Say what a language model would write and what it would cost; nobody is asked.")
    ] = False,
    limit: Annotated[int, typer.Option(min=0, metavar="N", help="How many documents are listed.")] = 20,
    as_json: Annotated[bool, switch("--json", "Print one JSON object with all documents.")] = False,
) -> None:
    """Show what `codesum index` would rewrite and why, changing nothing.

    Above the function level a document is rewritten only if its parts' texts really change:
    until they are written, the plan says [bold]perhaps[/]. With --llm the texts of a model are
    planned and priced, also where `llm.enabled` is false.
    """
    called = invocation(ctx)
    settings = with_model(called.settings) if llm else called.settings
    options = EntryOptions.of(key=None, ref=ref, subdir=subdir, include=include, exclude=exclude, worktree=worktree)
    entry, is_known = find_entry(called.registry, target, options)
    with tempfile.TemporaryDirectory(prefix="codesum-plan-") as scratch:
        workspace = _workspace(settings, entry, Path(scratch) / "home", is_known=is_known, force=force)
        with progress_bar() as progress:
            looked_at = preview_of(workspace, Path(scratch) / "preview")
            preview = preview_plan(workspace, looked_at, progress=progress)
            embedding = plan_embedding(looked_at, preview.rows)
    if as_json:
        by_model = {"llm": model_json(entry.key, called.settings, preview.rows)} if llm else {}
        typer.echo(safe_json(by_model | _as_json(entry, preview, embedding)))
        return
    if llm:
        show(*price_lines(called.settings, preview.rows))
    show(*_sections(entry, preview, embedding, limit=limit))
    if llm:
        show(*model_sections(entry.key, called.settings, preview.rows))
    elif settings.llm.enabled:
        show(model_line(entry.key, settings, preview.rows))


def _workspace(
    settings: Settings, entry: RepositoryEntry, elsewhere: Path, *, is_known: bool, force: bool
) -> Workspace:
    """The workspace of the entry; one that is not registered as it stands gets a registry of its own."""
    if is_known:
        return Home(settings).workspace(entry.key, run_id="plan", force=force)
    settings = settings.model_copy(update={"repos_file": elsewhere / "repos.yaml"})
    Home(settings).registry.add(entry)
    return Home(settings).workspace(entry.key, run_id="plan", force=force)


def _as_json(entry: RepositoryEntry, preview: PlanPreview, embedding: EmbeddingPlan) -> dict[str, Any]:
    return {
        "repo": entry.key,
        "commit": preview.snapshot.commit,
        "documents": [
            {"id": row.id, "level": row.level, "action": row.action, "cause": row.cause, "cause_ids": row.cause_ids}
            for row in preview.rows
        ],
        "embedding": to_builtins(embedding),
    }


def _sections(
    entry: RepositoryEntry, preview: PlanPreview, embedding: EmbeddingPlan, *, limit: int
) -> Iterator[RenderableType]:
    snapshot = preview.snapshot
    yield Text.assemble(
        (entry.key, "bold"),
        (f"  {one_line(snapshot.ref)} at {snapshot.commit[:SHORT_COMMIT]}", "cyan"),
        (f"  {counted(snapshot.files_indexed, 'file')}, {snapshot.files_skipped:,} skipped", "dim"),
    )
    yield _counts(preview.rows)
    if embedding.texts:
        yield Text(_embedding(embedding), style="dim")
    changed = [row for row in _in_order(preview.rows) if row.action is not PlanAction.KEEP]
    if not changed:
        yield "nothing would be rewritten"
        return
    if limit:
        yield Text(f"\n{_title(len(changed), limit)}", style="bold")
        yield _documents(changed[:limit])


def _embedding(plan: EmbeddingPlan) -> str:
    """What is embedded and what it costs; a model that runs here costs nothing and names no price."""
    reason = f" instead of {plan.replaces}, which made the present vectors: all anew" if plan.replaces else ""
    price = "price unknown" if plan.cost_usd is None else f"${plan.cost_usd:.4f}"
    bill = "" if plan.cost_usd == 0 else f", about {plan.tokens:,} tokens, {price}"
    return f"at most {counted(plan.texts, 'text')} embedded by {plan.model}{reason}{bill}"


def _title(changed: int, limit: int) -> str:
    documents = counted(changed, "document")
    return documents if changed <= limit else f"The first {limit:,} of {documents} (--limit shows more)"


def _counts(rows: Sequence[PlanRow]) -> RenderableType:
    """One line per level: what happens to how many documents, and the causes of what is written."""
    lines = []
    for level in LEVELS:
        here = [row for row in rows if row.level is level]
        actions = Counter(row.action for row in here)
        causes = Counter(str(row.cause) for row in here if row.cause)
        lines.append(
            (
                level,
                *(actions[action] for action in _ACTIONS),
                ", ".join(f"{number:,} {cause}" for cause, number in causes.most_common()),
            )
        )
    return table(("level", *_ACTIONS.values(), "because"), lines, right=_ACTIONS.values())


_ACTIONS = {
    PlanAction.WRITE: "rewritten",
    PlanAction.MAYBE: "perhaps",
    PlanAction.KEEP: "kept",
    PlanAction.REMOVE: "removed",
}


def _documents(rows: Sequence[PlanRow]) -> RenderableType:
    lines = [(_ACTIONS[row.action], row.level, row.cause, row.id, _caused_by(row)) for row in rows]
    if not any(line[-1] for line in lines):
        return table(("what", "level", "cause", "document"), [line[:-1] for line in lines])
    return table(("what", "level", "cause", "document", "caused by"), lines)


def _caused_by(row: PlanRow) -> str:
    """The documents that cause a rewrite, other than itself."""
    others = [id_ for id_ in row.cause_ids if id_ != row.id]
    more = f" and {len(others) - _CAUSES_SHOWN:,} more" if len(others) > _CAUSES_SHOWN else ""
    return ", ".join(others[:_CAUSES_SHOWN]) + more


def _in_order(rows: Sequence[PlanRow]) -> list[PlanRow]:
    """Functions first, as they are written; in one level by action, then by id."""
    actions, levels = list(_ACTIONS), list(Level)
    return sorted(rows, key=lambda row: (levels.index(row.level), actions.index(row.action), row.id))


_NUMBERS = ("asked for", "there already", "tokens read", "written", "US dollars", "stopped", "of US dollars")


def with_model(settings: Settings) -> Settings:
    """The settings as if a model were switched on; raises `ConfigurationError` where none is named."""
    if not settings.llm.model:
        raise ConfigurationError(
            "--llm needs a model: set llm.model, as in CODESUM_LLM__MODEL=anthropic/claude-haiku-4-5"
        )
    return settings.model_copy(update={"llm": settings.llm.model_copy(update={"enabled": True})})


def price_lines(settings: Settings, rows: Sequence[PlanRow]) -> Iterator[RenderableType]:
    """What all texts would cost, and below it what the next build spends where something stops some of them."""
    options, found = settings, price_all(rows)
    model = options.llm.model
    whole = _whole(options, found)
    if not whole.calls:
        because = f"llm.backend = {options.llm.backend.value!r}" if options.llm.asks_nobody else "nothing to write"
        yield Text.assemble(("$0.0000", "bold"), f": no call to {model}, {because}\n")
        return
    tokens = f"{whole.input_tokens:,} tokens in, {whole.output_tokens:,} out"
    yield Text.assemble(
        (f"${whole.usd:,.4f}", "bold"), f" at most: {counted(whole.calls, 'call')} to {model}, {tokens}"
    )
    if not settings.llm.enabled:
        yield "as it is set, the next build spends nothing: llm.enabled is false"
    elif found.stopped:
        yield f"as it is set, the next build spends ${found.asked.usd:,.4f} on {counted(found.asked.calls, 'call')}"
    yield ""


def model_sections(key: str, settings: Settings, rows: Sequence[PlanRow]) -> Iterator[RenderableType]:
    """A table by level, and below it what stops what, and the way on."""
    options, all_levels, levels = settings, price_all(rows), price_levels(rows)
    yield Text.assemble((f"\n{options.llm.model}", "bold"), ("  above functions at most so much", "dim"))
    lines = [(level, *_cells(found)) for level, found in levels.items()]
    yield table(("level", *_NUMBERS, "by"), [*lines, ("all", *_cells(all_levels))], right=_NUMBERS)
    for line in (
        *_by_documentation(all_levels),
        *_with_cache(options, levels, all_levels),
        *_remarks(key, settings.llm.enabled, options, all_levels),
    ):
        yield indented(Text(line), 2)


def model_json(key: str, settings: Settings, rows: Sequence[PlanRow]) -> dict[str, Any]:
    """The same, for programs."""
    options, all_levels, levels = settings, price_all(rows), price_levels(rows)
    asked, stopped = spared_by_cache(options, levels)
    whole = _whole(options, all_levels)
    return {
        "usd": whole.usd,
        "calls": whole.calls,
        "input_tokens": whole.input_tokens,
        "output_tokens": whole.output_tokens,
        "model": options.llm.model,
        "enabled": settings.llm.enabled,
        "levels": {level.value: _price_json(levels[level]) for level in LEVELS},
        "all": _price_json(all_levels),
        "usd_with_cache": {"asked": all_levels.asked.usd - asked, "stopped": all_levels.all_stopped.usd - stopped},
        "ways_on": ways_on(key, options, all_levels),
    }


def model_line(key: str, options: Settings, rows: Sequence[PlanRow]) -> str:
    """What a plan says of the model that nobody asked about."""
    found = price_all(rows)
    asked = (
        f"{options.llm.model}: at most {counted(found.asked.calls, 'text')} asked for, about ${found.asked.usd:,.4f}"
    )
    stopped = f", {found.all_stopped.calls:,} stopped" if found.stopped else ""
    return f"{asked}{stopped}: `codesum plan {key} --llm` says more"


def _whole(options: Settings, found: PlanPrice) -> CallTotals:
    """What a model would be asked for if nothing stopped it; nothing where nobody is asked."""
    return CallTotals() if options.llm.asks_nobody else found.asked + found.all_stopped


def _cells(found: PlanPrice) -> tuple[object, ...]:
    asked, stopped = found.asked, found.all_stopped
    by = ", ".join(f"{saving.calls:,} {gate.value}" for gate, saving in sorted(found.stopped.items()))
    return (
        asked.calls, found.found, asked.input_tokens, asked.output_tokens, f"{asked.usd:.4f}", stopped.calls,
        f"{stopped.usd:.4f}", by,
    )  # fmt: skip


def _by_documentation(found: PlanPrice) -> Iterator[str]:
    """What is asked for and what is stopped, by whether an author wrote what it is for."""
    if found.documented.calls:
        told, untold = found.documented, found.undocumented
        yield (
            f"undocumented: {counted(untold.calls, 'text')}, ${untold.usd:,.4f}; "
            f"documented by their authors: {counted(told.calls, 'text')}, ${told.usd:,.4f}"
        )


def _with_cache(options: Settings, levels: Mapping[Level, PlanPrice], found: PlanPrice) -> Iterator[str]:
    """Where the provider has a price for what it keeps of a prompt: what is left of the dollars above."""
    savings = [found.asked, found.all_stopped]
    prices = [
        f"${saving.usd - spared:,.4f} for what is {what}"
        for saving, spared, what in zip(
            savings, spared_by_cache(options, levels), ("asked for", "stopped"), strict=True
        )
        if spared
    ]
    if prices:
        yield f"where the provider keeps the beginning that all prompts share: about {', '.join(prices)}"


def _remarks(key: str, is_enabled: bool, options: Settings, found: PlanPrice) -> Iterator[str]:
    llm = options.llm
    if not is_enabled:
        yield "llm.enabled is false: this is what it would be"
    if llm.backend is BackendName.REPLAY:
        answers = len(read_recordings(llm.kept_answers))
        yield f"answers come from {llm.recording}, which holds {answers:,}: nothing is sent and nothing is paid"
    if llm.backend is BackendName.NOOP:
        yield "llm.backend = 'noop' asks nobody"
    yield from ways_on(key, options, found)
    if found.asked.calls and is_enabled:
        yield f"`codesum index {key}` asks for them"


def _price_json(found: PlanPrice) -> Mapping[str, Any]:
    return {
        "asked": to_builtins(found.asked),
        "found": found.found,
        "documented": to_builtins(found.documented),
        "undocumented": to_builtins(found.undocumented),
        "stopped": {gate.value: to_builtins(saving) for gate, saving in sorted(found.stopped.items())},
    }
