"""Verbs that a name may begin with as a noun, an adjective or an attribute: `display_value`, `edit_route`, `open_cast`.

What gives a value is said to do such a thing only where its code shows that something is done.
"""

import re

from codesum_pipeline.evidence.extractive.known_calls import effect_kinds, known_calls
from codesum_pipeline.evidence.extractive.name_evidence import NameEvidence
from codesum_pipeline.evidence.extractive.verb_forms import grammar_words
from codesum_pipeline.evidence.extractive.words import name_words
from codesum_pipeline.evidence.inputs import FunctionInput

IN_DOUBT = grammar_words("verbs_in_doubt")
# So many calls of a function are read.
_MOST_CALLS = 60
# What a called name that begins with the verb may be, too: `edit_user_path`.
_ADDRESSES = frozenset(("path", "url", "route"))
_CHANGING = frozenset(
    (one,) for one in ("set", "add", "remove", "delete", "update", "dispatch", "emit", "send", "save", "post", "put")
)
_BEFORE_STATEMENT = re.compile(r"(?:await|go|defer|try[!?]?|yield|co_await|do|then|else|\{|\|>|!)\s*")


def is_doubtful(base: str, evidence: NameEvidence) -> bool:
    """Whether a value comes back, and nothing shows that what the verb says is done."""
    if base not in IN_DOUBT or not evidence.gives_value or evidence.facts.writes:
        return False
    # `set_rows(rows)`; not `TransactionSetData()`, of which a prefix was left out.
    is_setter = base == "set" and evidence.parameters and name_words(evidence.function.name)[:1] == ("set",)
    return not (is_setter or is_called(base, evidence.function) or _acts(evidence.function))


def is_called(base: str, function: FunctionInput) -> bool:
    """Whether the function calls something whose name begins with the verb."""
    called = (name_words(one.names[-1]) for one in function.facts.calls[:_MOST_CALLS] if one.names)
    return any(words[:1] == (base,) and words[-1] not in _ADDRESSES for words in called)


def _acts(function: FunctionInput) -> bool:
    """Whether it makes a call that changes something, or whose result nobody takes."""
    lines, known = function.canonical_source.split("\n"), known_calls(function.language)
    returned = {one.line for one in function.facts.returned}
    for call in function.facts.calls[:_MOST_CALLS]:
        effect = known.effect_of(call) if known else ""
        if effect and effect_kinds()[effect].kind not in ("computes", "reads"):
            return True
        before = lines[call.line - 1].partition(call.text)[0] if call.text and call.line <= len(lines) else "="
        is_statement = not _BEFORE_STATEMENT.sub("", before.strip()) and call.line not in returned
        if is_statement or (call.names and name_words(call.names[-1])[:1] in _CHANGING):
            return True
    return False
