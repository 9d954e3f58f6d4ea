"""What the name of a function says it does."""

from collections.abc import Sequence
from dataclasses import dataclass

from codesum_pipeline.summaries.extractive.phrases import (
    PREDICATES,
    PREPOSITIONS,
    object_phrase,
    opening_verb,
    predicate_words,
    told_words,
)
from codesum_pipeline.summaries.extractive.verbs import MOSTLY_NOUNS, as_verb, gerund, is_third_person, third_person
from codesum_pipeline.summaries.extractive.word_lists import word_set
from codesum_pipeline.summaries.extractive.words import spoken_word, with_article

_UNTOLD = word_set(
    """
    wrapper inner wrapped decorator callback cb func fn f g h _ helper impl do_it function closure thunk outer
    """
)


@dataclass(frozen=True, slots=True)
class Owner:
    """Where a function stands: the spoken name of its class, or None, and of what it works on."""

    subject: str | None
    inputs: tuple[str, ...]


def is_telling(name: str) -> bool:
    """Whether a name says anything of what its function does."""
    return name.strip("_").lower() not in _UNTOLD and any(len(word) > 1 for word in told_words(name))


def purpose_of_name(name: str, owner: Owner, *, gives_value: bool) -> str | None:
    """A sentence, without its full stop, that the name alone supports; None for a name that says nothing."""
    words = list(told_words(name))
    if not words or not is_telling(name):
        return None
    if words[0] in PREDICATES and (gives_value or words[0] in ("is", "has", "can", "should")):
        return _predicate(words, owner)
    special = _conversion(words, owner) or _opening(words, owner)
    if special:
        return special
    verb = opening_verb(words, noun_if_alone=gives_value and not owner.inputs)
    if verb is None:
        return _noun_purpose(words, owner, gives_value=gives_value)
    base, particle, rest = verb
    return _verb_purpose(base, particle, rest, owner)


# Verbs that, where the name gives no object, act on what they belong to: a file is closed; others, as `add`, do not.
OF_OWNER = word_set(
    """
    abort acquire activate advance bootstrap build cancel canonicalize clear clone close collapse commit compact
    compile complete connect copy deactivate destroy detach disable disconnect dispose drain dump enable end
    execute exit expand finalize finish flush freeze halt initialize initialise install invalidate invert join
    kill launch load lock mount normalize open optimize pack pause persist prepare print process rebuild refresh
    release reload render reopen repair reset resize restart restore resume reverse rewind rollback roll run
    save serialize set setup shuffle shut shutdown simplify sort start stop store suspend sync synchronize
    terminate transpose trim uninstall unload unlock unmount unpack update upgrade validate verify wait wake
    """
)
TOWARDS = {
    "add": "to", "append": "to", "attach": "to", "insert": "into", "put": "into", "push": "onto", "enqueue": "into",
    "write": "to", "register": "with", "remove": "from", "discard": "from", "delete": "from", "pop": "from",
    "get": "from", "read": "from", "receive": "from", "fetch": "from", "retrieve": "from", "drop": "from",
    "unregister": "from", "find": "in", "search": "in", "look": "in", "send": "through", "request": "through",
    "post": "through", "subscribe": "of", "contain": "in", "store": "in", "extend": "to", "join": "to",
    "include": "in", "exclude": "from", "count": "in", "replace": "in", "merge": "into",
}  # fmt: skip


def _verb_purpose(base: str, particle: str, rest: Sequence[str], owner: Owner) -> str:
    verb = third_person(base).capitalize()
    if len(rest) > 1 and rest[0] in ("and", "or") and (second := as_verb(rest[1])) and not particle:
        follow = _verb_purpose(second[0], second[1], rest[2:], owner)
        return f"{verb} {rest[0]} {follow[0].lower()}{follow[1:]}"
    if rest and rest[0] == particle:
        particle = ""
    thing = object_phrase(rest, base)
    if not rest or rest[0] in PREPOSITIONS:
        target = _target(base, owner)
        if particle in ("up", "down", "out", "off", "in", "back") and target:
            return f"{verb} {particle} {target} {thing}".strip()
        thing = f"{target} {thing}".strip()
    if rest and rest[-1] in PREPOSITIONS and owner.inputs:
        thing = f"{thing} {with_article(owner.inputs[0], definite=True)}"
    return " ".join(filter(None, (verb, particle, thing)))


def _target(base: str, owner: Owner) -> str:
    """What a verb without an object in the name acts on."""
    first = with_article(owner.inputs[0], definite=True) if owner.inputs else ""
    if not owner.subject:
        return first
    own = f"the {owner.subject}"
    if not first or base in OF_OWNER:
        return f"from {own}" if base == "receive" and not first else own
    return f"{first} {TOWARDS[base]} {own}" if base in TOWARDS else f"{first} for {own}"


def _predicate(words: Sequence[str], owner: Owner) -> str:
    subject = f"the {owner.subject}" if owner.subject else f"the {owner.inputs[0]}" if owner.inputs else "it"
    told = predicate_words(words[0], words[1:])
    if len(words) == 1 and owner.inputs and owner.subject:
        told = f"{told} the {owner.inputs[0]}"
    return f"Tells whether {subject} {told}".strip()


def _conversion(words: list[str], owner: Owner) -> str | None:
    """`to_x`, `from_x`, `as_x`, `x_to_y`, `x2y`."""
    target = f"the {owner.subject}" if owner.subject else f"the {owner.inputs[0]}" if owner.inputs else "a value"
    if words[0] == "to" and len(words) > 1:
        return f"Converts {target} to {_as_result(words[1:])}"
    if words[0] == "into" and len(words) > 1:
        return f"Turns {target} into {_as_result(words[1:])}"
    if words[0] == "from" and len(words) > 1:
        thing = with_article(owner.subject) if owner.subject else "a value"
        return f"Builds {thing} from {_as_result(words[1:])}"
    if words[0] == "as" and len(words) > 1:
        return f"Gives {target} as {_as_result(words[1:])}"
    if len(words) >= 3 and words[1] in ("to", "2") and as_verb(words[0]) is None:
        return f"Converts {_as_result(words[:1])} to {_as_result(words[2:])}"
    return None


def _as_result(words: list[str]) -> str:
    return with_article(" ".join(map(spoken_word, words)))


def _opening(words: list[str], owner: Owner) -> str | None:
    """`on_x`, `with_x`, `new_x`, `do_x`, `maybe_x`, `try_x`."""
    rest = " ".join(map(spoken_word, words[1:]))
    if words[0] == "on" and rest:
        return f"Responds when {rest} happens" if words[-1].endswith(("ing", "tion")) else f"Handles the {rest} event"
    if words[0] == "with" and rest:
        thing = with_article(owner.subject, definite=True) if owner.subject else "a value"
        return f"Gives {thing} with {with_article(rest)}"
    if words[0] == "new":
        return f"Makes {with_article(f'new {rest}' if rest else 'new ' + (owner.subject or 'value'))}"
    if (
        words[0]
        in (
            "maybe",
            "try",
            "do",
            "pre",
            "post",
            "re",
            "auto",
            "py",
            "raw",
            "safe",
            "async",
            "a",
            "ensure",
            "lazy",
            "internal",
        )
        and len(words) > 1
    ):
        found = as_verb(words[1]) if words[1] not in MOSTLY_NOUNS or words[0] in ("maybe", "try", "do") else None
        if found is None:
            return None
        base, particle = found
        thing = object_phrase(words[2:], base) or (f"the {owner.subject}" if owner.subject else "")
        verb = " ".join(filter(None, (third_person(base), particle, thing)))
        lead = {
            "maybe": "If needed, ", "try": "Tries to ", "pre": "Beforehand, ", "post": "Afterwards, ", "re": "Again ",
            "auto": "Automatically ", "raw": "", "safe": "Safely ", "async": "Asynchronously ",
            "ensure": "Ensures that it ", "lazy": "Lazily ",
        }.get(words[0], "")  # fmt: skip
        if words[0] == "try":
            verb = " ".join(filter(None, (base, particle, thing)))
        return f"{lead}{verb}" if lead else verb[0].upper() + verb[1:]
    return None


def _noun_purpose(words: list[str], owner: Owner, *, gives_value: bool) -> str:
    noun = " ".join(map(spoken_word, words))
    of = ""
    if owner.subject:
        of = f" of the {owner.subject}"
    elif owner.inputs:
        of = f" for the {owner.inputs[0]}"
    if words[-1].endswith("ed") and len(words) == 1 and owner.subject and gives_value:
        return f"Gives the {noun} form of the {owner.subject}"
    if gives_value:
        return f"Gives {with_article(noun, definite=True)}{of}"
    return f"Handles {with_article(noun, definite=True)}{of}"


def test_purpose(name: str) -> str:
    """`test_an_empty_file_is_skipped` gives `Checks that an empty file is skipped`,
    `test_creates_errors` gives `Tests that it creates errors`."""
    words = [word for word in told_words(name) if word != "test"]
    if not words:
        return "Tests"
    text = " ".join(map(spoken_word, words))
    if is_third_person(words):
        return f"Tests that it {text}"
    if _states_something(words):
        return f"Checks that {text}"
    return f"Tests {_doing(words)}"


def benchmark_purpose(name: str) -> str:
    """`BenchmarkParseHeader` gives `Measures parsing header (benchmark)`, by what follows the first word."""
    return f"Measures {_doing(list(told_words(name)))} (benchmark)"


def _doing(words: list[str]) -> str:
    """A verb and its object as a noun phrase: `parsing header`."""
    verb = opening_verb(words)
    if verb is None:
        return " ".join(map(spoken_word, words))
    base, particle, rest = verb
    return " ".join(filter(None, (gerund(base), particle, " ".join(map(spoken_word, rest)))))


def _states_something(words: list[str]) -> bool:
    finite = {
        "is", "are", "was", "has", "have", "does", "can", "cannot", "should", "must", "returns", "raises", "fails",
        "works", "gives", "costs", "keeps", "makes", "stays", "gets", "becomes", "wins", "uses", "takes", "sets",
        "stops", "changes", "contains", "ignores", "accepts", "rejects", "handles", "creates", "removes", "matches",
        "preserves", "will", "breaks", "counts", "holds", "needs", "comes", "goes", "equals", "leaves", "produces",
        "supports", "allows", "calls", "adds", "sees", "waits", "runs", "reads", "writes", "survives", "starts",
        "ends", "shows", "finds",
    }  # fmt: skip
    return any(word in finite for word in words[1:]) and words[0] not in PREPOSITIONS
