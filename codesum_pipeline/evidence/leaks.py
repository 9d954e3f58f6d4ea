"""Names of callers and callees that a text must not repeat.

A text says what its subject does, not who calls it: a neighbour's name would make the text wrong as soon as that
neighbour is renamed, though nothing that the text depends on has changed. Only names that cannot be words count:
`load_order`, `OrderBook`, `shop.load`, `load()`; of a function called `build`
the word "build" says nothing. A document's own names are never leaks.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache

from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.ids import without_suffix
from codesum_pipeline.foundation.language_facts.writing_systems import HANGUL, UNSPACED


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d]")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
# Signs around a name in some languages, which texts leave out: `save!`, `#count`.
_AROUND = re.compile(r"^\W+|(?<!\W)\W+$")
_SEPARATOR = re.compile(r"\.|::")
_CODE_NAME = re.compile(r"(?<!\w)[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)*(?:\(\))?")
# Every name that `is_foreign_name` accepts contains one of these.
_CODE_SIGN = re.compile(rf"[_\d]|\w(?:\.|::)[^\W\d]|\w\(\)|{_INNER_CAPITAL.pattern}")
# Shorter ones with a digit are as often no names: S3, H2, p95.
_MIN_CHARS_WITH_DIGIT = 4
# Ends of file and host names: `setup.cfg` and `example.org` are no dotted names of code.
_ENDINGS = _words("cfg com csv css html ini io json md net nvim org rst toml txt vim xml yaml yml")
# `Node.js` is a product, `node.js` a file.
_PRODUCT = re.compile(r"[A-Z]\w*\.js")
# Terms: `RFC7230`, `SSH2`, `v10`, `wasm32`, `x86_64`, and acronyms as words: `NaNs`, `ANDed`.
_TERM = re.compile(r"[A-Z]{2,}\d{1,5}|v\d+|(?:[A-Z]{2,}|NaN)(?:s|es|ed|ing)|(?:wasm|arm|amd|aarch)\d\d|x86_64|i\d86")
# Forms of dates, `dd.MM.yyyy`, are no dotted names.
_DATE_FORM = re.compile(r"(?:dd?|MM?M?M?|yy(?:yy)?|HH?|hh?|mm|ss)(?:\.(?:dd?|MM?M?M?|yy(?:yy)?|HH?|hh?|mm|ss)){1,5}")
# Proper names and terms that are written with inner capitals or digits.
_WORDS = _words(packaged_table(__package__, "words_like_names")["words"])


def leaked_names(texts: Sequence[str], hidden: Iterable[str], own: Collection[str] = ()) -> list[str]:
    """Those of the `hidden` names (qualified names or ids) that one of the texts repeats as code, sorted.

    `own` are the document's own names, in lower case (`names_in`).
    """
    text = _with_names_apart("\n".join(texts))
    words = set(_IDENTIFIER.findall(text))
    found: set[str] = set()
    for name in hidden:
        forms = _forms(name)
        if forms and forms[-1] in words and forms[-1].lower() not in own:
            found.update(form for form in forms if _stands_in(form, text))
    return sorted(found)


@cache
def _beside_name() -> re.Pattern[str]:
    return re.compile(rf"(?<=[{UNSPACED}])(?=[A-Za-z_])|(?<=[A-Za-z0-9_)])(?=[{UNSPACED}{HANGUL}])")


def _with_names_apart(text: str) -> str:
    """A text, and behind it the same with blanks around names in Latin letters, where a script sets none."""
    apart = text if text.isascii() else _beside_name().sub(" ", text)
    return text if apart == text else f"{text}\n{apart}"


def looks_like_code(name: str) -> bool:
    """Whether a name cannot be an English word."""
    first, *rest = _SEPARATOR.split(name)
    if rest:
        is_file_or_host = len(rest) == 1 and rest[0].lower() in _ENDINGS
        return not is_file_or_host and not _PRODUCT.fullmatch(name) and max(map(len, (first, *rest))) > 1
    if name in _WORDS or _TERM.fullmatch(name):
        return False
    has_digit = len(name) >= _MIN_CHARS_WITH_DIGIT and _DIGIT.search(name) and _LETTER.search(name)
    has_underscore = "_" in name and name.strip("_")
    return bool(has_underscore or has_digit or _INNER_CAPITAL.search(name))


def names_in(*texts: str) -> frozenset[str]:
    """The identifiers of some code, in lower case: names that a document may call its own."""
    return frozenset(name.lower() for text in texts for name in _IDENTIFIER.findall(text))


def code_names(text: str) -> Iterable[re.Match[str]]:
    """Where a text has what may be a name: an identifier, a dotted one, one with empty brackets."""
    return _CODE_NAME.finditer(text)


def may_have_code_names(text: str) -> bool:
    """Whether a text has any mark of a foreign name; most have none."""
    return _CODE_SIGN.search(text) is not None


def is_foreign_name(name: str, own: Collection[str]) -> bool:
    """Whether a name, as `code_names` finds it, may be that of a neighbour of a document with these own names."""
    if (name.isalpha() and (name.islower() or name[1:].islower())) or _DATE_FORM.fullmatch(name):
        return False
    bare = name.removesuffix("()")
    first, *rest = _SEPARATOR.split(bare)
    if any(looks_like_code(part) and part.lower() not in own for part in (first, *rest)):
        return True
    is_shown_as_code = bare != name or (bool(rest) and looks_like_code(bare))
    return is_shown_as_code and any(part.lower() not in own for part in rest or [first])


def _forms(name: str) -> list[str]:
    """The ways to write a qualified name or id, its last part alone at the end: with dots or double colons, from any
    of its parts on."""
    path, *below = without_suffix(name).split("::")
    if "/" in path and not below:
        file_name = path.rpartition("/")[2]
        return [path, file_name, file_name.partition(".")[0]]
    pieces = below if below and ("/" in path or "." in path) else [path, *below]
    parts = [part for piece in pieces for found in piece.split(".") if (part := _AROUND.sub("", found))]
    longer = [sign.join(parts[at:]) for at in range(len(parts) - 1) for sign in (".", "::")]
    return [*longer, *parts[-1:]]


def _stands_in(name: str, text: str) -> bool:
    """Whether a text has the name as a whole; one that could be a word only as a call."""
    # Without a pattern: making one takes longer than all else that is asked of a name.
    is_code, start = looks_like_code(name), text.find(name)
    while start >= 0:
        end = start + len(name)
        ends = not _is_of_word(text[end : end + 1]) if is_code else text.startswith("()", end)
        if ends and not (start and _is_of_word(text[start - 1])):
            return True
        start = text.find(name, start + 1)
    return False


def _is_of_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"
