"""Names of other code in an author's sentence, written as words.

A text may say the document's own names. Every other name of code becomes words, since a text must stay right when a
caller or callee is renamed: only the graph knows which names are neighbours, and a text must not depend on the graph.
"""

import re
from collections.abc import Collection, Iterator
from functools import cache

from codesum_pipeline.evidence.extractive.words import spell_in_prose
from codesum_pipeline.evidence.leaks import is_foreign_name, looks_like_code, may_have_code_names
from codesum_pipeline.foundation.language_facts.writing_systems import UNSPACED, sets_no_blanks

_NAME = re.compile(r"[^\W\d]\w*")
# A name with what stands around it: `#read`, `.zero`, `@names`, `Map#get`, `self->rows`, `load()`, `connect/3`.
_CHAIN = re.compile(r"(?<!\w)(?:[#@$&*.~?]|::?(?=\w)){0,4}([^\W\d]\w*(?:(?:\.|::|#|->)[^\W\d]\w*)*)")
# Where no blanks are between words, a name ends where the sentence goes on in its script; a name in that script is told
# from the sentence by its underscore.
_LETTER, _OWN = rf"[^\W\d{UNSPACED}]", rf"[^\W{UNSPACED}]"


@cache
def _chain_in_unspaced() -> re.Pattern[str]:
    return re.compile(
        rf"(?:(?<!\w)|(?<=[{UNSPACED}]))(?:[#@$&*.~?]|::?(?=\w)){{0,4}}"
        rf"((?<![{UNSPACED}])[{UNSPACED}]{{1,40}}_[\w]{{1,80}}|{_LETTER}{_OWN}*(?:(?:\.|::|#|->){_LETTER}{_OWN}*)*)"
    )


_ARGUMENTS = re.compile(r"\([^()\n]{0,120}\)(?:\.(?=[^\W\d]))?|/\d{1,2}(?![\w/.])")
_BESIDE_DIGITS = re.compile(r"(?<=[^\W\d])(?=\d)|(?<=\d)(?=[^\W\d])")
# A name that lost its first part may need the other article.
_ARTICLE = re.compile(r"(?<!\w)([Aa])n? $")
_BEGINS_AS_VOWEL = re.compile(r"[AEIOaeio]|[Uu](?!ni|s[ei]|RL|UID)|[FHLMNRSX](?=[A-Z])")
# What a method calls its own object.
_RECEIVERS = frozenset(("self", "this", "cls", "super"))
_QUOTES = " `'\"“("
_ENDED = re.compile(r"[^\s.][.!?][\s`'\"“(]+$")


def without_foreign_names(text: str, own: Collection[str]) -> str:
    """The text without code names but those in `own` (lower case): `Context.make_path()` as "context make path"."""
    if not may_have_code_names(text):
        return text
    parts: list[str] = []
    done = 0
    for start, end, words in _foreign(text, own):
        before = text[done:start]
        opens = not text[:start].strip(_QUOTES) or bool(_ENDED.search(before))
        if text[start:end].lstrip("#@$&*.~?:")[:1].lower() != words[:1].lower():
            before = _ARTICLE.sub(rf"\1{'n' if _BEGINS_AS_VOWEL.match(words) else ''} ", before)
        parts += [before, f"{words[:1].upper()}{words[1:]}" if opens else words]
        done = end
    return "".join([*parts, text[done:]])


def _foreign(text: str, own: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Where a name of other code starts and ends, with its call's brackets, and its words."""
    done = 0
    for match in (_chain_in_unspaced() if sets_no_blanks(text) else _CHAIN).finditer(text):
        if match.start(1) < done:
            continue
        call = _ARGUMENTS.match(text, match.end())
        name = match[1].replace("#", ".").replace("->", ".")
        is_call = call is not None and call[0].startswith("()")
        if not is_foreign_name(f"{name}()" if is_call else name, own):
            continue
        done = call.end() if call else match.end()
        # The next link of a chain: `entry.file_type().is_dir()`.
        gap = " " if call and call[0].endswith(".") else ""
        yield match.start(), done, _words(name, own) + gap


def _words(name: str, own: Collection[str]) -> str:
    """A dotted name in words, without the packages before a class and the object that a method belongs to."""
    parts = _NAME.findall(name)
    first_class = next((at for at, part in enumerate(parts) if part[0].isupper() and len(part) > 1), 0)
    if first_class > 1:
        parts = parts[first_class:]
    telling = [part for part in parts[:-1] if len(part) > 1 and part not in _RECEIVERS]
    return " ".join(part if _is_plain(part, own) else _spelled(part) for part in (*telling, parts[-1]))


def _is_plain(part: str, own: Collection[str]) -> bool:
    return not looks_like_code(part) or part.lower() in own


def _spelled(part: str) -> str:
    words = spell_in_prose(part).split(" ")
    return " ".join(_BESIDE_DIGITS.sub(" ", word) if looks_like_code(word) else word for word in words)
