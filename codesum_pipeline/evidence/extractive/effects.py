"""What a function does to the world besides returning, and what it computes.

Files, databases, network, processes, errors and arguments are its effects; what it sorts, splits, parses or rounds are
its operations. Only what is certain is said: calls and words by the tables of `known_calls`, errors as they are raised,
and assignments to what a caller holds.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from msgspec import Struct

from codesum_pipeline.evidence.author_texts.plain_sentences import clip_text, make_printable
from codesum_pipeline.evidence.extractive.call_arguments import (
    first_texts,
    key_named,
    laid_out,
    opening_mode,
    plural_words,
    printed_text,
    separators_in,
    values_named,
)
from codesum_pipeline.evidence.extractive.code_facts import (
    CodeFacts,
    assigned_names,
    changed_arguments,
    changed_fields,
    message_in_words,
)
from codesum_pipeline.evidence.extractive.composing import MAX_ITEM, MAX_SIDE_EFFECTS, own_names
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.known_calls import (
    Effect,
    EffectKind,
    KnownCalls,
    NamedBy,
    chain_of,
    effect_kinds,
    known_calls,
    vague_operations,
    ways_to_fail,
)
from codesum_pipeline.evidence.extractive.name_grammar import with_a
from codesum_pipeline.evidence.extractive.steps import is_put_off
from codesum_pipeline.evidence.extractive.words import capitalize, fold_word, in_a_row, name_in_words, telling_stems
from codesum_pipeline.evidence.inputs import FunctionInput
from codesum_pipeline.foundation.data_model.symbol import Fact

# The effects from this one on say less than an error that is raised.
_FIRST_MINOR = "await_tasks"
# The operations from this one on are told beside others alone, or with what they work on.
_FIRST_PLAIN = "compose_text"
_COMPUTES = "computes"
_MAX_OPERATIONS = 3
_MAX_FAILURES, _MAX_NAMED, _MAX_MESSAGES, _MAX_MESSAGE_CHARS = 3, 3, 2, 90
_MIN_MESSAGE_WORDS = 3
_LOGS = ("log", "log_warning", "log_error")
_BY_MODE = {"r": "open_to_read", "w": "write_file", "x": "write_file", "a": "append_file"}
# A word of code is looked for in so much of a function.
_MAX_SOURCE_CHARS = 100_000
_MAX_PROSE_CHARS = 240
# What says nothing without a message or a condition.
_UNTELLING = ("fails", "raises an error", "throws an error", "returns an error", "panics")
# What says nothing beside anything.
_EMPTY_OPERATIONS = frozenset(("takes the larger of values", "takes the smaller of values"))
# What an operation works on where its code does not name it.
_ANY_VALUES = frozenset(map(fold_word, ["values", "text", "parts", "sequences"]))


class _Evidence(Struct, frozen=True):
    """Where code has an effect, with the name, the message and the key that it says there, if any."""

    line: int
    name: str = ""
    message: str = ""
    key: str = ""


def effects_of(code: CodeFacts) -> list[Effect]:
    """What the function does, the most telling first, each effect once."""
    outward = list(_outward_effects(code))
    telling = [effect for is_minor, effect in outward if not is_minor]
    minor = [effect for is_minor, effect in outward if is_minor]
    failures = failures_of(code)[:_MAX_FAILURES]
    effects = [*telling, *failures, *changed_arguments(code.function), *minor, *changed_fields(code)]
    return list({effect.text: effect for effect in effects}.values())[:MAX_SIDE_EFFECTS]


def operations_of(code: CodeFacts) -> list[Effect]:
    """What the function computes: its most telling operations, each once, in the order of its lines."""
    found = _evidence_by_effect(code)
    known = (
        _effect(kind, found[name])
        for name, kind in effect_kinds().items()
        if kind.kind == _COMPUTES and name in found and found.keys().isdisjoint(kind.unless.split())
    )
    by_text = {effect.text: effect for effect in known if effect.text and effect.text not in _EMPTY_OPERATIONS}
    telling = list(by_text.values())[:_MAX_OPERATIONS]
    are_plain = all(effect.text in _plain_phrases() for effect in telling)
    return [] if are_plain else sorted(telling, key=lambda effect: effect.line)


@cache
def _plain_phrases() -> frozenset[str]:
    """The operations that say nothing alone."""
    kinds = effect_kinds()
    names = [*kinds]
    return frozenset(kinds[name].one for name in names[names.index(_FIRST_PLAIN) :])


def effects_in_prose(effects: Sequence[Effect], limit: int = 3, *, headline: str = "") -> str:
    """One sentence of the first effects and the first error: `Writes a file, encodes JSON and logs; raises a key error
    when the key is missing.` What the headline says already is left out; "" if nothing remains."""
    said = telling_stems(headline)
    new = [one for one in effects if not _telling_words(one) <= said]
    done = [one.brief for one in new if one.kind != "raises"][:limit]
    done = [] if done == ["logs"] else done
    failures = [one.brief for one in new if one.kind == "raises" and one.brief not in _UNTELLING][:1]
    # "Prints and sets its rows" would print them.
    parts = [in_a_row(sorted(done, key=lambda brief: " " not in brief))] if done else []
    text = "; ".join([*parts, *failures])
    if len(text) > _MAX_PROSE_CHARS:
        text = parts[0] if parts and len(parts[0]) <= _MAX_PROSE_CHARS else clip_text(text, _MAX_PROSE_CHARS)
    return f"{capitalize(text)}{'' if text.endswith(('.', '…', '!', '?')) else '.'}" if text else ""


def operations_in_prose(code: CodeFacts, headline: str) -> str:
    """One sentence of what the function computes, if any of it says what this function is about."""
    operations = operations_of(code)
    is_vague = all(one.brief in vague_operations() for one in operations)
    return "" if is_vague else effects_in_prose(operations, headline=headline)


def _telling_words(effect: Effect) -> frozenset[str]:
    """The words of an effect without those that an operation has for whatever it works on."""
    words = telling_stems(effect.brief)
    return words - _ANY_VALUES if effect.kind == _COMPUTES else words


def _outward_effects(code: CodeFacts) -> Iterator[tuple[bool, Effect]]:
    """The effects of calls and words by the tables, in their order; whether each is a minor one."""
    found = _evidence_by_effect(code)
    is_minor = False
    for name, kind in effect_kinds().items() if found else ():
        is_minor = is_minor or name == _FIRST_MINOR
        if kind.kind != _COMPUTES and name in found and found.keys().isdisjoint(kind.unless.split()):
            yield is_minor, _effect(kind, found[name])


def _effect(kind: EffectKind, found: Sequence[_Evidence]) -> Effect:
    """One effect of one or several places: with the names that all of them say, or with the first messages."""
    found = found if kind.one else [one for one in found if one.name] or found[:1]
    brief = kind.many if kind.many and len(found) > 1 else kind.one
    names = list(dict.fromkeys(one.name for one in found))
    most = 1 if kind.named_by is NamedBy.VALUES else _MAX_NAMED
    if kind.named_by is NamedBy.MESSAGE:
        names = sorted(filter(None, names), key=lambda one: not one.endswith('"'))[:1]
    if kind.named and names and all(names) and (len(names) <= most or not brief):
        brief = kind.named.format(in_a_row(names[:_MAX_NAMED]))
    keys = {one.key for one in found}
    brief = f"{brief} by {keys.pop()}" if len(keys) == 1 and all(keys) else brief
    messages = dict.fromkeys(one.message for one in found if len(one.message.split()) >= _MIN_MESSAGE_WORDS)
    shown = [clip_text(message, _MAX_MESSAGE_CHARS) for message in [*messages][:_MAX_MESSAGES]]
    text = f"{brief}: {'; '.join(shown)}" if shown else brief
    return Effect(kind.kind, clip_text(text, MAX_ITEM), found[0].line, brief)


@lru_cache(maxsize=1)
def _evidence_by_effect(code: CodeFacts) -> dict[str, list[_Evidence]]:
    """Where the function has which effect or operation; kept for the one that is asked for both."""
    function = code.function
    known = known_calls(function.language)
    return dict(_evidence(function, known)) if known else {}


def _evidence(function: FunctionInput, known: KnownCalls) -> dict[str, list[_Evidence]]:
    found: dict[str, list[_Evidence]] = defaultdict(list)
    source = function.canonical_source[:_MAX_SOURCE_CHARS]
    lines = source.split("\n")
    first, documented = function.facts.signature_line, function.facts.docstring_line
    body = range(first if documented <= first else documented + 1, len(lines) + 1)
    own = _own_names(function)
    for call in function.facts.calls:
        if name := known.effect_of(call):
            if known.is_whole_chain(call) and call.names[:1] and call.names[0] in own:
                continue
            name = _BY_MODE.get(opening_mode(call, lines), name) if name == "open_file" else name
            message = message_in_words(call.said) if name in _LOGS else ""
            key = key_named(call, chain_of(call)[-1], lines) if effect_kinds()[name].keyed else ""
            found[name] += [
                _Evidence(call.line, said, message, key) for said in _names(function, name, call, known, lines)
            ]
    for name, pattern in known.words:
        for match in pattern.finditer(source):
            line = source.count("\n", 0, match.start()) + 1
            if line in body and not _is_quoted(source, match.start()):
                said = f" {effect_kinds()[name].joint} ".join(filter(None, reversed(match.groups())))
                is_noun = effect_kinds()[name].named_by is NamedBy.VALUES
                found[name].append(_Evidence(line, plural_words(said) if is_noun else said))
    if "layout" in found and (elements := laid_out(function, source)):
        found["layout"] = [_Evidence(found["layout"][0].line, one) for one in elements]
    return found


def _names(function: FunctionInput, effect: str, call: Fact, known: KnownCalls, lines: list[str]) -> list[str]:
    """What a call says of its effect by its arguments or its receiver, for each place where it is made."""
    if known.are_commands:
        return [call.text]
    named_by = effect_kinds()[effect].named_by
    if named_by is NamedBy.MESSAGE:
        return [printed_text(call, lines)] if not is_put_off(function, lines, call) else [""]
    if named_by is NamedBy.TEXT:
        return first_texts(call, lines)
    chain = chain_of(call)
    if named_by is NamedBy.VALUES:
        return values_named(call, chain, lines, is_function=known.is_whole_chain(call))
    return separators_in(call, chain[-1], lines, is_joint=named_by is NamedBy.JOINT)


def _own_names(function: FunctionInput) -> frozenset[str]:
    """Names that mean something else here than in the tables: parameters and variables of the function."""
    return assigned_names(function).union(one.name.strip("*&$@. ") for one in function.facts.parameters)


def _is_quoted(source: str, position: int) -> bool:
    """Whether a position is in a text that its line opens."""
    return source.count('"', source.rfind("\n", 0, position) + 1, position) % 2 == 1


# `raise Minitest::Assertion, "..."`
_RAISED_CLASS = re.compile(r"(?:raise|throw|fail)[( ]\s*(?:new )?((?:\w{1,80}(?:::|\.)){0,8}[A-Z]\w{0,80})")
_IS_NOTHING = re.compile(r" ?===? ?(null|nil|None|undefined|nullptr|NULL|true|false|True|False)\b")
_IS_NOT_NOTHING = re.compile(r" ?!==? ?(null|nil|None|undefined|nullptr|NULL|true|false|True|False)\b")
_NOT = re.compile(r"!(?=[\w(])")
# The key of a message that stands elsewhere: `vfs.provider/closed.error`.
_KEY = re.compile(r"\S*[a-z][._:/]\S*")
# What a message begins with that says where it comes from: `Data.Binary.get: `.
_ORIGIN = re.compile(r"^\w+(?:\.\w+)+: ")
# After these a message goes on with what is known at run time.
_CUT = frozenset(" :='\"`(")
_MIN_MESSAGE = 5
_NOT_IMPLEMENTED = re.compile(r"\bnot (?:yet )?implemented\b|\bunimplemented\b", re.I)
_MAX_BRIEF_CONDITION, _MAX_BRIEF_MESSAGE = 50, 90
_NOUNS = frozenset(("error", "exception", "failure", "fault", "warning", "exit", "interrupt", "interruption", "panic"))
_BARE_CLASSES = frozenset(("Error", "Exception", "RuntimeError", "RuntimeException"))


def failures_of(code: CodeFacts) -> list[Effect]:
    """What it raises, in source order, each error once; one without class, condition and message is left out."""
    found = {effect.text: effect for effect in (*_raised(code), *_returned(code))}
    return sorted(found.values(), key=lambda effect: effect.line)


def condition_in_words(condition: str) -> str:
    """A condition of code as it may follow the word "when"."""
    text = _IS_NOTHING.sub(r" is \1", _IS_NOT_NOTHING.sub(r" is not \1", make_printable(condition)))
    return _NOT.sub("not ", text).strip()


def not_implemented(code: CodeFacts) -> str:
    """`Is not implemented: throws a not implemented exception.`, of what does nothing else; "" of others."""
    facts, raised = code.facts, code.facts.raises
    if len(raised) != 1 or raised[0].when or facts.returned or facts.writes or code.function.complexity > 1:
        return ""
    name, text = _class_of(raised[0]), raised[0].said
    is_missing = "NotImplemented" in name or _NOT_IMPLEMENTED.search(text) is not None
    if not is_missing or any(one.line != raised[0].line for one in facts.calls):
        return ""
    failures = failures_of(code)
    return f"Is not implemented: {failures[0].brief}." if failures else "Is not implemented."


def _raised(code: CodeFacts) -> Iterator[Effect]:
    known = known_calls(code.function.language)
    source, forms = code.function.canonical_source, known.raise_forms if known else ()
    verb = known.raises if known else "raises"
    for one in code.facts.raises:
        name = _class_of(one)
        how = f"{verb} {name}" if name else ways_to_fail().get(one.names[-1] if one.names else "", "raises an error")
        if how and (not forms or any(form.format(name) in source for form in forms)):
            yield from _failure(code, one, how, f"{verb.split()[0]} {with_article(name)}" if name else how, name)


def _returned(code: CodeFacts) -> Iterator[Effect]:
    """The errors that calls make, as far as they are returned or raised where they are made."""
    known = known_calls(code.function.language)
    lines = code.function.canonical_source.split("\n") if known and known.fails else []
    for one in code.facts.calls if known and known.fails else ():
        how = known.failure_of(one) if known else ""
        is_given = how.startswith("raises") or "return" in lines[one.line - 1].split() if how else False
        if is_given and message_in_words(one.said):
            yield from _failure(code, one, how, how, "")


def _failure(code: CodeFacts, fact: Fact, how: str, brief: str, name: str) -> Iterator[Effect]:
    why = _message_of(fact)
    when = condition_in_words(fact.when)
    is_passed_on = when.endswith("is caught") and not name
    if not (why or (when and not is_passed_on) or (name and name not in _BARE_CLASSES)):
        return
    text = f"{how} when {when}" if when else how
    if len(why) >= _MIN_MESSAGE:
        brief = f"{brief}: {why}"
    elif when and len(when) <= _MAX_BRIEF_CONDITION and without_foreign_names(when, own_names(code.function)) == when:
        brief = f"{brief} when {when}"
    yield Effect("raises", clip_text(f"{text}: {why}" if why else text, MAX_ITEM), fact.line, brief)


def _message_of(fact: Fact) -> str:
    """The message of an error without the name of the code that raises it; cut ones end in dots."""
    words = _ORIGIN.sub("", message_in_words(fact.said)).rstrip("'\"`( ")
    if _KEY.fullmatch(words):
        return ""
    is_cut = words and not words.endswith("…") and fact.said.rstrip(".!")[-1:] in _CUT
    return clip_text(f"{words} …" if is_cut else words, _MAX_BRIEF_MESSAGE)


def _class_of(raised: Fact) -> str:
    """The class of an error, as it is named last; "" of what is no class."""
    classes = [name for name in raised.names if name[:1].isupper()]
    if not classes and (match := _RAISED_CLASS.match(raised.text)):
        classes = [match[1].replace("::", ".").rpartition(".")[2]]
    return classes[-1] if classes else ""


def with_article(name: str) -> str:
    """A class of errors as a noun: `a value error`, `an HTTP exception`, `a not found error`."""
    words = name_in_words(name)
    return with_a(words if words.rpartition(" ")[2].lower() in _NOUNS else f"{words} error")
