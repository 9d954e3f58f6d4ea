"""What a function has done, step by step: the names of what it calls, each read as a clause by the grammar of names.

`load_config(path); server.start()` gives "Loads the config and starts the server". Most telling are calls whose result
nobody takes, since they are made for what they do (Sridhara et al. 2010, "void-return" units); of the others those
whose name can only begin with a verb. A name that no list reads gives no step.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from codesum_pipeline.evidence.author_texts.plain_sentences import make_sentence, word_set
from codesum_pipeline.evidence.extractive.code_facts import CodeFacts
from codesum_pipeline.evidence.extractive.composing import RECEIVERS
from codesum_pipeline.evidence.extractive.known_calls import effect_kinds, known_calls
from codesum_pipeline.evidence.extractive.name_clauses import words_of_name
from codesum_pipeline.evidence.extractive.name_evidence import IN_DOUBT, NameEvidence
from codesum_pipeline.evidence.extractive.name_grammar import (
    ALSO_NOUNS,
    MODIFIERS,
    PREPOSITIONS,
    VERBS,
    Verb,
    grammar_words,
    is_phrase,
    is_plural,
    noun_phrase,
    verb_at,
)
from codesum_pipeline.evidence.extractive.results import shown_code
from codesum_pipeline.evidence.extractive.verb_clauses import verb_clause
from codesum_pipeline.evidence.extractive.words import in_a_row, name_words, telling_stems, word_in_full
from codesum_pipeline.evidence.inputs import FunctionInput
from codesum_pipeline.foundation.data_model.symbol import Fact, Parameter

_MOST_STEPS = 3
# So many calls of a function are read.
_MOST_CALLS = 60
_MAX_CLAUSE_CHARS, _MAX_CONDITION_CHARS, _MAX_ARGUMENTS_CHARS = 60, 40, 60
_EVERYDAY = word_set("everyday_calls")
# What says little as a step, and what says what comes back where its result is taken.
_DULL = grammar_words("dull_steps")
_ASKING = grammar_words("asking_steps")
# What names no thing where it stands last: `removeFirst`.
_NO_OBJECTS = frozenset(("first", "last", "next", "all", "default", "range", "current", "previous"))
# Shorter names say nothing.
_SHORT_NAME = 2
# Asking these is asking the class above.
_NO_OTHERS = ("super", "base", "parent")
_TAKING_MANY = grammar_words("taking_many")
# Verbs that are about what is asked: `podcast.save()`.
_TO_RECEIVER = grammar_words("of_receiver")
# What is made everywhere, and errors.
_NO_MADE = grammar_words("everyday_things")
_DELEGATES = grammar_words("delegates")
_MAKING = ("create", "make", "build", "new")
_BEFORE_STATEMENT = re.compile(r"(?:await|go|defer|try[!?]?|yield|return|co_await|\(void\)|do|then|else|\{|\|>|!)\s*")
_ARGUMENTS = re.compile(r"\s?\(([^()]{0,60})\)")
_ARGUMENT = re.compile(r"(?:[&*$@]|this\.|self\.|mut |ref |out )*([A-Za-z_]\w*)")


# What opens a block that is run where it stands, and what runs a function at once that is handed to it.
_CONTROL = re.compile(
    r"[})\s]*(?:if|else|elif|elsif|unless|for|foreach|while|until|loop|do|try|catch|except|rescue|ensure|finally|with|using"
    r"|switch|case|when|match|default|select|begin|unsafe|synchronized|lock|guard|defer|go|repeat|then|async)\b"
)
_AT_ONCE = re.compile(
    r"\b(?:map|filter|for_?each|each\w*|let|also|apply|run\w*|with\w*|use|launch|transaction|synchronized|then|subscribe"
    r"|times|tap|reduce|collect|Task|open|inject|fold|cond|case|match|switch|if)\b",
    re.I,
)
_NAMELESS = re.compile(r"=>|->|\blambda\b|\bfunc(?:tion)?\s*\(|\{\s*\|")
# So many lines before a call are looked at.
_MOST_LINES_BACK = 2000
_OPENED = ("{", "=>", "->", "do", "|", "in", "(")


class CalledStep(Struct, frozen=True):
    """One clause in the third person, the canonical line of the call, and the condition it stands under."""

    clause: str
    line: int
    is_statement: bool
    when: str = ""
    is_minor: bool = False


class _CallEvidence(NameEvidence):
    """The evidence of a name at a place where it is called: who is asked, and with what."""

    def __init__(self, caller: FunctionInput, call: Fact, arguments: list[str] | None, *, is_statement: bool) -> None:
        super().__init__(caller)
        self.parameters = [Parameter(name, None, None, "positional") for name in arguments or ()]
        self.given, self.given_pairs, self.label, self.result = frozenset(), frozenset(), "", ((), False)
        self.returns_nothing, self.gives_value = is_statement, not is_statement
        self.only_reads = self.is_container = self.makes_owner = False
        self.owner = self._asked(call) if arguments is not None and len(call.names) > 1 else ()
        self.is_method = bool(self.owner)

    def _asked(self, call: Fact) -> tuple[str, ...]:
        """The words of what is asked."""
        name = call.names[-2]
        if name in RECEIVERS:
            return NameEvidence(self.function).owner
        words = name_words(name.strip("_*&$@"))
        return words if is_phrase(words) else ()


def steps_in_prose(code: CodeFacts, said: str, own: Collection[str]) -> str:
    """One sentence of at most three steps that `said` does not say; "" without any."""
    known, chosen = telling_stems(said), list[CalledStep]()
    steps = [*steps_of(code, own), *_made_things(code, known)]
    steps.sort(key=lambda step: step.line)
    for step in sorted(steps, key=lambda step: (step.is_minor, bool(step.when), not step.is_statement)):
        words = telling_stems(step.clause)
        if len(chosen) < _MOST_STEPS and not words <= known:
            chosen.append(step)
            known |= words
    ordered = sorted(chosen, key=steps.index)
    if len({one.when for one in ordered}) == 1:
        clauses, when = [one.clause for one in ordered], ordered[0].when
        return make_sentence(f"{in_a_row(clauses)}{f' when {when}' if when else ''}")
    clauses = [f"{one.clause} when {one.when}" if one.when else one.clause for one in ordered]
    return make_sentence(in_a_row(clauses)) if clauses else ""


def delegation_in_prose(code: CodeFacts) -> str:
    """`Delegates to the client (delete by ID).`, of a function that is one call of something else; "" of others."""
    calls = [one for one in code.facts.calls if one.names and one.names[-1] not in _EVERYDAY]
    is_one = len(calls) == 1 and code.function.complexity <= 1 and not code.facts.writes and not code.is_constructor()
    is_one = is_one and bool(calls[0].text) and calls[0].names[0] not in _NO_OTHERS and not code.is_test()
    names = [name for name in calls[0].names if name not in RECEIVERS and len(name) > _SHORT_NAME] if is_one else []
    holder, done = [name_words(name.strip("_*&$@!?")) for name in names[-2:]] if len(names) > 1 else ((), ())
    if not done or names[-1] != calls[0].names[-1] or done[0] in PREPOSITIONS or code.class_made(calls[0]):
        return ""
    own = telling_stems(code.function.name)
    if not is_phrase(holder) or is_plural(holder[-1]) or holder[-1] in VERBS or telling_stems(" ".join(holder)) <= own:
        return ""
    if not holder[-1].endswith(("er", "or")) and holder[-1] not in _DELEGATES:
        return ""
    known = known_calls(code.function.language)
    if known and (effect := known.effect_of(calls[0])) and effect_kinds()[effect].kind != "computes":
        return ""
    is_telling = len(done) > 1 and not telling_stems(" ".join(done)) <= own
    asked = f" ({' '.join(map(word_in_full, done))})" if is_telling else ""
    return make_sentence(f"Delegates to {noun_phrase(holder)}{asked}")


def steps_of(code: CodeFacts, own: Collection[str]) -> Iterator[CalledStep]:
    """The steps in the order of the calls, each clause once."""
    lines, found = code.function.canonical_source.split("\n"), set[str]()
    known = known_calls(code.function.language)
    for call in code.facts.calls[:_MOST_CALLS]:
        if not call.text or not call.names or call.names[-1] in _EVERYDAY or (known and known.effect_of(call)):
            continue
        if code.class_made(call) or (not call.when and is_put_off(code.function, lines, call)):
            continue
        when = shown_code(call.when, own, _MAX_CONDITION_CHARS) if call.when else ""
        if call.when and not when:
            continue
        line = lines[call.line - 1] if call.line <= len(lines) else ""
        step = _step(code, call, line, when)
        if step and step.clause not in found:
            found.add(step.clause)
            yield step


def is_put_off(function: FunctionInput, lines: Sequence[str], call: Fact) -> bool:
    """Whether a call is in a function without a name that may be called later, or never."""
    own = lines[call.line - 1] if call.line <= len(lines) else ""
    depth, before = _indent(own), own.partition(call.text)[0]
    if call.line > function.facts.signature_line and _NAMELESS.search(before) and not _AT_ONCE.search(before):
        return True
    first = max(function.facts.signature_line, call.line - 1 - _MOST_LINES_BACK)
    for line in reversed(lines[first : call.line - 1]):
        if _indent(line) < depth and line.strip():
            depth = _indent(line)
            opening = line.strip()
            is_block = _CONTROL.match(opening) or not opening.endswith(_OPENED)
            if not is_block and not _AT_ONCE.search(opening):
                return True
    # What is too far from its head to be seen counts as put off.
    return first > function.facts.signature_line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _made_things(code: CodeFacts, known: frozenset[str]) -> Iterator[CalledStep]:
    """The objects that it creates, as one step."""
    if code.is_constructor():
        return
    known |= telling_stems(code.facts.return_type or "") if known else frozenset()
    raised, lines = {one.line for one in code.facts.raises}, code.function.canonical_source.split("\n")
    made: dict[str, int] = {}
    for call in code.facts.calls[:_MOST_CALLS]:
        words = name_words(code.class_made(call))
        is_telling = words and words[-1] not in _NO_MADE and not telling_stems(" ".join(words)) <= known
        if is_telling and call.line not in raised and is_phrase(words) and not is_put_off(code.function, lines, call):
            made.setdefault(noun_phrase(words, article="a"), call.line)
    if made:
        yield CalledStep(f"creates {in_a_row([*made][:_MOST_STEPS])}", min(made.values()), False, is_minor=True)


def _step(code: CodeFacts, call: Fact, line: str, when: str) -> CalledStep | None:
    words = words_of_name(call.names[-1].rstrip("!?"), code.prefix)
    verb = verb_at(words)
    before, _, after = line.partition(call.text)
    is_statement = not _BEFORE_STATEMENT.sub("", before.strip()) and not line.lstrip().startswith("return")
    if verb is None or verb.base in _DULL:
        return _source_of(words, call, when) if words[:1] == ("get",) and not is_statement else None
    is_certain = _is_verb_in_call(verb, words) and verb.base not in _ASKING and len(words) > verb.length
    is_made_everyday = verb.base in _MAKING and len(words) == verb.length + 1 and words[-1] in _NO_MADE
    if is_made_everyday or (not is_statement and not is_certain):
        return None
    evidence = _CallEvidence(code.function, call, _arguments(after), is_statement=is_statement)
    clause = verb_clause(words, evidence) if words[-1] not in _NO_OBJECTS else ""
    is_done_to = verb.base in _TO_RECEIVER and len(words) == verb.length and evidence.owner
    if not clause and is_done_to and call.names[-2] not in RECEIVERS and not evidence.parameters:
        clause = f"{verb.third} {noun_phrase(evidence.owner)}"
    return CalledStep(clause, call.line, is_statement, when) if 0 < len(clause) <= _MAX_CLAUSE_CHARS else None


def _is_verb_in_call(verb: Verb, words: Sequence[str]) -> bool:
    """Whether a called name, whose result is taken, can only begin with a verb."""
    rest = words[verb.length :]
    if verb.base in IN_DOUBT:
        return False
    if verb.base in ALSO_NOUNS:
        takes_many = verb.base in _TAKING_MANY and bool(rest) and is_plural(rest[-1])
        return takes_many or not PREPOSITIONS.isdisjoint(rest[1:-1])
    return verb.base not in MODIFIERS or (bool(rest) and (is_plural(rest[-1]) or not PREPOSITIONS.isdisjoint(rest[1:])))


def _source_of(words: Sequence[str], call: Fact, when: str) -> CalledStep | None:
    """`event.getClickedBlock()`: what it gets, and from where; None of what its own object gives."""
    holder = name_words(call.names[-2].strip("_*&$@")) if len(call.names) == 2 else ()
    is_own = len(call.names) == 1 or call.names[:-1] == ("self",) or call.names[:-1] == ("this",)
    if not (is_own and len(words) > 2) and not (is_phrase(holder) and call.names[0] not in RECEIVERS):
        return None
    if not is_phrase(words[1:]) or set(words[1:]) <= {*holder}:
        return None
    clause = f"gets {noun_phrase(words[1:])}{'' if is_own else f' from {noun_phrase(holder)}'}"
    return CalledStep(clause, call.line, False, when, is_minor=True) if len(clause) <= _MAX_CLAUSE_CHARS else None


def _arguments(after: str) -> list[str] | None:
    """The names of the arguments that follow a call's name; None where they are more than names."""
    match = _ARGUMENTS.match(after[:_MAX_ARGUMENTS_CHARS])
    if match is None:
        return None
    written = [one.strip() for one in match[1].split(",") if one.strip()]
    names = [_ARGUMENT.fullmatch(one) for one in written]
    return [name[1] for name in names if name] if all(names) else None
