"""What a function does where no table and no grammar reads its calls: whom it asks, and to whom it reports.

Only a function of few calls is told, each call by its words, with the text that it is given first.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from codesum_pipeline.evidence.author_texts.plain_sentences import make_sentence, word_set
from codesum_pipeline.evidence.extractive.code_facts import CodeFacts, message_in_words
from codesum_pipeline.evidence.extractive.composing import RECEIVERS
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.known_calls import known_calls
from codesum_pipeline.evidence.extractive.name_clauses import words_of_name
from codesum_pipeline.evidence.extractive.name_evidence import IN_DOUBT
from codesum_pipeline.evidence.extractive.name_grammar import (
    PREPOSITIONS,
    grammar_words,
    is_phrase,
    noun_phrase,
    verb_at,
)
from codesum_pipeline.evidence.extractive.results import is_about_errors, shown_code
from codesum_pipeline.evidence.extractive.spoken_code import condition_in_words
from codesum_pipeline.evidence.extractive.steps import is_put_off
from codesum_pipeline.evidence.extractive.words import (
    in_a_row,
    name_in_words,
    name_words,
    telling_stems,
    word_in_full,
)
from codesum_pipeline.foundation.data_model.symbol import Fact

_EVERYDAY = word_set("everyday_calls")
_EMPTY_NAMES = word_set("empty_names")
# A function of more calls is about more than one of them.
_MOST_CALLS, _MOST_TOLD, _MOST_HELD = 60, 2, 3
_MAX_CONDITION_CHARS, _MAX_TEXT_CHARS, _MAX_CLAUSE_CHARS = 40, 40, 90
_SHORT_NAME = 2
_NO_OBJECTS = PREPOSITIONS | {"first", "last", "next", "all", "default", "current", "previous", "self", "else"}
# In other languages what begins with a capital and is called makes an object.
_CAPITAL_METHODS = frozenset(("go", "c-sharp", "cpp", "c", "php"))
# What gives the one object of its class.
_ACCESSORS = grammar_words("accessors")
_DULL = grammar_words("dull_steps") | grammar_words("dull_calls")
# Verbs that make an object where they are a whole name; what is looked up by a text.
_MAKING = frozenset(("initialize", "create", "build", "make", "new", "open", "close", "dispose"))
_LOOKING_UP = frozenset(("get", "fetch", "find", "load", "require", "select", "use", "look up"))
_TIDINGS = frozenset(("did", "will", "on", "was", "has", "should"))
# Modules of languages, and names of modules that say nothing.
_STANDARD = grammar_words("standard_modules")
_FRAME = telling_stems("asks tells delegates")
_REPORTED_TO = frozenset(("delegate", "listener", "callback", "observer"))
_TEXT_FIRST = re.compile(r"""!?\(\s*[bfru@]?(["'])([^"'\\\n]{2,60})\1\s*[,)]""")
_JOINTS = (".", "->", "::", "?.", "!.", "&.")
_JOINT = re.compile(r"\.|->|::")
_NO_OTHERS = ("super", "base", "parent", "Super", "Preconditions")


def calls_in_prose(code: CodeFacts, said: str, own: Collection[str]) -> str:
    """One sentence of what its calls do; "" of a function without any that is plain."""
    if code.is_test():
        return ""
    lines = code.function.canonical_source.split("\n")
    calls = [*_calls(code, lines)]
    told = calls if len(calls) <= _MOST_TOLD else []
    clauses = [clause for one in told if (clause := _clause(code, one, lines, own))]
    known = telling_stems(f"{said} {code.function.name}") | _FRAME
    news = [one for one in clauses if not telling_stems(one.partition(" to ")[2] or one) <= known]
    # A verb alone says nothing.
    news = [one for one in news if " " in one.partition(" when ")[0]]
    return make_sentence(in_a_row(news[:_MOST_HELD])) if news else ""


def _calls(code: CodeFacts, lines: Sequence[str]) -> Iterator[Fact]:
    """The calls that are no part of others, are run at once, and have names that say something."""
    raised = {one.line for one in code.facts.raises}
    read = [one for one in code.facts.calls[:_MOST_CALLS] if one.text and one.names]
    texts = [one.text for one in read]
    for call in read:
        line = lines[call.line - 1] if call.line <= len(lines) else ""
        before = line.partition(call.text)[0]
        is_inner = before.count("(") > before.count(")") and call.line > code.facts.signature_line
        is_start = any(other != call.text and other.startswith((f"{call.text}(", f"{call.text}.")) for other in texts)
        is_outer = not (is_inner or is_start or call.line in raised)
        if is_outer and not is_put_off(code.function, lines, call):
            yield call


def _clause(code: CodeFacts, call: Fact, lines: Sequence[str], own: Collection[str]) -> str:
    """One call as a clause, with its condition; "" of one that says nothing, or is said elsewhere."""
    names = [name for name in call.names if name not in RECEIVERS and len(name) > _SHORT_NAME]
    known = known_calls(code.function.language)
    effect = known.effect_of(call) if known else ""
    is_maker = names[-1:] and names[-1][:1].isupper() and code.function.language not in _CAPITAL_METHODS
    if (
        effect
        or is_maker
        or code.class_made(call)
        or call.names[0] in _NO_OTHERS
        or not names
        or names[-1] != call.names[-1]
    ):
        return ""
    when = _condition(call.when, own) if call.when else ""
    if call.names[-1] in _EVERYDAY or call.text.endswith("?") or (call.when and not when):
        return ""
    done = _done(code.function.name, call, names, lines)
    clause = f"{done}{f' when {when}' if when else ''}"
    return clause if done and len(clause) <= _MAX_CLAUSE_CHARS else ""


def _condition(text: str, own: Collection[str]) -> str:
    if is_about_errors(text):
        return ""
    return condition_in_words(text, own) or shown_code(text, own, _MAX_CONDITION_CHARS)


def _done(name: str, call: Fact, names: Sequence[str], lines: Sequence[str]) -> str:
    words = words_of_name(names[-1].strip("!?_"), ())
    holder, text = _holder(call, names), _first_text(call, lines)
    if name_words(holder)[-1:] and name_words(holder)[-1] in _REPORTED_TO and not _TIDINGS.isdisjoint(words):
        return f"tells its {name_in_words(holder)} ({' '.join(map(word_in_full, words))})"
    verb = verb_at(words)
    asked = _asked(call, holder) if holder else ""
    if words[:1] == ("get",) and asked and (thing := noun_phrase(words[1:])):
        return f"gets {thing} from {asked}"
    if (
        verb is None
        or not _NO_OBJECTS.isdisjoint((words[-1], *words[1:2]))
        or verb.base in _DULL
        or (len(words) == 1 and verb.base in _MAKING)
        or not all(word.isalpha() for word in words)
    ):
        return ""
    if not holder:
        is_own = len(call.names[call.names[0] in RECEIVERS :]) == 1 and not call.text[:1].isupper()
        thing = noun_phrase(words[verb.length :]) if words[verb.length :] else ""
        if thing and text and is_own:
            return f"{verb.third} {thing} {'' if verb.base in _LOOKING_UP else 'with '}{text}"
        return ""
    if not asked:
        return ""
    said = " ".join(map(word_in_full, (verb.base, *words[1:])))
    if telling_stems(said) <= telling_stems(name) and not text:
        return f"delegates to {asked}"
    rest, is_taken = words[verb.length :], not lines[call.line - 1].lstrip().startswith(call.text)
    if (is_taken and verb.base in IN_DOUBT) or (rest and PREPOSITIONS.isdisjoint(rest) and not is_phrase(rest)):
        return ""
    return f"asks {asked} to {said}{f' with {text}' if text else ''}"


def _holder(call: Fact, names: Sequence[str]) -> str:
    """The name of what is asked: of `Econ.getInstance().getFormat()` Econ."""
    before = [name.strip("_*&$@!?") for name in names[:-1]]
    is_accessed = False
    while before and before[-1].lower().removeprefix("get") in _ACCESSORS:
        is_accessed = bool(before.pop())
    if before:
        is_seen = any(f"{before[-1]}{joint}" in call.text for joint in _JOINTS)
        return before[-1] if is_seen or is_accessed or name_words(before[-1])[:1] == ("get",) else ""
    parts = _JOINT.split(call.text.replace("?", "").replace("!", ""))
    asked = parts[-2].strip("_*&$@") if len(parts) > 1 else ""
    return asked if asked.isidentifier() and asked not in RECEIVERS else ""


def _asked(call: Fact, holder: str) -> str:
    """What is asked, as a phrase: "its server" of a field, "the server" of anything else."""
    words = name_words(holder)
    words = words[1:] if words[:1] == ("get",) else words
    chain = call.names[call.names[0] in RECEIVERS :]
    is_own = len(chain) == 2 and (chain != call.names or call.text.startswith("@"))
    if not is_phrase(words) or words[-1] in _EMPTY_NAMES or (len(words) == 1 and words[0] in _STANDARD):
        return ""
    is_module = holder[:1].islower() and f"{holder}::" in call.text
    is_vague = is_module or (
        len(words) == 1 and not is_own and holder[:1].islower() and len(name_words(call.names[-1])) == 1
    )
    return "" if is_vague else f"its {' '.join(map(word_in_full, words))}" if is_own else noun_phrase(words)


def _first_text(call: Fact, lines: Sequence[str]) -> str:
    """The text that a call is given first, quoted or in words; "" of one that has none."""
    line = lines[call.line - 1] if call.line <= len(lines) else ""
    found = _TEXT_FIRST.match(line.partition(call.text)[2])
    written = found[2] if found else ""
    if written.isidentifier() and without_foreign_names(written, ()) != written:
        # What is spelled in another way is not quoted.
        return name_in_words(written) if len(written) <= _MAX_TEXT_CHARS else ""
    words = message_in_words(written)
    is_plain = (
        words and len(words) <= _MAX_TEXT_CHARS and "…" not in words and without_foreign_names(words, ()) == words
    )
    return f'"{words}"' if is_plain else ""
