"""`codesum cache`: the kept texts of models, and deleting unused ones."""

from datetime import timedelta

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.texts.llm.text_cache import AnswerCache
from codesum_pipeline.ways_in.cli.cli_app import CommandGroup
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import make_table, present_rows, show_parts

# Enough characters of a digest such as `blake3:0123…` to distinguish versions.
_SHOWN_DIGEST = 19

cache = CommandGroup("cache")


@cache.command()
def stats(invocation: Invocation, as_json: bool = False) -> None:
    """Show how many texts are kept, by prompt version and model, and what they cost."""
    kept = _cache(invocation)
    found = kept.stats()
    rows = []
    for each in found:
        version, cost, first = each.prompt_version[:_SHOWN_DIGEST], f"{each.cost_usd:.4f}", each.first_created[:10]
        rows.append((version, each.model, each.texts, each.text_bytes, cost, first, each.last_used))
    columns = ("prompt version", "model", "texts", "bytes", "US dollars", "first written", "last used")
    none = f"no text of a model is kept in {kept.path.parent}"
    present_rows(found, lambda: make_table(columns, rows, right=columns[2:5]), as_json=as_json, otherwise=none)


@cache.command()
def prune(invocation: Invocation, unused_for: int | None = None, keep: list[str] | None = None) -> None:
    """Delete texts that are not used any more; a build that needs one again pays for it again.

    codesum cache prune --unused-for 180
    """
    if unused_for is None and not keep:
        raise ConfigurationError("say which texts to delete: --unused-for DAYS, --keep PROMPT-VERSION, or both")
    kept, versions = _cache(invocation), set[str]()
    for name in keep or ():
        # A name that fits none would delete more than was meant.
        known = {each.prompt_version for each in kept.stats() if each.prompt_version.startswith(name)}
        if len(known) != 1:
            fitting = "no prompt version starts" if not known else f"{len(known)} prompt versions start"
            raise ConfigurationError(f"--keep {name!r}: {fitting} so: `codesum cache stats --json` lists them")
        versions |= known
    unused = timedelta(days=unused_for) if unused_for is not None else None
    deleted = kept.prune(unused_for=unused, keep_prompt_versions=versions or None)
    show_parts(
        f"{count_noun(deleted, 'text')} deleted, {count_noun(sum(each.texts for each in kept.stats()), 'text')} kept"
    )


def _cache(invocation: Invocation) -> AnswerCache:
    return AnswerCache(invocation.settings.summary_cache_dir, now=utc_now)
