"""What an effect is about, where its code writes that out: what is printed, and which elements are laid out."""

import re
from itertools import islice

from codesum_pipeline.evidence.extractive.code_facts import message_in_words
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.known_calls import field_words
from codesum_pipeline.evidence.extractive.noun_phrases import is_phrase, noun_phrase
from codesum_pipeline.evidence.extractive.words import name_words
from codesum_pipeline.evidence.inputs import FunctionInput
from codesum_pipeline.foundation.data_model.symbol import Fact

_MAX_ARGUMENT_CHARS, _MAX_MESSAGE_CHARS, _MIN_MESSAGE_WORDS = 600, 60, 2
# What is printed stands first: a text, or several that are one.
_FIRST_TEXTS = re.compile(
    r"""[!( ]{1,3}\s*(?:_\()?[fbrLu$@]{0,2}"""
    r"""((?:"(?:[^"\\\n]|\\.){0,200}"\s*){1,4}|'(?:[^'\\\n]|\\.){0,200}'|`[^`\\]{0,200}`)"""
)
_TEXT = re.compile(r"""(["'`])((?:(?!\1)[^\\]|\\.){0,200})\1""")
_WORD = re.compile(r"[^\W\d_]{2,}")
# Elements in markup, and calls of elements that begin a line.
_ELEMENT = re.compile(r"(?<![\w.)\]])<([A-Za-z][\w.]{0,60})(?=[\s/]|>(?!\())")
_ELEMENT_CALL = re.compile(r"^[ \t]+([A-Z]\w{0,60})(?=\(| ?\{)", re.M)
_MOST_ELEMENTS, _MOST_MATCHES = 3, 60


def printed_text(call: Fact, lines: list[str]) -> str:
    """The text that a call prints first, quoted; "" of one that names none."""
    if not call.text:
        return ""
    rest = "\n".join(lines[call.line - 1 : call.line + 3]).partition(call.text)[2][:_MAX_ARGUMENT_CHARS]
    found = _FIRST_TEXTS.match(rest)
    for text in _TEXT.finditer(found[1]) if found else ():
        message = message_in_words(text[2])
        is_text = (
            "$" not in message
            and "{" not in message
            and len(_WORD.findall(message)) >= _MIN_MESSAGE_WORDS
            and len(message) <= _MAX_MESSAGE_CHARS
        )
        if is_text and '"' not in message and without_foreign_names(message, ()) == message:
            return f'"{message}"{" in some cases" if call.when else ""}'
    return ""


def laid_out(function: FunctionInput, source: str) -> list[str]:
    """The first elements that a function lays out: those of its own library before those of every page."""
    pattern = _ELEMENT_CALL if function.language in ("kotlin", "swift") else _ELEMENT
    names = list(dict.fromkeys(one[1] for one in islice(pattern.finditer(source), _MOST_MATCHES)))
    own = [phrase for name in names if name[:1].isupper() and (phrase := _element(name, function.name))]
    plain = [phrase for name in names if name in field_words("elements") and (phrase := _element(name, ""))]
    return [*dict.fromkeys([*own, *plain])][:_MOST_ELEMENTS]


def _element(name: str, around: str) -> str:
    words = name_words(name.rpartition(".")[2])
    is_telling = words and not set(words) <= field_words("containers") and name != around
    words = ("input", "field") if words == ("input",) else words
    return noun_phrase(words, article="a") if is_telling and is_phrase(words) else ""
