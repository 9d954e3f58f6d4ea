"""The closed lists of words that the texts of classes are made from."""

from codesum_pipeline.evidence.packaged_tables import packaged_table


def class_words(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(packaged_table(__package__, "class_words")[name].split())
