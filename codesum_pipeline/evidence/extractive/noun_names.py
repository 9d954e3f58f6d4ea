"""A name that is a noun says what comes back: `size`, `user.full_name`, `distance(a, b)`.

That holds only where a value comes back, and where the noun is no action and no kind of function.
"""

from collections.abc import Sequence

from codesum_pipeline.evidence.author_texts.plain_sentences import word_bucket
from codesum_pipeline.evidence.extractive.name_evidence import NameEvidence
from codesum_pipeline.evidence.extractive.name_grammar import (
    ALSO_NOUNS,
    GERUNDS,
    MODIFIERS,
    PREPOSITIONS,
    VERBS,
    grammar_list,
    grammar_table,
    grammar_words,
    is_adjective,
    is_known,
    is_listed,
    is_phrase,
    is_plural,
    noun_phrase,
    singular,
    starts_determined,
    verb_at,
    with_a,
)
from codesum_pipeline.evidence.extractive.verb_clauses import MANNERS, prepositional_parts
from codesum_pipeline.evidence.extractive.words import name_words, word_in_full
from codesum_pipeline.foundation.data_model.symbol import Fact, Form

_NO_RESULTS = grammar_words("no_results")
_HARDLY_MODIFIERS = grammar_words("hardly_modifiers")
_NEVER_FIRST = grammar_words("never_first")
_DOUBTFUL = grammar_words("doubtful_first")
_ADJECTIVE_GERUNDS = grammar_words("adjective_gerunds")
# A noun before one of these is no thing that comes back: `status_to_code`, `info_with`.
_NO_BINDING = frozenset(("to", "with", "without", "into", "by", "as", "on", "via", "until"))
_MIN_PLAIN = 4
# Annotations stand in so many characters of a function.
_HEAD_CHARS = 400
_USUAL = 6
_VERB_ENDS = ("ify", "lize", "rize", "nize", "tize")
_COMPONENTS = frozenset(("javascript", "tsx", "typescript"))
_MARKUP = ("<", "createElement(", "React.createElement(", "h(")
_COMPARISONS = (" == ", " === ", " != ", " !== ", " >= ", " <= ", " is not ", " not in ")
# Decorators that leave what a function is.
_PLAIN_DECORATORS = grammar_list("plain_decorators")


def noun_clause(words: Sequence[str], evidence: NameEvidence) -> str:
    """What a function named by a noun gives back; "" where it may do something else."""
    if component := _component(words, evidence):
        return component
    if not _is_of_values(words, evidence):
        return _flag(words, evidence)
    cut = next((place for place, word in enumerate(words) if place and word in PREPOSITIONS), len(words))
    named, parts = words[:cut], prepositional_parts(words[cut:], evidence)
    if words[cut : cut + 1] == ("from",) or "@Composable" in evidence.function.canonical_source[:_HEAD_CHARS]:
        return ""
    if parts is None or not is_phrase(named) or not _is_result(named, evidence):
        return ""
    if not _NO_BINDING.isdisjoint(words[cut:]) or not all(map(_is_plain, named)):
        return ""
    is_provided = not {"fixture", "contextmanager"}.isdisjoint(evidence.function.modifiers)
    lead = "provides" if is_provided else "yields" if evidence.facts.is_generator else "returns"
    if parts:
        return f"{lead} {_the(named)} {parts}"
    return f"{lead} {_what(named, evidence)}"


def _is_of_values(words: Sequence[str], evidence: NameEvidence) -> bool:
    """Whether it gives back something that is no answer, and nothing around it says that it does more."""
    source = evidence.function.canonical_source.lstrip()
    is_registered = source.startswith("@") and not source.startswith(_PLAIN_DECORATORS)
    is_made = (
        evidence.gives_value and not _is_boolean(evidence) and not evidence.around.endswith(("Controller", "Mailer"))
    )
    is_quoted = evidence.function.language == "elixir" and "quote do" in source
    is_given = evidence.function.language == "scala" and evidence.function.name.startswith("given")
    is_class = evidence.function.language in _COMPONENTS and evidence.function.name[:1].isupper()
    is_builder = evidence.makes_owner and bool(evidence.parameters)
    is_described = (
        evidence.gives_function or is_builder or any(one.name in ("dsl", "builder") for one in evidence.parameters)
    )
    return is_made and not (is_described or is_registered or is_quoted or is_given or is_class)


def _is_boolean(evidence: NameEvidence) -> bool:
    written = evidence.return_type.lower()
    if written:
        return "bool" in written.split("[")[0].split("<")[0]
    answers = [one.form in (Form.TRUTH, Form.NOTHING) or _compares(one) for one in evidence.facts.returned]
    return bool(answers) and all(answers)


def _compares(one: Fact) -> bool:
    """Whether a value is a comparison, or the opposite of something."""
    has_sign = any(sign in one.text for sign in _COMPARISONS) and " ? " not in one.text
    return one.form is Form.OTHER and (one.text.startswith(("!", "not ")) or has_sign)


def _is_result(words: Sequence[str], evidence: NameEvidence) -> bool:
    """Whether the words name a thing, and no action or kind of function."""
    first, head = words[0], words[-1]
    is_event = first.startswith("on") and is_known(first[2:])
    if is_event or _names_no_result(head) or (verb_at(words) and not _may_modify(first, evidence)):
        return False
    if first in ("list", "count") and is_plural(head):
        return False
    if first in _DOUBTFUL and words[1:] and not (evidence.return_type or evidence.only_reads):
        return False
    is_gerund = first in GERUNDS and first not in _ADJECTIVE_GERUNDS and is_plural(head)
    is_undone = first.startswith(("un", "re")) and first[2:] in VERBS
    if first in _NEVER_FIRST or first.endswith(_VERB_ENDS) or is_gerund or is_undone:
        return False
    return len(words) > 1 or (is_listed(head) and _is_confirmed(head, evidence))


def _names_no_result(head: str) -> bool:
    return head in _NO_RESULTS or head in GERUNDS or head.endswith("ify") or verb_at((head,)) is not None


def _may_modify(first: str, evidence: NameEvidence) -> bool:
    """A verb may stand before a noun where nothing is done: `split_uri` of a property."""
    return first in ALSO_NOUNS | (MODIFIERS - _HARDLY_MODIFIERS) and evidence.only_reads


def _is_confirmed(word: str, evidence: NameEvidence) -> bool:
    """Whether the code has the one word of a name as a thing: where it is declared, or where it comes back."""
    if not evidence.parameters and (evidence.return_type or evidence.only_reads or is_plural(word)):
        return True
    # A call of its own name is none: `size.Offset(offset)`.
    chains = [one.names[: -1 if one.form is Form.CALL else None] for one in evidence.facts.returned]
    given_back = {part for chain in chains for name in chain for part in name_words(name)}
    made = {*evidence.result[0], *given_back}
    return word in made or singular(word) in made or "fixture" in evidence.function.modifiers


def _is_plain(word: str) -> bool:
    """Whether a reader knows the word: no clipped one of a few letters, none with a number."""
    is_short = len(word) < _MIN_PLAIN and word_bucket(word) > _USUAL and word_in_full(word) == word
    return not is_short and not any(map(str.isdigit, word_in_full(word)[:-2]))


def _the(words: Sequence[str]) -> str:
    """The thing with "the", which is plain where it is said of what it is."""
    return noun_phrase(words) if starts_determined(words) else f"the {' '.join(map(word_in_full, words))}"


def _what(words: Sequence[str], evidence: NameEvidence) -> str:
    """The thing with what it is of: the class around it, or the only thing that is handed in."""
    if starts_determined(words):
        return noun_phrase(words)
    if not evidence.parameters:
        owner = evidence.owner
        is_another = evidence.result == (owner, False)
        if not evidence.is_thing or not evidence.is_method or is_another:
            return noun_phrase(words)
        return f"{_the(words)} of {evidence.owner_in_words}" if set(owner).isdisjoint(words) else noun_phrase(words)
    given = evidence.first_parameter
    is_one = bool(given) and len(evidence.parameters) == 1 and given[-1] not in MANNERS
    is_one = is_one and given[-1] not in GERUNDS and "implicit " not in evidence.function.signature
    if is_one and tuple(words[: len(given)]) == given and is_phrase(words[len(given) :]):
        return f"{_the(words[len(given) :])} of {noun_phrase(given, given=given)}"
    if is_one and set(given).isdisjoint(words):
        return f"{_the(words)} for {noun_phrase(given, given=given)}"
    return noun_phrase(words)


def _flag(words: Sequence[str], evidence: NameEvidence) -> str:
    """An adjective that answers: `enabled`, `expired`."""
    is_answer = len(words) == 1 and is_adjective(words[0]) and _is_boolean(evidence) and not evidence.parameters
    is_asked = is_answer and words[0] not in VERBS and evidence.is_method
    return f"reports whether {evidence.owner_in_words or 'it'} is {words[0]}" if is_asked else ""


def is_component(evidence: NameEvidence) -> bool:
    """Whether a function with a capital is a part of a user interface, named after what it shows."""
    function = evidence.function
    returned = [one.text.lstrip("( ") for one in evidence.facts.returned if one.form is not Form.NOTHING]
    is_markup = function.language in _COMPONENTS and any(one.startswith(_MARKUP) for one in returned)
    is_composable = function.language == "kotlin" and "@Composable" in function.canonical_source[:_HEAD_CHARS]
    return function.name[:1].isupper() and (is_markup or is_composable)


def _component(words: Sequence[str], evidence: NameEvidence) -> str:
    """A component of a user interface gives back markup, and its name begins with a capital."""
    if not is_component(evidence) or not is_phrase(words):
        return ""
    return f"renders {noun_phrase(words)}"


# What a question is asked with, and how its answer says it.
_ASKED = grammar_table("questions")
_MODIFIED = grammar_words("modified")


def question_clause(words: Sequence[str], evidence: NameEvidence) -> str:
    """The clause of a question; "" where it is none, or its result is no answer."""
    if not words or not evidence.may_be_boolean or (words[-1] in _MODIFIED and not evidence.return_type):
        return ""
    claim = claim_of(words, evidence)
    return f"reports whether {claim}" if claim else ""


def claim_of(words: Sequence[str], evidence: NameEvidence) -> str:
    """What is claimed: "the session is expired"; "" where the words do not say it."""
    asked, rest = words[0], words[1:]
    if words[-1] in ("exists", "exist") and is_phrase(words[:-1]):
        return f"{noun_phrase(words[:-1], given=evidence.given)} exists"
    if asked not in _ASKED:
        return ""
    lead = _ASKED[asked]
    if not rest or lead in ("equals", "are"):
        return ""
    match lead:
        case "is" | "was":
            return _state_claim(lead, rest, evidence)
        case "has":
            return _possession(rest, evidence)
        case "can" | "should" | "must" | "will":
            return _ability(lead, rest, evidence)
    phrase = noun_phrase(rest, given=evidence.given, article="a")
    return f"{subject_of(evidence)} {lead} {phrase}" if phrase else ""


def subject_of(evidence: NameEvidence) -> str:
    """Who a question is about: the only parameter, the class around it, or it."""
    if evidence.parameters:
        named = evidence.first_parameter if len(evidence.parameters) == 1 else ()
        return noun_phrase(named, given=named) if named and named[-1] not in MANNERS else "it"
    return evidence.owner_in_words or "it"


def _state_claim(lead: str, rest: Sequence[str], evidence: NameEvidence) -> str:
    """`is_expired`, `is_session_expired`, `is_valid_name`, `is_directory`."""
    is_denied = rest[0] == "not"
    rest = rest[1:] if is_denied else rest
    lead = f"{lead} not" if is_denied else lead
    if not rest:
        return ""
    if rest[0] in PREPOSITIONS:
        return ""
    cut = next((place for place, word in enumerate(rest) if word in PREPOSITIONS), len(rest))
    said, parts = rest[:cut], prepositional_parts(rest[cut:], evidence)
    if parts is None:
        return ""
    if is_adjective(said[-1]):
        if len(said) == 1:
            return f"{_subject_beside(rest, evidence)} {lead} {said[0]} {parts}".strip()
        phrase = noun_phrase(said[:-1], given=evidence.given)
        return f"{phrase} {lead} {said[-1]} {parts}".strip() if phrase else ""
    phrase = noun_phrase(said, article="a")
    return f"it {lead} {phrase} {parts}".strip() if phrase else ""


def _subject_beside(rest: Sequence[str], evidence: NameEvidence) -> str:
    """The subject, unless the claim names it already: no "a string is a string"."""
    subject = subject_of(evidence)
    last = subject.split(" ")[-1].lower()
    return "it" if last in rest or not rest else subject


def _possession(rest: Sequence[str], evidence: NameEvidence) -> str:
    """`has_parent`."""
    phrase = noun_phrase(rest, article="a")
    return f"{evidence.owner_in_words or 'it'} has {phrase}" if phrase else ""


def _ability(lead: str, rest: Sequence[str], evidence: NameEvidence) -> str:
    """`can_write`, `should_retry_request`."""
    subject = subject_of(evidence) if not evidence.parameters else "it"
    verb = verb_at(rest)
    if verb is None:
        return ""
    object_words = rest[verb.length :]
    base = f"{verb.base} {verb.particle}".strip()
    if not object_words:
        return f"{subject} {lead} {base}"
    cut = next((place for place, word in enumerate(object_words) if word in PREPOSITIONS), len(object_words))
    parts = prepositional_parts(object_words[cut:], evidence)
    phrase = noun_phrase(object_words[:cut], given=evidence.given) if cut else ""
    return "" if parts is None or (cut and not phrase) else " ".join(filter(None, (subject, lead, base, phrase, parts)))


def marked_question(words: Sequence[str], evidence: NameEvidence) -> str:
    """A name that ends with a question mark: `empty?`, `include?`, `valid_token?`."""
    if words[0] in _ASKED:
        return question_clause(words, evidence)
    if not evidence.may_be_boolean and evidence.facts.returned:
        return ""
    if not is_adjective(words[-1]):
        is_claim = is_adjective(words[0]) and is_phrase(words)
        return (
            f"reports whether it is {with_a(' '.join(map(word_in_full, words)))}"
            if is_claim and noun_phrase(words, article="a").startswith("a")
            else ""
        )
    return f"reports whether {subject_of(evidence)} is {words[0]}" if len(words) == 1 else ""
