"""Values of a file of data as a text may say them."""

from typing import Any

from codesum_pipeline.evidence.author_texts.plain_sentences import clip_text, make_printable

# What a name or a single word may have, and a sentence.
MAX_VALUE, MAX_SENTENCE = 60, 120
_LONGEST = 300


def text_of(value: object) -> str:
    """A text that is short and plain enough to be said; "" of others."""
    text = make_printable(value[:_LONGEST]) if isinstance(value, str) else ""
    is_plain = (
        any(map(str.isalnum, text))
        and max(map(len, text.split())) <= MAX_VALUE
        and not any(mark in text for mark in (*"${}<>\\`", "--"))
    )
    return clip_text(text, MAX_SENTENCE if " " in text else MAX_VALUE) if is_plain else ""


def name_of(value: object) -> str:
    """A name or path as it is written, clipped."""
    return clip_text(make_printable(str(value)[:_LONGEST]), MAX_VALUE)


def dict_of(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
