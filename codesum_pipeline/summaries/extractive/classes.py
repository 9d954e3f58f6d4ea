"""The text of a class: what it stands for, what it holds and what it can do."""

from codesum_pipeline.model.documents import Level, PurposeSource, WrittenText
from codesum_pipeline.summaries.extractive.children import (
    abilities,
    bare_name,
    noun_names,
    ranked,
    responsibilities,
    voices,
)
from codesum_pipeline.summaries.extractive.doc_comments import docstring_of
from codesum_pipeline.summaries.extractive.foreign_roles import field_name, kind_of
from codesum_pipeline.summaries.extractive.intent import further_sentence
from codesum_pipeline.summaries.extractive.keywords import DOCSTRING, NAME, PARAMETER, merge_keywords
from codesum_pipeline.summaries.extractive.namespaces import held_names, is_namespace, what_it_holds
from codesum_pipeline.summaries.extractive.places import area_of
from codesum_pipeline.summaries.extractive.plain import (
    clip,
    enumerate_first,
    enumerate_words,
    join_sentences,
    printable,
    sentence,
)
from codesum_pipeline.summaries.extractive.purpose import purpose_from_docstring
from codesum_pipeline.summaries.extractive.word_lists import word_set
from codesum_pipeline.summaries.extractive.words import split_identifier, spoken, with_article
from codesum_pipeline.summaries.extractive.written import MAX_INTENT, MAX_SUMMARY, MIN_SUMMARY, Written, finished
from codesum_pipeline.summaries.inputs import ClassInput
from codesum_pipeline.summaries.own_names import own_names

_PURPOSE_CHARS = 360
_MAX_ABILITIES = 4
_MAX_FIELDS = 6
_MAX_VALUES = 8
_FURTHER_CHARS = 200
_PLAIN_BASES = word_set(
    """
    object ABC Protocol Generic Enum IntEnum StrEnum Flag IntFlag NamedTuple TypedDict BaseModel TestCase Exception
    BaseException
    """
)


def write_class(given: ClassInput) -> Written:
    """Write one class's text from its head and its members' texts."""
    doc = docstring_of(given)
    told = purpose_from_docstring(doc)
    if told:
        purpose, source, used = told[0], PurposeSource.DOCSTRING, told[1]
    elif is_namespace(given, kind=_kind(given)):
        purpose, source, used = what_it_holds(given), PurposeSource.CHILDREN, 0
    else:
        purpose, source, used = _purpose(given), PurposeSource.NAME, 0
    about = "" if source is PurposeSource.CHILDREN else _can(given)
    summary = join_sentences([clip(purpose, _PURPOSE_CHARS), _holds(given, purpose), about], MAX_SUMMARY)
    if len(summary) < MIN_SUMMARY:
        summary = join_sentences([summary, f"Defined in {area_of(given.id.split('::', 1)[0])}."], MAX_SUMMARY)
    further = further_sentence(doc.sentences[used:], summary)
    part = f"{_kind(given).capitalize()} in {area_of(given.id.split('::', 1)[0])}{_based_on(given)}"
    fields = _field_names(given)
    own = [(given.name, NAME), *((base, PARAMETER) for base in given.bases), *((name, PARAMETER) for name in fields)]
    own.extend((word, DOCSTRING) for one in doc.sentences[:3] for word in one.split())
    text = WrittenText(
        summary=summary,
        business_intent=join_sentences([clip(further, _FURTHER_CHARS), sentence(part)], MAX_INTENT),
        keywords=merge_keywords(own, voices(given.children), fallback=[*split_identifier(given.id), "class"]),
        responsibilities=responsibilities(given.children),
    )
    return finished(text, source, own=own_names(given) | held_names(given.children))


def _kind(given: ClassInput) -> str:
    kinds = {
        "exception": "error", "enum": "enumeration", "dataclass": "record", "namedtuple": "record",
        "typeddict": "record type", "model": "data model", "protocol": "protocol", "abstract": "base class",
        "test": "test case",
    }  # fmt: skip
    found = next((kind for modifier, kind in kinds.items() if modifier in given.modifiers), "")
    return found or ("class" if given.language == "python" else kind_of(given))


def _base_words(given: ClassInput) -> list[str]:
    names = [base.partition("[")[0].partition("(")[0].rpartition(".")[2] for base in given.bases]
    return [words for name in names if name not in _PLAIN_BASES and (words := spoken(printable(name).strip("_")))]


def _based_on(given: ClassInput) -> str:
    bases = _base_words(given)
    return f", based on {enumerate_words([with_article(base, definite=True) for base in bases[:2]])}" if bases else ""


def _purpose(given: ClassInput) -> str:
    words = spoken(given.name.strip("_")) or printable(given.name) or "class"
    kind = _kind(given)
    bases = _base_words(given)
    of_base = f", a kind of {bases[0]}" if bases and bases[0] != words else ""
    if kind == "error":
        return f"Signals {with_article(words)}{of_base}."
    if kind == "enumeration":
        values = list(map(spoken, _field_names(given)))
        shown = enumerate_first(values, _MAX_VALUES)
        return f"Enumerates {words}: {shown}." if values else f"Enumerates {words}."
    if kind == "test case":
        return f"Tests {words.removeprefix('test ').removeprefix('tests ')}{_tested(given)}."
    if kind in ("protocol", "base class"):
        if words.split(" ", 1)[0] in ("has", "supports", "can", "is", "needs"):
            return f"Defines the duty of an object that {words}{of_base}."
        return f"Defines what every {words} must offer{of_base}."
    if kind in ("record", "record type", "data model"):
        return f"Describes {with_article(words)}{of_base}."
    if words.endswith("mixin"):
        return f"Mixin that adds {words.removesuffix('mixin').strip() or 'behaviour'} to a class."
    return f"Represents {with_article(words)}{of_base}."


def _tested(given: ClassInput) -> str:
    names = [bare_name(child) for child in ranked(given.children) if bare_name(child).startswith("test")]
    topics = list(dict.fromkeys(words for name in names if (words := spoken(name.removeprefix("test")))))
    return f": {enumerate_words(topics[:4])}" if topics else ""


def _field_names(given: ClassInput) -> list[str]:
    if given.language == "python":
        return [printable(field.partition(":")[0]).strip() for field in given.fields]
    return [name for field in given.fields if (name := printable(field_name(field, given.language)))]


def _holds(given: ClassInput, purpose: str) -> str:
    if "enum" in given.modifiers and "Enumerates" in purpose:
        return ""
    fields = [name for name in _field_names(given) if not name.startswith("__")]
    fields = [name for name in fields if not name.startswith("_")] or fields
    names = [spoken(name.strip("_")) for name in fields]
    names = list(dict.fromkeys(name for name in names if name))
    if not names:
        return ""
    listed = enumerate_first(names, _MAX_FIELDS)
    return f"{'Its values include' if 'enum' in given.modifiers else 'Holds'} {listed}."


def _can(given: ClassInput) -> str:
    if "test" in given.modifiers:
        return ""
    verbs = abilities(given.children, limit=_MAX_ABILITIES)
    nouns = noun_names(given.children, limit=_MAX_ABILITIES)
    nested = [spoken(bare_name(child)) for child in ranked(given.children) if child.level is Level.CLASS][:2]
    parts = [
        f"can {enumerate_words(verbs)}" if verbs else "",
        f"gives {enumerate_words(nouns)}" if nouns and len(verbs) < _MAX_ABILITIES else "",
    ]
    if nested:
        parts.append(f"contains {enumerate_words(nested)}")
    parts = [part for part in parts if part]
    return sentence("; ".join(parts)) if parts else ""
