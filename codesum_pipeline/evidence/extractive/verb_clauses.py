"""A name that begins with a verb: the verb, its object, and what prepositions add.

The object is the rest of the name; of a verb that stands alone the first parameter, the class around it, or the type
that comes back, each only for the verbs of a closed list.
"""

from collections.abc import Sequence

from codesum_pipeline.evidence.extractive.name_evidence import NameEvidence, is_doubtful
from codesum_pipeline.evidence.extractive.name_grammar import (
    ALSO_NOUNS,
    MODIFIERS,
    PREPOSITIONS,
    VERBS,
    Verb,
    grammar_table,
    grammar_words,
    is_phrase,
    is_plural,
    noun_phrase,
    pluralize,
    starts_determined,
    verb_at,
    with_a,
)
from codesum_pipeline.evidence.extractive.words import name_words, word_in_full

_ACTIONS = ("create", "destroy", "update", "show", "edit", "delete")
_RAILS_PARAMETERS = ("params",)
_MODIFIED = grammar_words("modified")
_HARDLY_MODIFIERS = grammar_words("hardly_modifiers")
_HARDLY_MODIFIED = grammar_words("hardly_modified")
_BRINGING = grammar_words("bringing")
_BRING_IN = grammar_words("bring_in")
_OF_OWNER = grammar_words("of_owner")
_OF_PARAMETER = grammar_words("of_parameter")
MANNERS = grammar_words("manners")
_OF_AGENTS = grammar_words("of_agents")
_OF_THING = grammar_words("of_thing")
EVENTS = grammar_words("event_words")
_TIMES = frozenset(("after", "before", "between"))
_SINGLE_ACTIONS = frozenset(("set", "add", "remove", "delete", "enable", "disable", "update"))
_ADVERBS = grammar_words("adverbs")
_CALLED = grammar_words("called")
_ACTING_ON_CALLED = grammar_words("acting_on_called")
_ENCODINGS = grammar_words("encodings")
_NO_ADVERBS = grammar_words("no_adverbs")
_FORMATS = grammar_words("formats")
_PLAIN_FORMATS = grammar_words("plain_formats")
# What checks something puts what it finds into such an argument.
_CHECKING = ("validate", "check", "verify")
_COLLECTED = ("errors", "error", "violations", "problems", "issues", "findings", "results", "warnings", "messages")
# What only hands on what it gets from elsewhere changes nothing, whatever its name says.
_CHANGING = ("update", "save", "persist", "store", "change", "modify")
_WITHOUT_OBJECT = {verb: frozenset(words.split()) for verb, words in grammar_table("without_object").items()}


def verb_clause(words: Sequence[str], evidence: NameEvidence, *, is_base: bool = False) -> str:
    """The clause of a name that begins with a verb, in the third person or in its base form; "" where it may begin
    with a noun."""
    verb = verb_at(words)
    if verb is None or not _is_action(verb, words, evidence):
        return ""
    lead, rest = _lead(verb, words, evidence, is_base=is_base)
    body, adverb = _without_adverb(rest)
    said = _complete(verb, body, evidence)
    return " ".join(filter(None, (lead, said, adverb))) if said else ""


def _lead(verb: Verb, words: Sequence[str], evidence: NameEvidence, *, is_base: bool) -> tuple[str, Sequence[str]]:
    """The verb, with a second one that is joined to it (`get_or_create`), and the words after it."""
    rest = words[verb.length :]
    verbs = [verb]
    joint = ""
    if rest[:1] and rest[0] in ("and", "or") and (second := verb_at(rest, 1)):
        verbs, joint, rest = [verb, second], f" {rest[0]} ", rest[1 + second.length :]
    if is_base:
        return joint.join(one.said for one in verbs), rest
    is_given_back = verbs == [verb] and verb.base == "get" and evidence.gives_value
    return "returns" if is_given_back else joint.join(one.third for one in verbs), rest


def _is_action(verb: Verb, words: Sequence[str], evidence: NameEvidence) -> bool:
    """Whether the first word is a verb, and no noun or modifier of one."""
    if len(words) > 1 and set(words) <= set(name_words(evidence.return_type)):
        # `fetchRequest` gives an `NSFetchRequest`.
        return False
    rest = words[verb.length :]
    if (verb.base in ALSO_NOUNS and rest[:1] and rest[0] in VERBS - ALSO_NOUNS) or rest == _RAILS_PARAMETERS:
        # `cap_drop_root` is about capabilities, `estimate_params` are parameters.
        return False
    if verb.base in ("list", "count"):
        head = next((one for one, after in zip(rest, [*rest[1:], "in"], strict=False) if after in PREPOSITIONS), "")
        return is_plural(head) and bool(evidence.facts.calls or evidence.parameters)
    if evidence.is_stored_answer or (verb.base in _CHANGING and evidence.only_gets):
        return False
    is_maker = verb.base == "initialize" and evidence.makes_owner
    if is_maker or _names_a_function(verb, rest, evidence) or (evidence.only_reads and verb.base != "get"):
        return False
    if verb.length > 1 or words[0] != verb.base:
        return True
    if tuple(words[:2]) in evidence.given_pairs and verb.base in (ALSO_NOUNS | MODIFIERS) - _HARDLY_MODIFIERS:
        return False
    if is_doubtful(verb.base, evidence):
        return False
    if verb.base in _SINGLE_ACTIONS and evidence.parameters:
        return True
    if verb.base in ALSO_NOUNS:
        head = next((one for one, after in zip(rest, [*rest[1:], "in"], strict=False) if after in PREPOSITIONS), "")
        is_confirmed = evidence.returns_nothing or not evidence.given.isdisjoint(rest)
        return not rest or (bool(head) and is_confirmed)
    if verb.base not in MODIFIERS or not rest:
        return True
    modified = _HARDLY_MODIFIED if verb.base in _HARDLY_MODIFIERS else _MODIFIED
    return rest[-1] not in modified or evidence.returns_nothing


def _names_a_function(verb: Verb, rest: Sequence[str], evidence: NameEvidence) -> bool:
    """Whether a name says which function it is, not what it does: `disconnect_callback`, `retry_strategy`."""
    is_asked_for = verb.base in _ACTING_ON_CALLED and (verb.base != "get" or evidence.gives_value)
    return bool(rest) and rest[-1] in _CALLED and not is_asked_for


def _complete(verb: Verb, rest: Sequence[str], evidence: NameEvidence) -> str:
    """What follows the verb; "" where the object is not certain."""
    if not rest:
        return _object_of_bare(verb, evidence)
    cut = next((place for place, word in enumerate(rest) if word in PREPOSITIONS), len(rest))
    named, parts = rest[:cut], prepositional_parts(rest[cut:], evidence)
    if parts is None or (verb.base in _SINGLE_ACTIONS and rest[-1] in _TIMES):
        return ""
    is_sure = verb.base in ("subscribe", "unsubscribe") or not evidence.given.isdisjoint(rest)
    if verb.particle and verb.particle in PREPOSITIONS and not is_sure:
        return ""
    if named:
        what = object_phrase(verb, named, evidence)
        added = "" if parts else addition(verb, named, evidence)
        if what and added.startswith(" of ") and not what.startswith("the "):
            what = f"the {what.removeprefix('a ').removeprefix('an ')}"
        return f"{what}{added} {parts}".strip() if what else ""
    if rest[0] in _WITHOUT_OBJECT.get(verb.base, ()):
        return parts
    what = _found(verb, evidence)
    return f"{what} {parts}" if what else ""


def object_phrase(verb: Verb, words: Sequence[str], evidence: NameEvidence) -> str:
    """The words right after a verb as its object."""
    if verb.base == "handle" and (done := verb_at(words)) and done.base not in ALSO_NOUNS:
        inner = words[done.length : -1 if words[done.length + 1 :] and words[-1] in EVENTS else None]
        phrase = noun_phrase(inner) if inner else ""
        return f"{done.ing} {phrase}".strip() if phrase or not inner else ""
    if verb.base in ("encode", "serialize", "marshal") and len(words) == 1 and words[0] in _ENCODINGS:
        return f"as {word_in_full(words[0])}"
    if "and" in words[1:-1]:
        place = list(words).index("and")
        if verb_at(words, place + 1) or words[place + 1] in ALSO_NOUNS:
            return ""
        both = [noun_phrase(part, given=evidence.given) for part in (words[:place], words[place + 1 :])]
        return " and ".join(both) if all(both) else ""
    return noun_phrase(words, given=evidence.given, article="a" if verb.base in _BRING_IN else "the")


def prepositional_parts(words: Sequence[str], evidence: NameEvidence) -> str | None:
    """`by_name_in_file` as "by name in the file"; None where a part cannot be read."""
    parts: list[str] = []
    while words:
        end = next((place for place, word in enumerate(words[1:], 1) if word in PREPOSITIONS), len(words))
        part = _part(words[0], words[1:end], evidence)
        if not part or len(parts) == 2:
            return None
        if not words[1:end] and (parts or words[end:]):
            return None
        parts.append(part)
        words = words[end:]
    return " ".join(parts)


def _part(preposition: str, words: Sequence[str], evidence: NameEvidence) -> str:
    """One preposition with its noun; the first parameter is the noun that a name leaves out."""
    if not words:
        words = evidence.first_parameter
        return f"{preposition} {noun_phrase(words, given=words)}" if words else ""
    spoken = " ".join(map(word_in_full, words))
    if preposition in ("to", "as", "into", "from", "in") and words[-1] in _PLAIN_FORMATS:
        return f"{preposition} {spoken}" if is_phrase(words) or len(words) == 1 else ""
    if preposition in ("to", "into", "as") and words[-1] in _FORMATS and is_phrase(words):
        return f"{preposition} {noun_phrase(words, article='a')}"
    if preposition in ("by", "per", "via") and is_phrase(words):
        return f"{preposition} {spoken}"
    if preposition in ("as", "with", "without") and is_phrase(words):
        return f"{preposition} {noun_phrase(words, article='a')}"
    phrase = noun_phrase(words, given=evidence.given)
    return f"{preposition} {phrase}" if phrase else ""


def _object_of_bare(verb: Verb, evidence: NameEvidence) -> str:
    """The object of a verb that is a whole name."""
    if evidence.owner[-1:] == ("controller",) and verb.base in _ACTIONS:
        # An action is about what the controller is for.
        return ""
    named = evidence.first_parameter
    if evidence.label:
        is_usual = evidence.label in _WITHOUT_OBJECT.get(verb.base, ())
        return f"{evidence.label} {noun_phrase(named, given=named)}" if is_usual and named else ""
    is_manner = not named or _says_how(verb, named) or not evidence.takes_one
    if verb.base in _OF_PARAMETER and not is_manner:
        return noun_phrase(named, given=named)
    is_alone = not evidence.parameters or (verb.base not in _OF_PARAMETER and is_manner)
    is_of_thing = verb.base in _OF_THING and evidence.takes_settings
    is_about = evidence.is_thing and (verb.base in _OF_OWNER or is_of_thing)
    if not (is_about or (verb.base in _OF_OWNER and verb.base in _OF_AGENTS)) or not is_alone:
        return ""
    # Who does it is not what it is done to: `Resetter.reset`.
    is_doer = bool(evidence.owner) and evidence.owner[-1].startswith(verb.base.rstrip("e"))
    return evidence.owner_in_words if evidence.is_method and not is_doer else ""


def _says_how(verb: Verb, words: Sequence[str]) -> bool:
    """Whether a parameter says how or where: a word of the list, or who does what the verb says (`sort(sorter)`)."""
    is_doer = words[-1].endswith(("er", "or")) and words[-1].startswith(verb.base.rstrip("e"))
    collects = verb.base in _CHECKING and words[-1] in _COLLECTED
    return words[-1] in MANNERS or is_doer or collects


def _found(verb: Verb, evidence: NameEvidence) -> str:
    """What a verb without an object is about: the type that comes back."""
    words, is_many = evidence.result
    if not words or (verb.base not in _BRING_IN | _BRINGING):
        return ""
    return noun_phrase((*words[:-1], pluralize(words[-1])) if is_many else words, article="a")


def _without_adverb(words: Sequence[str]) -> tuple[Sequence[str], str]:
    last = words[-1] if words else ""
    is_one = last in _ADVERBS or (last.endswith("ly") and len(last) > 5 and last not in _NO_ADVERBS)
    return (words[:-1], last) if is_one else (words, "")


def converted(words: Sequence[str], evidence: NameEvidence) -> str:
    """What something is converted to: a format of the list, or the type that comes back; "" of others."""
    head = words[-1] if words else ""
    if not head or len(words) > 3:
        return ""
    spoken = " ".join(map(word_in_full, words))
    if head in _PLAIN_FORMATS:
        return spoken
    is_certain = (head in _FORMATS and len(words) < 3) or set(words) <= set(evidence.result[0])
    return (
        noun_phrase(words, article="a") or (with_a(spoken) if len(words) == 1 and head in _FORMATS else "")
        if is_certain
        else ""
    )


def noun_first_clause(words: Sequence[str], evidence: NameEvidence) -> str:
    """A name of a language without classes, which says first what it is about: `client_create`."""
    verb, named = verb_at(words, len(words) - 1), words[:-1]
    if verb is None or words[-1] not in _LAST or not VERBS.isdisjoint(named) or not is_phrase(named):
        return ""
    return f"{verb.third} {noun_phrase(named, article='a' if verb.base in _BRING_IN else 'the')}"


_LAST = grammar_words("last")


_OWNED = grammar_words("owned")
_LOOKING_UP = grammar_words("looking_up")
_KEYS = grammar_words("keys")
_TAKING_IN = grammar_words("taking_in")
_GIVING_OUT = grammar_words("giving_out")
_PLACES = grammar_words("file_places")
_WRITERS = grammar_words("writers")
_MESSAGES = grammar_words("messages")


def addition(verb: Verb, words: Sequence[str], evidence: NameEvidence) -> str:
    """What follows the object of a verb, with a blank before it; `words` are those of the object alone."""
    if verb.particle or not words or not PREPOSITIONS.isdisjoint(words) or starts_determined(words):
        return ""
    rules = (_of_owner, _by_key, _from_or_to)
    return next(filter(None, (rule(verb, words, evidence) for rule in rules)), "")


def _of_owner(verb: Verb, words: Sequence[str], evidence: NameEvidence) -> str:
    """A getter and a setter are about a part of the class around it."""
    count = {"get": 0, "set": 1}.get(verb.base, -1) if verb.base in _OWNED else -1
    is_certain = evidence.is_thing and evidence.is_method and len(evidence.parameters) == count
    return f" of {evidence.owner_in_words}" if is_certain and set(evidence.owner).isdisjoint(words) else ""


def _by_key(verb: Verb, words: Sequence[str], evidence: NameEvidence) -> str:
    """What is looked up is one thing, by the only parameter that says which."""
    named = evidence.first_parameter[-1:]
    is_one = verb.base in _LOOKING_UP and evidence.takes_one and not is_plural(words[-1])
    is_key = is_one and bool(named) and named[0] in _KEYS and named[0] not in words
    return f" by {word_in_full(named[0])}" if is_key else ""


def _from_or_to(verb: Verb, words: Sequence[str], evidence: NameEvidence) -> str:
    """Where something is read from or written to, by the only parameter."""
    named = evidence.first_parameter
    if not named or not evidence.takes_one or not set(named).isdisjoint(words):
        return ""
    if evidence.label:
        return f" {evidence.label} {noun_phrase(named, given=named)}"
    is_source = verb.base in _TAKING_IN and named[-1] in _PLACES | _MESSAGES
    preposition = "from" if is_source else "to" if verb.base in _GIVING_OUT and named[-1] in _PLACES | _WRITERS else ""
    return f" {preposition} {noun_phrase(named, given=named)}" if preposition else ""
