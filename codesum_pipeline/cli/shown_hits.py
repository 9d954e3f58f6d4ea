"""Hits as people and as programs get them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.cli.reading_aids import Sources, described, excerpt_json, numbered
from codesum_pipeline.cli.render import fields, indented, lines_of, styled
from codesum_pipeline.cli.safe_text import clean, one_line
from codesum_pipeline.retrieval.excerpts import Excerpt
from codesum_pipeline.retrieval.hits import Hit
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.surroundings import Surroundings, surroundings_of

# Several hits share the screen.
_LISTED = 5


@dataclass(frozen=True, slots=True)
class Aids:
    """What is shown of each hit besides itself: what stands around it, and how many of its lines."""

    context: bool = False
    excerpt_lines: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """One hit with the aids that were asked for."""

    hit: Hit
    around: Surroundings | None
    excerpt: Excerpt | None


def with_aids(
    hits: Sequence[Hit], query: str, indexes: Sequence[PublishedIndex], sources: Sources, aids: Aids
) -> Iterator[Shown]:
    """Read what was asked for of each hit."""
    by_repo = {index.repo: index for index in indexes}
    for hit in hits:
        index = by_repo[hit.repo]
        row = index.row(hit.id)
        around = surroundings_of(index, row) if aids.context and row is not None else None
        excerpt = sources.excerpt(hit, query, size=aids.excerpt_lines) if aids.excerpt_lines else None
        yield Shown(hit, around, excerpt)


def hit_json(shown: Shown, aids: Aids) -> dict[str, Any]:
    """The hit's own fields, then those of each aid that was asked for."""
    around: Mapping[str, Any] = asdict(shown.around) if shown.around else {}
    excerpt = {"excerpt": excerpt_json(shown.excerpt)} if aids.excerpt_lines else {}
    return {**asdict(shown.hit), **around, **excerpt}


def blocks(shown: Sequence[Shown], *, several: bool) -> Iterator[RenderableType]:
    """One block per hit: where it is, what it does, why it was found; `several` repositories are named."""
    width = len(str(len(shown)))
    for rank, each in enumerate(shown, start=1):
        hit = each.hit
        lines = lines_of(asdict(hit))
        yield Text.assemble(
            (f"{rank:>{width}}. ", "bold"),
            (one_line(hit.id), "bold cyan"),
            (f"  {lines}" if lines else "", "cyan"),
            (f"  {hit.type}{f' in {hit.repo}' if several else ''}", "dim"),
        )
        yield indented(Text(clean(hit.summary)), width + 2)
        yield indented(styled(one_line(hit.why), "dim"), width + 2)
        if each.excerpt:
            yield indented(numbered(each.excerpt), width + 4)
        if each.around:
            yield indented(fields(described(each.around), listed=_LISTED), width)
        if rank < len(shown):
            yield ""
