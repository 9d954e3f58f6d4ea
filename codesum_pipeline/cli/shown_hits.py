"""Hits as people and as programs get them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, to_builtins
from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.cli.reading_aids import described, excerpt_json, legend, numbered
from codesum_pipeline.cli.render import fields, indented, lines_of, styled
from codesum_pipeline.cli.safe_text import clean, one_line
from codesum_pipeline.retrieval.hits import Excerpt, Hit
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.search import SearchAnswer
from codesum_pipeline.tools.as_of import AsOf
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.sources import SourceReader, repositories
from codesum_pipeline.tools.surroundings import BoundedSurroundings, bound_surroundings, surroundings

# What `--context` adds to all hits together, unless another bound is asked for.
CONTEXT_TOKENS = 1200
# Of a signature with many parameters the first ones tell it apart.
SIGNATURE_CHARACTERS = 160
_NAMES = {
    "parents": "part of",
    "children": "contains",
    "called_by": "called by",
    "calls": "calls",
    "dependencies": "depends on",
}


class Aids(Struct, frozen=True):
    """What is shown of each hit besides itself: what stands around it, and how many of its lines."""

    context: bool = False
    context_tokens: int = CONTEXT_TOKENS
    excerpt_lines: int = 0


class HitView(Struct, frozen=True):
    """One hit with the aids that were asked for, and whether its file changed since the commit that is searched."""

    hit: Hit
    changed_since: bool
    around: BoundedSurroundings | None
    excerpt: Excerpt | None


def with_aids(
    hits: Sequence[Hit],
    query: str,
    call: ToolContext,
    sources: SourceReader,
    aids: Aids,
    *,
    changed: Mapping[str, Collection[str]],
) -> Iterator[HitView]:
    """Read what was asked for of each hit; what stands around them shares one bound, evenly."""
    tokens = aids.context_tokens
    for place, hit in enumerate(hits):
        around = None
        documents = call.documents(hit.repo) if aids.context else None
        number = documents.number(hit.id) if documents else None
        if documents and number is not None:
            share = tokens // (len(hits) - place)
            around, left = bound_surroundings(surroundings(documents, number), tokens=share)
            tokens -= share - left
        excerpt = sources.excerpt(hit, query, size=aids.excerpt_lines) if aids.excerpt_lines else None
        yield HitView(hit, hit.file_path in changed.get(hit.repo, ()), around, excerpt)


def answer_json(
    query: str,
    answer: SearchAnswer,
    shown: Sequence[HitView],
    *,
    searched: Sequence[PublishedIndex],
    aids: Aids,
    as_of: Sequence[AsOf],
) -> dict[str, Any]:
    """The answer to one question, as `--json` prints it and each line of `--batch`."""
    return {
        "query": query,
        "repositories": repositories(searched),
        "as_of": [each.model_dump() for each in as_of],
        "fits_well": answer.fits_well,
        "hits": [_hit_json(each, aids) for each in shown],
    }


def _hit_json(shown: HitView, aids: Aids) -> dict[str, Any]:
    """The hit's own fields, then those of each aid that was asked for."""
    around: Mapping[str, Any] = (
        {**to_builtins(shown.around.around), "more": dict(shown.around.more)} if shown.around else {}
    )
    excerpt = {"excerpt": excerpt_json(shown.excerpt)} if aids.excerpt_lines else {}
    return {**to_builtins(shown.hit), "changed_since": shown.changed_since, **around, **excerpt}


def blocks(shown: Sequence[HitView], *, several: bool) -> Iterator[RenderableType]:
    """One block per hit: where it is, how it is called, what it does, why it was found; `several` repositories are
    named."""
    width = len(str(len(shown)))
    for rank, each in enumerate(shown, start=1):
        hit = each.hit
        lines = lines_of(to_builtins(hit))
        yield Text.assemble(
            (f"{rank:>{width}}. ", "bold"),
            (one_line(hit.id), "bold cyan"),
            (f"  {lines}" if lines else "", "cyan"),
            (f"  {hit.type}{f' in {hit.repo}' if several else ''}", "dim"),
            ("  changed since" if each.changed_since else "", "yellow"),
        )
        if hit.signature_summary:
            yield indented(styled(_short(one_line(hit.signature_summary)), "cyan"), width + 2)
        yield indented(Text(clean(hit.summary)), width + 2)
        yield indented(styled(one_line(hit.why), "dim"), width + 2)
        if each.excerpt:
            yield indented(numbered(each.excerpt), width + 4)
        if each.around:
            yield indented(fields(_described(each.around)), width)
        if rank < len(shown):
            yield ""
    yield from legend(each.around.around for each in shown if each.around)


def _short(text: str) -> str:
    return text if len(text) <= SIGNATURE_CHARACTERS else f"{text[: SIGNATURE_CHARACTERS - 1].rstrip()}…"


def _described(bounded: BoundedSurroundings) -> dict[str, list[RenderableType]]:
    """What stands around a hit, and behind each part how many more there are."""
    parts = described(bounded.around)
    for name, left in bounded.more.items():
        parts[_NAMES[name]].append(styled(f"… {left:,} more (`codesum show` lists all)", "dim"))
    return parts
