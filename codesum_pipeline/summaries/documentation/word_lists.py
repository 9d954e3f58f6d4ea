"""Word lists are written as prose is, a line of words after the other."""


def word_set(words: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(words.split())
