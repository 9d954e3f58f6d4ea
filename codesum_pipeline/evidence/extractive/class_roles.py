"""A class that its last word gives a role: a command, an event, a controller, a repository, a migration."""

from collections.abc import Sequence

from codesum_pipeline.evidence.extractive.noun_phrases import (
    PREPOSITIONS,
    is_adjective,
    is_listed,
    is_phrase,
    is_plural,
    noun_phrase,
    pluralize,
    singular,
    with_a,
)
from codesum_pipeline.evidence.extractive.verb_forms import ALSO_NOUNS, Verb, grammar_words, verb_at
from codesum_pipeline.evidence.extractive.words import name_words, word_in_full
from codesum_pipeline.evidence.inputs import ClassInput

_BRING_IN = grammar_words("bring_in")
_FRAMEWORK = grammar_words("framework_controllers")
_ROLES = grammar_words("roles")
_ASKING = frozenset(("command", "request", "query"))
_RUNNING = frozenset(("execute", "run", "handle", "call", "invoke", "perform", "configure", "process", "main"))
_ACCESS = frozenset(("repository", "dao"))
# There a controller answers requests; elsewhere it may control anything.
_WEB = frozenset(("php", "ruby", "elixir", "c-sharp", "scala"))
_SCREENS = frozenset(("view", "page", "screen"))
# What such a class is about, where its own name is a verb alone.
_OF_CONTAINER = frozenset(("create", "update", "delete", "list", "add", "remove", "destroy", "show", "edit"))


def role_clause(class_: ClassInput, words: Sequence[str]) -> str:
    """What a class of such a role does; "" of others."""
    if "migration" in {_last(base) for base in class_.bases} and words[-1] != "migration":
        action = migration_phrase(words)
        return f"is a migration that {action}" if action else ""
    head, rest = words[-1], words[:-1]
    if not rest:
        return ""
    if head == "event":
        return _event(rest)
    if head == "controller":
        return _controller(class_, rest)
    if head in _ACCESS and is_phrase(rest):
        return f"gives access to {many(rest)}"
    return _role(class_, head, rest) if head in _ROLES else ""


def action_phrase(words: Sequence[str], *, form: str = "third") -> str:
    """`AddIndexToPosts` as "adds an index to posts"; `form` is one of the forms of a verb."""
    verb = verb_at(words)
    if verb is None or (verb.base in ALSO_NOUNS and len(words) < _MIN_SURE and not is_plural(words[-1])):
        return ""
    rest = words[verb.length :]
    cut = next((place for place, word in enumerate(rest) if word in PREPOSITIONS), len(rest))
    phrase = noun_phrase(rest[:cut], article="a" if verb.base in _BRING_IN or form != "third" else "the")
    part = noun_phrase(rest[cut + 1 :]) if rest[cut:] else ""
    if not phrase or (rest[cut:] and not part):
        return ""
    return " ".join(filter(None, (getattr(verb, form), phrase, *rest[cut : cut + 1], part)))


_MIN_SURE = 3


def migration_phrase(words: Sequence[str]) -> str:
    """What a migration does; one that may begin with a noun says it not: `TagModerationLog`."""
    verb = verb_at(words)
    return action_phrase(words) if verb and verb.base not in ALSO_NOUNS else ""


def many(words: Sequence[str]) -> str:
    return " ".join(map(word_in_full, (*words[:-1], pluralize(words[-1]))))


def _last(base: str) -> str:
    return next(iter(name_words(base.partition("(")[0].partition("[")[0].partition("<")[0])[-1:]), "")


def _event(words: Sequence[str]) -> str:
    """`OrderPlacedEvent` tells that an order was placed."""
    phrase = noun_phrase(words[:-1], article="a")
    is_told = is_adjective(words[-1]) and words[-1].endswith("ed") and phrase.startswith(("a ", "an "))
    return f"tells that {phrase} was {words[-1]}" if is_told else ""


def _controller(class_: ClassInput, words: Sequence[str]) -> str:
    if words[-1] in _SCREENS and not words[1:]:
        return ""
    if (verb := verb_at(words)) and words[1:] and words[-1] not in _SCREENS:
        own = {name_words(child.name.rpartition("::")[2])[:1] for child in class_.children}
        is_sure = class_.language in _WEB and bool(own & {(verb.base,), ("invoke",), ("call",)})
        action = action_phrase(words, form="said") if is_sure else ""
        return f"answers requests to {action}" if action else ""
    if verb and class_.language in _WEB and (action := _of_container(class_, verb, form="said")):
        return f"answers requests to {action}"
    if words[-1] in _SCREENS:
        phrase = noun_phrase(words)
        return f"controls {phrase}" if phrase else ""
    is_told = words[-1] not in (*_FRAMEWORK, *_OF_CONTAINER)
    is_sure = class_.language in _WEB and is_told and is_phrase(words) and is_listed(words[-1])
    return f"answers requests about {many(words)}" if is_sure else ""


def _role(class_: ClassInput, head: str, words: Sequence[str]) -> str:
    """A command, task or dialog that its name says the action of."""
    while len(words) > 1 and is_adjective(words[-1]):
        words = words[:-1]
    own = {child.name.rpartition("::")[2].rpartition(".")[2] for child in class_.children}
    only_holds = own <= {class_.name, "constructor", "__init__", "init"}
    verb = verb_at(words)
    if words[-1] in ("endpoint", "api", "http"):
        return ""
    if head == "request" or (only_holds and head in _ASKING and class_.fields):
        asked = action_phrase(words, form="said")
        return f"asks to {asked}" if asked else ""
    is_run = any(name_words(name)[:1] and name_words(name)[0] in _RUNNING for name in own)
    is_sure = is_run or any(_last(base) == head for base in class_.bases)
    if not is_sure or verb is None:
        return ""
    action = action_phrase(words) if words[verb.length :] else _of_container(class_, verb)
    return f"is {with_a(head)} that {action}" if action else ""


def _of_container(class_: ClassInput, verb: Verb, *, form: str = "third") -> str:
    """`User.CreateCommand` creates a user."""
    around = class_.qualified_name.split(".")[1:][-2:-1]
    thing = name_words(around[0]) if around else ()
    if verb.base not in _OF_CONTAINER or not is_phrase(thing):
        return ""
    one = (*thing[:-1], singular(thing[-1]))
    return f"{getattr(verb, form)} {many(one) if verb.base == 'list' else noun_phrase(one, article='a')}"
