"""How many tokens a text has: about, for plans, and at most, for caps.

No tokenizer is asked: those of most providers are not public, and counting
would take longer than planning. The tests hold both figures against the
tokenizer that LiteLLM counts with.
"""

import re
from functools import lru_cache

# Of prompts as they are sent: 4.0 in the packaged system prompt, 3.9 in numbered Python.
CHARS_PER_TOKEN = 4.0
# A turn's role, a tool's name and the words that a provider puts around a tool.
TOKENS_AROUND = 600

_WORDS = re.compile(rb"[A-Z]?[a-z]{3,20}|[A-Z]{4,20}| +|\n+")


def predict_tokens(*texts: str) -> int:
    """About how many tokens a prompt of these texts has."""
    return sum(round(len(text) / CHARS_PER_TOKEN) for text in texts)


def tokens_upper(*texts: str) -> int:
    """At most how many tokens a prompt of these texts has, with what a provider puts around them.

    No tokenizer makes more than one token of a byte, and of a word's letters it makes far less than one of two.
    """
    return TOKENS_AROUND + sum(_upper(text) for text in texts)


@lru_cache(maxsize=64)
def _upper(text: str) -> int:
    data = text.encode("utf-8", "surrogatepass")
    spared = sum((end - start) // 2 for start, end in (found.span() for found in _WORDS.finditer(data)))
    return len(data) - spared
