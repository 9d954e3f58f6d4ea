"""Functions that are handed over by a text, a symbol or a word, in languages where a plain name cannot mean one.

Each reader is given the source and one token; it looks at few bytes before and behind it.
"""

import re

from codesum_pipeline.languages.declarations.hook_values import NamedWord
from codesum_pipeline.languages.declarations.use_syntax import HandedName

_BEFORE, _AFTER = 200, 40
_NAME = re.compile(r"[^\W\d]\w*[!?=]?")
_OWN_METHOD = re.compile(
    r"(?:^|[^\w.:]|\bself\.)(?:method|instance_method|public_method|send|public_send|__send__|respond_to\?)"
    r"\s*+(?:\(\s*+)?$"
)
_CALLBACK = re.compile(
    r"^[ \t]*(?:(?:before|after|around|skip|prepend|append)_[a-z_]{1,40}|validate|helper_method|memoize)"
    r"[ (]\s*(?::\w{1,60}[?!]?\s*,\s*){0,20}$"
)
_RENAMED = re.compile(r"^[ \t]*alias_method[ (]\s*:\w{1,60}[?!=]?\s*,\s*$")
_CONDITION = re.compile(r"\b(?:with|if|unless):\s*$")
_PAIR_OF_PHP = re.compile(r"(?:\[|\barray\()\s*(?:(\$this)|([\\\w]+)::class)\s*,\s*$")
_TAKING_FUNCTIONS = re.compile(
    r"\b(?:(?:array_map|call_user_func|call_user_func_array|is_callable|function_exists|spl_autoload_register"
    r"|register_shutdown_function|set_error_handler|set_exception_handler)\(\s*"
    r"|(?:usort|uasort|uksort|array_filter|array_walk|array_reduce|add_action|add_filter|add_shortcode"
    r"|register_activation_hook)\([^()]{1,100},\s*)$"
)
_CAPTURED = re.compile(r"&\s*((?:(?:[A-Z]\w*|__MODULE__)\.){0,10})$")
_ARITY = re.compile(r"\s*/\s*(\d{1,3})")
_OF_MODULE = re.compile(r"[{(]\s*((?:[A-Z]\w*\.){0,10}[A-Z]\w*|__MODULE__)\s*,\s*$")
_LIST = re.compile(rb"\s*,\s*\[")
# Texts, brackets, commas, bars and anything else between blanks.
_OF_LIST = re.compile(rb"\"(?:[^\"\\]|\\.)*+\"?|\|\||\|>|[\[\](){},|]|[^\s\"\[\](){},|]+", re.DOTALL)
_LONGEST_LIST = 1000
_TAKING_COMMANDS = re.compile(
    r"(?:^|[\s;&|(])(?:(?:export|declare|typeset|readonly)\s+-[a-z]*f[a-z]*|complete\s[^;|&\n]{0,80}-F"
    r"|bind\s+-x|time|nohup|timeout\s+\S{1,20}|command\s+-v|type(?:\s+-\w+)?)\s+$"
)
_ARRAY, _LOOP = "array", "for_statement"
_LOOPED = re.compile(r"\b(?:for|select)\s+(\w+)\s+in\s(?:[^;\n]|\\\n)*$")
_DONE = re.compile(r"(?:^|[;\s])done\b")
_RUN = re.compile(r'(?:[;&|(){!\n]|\b(?:do|then|else|if|elif|while|until))[ \t]*+"?\$(?:(\w+)|\{(\w+)\})')
_LONGEST_LOOP = 1000


def _before(source: bytes, word: NamedWord, *, in_line: bool = False) -> str:
    text = source[max(word.start - _BEFORE, 0) : word.start].decode("utf-8", "replace")
    return text.rpartition("\n")[2] if in_line else text


def find_symbol_of_ruby(source: bytes, word: NamedWord) -> HandedName | None:
    """`method(:name)`, `before_action :name`, `if: :name`: a method of the object around."""
    name, before = word.text.removeprefix(":"), _before(source, word, in_line=True)
    patterns = (_CONDITION,) if word.around == "pair" else (_OWN_METHOD, _CALLBACK, _RENAMED)
    is_handed = bool(_NAME.fullmatch(name)) and any(pattern.search(before) for pattern in patterns)
    return HandedName((name,)) if is_handed else None


def find_text_of_php(source: bytes, word: NamedWord) -> HandedName | None:
    """`[$this, 'name']`, `[Name::class, 'name']` and `array_map('name', …)`."""
    name, before = word.text.strip("'\""), _before(source, word)
    if not _NAME.fullmatch(name):
        return None
    if pair := _PAIR_OF_PHP.search(before):
        return HandedName((pair[1] or pair[2].lstrip("\\").rpartition("\\")[2], name))
    return HandedName((name,)) if _TAKING_FUNCTIONS.search(before) else None


def find_capture_of_elixir(source: bytes, word: NamedWord) -> HandedName | None:
    """`&name/1`, `&Module.name/2` and `{Module, :name, [first, second]}`."""
    before = _before(source, word)
    end = word.start + len(word.text.encode())
    if word.text.startswith(":"):
        module, name = _OF_MODULE.search(before), word.text[1:]
        count = _length_of_list(source[end : end + _LONGEST_LIST]) if module and _NAME.fullmatch(name) else None
        if module is None or count is None:
            return None
        # What is called may get other arguments before those of the list.
        return HandedName((*module[1].split("."), name), count, is_only=True)
    captured = _CAPTURED.search(before)
    arity = _ARITY.match(source[end : end + _AFTER].decode("utf-8", "replace"))
    if captured is None or arity is None:
        return None
    return HandedName((*captured[1].split(".")[:-1], word.text), int(arity[1]))


def _length_of_list(after: bytes) -> int | None:
    """How many values the list has that is the next argument; None if that is no whole list, or has others behind."""
    opening = _LIST.match(after)
    depth, commas, last = int(opening is not None), 0, b"["
    for token in _OF_LIST.finditer(after, opening.end()) if opening is not None else ():
        written = token[0]
        if written[-1:] in b"[{(":
            depth += 1
        elif written in (b"]", b"}", b")"):
            depth -= 1
        if depth == 0:
            # `[]`, and a comma behind the last one.
            return commas + (last not in (b"[", b","))
        if (depth == 1 and written == b"|") or written in (b"fn", b"do"):
            return None
        commas += depth == 1 and written == b","
        last = written
    return None


def find_word_of_bash(source: bytes, word: NamedWord) -> HandedName | None:
    """`complete -F name`, `HOOKS=(name other)`, `for step in name other; do $step; done`."""
    if word.around == _LOOP:
        is_handed = _is_run_in_loop(source, word)
    else:
        is_handed = word.around == _ARRAY or bool(_TAKING_COMMANDS.search(_before(source, word, in_line=True)))
    first = next(iter(word.text.strip("'\"").split()), "")
    is_text = word.kind != "word" and word.around in (_ARRAY, _LOOP)
    return HandedName((first,)) if is_handed and first and not is_text else None


def _is_run_in_loop(source: bytes, word: NamedWord) -> bool:
    """Whether the variable of a loop, which has the word as value, is a command in it."""
    looped = _LOOPED.search(_before(source, word))
    if looped is None:
        return False
    inside = _DONE.split(source[word.start : word.start + _LONGEST_LOOP].decode("utf-8", "replace"), maxsplit=1)[0]
    return any(looped[1] in (ran[1], ran[2]) for ran in _RUN.finditer(inside))
