"""The purpose of a document, from its finished text: the first sentence, where that says what the code is for.

The sentence may be the author's, a model's, or made from what the code says or is called. Texts that begin with what
the code contains or does have none. A placeholder's template ends with its author's words where there are some.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from codesum_pipeline.evidence.author_texts.plain_sentences import split_sentences
from codesum_pipeline.foundation.data_model.printable import shorten_text

# How the template of a short function begins; a colon is before its author's words.
SHORT_FUNCTION = "Short function "
_MOST_CHARACTERS = 160
_OF_AUTHORS = frozenset({"docstring", "comment", "text", "model"})
_MESSAGE, _NAME = "message", "name"
_NAMED = frozenset({"function", "class"})


class Purpose(Struct, frozen=True):
    """One sentence without its full stop; `source` is a `PurposeSource`."""

    text: str
    source: str

    @property
    def is_authors(self) -> bool:
        """Whether the author or a model wrote it."""
        return self.source in _OF_AUTHORS

    @property
    def is_of_name(self) -> bool:
        """Whether it is the name in other words."""
        return self.source == _NAME


def purpose_of(document: Mapping[str, Any]) -> Purpose | None:
    """The purpose of a document, from its `type`, `summary`, `purpose_source` and `is_placeholder`."""
    summary, source = document["summary"] or "", document.get("purpose_source") or ""
    if document["is_placeholder"]:
        is_short = summary.startswith(SHORT_FUNCTION)
        summary, source = summary.partition(": ")[2] if is_short else "", "docstring"
    is_of_name = source == _NAME and document["type"] in _NAMED
    if source not in _OF_AUTHORS and source != _MESSAGE and not is_of_name:
        return None
    first = next(iter(split_sentences(" ".join(summary.split()), limit=1)), "")
    text = shorten_text(first.removesuffix("."), most=_MOST_CHARACTERS)
    return Purpose(text, source) if text else None
