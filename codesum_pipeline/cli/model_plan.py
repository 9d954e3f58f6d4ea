"""What `codesum plan --llm` says: what a model would write, at which price, and how to go on."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import to_builtins
from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.cli.render import count, indented, table
from codesum_pipeline.llm.recordings import read_recordings
from codesum_pipeline.model.documents import LEVELS, Level, PlanRow
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.ledger import CallTotals
from codesum_pipeline.settings.llm import BackendName
from codesum_pipeline.settings.models import Settings
from codesum_pipeline.summaries.by_model.prices import PlanPrice, price_all, price_levels, spared_by_cache, ways_on

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
    yield Text.assemble((f"${whole.usd:,.4f}", "bold"), f" at most: {count(whole.calls, 'call')} to {model}, {tokens}")
    if not settings.llm.enabled:
        yield "as it is set, the next build spends nothing: llm.enabled is false"
    elif found.stopped:
        yield f"as it is set, the next build spends ${found.asked.usd:,.4f} on {count(found.asked.calls, 'call')}"
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
        "levels": {level.value: _as_json(levels[level]) for level in LEVELS},
        "all": _as_json(all_levels),
        "usd_with_cache": {
            "asked": all_levels.asked.usd - asked,
            "stopped": all_levels.all_stopped.usd - stopped,
        },
        "ways_on": ways_on(key, options, all_levels),
    }


def model_line(key: str, options: Settings, rows: Sequence[PlanRow]) -> str:
    """What a plan says of the model that nobody asked about."""
    found = price_all(rows)
    asked = f"{options.llm.model}: at most {count(found.asked.calls, 'text')} asked for, about ${found.asked.usd:,.4f}"
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
            f"undocumented: {count(untold.calls, 'text')}, ${untold.usd:,.4f}; "
            f"documented by their authors: {count(told.calls, 'text')}, ${told.usd:,.4f}"
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


def _as_json(found: PlanPrice) -> Mapping[str, Any]:
    return {
        "asked": to_builtins(found.asked),
        "found": found.found,
        "documented": to_builtins(found.documented),
        "undocumented": to_builtins(found.undocumented),
        "stopped": {gate.value: to_builtins(saving) for gate, saving in sorted(found.stopped.items())},
    }
