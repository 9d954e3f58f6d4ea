"""The secrets of a file are masked in all that is kept of it, once, before anything is stored.

Texts, lanes and graph are made from what is stored here, so none of them can hold a secret. The hash of the content is
made before: it says whether the file is another, masked or not. Lines that people read come from git, as their author
wrote them.

A secret is recognized by what stands around it, such as the name that it is assigned to, and may stand elsewhere
without that. So the secrets of the whole file are looked up in each text, beside what the text itself shows.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.edge import CompilerFile
from codesum_pipeline.foundation.data_model.symbol import FileFacts, Import, Symbol
from codesum_pipeline.source.masking.secrets import mask_of, mask_secrets, secrets_in
from codesum_pipeline.symbols.parsing.text import ParsedFile

# With more secrets each word of a text is looked up, instead of each secret in the text.
FEW_SECRETS = 50

_WORD = re.compile(r"[^\s\"'`«»]+")
_PART_OF_WORD = re.compile(r"[A-Za-z0-9_+/=~-]+")
# A long key is stored in pieces, too: a literal for each line.
_PIECE_OF_KEY = re.compile(r"[A-Za-z0-9+/=]{24,}")
# A beginning this long of a secret is recognized where a text was cut.
_LEAST_BEGINNING = 6
_CUT = "…"

# What is an address, and no text.
_PLACES = ("file_path", "blob", "language", "parser", "encoding", "content_hash", "documents", "tool")
# What the graph follows: one name is one name everywhere in a file, and two names stay two.
_NAMES = ("id", "qualified_name", "name", "parent_id", "scope_id", "globals", "exports", "misnamed")
_ROWS = (FileFacts, Symbol, Import, CompilerFile)

Mask = Callable[[str], str]


class _Masks(NamedTuple):
    """How texts are masked, and how names are."""

    text: Mask
    name: Mask


def masked_file(
    parsed: ParsedFile, compiled: CompilerFile | None = None, *, few: int = FEW_SECRETS
) -> tuple[ParsedFile, CompilerFile | None]:
    """A file without its secrets; nothing is changed where there are none."""
    kinds = secrets_in(parsed.facts.source)
    if not kinds:
        return parsed, compiled
    masks = _Masks(_mask_of_texts(kinds, few=few), _mask_of_names(kinds, parsed.facts.file_path, few=few))
    symbols = tuple([_masked_row(symbol, masks) for symbol in parsed.symbols])
    return ParsedFile(_masked_row(parsed.facts, masks), symbols), compiled and _masked_row(compiled, masks)


def _masked_row(row: Any, masks: _Masks) -> Any:
    """A row whose strings are masked, each as what it is."""
    changed = {}
    for name in row.__struct_fields__:
        value = getattr(row, name)
        if not isinstance(row, _ROWS):
            changed[name] = _masked(value, masks, masks.text)
        elif name == "references" or (name == "facts" and isinstance(value, str)):
            masked = _masked(json.loads(value), masks, masks.name)
            changed[name] = json.dumps(masked, ensure_ascii=False, separators=(",", ":"))
        elif name not in _PLACES:
            changed[name] = _masked(value, masks, masks.name if name in _NAMES else masks.text)
    return replace(row, **changed)


def _masked(value: Any, masks: _Masks, mask: Mask) -> Any:
    match value:
        case StrEnum():
            return value
        case str():
            return mask(value)
        case Struct():
            return _masked_row(value, masks)
        case tuple():
            return tuple([_masked(item, masks, mask) for item in value])
        case list():
            return [_masked(item, masks, mask) for item in value]
        case dict():
            return {mask(key): _masked(item, masks, mask) for key, item in value.items()}
        case _:
            return value


def _mask_of_texts(kinds: Mapping[str, str], *, few: int) -> Mask:
    """Masks what the file's secrets are, also in pieces, and what shows itself as one."""
    pieces = {piece: kind for value, kind in kinds.items() for piece in _PIECE_OF_KEY.findall(value)}
    masks = {value: mask_of(kind) for value, kind in (pieces | dict(kinds)).items()}
    replaced = _replacing(masks, few=few)

    def mask(text: str) -> str:
        masked = replaced(text)
        if masked.endswith(_CUT) and len(masks) <= few:
            masked = _without_beginning(masked, masks)
        return mask_secrets(masked).text

    return mask


def _mask_of_names(kinds: Mapping[str, str], file_path: str, *, few: int) -> Mask:
    """Masks names. Different secrets have different masks there, so that different names stay different."""
    numbers: Counter[str] = Counter()
    masks: dict[str, str] = {}
    for value, kind in kinds.items():
        # An identifier or a number with the value of some password is more likely only that.
        is_plain = value.isidentifier() or value.isdecimal()
        if value in file_path or (is_plain and _is_known_by_name(kind)):
            continue
        numbers[kind] += 1
        masks[value] = mask_of(f"{kind} {numbers[kind]}" if numbers[kind] > 1 else kind)
    return _replacing(masks, few=few)


def _replacing(masks: Mapping[str, str], *, few: int) -> Mask:
    """Replaces each secret by its mask; of many, those that are words of the text."""
    if not masks:
        return str
    if len(masks) > few:
        return lambda text: _WORD.sub(partial(_mask_of_word, masks=masks), text)
    found = "|".join(map(re.escape, sorted(masks, key=lambda value: (-len(value), value))))
    # A part of a longer word is something else.
    pattern = re.compile(rf"(?<![A-Za-z0-9_])(?:{found})(?![A-Za-z0-9_])")
    return lambda text: pattern.sub(lambda match: masks[match[0]], text)


def _mask_of_word(word: re.Match[str], *, masks: Mapping[str, str]) -> str:
    found = masks.get(word[0])
    return found or _PART_OF_WORD.sub(lambda part: masks.get(part[0], part[0]), word[0])


def _without_beginning(text: str, masks: Mapping[str, str]) -> str:
    """A text that was cut within a secret, without the secret's beginning."""
    uncut = text.removesuffix(_CUT)
    for value, mask in masks.items():
        for length in range(min(len(value), len(uncut)), _LEAST_BEGINNING - 1, -1):
            if uncut.endswith(value[:length]):
                return f"{uncut[:-length]}{mask}{_CUT}"
    return text


def _is_known_by_name(kind: str) -> bool:
    """Whether such secrets have no format of their own: they are known by the name that they are assigned to."""
    return kind.startswith("assigned") or kind.endswith("-password")
