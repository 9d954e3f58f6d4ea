"""What a class's own source says besides its name: the text in which it describes itself, messages of its values,
what it declares or provides, what its methods do."""

import re
from collections.abc import Callable, Iterable, Sequence

from codesum_pipeline.evidence.author_texts.plain_sentences import make_sentence
from codesum_pipeline.evidence.extractive.class_marks import (
    MAX_NAMES,
    MAX_PARTS,
    TEXT,
    declared,
    list_some,
    schema_change,
)
from codesum_pipeline.evidence.extractive.class_words import class_words
from codesum_pipeline.evidence.extractive.code_facts import message_in_words
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.member_heads import (
    MethodHead,
    methods_of,
    said_event,
    said_method,
)
from codesum_pipeline.evidence.extractive.noun_phrases import PREPOSITIONS
from codesum_pipeline.evidence.extractive.type_phrases import named_type, type_phrase
from codesum_pipeline.evidence.extractive.words import capitalize, name_in_words, name_words
from codesum_pipeline.evidence.inputs import ClassInput
from codesum_pipeline.foundation.language_facts.writing_systems import sets_no_blanks

# The message of an error, and a text that a constant is made with.
_ERROR = re.compile(rf"#\[(?:error|fail|snafu|display)\((?:display ?= ?|display\()?{TEXT}")
_MADE_WITH = re.compile(rf"(?<![\w.@#(\[])[A-Z][A-Z0-9_]{{1,50}}\s?\([^()\"\n]{{0,60}}{TEXT}")
_ASKING = ("interface", "protocol", "trait")


def tellings(class_: ClassInput, kind: str) -> str:
    """The first of these sentences that there is; "" where none is certain."""
    if not class_.own_source:
        return ""
    methods = methods_of(class_)
    kind = "protocol" if "protocol " in class_.signature else kind
    told: Iterable[Callable[[], str]] = (
        lambda: _description(class_),
        lambda: _messages_of_values(class_) if kind == "enum" else "",
        lambda: declared(class_),
        lambda: _provided(class_, methods),
        lambda: schema_change(class_),
        lambda: _asked_for(class_, kind, methods) if kind in _ASKING and not class_.fields else "",
    )
    return next(filter(None, (one() for one in told)), "")


_MIN_WORDS = 3
# A text that ends so goes on in the next line.
_GOES_ON = PREPOSITIONS | {"the", "a", "an", "and", "or", "that", "which", "is", "are"}
_DESCRIBED_BY = re.compile(
    r"(?i)\b\w{0,40}(?:description|help|summary)\s?\([^\n]{0,80}\n {8}return [^\"\n]{0,30}\"([^\"\n]{4,200})\""
)
_DESCRIPTION = re.compile(
    rf"\n {{4}}(?:@shortdoc|desc|description|help|short_help|summary|protected \$description|help_text)"
    rf"(?: ?= ?|\(| )(?:_\()?{TEXT}"
)


def _description(class_: ClassInput) -> str:
    """The sentence in which a class describes itself to its users."""
    found = _DESCRIPTION.search(class_.own_source) or _DESCRIBED_BY.search(class_.own_source)
    said = message_in_words(found[1]) if found else ""
    is_whole = "…" not in said and said.rpartition(" ")[2].lower() not in _GOES_ON
    is_long = said.count(" ") + 1 >= _MIN_WORDS or sets_no_blanks(said)
    return make_sentence(capitalize(said)) if is_whole and is_long else ""


def _messages_of_values(class_: ClassInput) -> str:
    """`Errors: failed to read a secret; no secret selected.`, of an enumeration whose values have texts."""
    errors = list(dict.fromkeys(filter(None, map(message_in_words, _ERROR.findall(class_.own_source)))))
    if errors:
        return make_sentence(f"Errors: {list_some(errors, MAX_NAMES, class_.own_source, '; ')}")
    said = dict.fromkeys(filter(None, map(message_in_words, _MADE_WITH.findall(class_.own_source))))
    texts = [f'"{one}"' for one in said if " " in one and without_foreign_names(one, ()) == one]
    return make_sentence(f"Says {list_some(texts, MAX_NAMES, class_.own_source)}") if texts[1:] else ""


_BOUND, _PROVIDED = re.compile(r"@Binds\b"), re.compile(r"@(?:Provides|Bean)\b")
_MODULES = re.compile(r"@(?:Component|Subcomponent)\b[^\n]{0,300}?modules ?= ?[\[{]([^\]}\n]{1,200})[\]}]")
_CLASS_NAME = re.compile(r"([A-Z]\w{1,60})(?:::class|\.class)")


def _provided(class_: ClassInput, methods: Sequence[MethodHead]) -> str:
    """What a module of injected things provides and binds, and what a component injects into."""
    bound: list[str] = []
    given: list[str] = []
    into: list[str] = []
    for method in methods:
        result = named_type(method.gives)
        taken = named_type(method.takes[0][1]) if len(method.takes) == 1 else None
        if _BOUND.search(method.before) and taken and result and taken.said != result.said:
            bound.append(f"{taken.one()} as {result.one()}")
        elif result and (_PROVIDED.search(method.before) or _BOUND.search(method.before)):
            given.append(result.one())
        elif taken and method.name == "inject":
            into.append(taken.one())
    modules = _MODULES.search(class_.own_source)
    used = [f"the {name_in_words(name)}" for name in _CLASS_NAME.findall(modules[1])] if modules else []
    found = {"provides": given, "binds": bound, "injects into": into, "assembles its objects from": used}
    parts = [f"{lead} {list_some(names, MAX_PARTS, class_.own_source)}" for lead, names in found.items() if names]
    return make_sentence(capitalize("; ".join(parts))) if parts else ""


_TOLD_OF_EVENTS = class_words("told_of_events")
_ACCESSORS = (("get",), ("set",), ("is",))


def _asked_for(class_: ClassInput, kind: str, methods: Sequence[MethodHead]) -> str:
    """`Interface that gets events and deletes a report.`, by the methods that it asks for."""
    *own, role = name_words(class_.name) or ("",)
    is_told = role in _TOLD_OF_EVENTS
    events = [said_event(one, own, is_told=is_told) for one in methods if not type_phrase(one.gives)]
    events = list(filter(None, events))
    if events and len(events) * 2 >= len(methods):
        return _received(methods, events, class_.own_source)
    accessors = sum(name_words(one.name)[:1] in _ACCESSORS and not one.takes[1:] for one in methods)
    said = list(dict.fromkeys(filter(None, map(said_method, methods))))
    is_bare = " " not in said[0] and not said[1:] if said else True
    if is_bare or len(said) * 2 < len(methods) or accessors * 2 > len(methods) > MAX_PARTS:
        return ""
    objects = [one.partition(" ")[2] for one in said]
    verbs = {one.partition(" ")[0] for one in said[:MAX_PARTS]}
    if len(verbs) == 1 and said[1:] and all(objects[:MAX_PARTS]):
        return make_sentence(
            f"{capitalize(kind)} that {verbs.pop()} {list_some(objects, MAX_PARTS, class_.own_source)}"
        )
    return make_sentence(f"{capitalize(kind)} that {list_some(said, MAX_PARTS, class_.own_source)}")


def _received(methods: Sequence[MethodHead], events: Sequence[str], source: str) -> str:
    """`Receives the event "item row clicked", with a recipe.`"""
    types = [found for one in methods for _, written in one.takes if (found := type_phrase(written))]
    taken = list(dict.fromkeys(found.one() for found in types if not found.is_basic))
    quoted = list(dict.fromkeys(f'"{one}"' for one in events))
    carried = f", with {list_some(taken, MAX_PARTS, source)}" if taken else ""
    return make_sentence(f"Receives the event{'s' * (len(quoted) > 1)} {list_some(quoted, MAX_PARTS, source)}{carried}")
