"""Names of functions that have none of their own: what starts them, as what holds them says."""

import re

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable
from codesum_pipeline.evidence.extractive.words import name_words, word_in_full
from codesum_pipeline.evidence.inputs import FunctionInput

_ROUTE = re.compile(r"(?:route|(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|ALL|USE|WEBSOCKET|LIVE)) (\S+)")
_STARTED = re.compile(r"(command|task) (\S.*)")
_EVENT = re.compile(r"(?:on|once|handle|handleOnce|hears|addEventListener) (\S.*)")
_WITHOUT_METHOD = frozenset((None, "ALL", "USE", "LIVE"))
# Keys of a command's record, by what runs then.
_RUN = frozenset(("Run", "RunE", "Action"))
_COMMAND_WORDS = frozenset(("cmd", "command"))


def held_clause(function: FunctionInput) -> str:
    """What a function without a name does, by what starts it; "" where its name does not say that."""
    if not function.is_unnamed:
        return ""
    name = make_printable(function.name)
    if match := _ROUTE.fullmatch(name):
        return f"handles {'requests to' if match[1] in _WITHOUT_METHOD else match[1]} {match[2]}"
    if match := _STARTED.fullmatch(name):
        return f"runs the {match[1]} {match[2]}"
    if match := _EVENT.fullmatch(name):
        return f"handles the event {match[1]}"
    words = name_words(function.qualified_name.rpartition(".")[0].rpartition(".")[2])
    if name in _RUN and len(words) > 1 and words[-1] in _COMMAND_WORDS:
        return f"runs the {' '.join(map(word_in_full, words[:-1]))} command"
    return ""
