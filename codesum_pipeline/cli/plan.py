"""`codesum plan`: what a build would rewrite and why, without building."""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import to_builtins
from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.cli.completion import complete_keys
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.model_plan import model_json, model_line, model_sections, price_lines, with_model
from codesum_pipeline.cli.progress_bar import progress_bar
from codesum_pipeline.cli.registration import (
    EntryOptions,
    ExcludeOption,
    IncludeOption,
    RefOption,
    SubdirOption,
    WorktreeOption,
    find_entry,
)
from codesum_pipeline.cli.render import SHORT_COMMIT, count, show, table
from codesum_pipeline.cli.safe_text import one_line, safe_json
from codesum_pipeline.indexes.dense import EmbeddingPlan, plan_embedding
from codesum_pipeline.model.documents import LEVELS, Level, PlanAction, PlanRow
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.settings.models import Settings
from codesum_pipeline.store.workspace import Workspace
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
    force: Annotated[bool, typer.Option("--force", help="As `codesum index --force` would do it.")] = False,
    llm: Annotated[
        bool,
        typer.Option("--llm", help="Say what a language model would write and what it would cost; nobody is asked."),
    ] = False,
    limit: Annotated[int, typer.Option(min=0, metavar="N", help="How many documents are listed.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with all documents.")] = False,
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
        (f"  {count(snapshot.files_indexed, 'file')}, {snapshot.files_skipped:,} skipped", "dim"),
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
    return f"at most {count(plan.texts, 'text')} embedded by {plan.model}{reason}{bill}"


def _title(changed: int, limit: int) -> str:
    documents = count(changed, "document")
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
