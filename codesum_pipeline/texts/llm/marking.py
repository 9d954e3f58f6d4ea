"""Material is marked before a model sees it: markers enclose it, and lines are numbered.

A marker holds the sha256 of the text that it encloses, so no text can close
its own marker and go on as if it were the prompt; and the same text gives the
same request. Invisible characters (controls, bidirectional and zero-width
ones) are removed first.
"""

import re
import unicodedata

from codesum_pipeline.foundation.data_model.hashing import sha256_hex
from codesum_pipeline.foundation.data_model.printable import SUSPECT, UNPRINTABLE

# Part of every key under which a model's text is kept. What is masked in a text is in the key by the text itself, so
# this stays where a rule of `source.secrets` changes.
MASKING_VERSION = "1"

# 128 bits: a text that holds its own marker cannot be searched for.
_DIGEST_CHARS = 32
_VARIATION_SELECTORS = re.compile("[\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def enclose(text: str, label: str) -> str:
    """The visible text between markers that say what it is; nothing at all if there is no text."""
    shown = without_invisible(text)
    if not shown.strip():
        return ""
    digest = sha256_hex(shown.encode("utf-8"))[:_DIGEST_CHARS]
    return f"<<<{label} {digest}\n{shown}\n{digest} {label}>>>"


def without_invisible(text: str) -> str:
    """The text without characters that are not seen; as many lines as before."""

    def kept(match: re.Match[str]) -> str:
        unseen = unicodedata.category(match[0]) in UNPRINTABLE or _VARIATION_SELECTORS.match(match[0])
        return "" if unseen else match[0]

    return SUSPECT.sub(kept, text)


def number_lines(source: str) -> str:
    """Each line behind its number, counted from 1: what citations refer to."""
    return "\n".join(f"{number}| {line}" for number, line in enumerate(source.rstrip("\n").split("\n"), start=1))
