"""A name that is a noun says what comes back: `size`, `user.full_name`, `distance(a, b)`.

That holds only where a value comes back, and where the noun is no action and no kind of function.
"""

from collections.abc import Sequence

from codesum_pipeline.foundation.data_model.symbol import Form
from codesum_pipeline.texts.summaries.extractive.name_evidence import NameEvidence
from codesum_pipeline.texts.summaries.extractive.noun_phrases import (
    PREPOSITIONS,
    is_adjective,
    is_phrase,
    is_plural,
    noun_phrase,
)
from codesum_pipeline.texts.summaries.extractive.verb_clauses import MANNERS, prepositional_parts
from codesum_pipeline.texts.summaries.extractive.verb_forms import VERBS, grammar_list, grammar_words
from codesum_pipeline.texts.summaries.extractive.words import word_in_full

_NO_RESULTS = grammar_words("no_results")
_NO_RESULT_ENDS = grammar_list("no_result_ends")
_COMPONENTS = frozenset(("javascript", "tsx", "typescript"))
_RETURNED_SELF = frozenset(("this", "self", "$this", "*this"))
# Decorators that leave what a function is.
_PLAIN_DECORATORS = (
    "@property", "@cached", "@functools.", "@staticmethod", "@classmethod", "@override", "@overload", "@abstract",
    "@abc.", "@lru_cache", "@cache", "@typing.", "@final", "@contextmanager", "@pytest.fixture", "@fixture",
    "@Override", "@Nullable", "@NonNull", "@NotNull", "@Nonnull", "@JvmStatic", "@Suppress", "@Bean", "@Provides",
    "@inline", "@inlinable", "@discardableResult", "@objc", "@hybrid_property", "@JsonProperty", "@Deprecated",
    "@Composable", "@Singleton", "@VisibleForTesting", "@Json", "@Column", "@Input", "@computed", "@Internal",
)  # fmt: skip


def noun_clause(words: Sequence[str], evidence: NameEvidence) -> str:
    """What a function named by a noun gives back; "" where it may do something else."""
    if component := _component(words, evidence):
        return component
    if not _is_of_values(words, evidence):
        return _flag(words, evidence)
    if fluent := _fluent_setter(words, evidence):
        return fluent
    cut = next((place for place, word in enumerate(words) if place and word in PREPOSITIONS), len(words))
    named, parts = words[:cut], prepositional_parts(words[cut:], evidence)
    if parts is None or not is_phrase(named) or not _is_result(named, evidence):
        return ""
    lead = "provides" if "fixture" in evidence.function.modifiers else "yields" if _is_yielding(evidence) else "returns"
    if parts:
        return f"{lead} {_the(named)} {parts}"
    return f"{lead} {_what(named, evidence)}"


def _is_of_values(words: Sequence[str], evidence: NameEvidence) -> bool:
    """Whether it gives back something that is no answer, and nothing around it says that it does more."""
    source = evidence.function.canonical_source.lstrip()
    is_registered = source.startswith("@") and not source.startswith(_PLAIN_DECORATORS)
    is_made = evidence.gives_value and not _is_boolean(evidence) and not evidence.around.endswith("Controller")
    return is_made and not is_registered


def _is_boolean(evidence: NameEvidence) -> bool:
    written = evidence.return_type.lower()
    if written:
        return "bool" in written.split("[")[0].split("<")[0]
    forms = {one.form for one in evidence.facts.returned}
    return bool(forms) and forms <= {Form.TRUTH, Form.NOTHING}


def _is_result(words: Sequence[str], evidence: NameEvidence) -> bool:
    head = words[-1]
    if words[0] in VERBS or not _NO_RESULTS.isdisjoint((words[0], head)):
        return evidence.only_reads and head not in VERBS | _NO_RESULTS
    if head in VERBS or head.endswith(_NO_RESULT_ENDS):
        return evidence.only_reads
    return True


def _the(words: Sequence[str]) -> str:
    return noun_phrase(words) if is_plural(words[-1]) else f"the {' '.join(map(word_in_full, words))}"


def _what(words: Sequence[str], evidence: NameEvidence) -> str:
    """The thing with what it is of: the class around it, or the only thing that is handed in."""
    spoken = " ".join(map(word_in_full, words))
    if not evidence.parameters:
        owner, inner = evidence.owner, words[len(evidence.owner) :]
        if not owner or not evidence.is_method:
            return noun_phrase(words)
        if inner and tuple(words[: len(owner)]) == owner and is_phrase(inner):
            spoken = " ".join(map(word_in_full, inner))
        return f"the {spoken} of {evidence.owner_in_words}" if set(owner).isdisjoint(spoken.split()) else f"the {spoken}"
    given = evidence.first_parameter
    is_one = bool(given) and len(evidence.parameters) == 1 and given[-1] not in MANNERS
    if is_one and tuple(words[: len(given)]) == given and is_phrase(words[len(given) :]):
        inner = " ".join(map(word_in_full, words[len(given) :]))
        return f"the {inner} of {noun_phrase(given, given=given)}"
    if is_one and set(given).isdisjoint(words):
        return f"the {spoken} for {noun_phrase(given, given=given)}"
    return noun_phrase(words)


def _flag(words: Sequence[str], evidence: NameEvidence) -> str:
    """An adjective that answers: `enabled`, `expired`."""
    is_answer = len(words) == 1 and is_adjective(words[0]) and _is_boolean(evidence) and not evidence.parameters
    is_asked = is_answer and words[0] not in VERBS and evidence.is_method
    return f"reports whether {evidence.owner_in_words or 'it'} is {words[0]}" if is_asked else ""


def _fluent_setter(words: Sequence[str], evidence: NameEvidence) -> str:
    """`builder.name("x")` sets the name and gives the builder back."""
    returned = {one.text for one in evidence.facts.returned}
    is_itself = bool(returned) and returned <= _RETURNED_SELF
    if not is_itself or len(evidence.parameters) != 1 or not is_phrase(words):
        return ""
    return f"sets {_what_of_owner(words, evidence)}"


def _what_of_owner(words: Sequence[str], evidence: NameEvidence) -> str:
    spoken = " ".join(map(word_in_full, words))
    return f"the {spoken} of {evidence.owner_in_words}" if evidence.owner else noun_phrase(words)


def _component(words: Sequence[str], evidence: NameEvidence) -> str:
    """A component of a user interface gives back markup, and its name begins with a capital."""
    function = evidence.function
    returned = [one.text.lstrip("( ") for one in evidence.facts.returned if one.form is not Form.NOTHING]
    is_one = function.language in _COMPONENTS and function.name[:1].isupper() and bool(returned)
    if not is_one or not any(one.startswith("<") for one in returned) or not is_phrase(words):
        return ""
    return f"renders {noun_phrase(words)}"


def _is_yielding(evidence: NameEvidence) -> bool:
    return evidence.facts.is_generator and "contextmanager" not in evidence.function.modifiers
