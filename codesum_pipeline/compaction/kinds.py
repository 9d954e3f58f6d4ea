"""The kinds of rows that can be compacted, by name."""

from collections.abc import Callable, Sequence
from datetime import datetime

from codesum_pipeline.compaction.digest_rows import DIGESTS, DigestRows
from codesum_pipeline.compaction.history_rows import TABLE, HistoryRows
from codesum_pipeline.compaction.prompt_texts import KIND, PromptTexts
from codesum_pipeline.compaction.sources import CompactionSource
from codesum_pipeline.llm.cache import AnswerCache
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.settings.models import Settings
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.summaries.by_model.setup import templates_of

KINDS = (TABLE, KIND, DIGESTS)


def source_of(
    kind: str, repository: str | None, *, layout: HomeLayout, settings: Settings, now: Callable[[], datetime]
) -> CompactionSource:
    """The rows that an attestation speaks of; raises `ConfigurationError`."""
    if kind not in KINDS:
        raise ConfigurationError(f"kind {kind!r}: rows of these kinds can be compacted: {', '.join(KINDS)}")
    if kind != TABLE and repository is not None:
        raise ConfigurationError(f"{kind} are those of all repositories: leave --repo out")
    if kind == DIGESTS:
        return DigestRows(layout.digests, now)
    if kind == KIND:
        return PromptTexts(
            AnswerCache(settings.summary_cache_dir, now=now),
            in_use=frozenset(template.digest for template in templates_of(settings).values()),
        )
    if repository is None:
        raise ConfigurationError(f"rows of {kind} are a repository's: say --repo KEY")
    return HistoryRows(TableStore(layout.warehouse), layout, repository)


def all_sources(
    repositories: Sequence[str], *, layout: HomeLayout, settings: Settings, now: Callable[[], datetime]
) -> list[CompactionSource]:
    """Every kind of rows, of each repository."""
    of_each = (source_of(TABLE, key, layout=layout, settings=settings, now=now) for key in repositories)
    of_all = (source_of(kind, None, layout=layout, settings=settings, now=now) for kind in (KIND, DIGESTS))
    return [*of_each, *of_all]
