"""The grammars that this process holds."""

from semble_grammars import loader

from codesum_pipeline.languages.outlines.grammars import load_grammar
from codesum_pipeline.languages.outlines.outline_table import compiled_query


def forget_grammars() -> None:
    """As if none had been loaded from the package of all."""
    for cache in (load_grammar, compiled_query, loader.get_language, loader._platform_manifest):
        cache.cache_clear()
