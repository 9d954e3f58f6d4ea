"""Functions that are handed over by a text, a symbol or a word, in languages where a plain name cannot mean one.

Each reader is given the source and one token; it looks at few bytes before and behind it.
"""

import re

from codesum_pipeline.languages.declarations.hook_values import NamedWord
from codesum_pipeline.languages.declarations.syntax_tables import patterns_beside
from codesum_pipeline.languages.declarations.use_syntax import HandedName

_BEFORE, _AFTER, _LONGEST_LIST = 200, 40, 1000
_PATTERNS = {name: re.compile(pattern.pattern.decode()) for name, pattern in patterns_beside(__file__).items()}


def _before(source: bytes, word: NamedWord, *, in_line: bool = False) -> str:
    text = source[max(word.start - _BEFORE, 0) : word.start].decode("utf-8", "replace")
    return text.rpartition("\n")[2] if in_line else text


def find_symbol_of_ruby(source: bytes, word: NamedWord) -> HandedName | None:
    """`method(:name)`, `before_action :name`, `if: :name`: a method of the object around."""
    name, before = word.text.removeprefix(":"), _before(source, word, in_line=True)
    pattern = _PATTERNS["condition" if word.around == "pair" else "method"]
    is_handed = _PATTERNS["name"].fullmatch(name) and pattern.search(before)
    return HandedName((name,)) if is_handed else None


def find_text_of_php(source: bytes, word: NamedWord) -> HandedName | None:
    """`[$this, 'name']`, `[Name::class, 'name']` and `array_map('name', …)`."""
    name, before = word.text.strip("'\""), _before(source, word)
    if not _PATTERNS["name"].fullmatch(name):
        return None
    if pair := _PATTERNS["pair"].search(before):
        return HandedName((pair[1] or pair[2].lstrip("\\").rpartition("\\")[2], name))
    return HandedName((name,)) if _PATTERNS["taking_function"].search(before) else None


def find_capture_of_elixir(source: bytes, word: NamedWord) -> HandedName | None:
    """`&name/1`, `&Module.name/2` and `{Module, :name, [first, second]}`."""
    before = _before(source, word)
    end = word.start + len(word.text.encode())
    if word.text.startswith(":"):
        module, name = _PATTERNS["of_module"].search(before), word.text[1:]
        is_name = module is not None and _PATTERNS["name"].fullmatch(name)
        count = _length_of_list(source[end : end + _LONGEST_LIST].decode("utf-8", "replace")) if is_name else None
        if module is None or count is None:
            return None
        # What is called may get other arguments before those of the list.
        return HandedName((*module[1].split("."), name), count, is_only=True)
    captured = _PATTERNS["captured"].search(before)
    arity = _PATTERNS["arity"].match(source[end : end + _AFTER].decode("utf-8", "replace"))
    if captured is None or arity is None:
        return None
    return HandedName((*captured[1].split(".")[:-1], word.text), int(arity[1]))


def _length_of_list(after: str) -> int | None:
    """How many values the list has that is the next argument; None if that is no whole list, or has others behind."""
    opening = _PATTERNS["list"].match(after)
    depth, commas, last = int(opening is not None), 0, "["
    for token in _PATTERNS["of_list"].finditer(after, opening.end()) if opening is not None else ():
        written = token[0]
        if written[-1:] in "[{(":
            depth += 1
        elif written in ("]", "}", ")"):
            depth -= 1
        if depth == 0:
            # `[]`, and a comma behind the last one.
            return commas + (last not in ("[", ","))
        if (depth == 1 and written == "|") or written in ("fn", "do"):
            return None
        commas += depth == 1 and written == ","
        last = written
    return None


def find_word_of_bash(source: bytes, word: NamedWord) -> HandedName | None:
    """`complete -F name`, `HOOKS=(name other)`."""
    is_in_array = word.around == "array"
    is_handed = is_in_array or _PATTERNS["taking_command"].search(_before(source, word, in_line=True))
    first = next(iter(word.text.strip("'\"").split()), "")
    is_text = word.kind != "word" and is_in_array
    return HandedName((first,)) if is_handed and first and not is_text else None
