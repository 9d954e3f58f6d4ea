"""What a function does to the world besides returning: files, databases, network, processes, errors, its arguments.

Only what is certain is said: calls and words by the tables of `known_calls`, errors as they are raised, and assignments
to what a caller holds.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct

from codesum_pipeline.texts.summaries.author_texts.plain_sentences import clip_text
from codesum_pipeline.texts.summaries.extractive.call_arguments import first_texts, opening_mode
from codesum_pipeline.texts.summaries.extractive.changed_state import (
    assigned_names,
    changed_arguments,
    changed_fields,
    in_a_row,
)
from codesum_pipeline.texts.summaries.extractive.code_facts import CodeFacts, message_in_words
from codesum_pipeline.texts.summaries.extractive.composing import MAX_ITEM, MAX_SIDE_EFFECTS
from codesum_pipeline.texts.summaries.extractive.failures import failures_of
from codesum_pipeline.texts.summaries.extractive.known_calls import (
    Effect,
    EffectKind,
    KnownCalls,
    effect_kinds,
    known_calls,
)
from codesum_pipeline.texts.summaries.extractive.words import capitalize, telling_stems
from codesum_pipeline.texts.summaries.inputs import FunctionInput

__all__ = ["Effect", "effects_in_prose", "effects_of"]

# The effects from this one on say less than an error that is raised.
_FIRST_MINOR = "await_tasks"
_MAX_FAILURES, _MAX_NAMED, _MAX_MESSAGES, _MAX_MESSAGE_CHARS = 3, 3, 2, 90
_MIN_MESSAGE_WORDS = 3
_LOGS = ("log", "log_warning", "log_error")
_BY_MODE = {"r": "open_to_read", "w": "write_file", "x": "write_file", "a": "append_file"}
# A word of code is looked for in so much of a function.
_MAX_SOURCE_CHARS = 100_000
_MAX_PROSE_CHARS = 240
# What says nothing without a message or a condition.
_UNTELLING = ("fails", "raises an error", "throws an error", "returns an error", "panics")


class _Evidence(Struct, frozen=True):
    """Where code has an effect, with the name and the message that it says there, if any."""

    line: int
    name: str = ""
    message: str = ""


def effects_of(code: CodeFacts) -> list[Effect]:
    """What the function does, the most telling first, each effect once."""
    outward = list(_outward_effects(code.function))
    telling = [effect for is_minor, effect in outward if not is_minor]
    minor = [effect for is_minor, effect in outward if is_minor]
    failures = failures_of(code)[:_MAX_FAILURES]
    effects = [*telling, *failures, *changed_arguments(code.function), *minor, *changed_fields(code)]
    return list({effect.text: effect for effect in effects}.values())[:MAX_SIDE_EFFECTS]


def effects_in_prose(effects: Sequence[Effect], limit: int = 3, *, headline: str = "") -> str:
    """One sentence of the first effects and the first error: `Writes a file, encodes JSON and logs; raises a key error
    when the key is missing.` What the headline says already is left out; "" if nothing remains."""
    said = telling_stems(headline)
    new = [one for one in effects if not telling_stems(one.brief) <= said]
    done = [one.brief for one in new if one.kind != "raises"][:limit]
    done = [] if done == ["logs"] else done
    failures = [one.brief for one in new if one.kind == "raises" and one.brief not in _UNTELLING][:1]
    parts = [in_a_row(done)] if done else []
    text = "; ".join([*parts, *failures])
    if len(text) > _MAX_PROSE_CHARS:
        text = parts[0] if parts and len(parts[0]) <= _MAX_PROSE_CHARS else clip_text(text, _MAX_PROSE_CHARS)
    return f"{capitalize(text)}{'' if text.endswith(('.', '…', '!', '?')) else '.'}" if text else ""


def _outward_effects(function: FunctionInput) -> Iterator[tuple[bool, Effect]]:
    """The effects of calls and words by the tables, in their order; whether each is a minor one."""
    known = known_calls(function.language)
    found = _evidence_by_effect(function, known) if known else {}
    is_minor = False
    for name, kind in effect_kinds().items() if found else ():
        is_minor = is_minor or name == _FIRST_MINOR
        if name in found and found.keys().isdisjoint(kind.unless.split()):
            yield is_minor, _effect(kind, found[name])


def _effect(kind: EffectKind, found: Sequence[_Evidence]) -> Effect:
    """One effect of one or several places: with the names that all of them say, or with the first messages."""
    brief = kind.many if kind.many and len(found) > 1 else kind.one
    names = list(dict.fromkeys(one.name for one in found))
    if kind.named and all(names) and len(names) <= _MAX_NAMED:
        brief = kind.named.format(in_a_row(names))
    messages = dict.fromkeys(one.message for one in found if len(one.message.split()) >= _MIN_MESSAGE_WORDS)
    shown = [clip_text(message, _MAX_MESSAGE_CHARS) for message in [*messages][:_MAX_MESSAGES]]
    text = f"{brief}: {'; '.join(shown)}" if shown else brief
    return Effect(kind.kind, clip_text(text, MAX_ITEM), found[0].line, brief)


def _evidence_by_effect(function: FunctionInput, known: KnownCalls) -> dict[str, list[_Evidence]]:
    """Where the function has which effect."""
    found: dict[str, list[_Evidence]] = defaultdict(list)
    source = function.canonical_source[:_MAX_SOURCE_CHARS]
    lines = source.split("\n")
    first, documented = function.facts.signature_line, function.facts.docstring_line
    body = range(first if documented <= first else documented + 1, len(lines) + 1)
    for call in function.facts.calls:
        if name := known.effect_of(call):
            if known.is_whole_chain(call) and call.names[:1] and call.names[0] in _own_names(function):
                continue
            name = _BY_MODE.get(opening_mode(call, lines), name) if name == "open_file" else name
            names = [call.text] if known.are_commands else first_texts(call, lines)
            message = message_in_words(call.said) if name in _LOGS else ""
            found[name] += [_Evidence(call.line, said, message) for said in names]
    for name, pattern in known.words:
        for match in pattern.finditer(source):
            line = source.count("\n", 0, match.start()) + 1
            if line in body and not _is_quoted(source, match.start()):
                found[name].append(_Evidence(line, match[1] if pattern.groups else ""))
    return found


def _own_names(function: FunctionInput) -> frozenset[str]:
    """Names that mean something else here than in the tables: parameters and variables of the function."""
    return assigned_names(function).union(one.name.strip("*&$@. ") for one in function.facts.parameters)


def _is_quoted(source: str, position: int) -> bool:
    """Whether a position is in a text that its line opens."""
    return source.count('"', source.rfind("\n", 0, position) + 1, position) % 2 == 1
