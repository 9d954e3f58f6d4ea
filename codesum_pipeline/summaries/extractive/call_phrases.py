"""What a call does, in words. A callee's identifier is never given back as written."""

from functools import lru_cache

from codesum_pipeline.summaries.extractive.calls import KNOWN_CALLS, QUIET_CALLS, WEAK_VERBS
from codesum_pipeline.summaries.extractive.names import OF_OWNER, TOWARDS
from codesum_pipeline.summaries.extractive.phrases import object_phrase, opening_verb, told_words, without_dangling
from codesum_pipeline.summaries.extractive.scanning import RECEIVERS, is_class_name, names_in_chain, outline
from codesum_pipeline.summaries.extractive.verbs import is_adjective, third_person
from codesum_pipeline.summaries.extractive.word_lists import word_set
from codesum_pipeline.summaries.extractive.words import spoken, with_article

_SMALL_TALK = frozenset(("logs", "prints", "warns", "logs a warning"))


@lru_cache(maxsize=16384)
def call_phrase(text: str) -> tuple[int, str] | None:
    """How telling a call is (0 to 3), and what it does: (2, `queries the user via the database`)."""
    names = names_in_chain(outline(text))
    if not names or (names[-1] in QUIET_CALLS and len(names) == 1):
        return None
    dotted = ".".join(names)
    if dotted in KNOWN_CALLS:
        return (1 if KNOWN_CALLS[dotted] in _SMALL_TALK else 3), KNOWN_CALLS[dotted]
    for count in (2, 1):
        tail = ".".join(names[-count:])
        if len(names) > count and f"*.{tail}" in KNOWN_CALLS:
            said = KNOWN_CALLS[f"*.{tail}"]
            return (1 if said in _SMALL_TALK else 2), said
    name = names[-1]
    receiver = [part for part in names[:-1] if part not in RECEIVERS]
    if name in RECEIVERS or name.startswith(("__", "assert")):
        return None
    if is_class_name(name):
        if name.endswith(("Error", "Exception", "Warning", "Interrupt")) or len(name) < 2:
            return None
        return 1, f"builds {with_article(spoken(name.strip('_')))}"
    words = list(told_words(name))
    verb = opening_verb(words, noun_if_alone=not receiver) if words else None
    if verb and verb[2] and is_adjective(words[0]):
        return None
    if verb is None:
        return None
    return _verb_call(verb, receiver, is_own=len(receiver) < len(names) - 1)


_ON_ITSELF = word_set(
    """
    close open start stop reset flush clear connect disconnect save load refresh validate run initialize setup release
    """
)
# Verbs whose receiver is what they act on; of others it is the means.
_ACTS_ON_RECEIVER = OF_OWNER | word_set("split strip encode decode lower-case upper-case format replace extend")


def acted_on(verb: str, receiver: str) -> str:
    """The receiver of a call as the verb's object: `the file`, `to the list`, `via the preparer`."""
    if verb in TOWARDS:
        return f"{TOWARDS[verb]} the {receiver}"
    return f"the {receiver}" if verb in _ACTS_ON_RECEIVER else f"via the {receiver}"


def _verb_call(verb: tuple[str, str, list[str]], receiver: list[str], *, is_own: bool) -> tuple[int, str] | None:
    base, particle, rest = verb
    thing = object_phrase(rest, base)
    source = spoken(receiver[-1]) if receiver and not receiver[-1].isupper() else ""
    if not rest:
        if is_own and not receiver and base in _ON_ITSELF:
            return 1, " ".join(filter(None, (third_person(base), "itself", particle)))
        if not source or len(source) < 2:
            return None
        done = " ".join(filter(None, (third_person(base), particle, acted_on(base, source))))
        return (0 if base in WEAK_VERBS else 2), done
    phrase = without_dangling(" ".join(filter(None, (third_person(base), particle, thing))))
    if " " not in phrase and not source:
        return None
    if len(source) > 1 and is_own and source not in phrase:
        phrase = f"{phrase} via the {source}"
    return (1 if base in WEAK_VERBS else 3), phrase
