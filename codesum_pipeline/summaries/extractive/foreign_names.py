"""Names of other code become words: a text must stay right when a caller or callee is renamed.

Which names are neighbours only the graph knows, which a text must not depend
on. So every name that is not the document's own is said in words.
"""

import re
from collections.abc import Collection

from codesum_pipeline.llm.leaks import code_names, is_foreign_name, looks_like_code
from codesum_pipeline.summaries.extractive.words import spoken

_SEPARATOR = re.compile(r"\.|::")
_BESIDE_DIGITS = re.compile(r"(?<=[^\W\d])(?=\d)|(?<=\d)(?=[^\W\d])")


def in_words(text: str, own: Collection[str]) -> str:
    """The text without code names but those in `own` (lower case): `Context.make_path()` as "Context make path"."""
    parts: list[str] = []
    done = 0
    for match in code_names(text):
        if not is_foreign_name(match[0], own):
            continue
        before = text[done : match.start()]
        # The next link of a chain: `entry.file_type().is_dir()`.
        before = " " if before == "." else before
        words = " ".join(filter(None, (_said(part, own) for part in _SEPARATOR.split(match[0].removesuffix("()")))))
        opens = not (text[: match.start()].rstrip(" `'\"“(")) or before.rstrip(" `'\"“(").endswith((".", "!", "?"))
        parts += [before, f"{words[:1].upper()}{words[1:]}" if opens else words]
        done = match.end()
    return "".join([*parts, text[done:]])


def _said(part: str, own: Collection[str]) -> str:
    if not looks_like_code(part) or part.lower() in own:
        return part
    words = spoken(part)
    return " ".join(_BESIDE_DIGITS.sub(" ", word) if looks_like_code(word) else word for word in words.split(" "))
