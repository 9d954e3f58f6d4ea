"""How a function fails: the errors that it raises or returns, each with its condition and its message."""

import re
from collections.abc import Iterator

from codesum_pipeline.evidence.author_texts.plain_sentences import clip_text, make_printable
from codesum_pipeline.evidence.extractive.code_facts import CodeFacts, message_in_words
from codesum_pipeline.evidence.extractive.composing import MAX_ITEM, own_names
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.known_calls import Effect, known_calls, ways_to_fail
from codesum_pipeline.evidence.extractive.noun_phrases import with_a
from codesum_pipeline.evidence.extractive.words import name_in_words
from codesum_pipeline.foundation.data_model.symbol import Fact

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
_UNTELLING = frozenset(("Error", "Exception", "RuntimeError", "RuntimeException"))


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
    if not (why or (when and not is_passed_on) or (name and name not in _UNTELLING)):
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
