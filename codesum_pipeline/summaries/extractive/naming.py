"""Names in words, without the prefix that a library gives to all of its names."""

from collections.abc import Iterable, Sequence

from codesum_pipeline.summaries.documentation.plain import printable
from codesum_pipeline.summaries.documentation.word_lists import word_set
from codesum_pipeline.summaries.extractive.words import name_words, spoken, spoken_word

_MIN_SHARING = 3
_SHARED_PART = 0.6
# A first word that says what is done is no library's prefix, however many names share it.
_VERBS = word_set("verbs")


def shared_prefix(names: Iterable[str]) -> tuple[str, ...]:
    """The words that most of some names begin with, if that is no verb; each name keeps at least one word."""
    split = [words for name in dict.fromkeys(names) if len(words := name_words(name)) > 1]
    if len(split) < _MIN_SHARING:
        return ()
    prefix: tuple[str, ...] = ()
    while len(prefix) < 3:
        longer = [words[: len(prefix) + 1] for words in split if len(words) > len(prefix) + 1]
        found = max(sorted(set(longer)), key=longer.count, default=())
        is_shared = longer.count(found) >= max(_MIN_SHARING, _SHARED_PART * len(split))
        if not is_shared or found[-1] in _VERBS:
            break
        prefix = found
        if prefix == ("test",):
            break
    return prefix


def said(name: str, prefix: tuple[str, ...] = ()) -> str:
    """A name in words without a prefix; as it is written where it has no words."""
    words = name_words(name)
    if words[-1:] == ("t",) and name.lower().endswith("_t"):
        words = words[:-1]
    if words[:1] == ("i",) and len(words) > 1 and name[:1] == "I":
        words = words[1:]
    if prefix and words[: len(prefix)] == prefix and len(words) > len(prefix):
        words = words[len(prefix) :]
    return " ".join(map(spoken_word, words)) or spoken(name) or printable(name)


def listed(names: Iterable[str], limit: int, *, prefix: tuple[str, ...] = (), are_all: bool = True) -> str:
    """The first names in words, each once, and how many more there are."""
    return shortened([said(name, prefix) for name in names], limit, are_all=are_all)


def plainly(names: Iterable[str], limit: int) -> str:
    """The same of paths' or packages' names, clipped words as they are."""
    return shortened([spoken(name, written_out=False) for name in names], limit)


def shortened(items: Iterable[str], limit: int, *, are_all: bool = True) -> str:
    """The first items, each once, and how many more there are, where they are all that there are."""
    found = list(dict.fromkeys(filter(None, items)))
    more = len(found) - limit
    return ", ".join([*found[:limit], f"{more} more" if are_all else "and more"] if more > 0 else found)


def named(lead: str, names: Sequence[str], limit: int, *, are_all: bool = True) -> str:
    """A fact of names, without the prefix that they share."""
    return fact(lead, listed(names, limit, prefix=shared_prefix(names), are_all=are_all))


def fact(lead: str, items: Sequence[str] | str) -> str:
    """A short phrase: `Takes`, path, mode gives `Takes path, mode.`; "" without items."""
    told = items if isinstance(items, str) else ", ".join(items)
    return f"{lead} {told}{'' if told.endswith(('.', '…')) else '.'}" if told else ""


def capitalized(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
