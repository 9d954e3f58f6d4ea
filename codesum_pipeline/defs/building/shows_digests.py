"""What a person sees of matches and digests. It may hold words of a repository or a model: nothing in it acts."""

from collections.abc import Iterable, Iterator, Sequence

from codesum_pipeline.defs.building.values import Markdown
from codesum_pipeline.delivery.posts import digest_post
from codesum_pipeline.digests.rows import DigestRow, KeptMatch
from codesum_pipeline.model.digests import PostId
from codesum_pipeline.model.markdown import code, plain, table

# Metadata are stored with every materialisation, for ever.
MATCHES_SHOWN = 5
DIGESTS_SHOWN = 3
_DIGEST_CHARS = 4000
_NONE_WAITS = "No change waits for a digest."
_NO_DIGEST = "No digest so far."


def show_matches(pending: Iterable[Sequence[KeptMatch]]) -> Markdown:
    """Of each standing question the best of what waits."""
    rows = [row for matches in pending for row in _best(matches)]
    if not rows:
        return Markdown(_NONE_WAITS)
    return Markdown(table(["standing question", "waiting", "document", "place", "change", "score"], rows))


def show_digests(digests: Sequence[DigestRow]) -> Markdown:
    """Digests in full, in the order given."""
    return Markdown("\n\n---\n\n".join(_shown(row) for row in digests) or _NO_DIGEST)


def _best(matches: Sequence[KeptMatch]) -> Iterator[tuple[object, ...]]:
    best = sorted(matches, key=lambda kept: (-(kept.match.score or 0.0), kept.match.change.document_id))
    for kept in best[:MATCHES_SHOWN]:
        change, score = kept.match.change, kept.match.score
        lines = f"#L{change.state.start_line}" if change.state.start_line else ""
        yield (
            kept.match.intent_name,
            len(matches),
            change.state.name,
            f"{change.state.file_path}{lines}",
            change.kind.value,
            "" if score is None else f"{score:.2f}",
        )


def _shown(row: DigestRow) -> str:
    """Under what it is, the words of a digest as a chat would get them: without links and HTML."""
    from codesum_pipeline.delivery.dialects import CHAT, written

    post = digest_post(PostId(row.id), row.result, links=[None] * len(row.result.citations), created_at=row.created_at)
    about = [
        f"about {plain(', '.join(row.repositories))}",
        f"written {plain(row.created_at)} by {plain(row.model) if row.model else 'no model'}",
        f"${row.cost_usd:.4f}",
    ]
    stands = [
        f"changes: {row.matches:,}",
        f"items: {row.items:,}",
        f"{row.state.value} for {plain(', '.join(row.channels))}" if row.channels else "no channel",
        code(row.id),
    ]
    head = f"**{plain(row.intent_name)}** {', '.join(about)}\n\n{', '.join(stands)}"
    return f"{head}\n\n{written(post, CHAT, limit=_DIGEST_CHARS)}"
