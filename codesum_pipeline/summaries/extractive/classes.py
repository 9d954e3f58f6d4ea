"""The text of a class: its author's words, or its name in words, then what it holds and offers."""

from codesum_pipeline.model.documents import Level, PurposeSource, WrittenText
from codesum_pipeline.summaries.documentation.doc_comments import docstring_of
from codesum_pipeline.summaries.documentation.opening import further_sentence, opening_of
from codesum_pipeline.summaries.documentation.plain import join_sentences, printable
from codesum_pipeline.summaries.documentation.word_lists import word_table
from codesum_pipeline.summaries.extractive.children import names_of, offers, responsibilities, told_of_few, voices
from codesum_pipeline.summaries.extractive.keywords import DOCSTRING, NAME, PARAMETER, merge_keywords
from codesum_pipeline.summaries.extractive.naming import capitalized, fact, listed, said, shared_prefix
from codesum_pipeline.summaries.extractive.places import place_of
from codesum_pipeline.summaries.extractive.words import split_identifier
from codesum_pipeline.summaries.extractive.written import MAX_SUMMARY, Written, finished
from codesum_pipeline.summaries.inputs import ClassInput
from codesum_pipeline.summaries.own_names import own_names

_MAX_FIELDS = 10
_MAX_METHODS = 12
_MAX_CLASSES = 6
_MAX_BASES = 4
# The word for what it is stands among the first: `pub(crate) enum Mode`, `type Row struct`.
_HEAD_WORDS = 6
_KINDS = word_table("kinds")


def write_class(given: ClassInput) -> Written:
    """Write one class's text from its head and its members' names and texts."""
    doc = docstring_of(given)
    told, used = opening_of(doc)
    kind = _kind(given)
    fields = list(filter(None, (_field_name(one, given.language) for one in given.fields)))
    fields = [name for name in fields if not name.startswith("_")] or fields
    methods = [name for name in names_of(given.children, Level.FUNCTION) if name != given.name]
    classes = names_of(given.children, Level.CLASS)
    bases = [
        printable(base).partition("<")[0].partition("[")[0].partition("(")[0].rpartition(".")[2] for base in given.bases
    ]
    path = given.id.partition("::")[0]
    prefix = shared_prefix(methods)
    facts = [
        fact(
            "Derives" if given.language == "haskell" else "Extends",
            listed([base for base in bases if base != "object"], _MAX_BASES),
        ),
        fact("Values:" if kind == "enum" else "Fields:", listed(fields, _MAX_FIELDS, prefix=shared_prefix(fields))),
        offers(methods, prefix, "Methods:", _MAX_METHODS),
        fact("Holds", listed(classes, _MAX_CLASSES, prefix=shared_prefix(classes))),
        "" if told or methods or fields else told_of_few(given.children),
    ]
    opening = told or f"{capitalized(kind)} {said(given.name)}."
    summary = join_sentences([opening, *facts], MAX_SUMMARY)
    own = [(given.name, NAME), *((base, PARAMETER) for base in given.bases), *((name, PARAMETER) for name in fields)]
    own.extend((word, DOCSTRING) for one in doc.sentences[:3] for word in one.split())
    text = WrittenText(
        summary=summary,
        business_intent=further_sentence(doc.sentences[used:], summary) or f"Part of {place_of(path)}.",
        keywords=merge_keywords(own, voices(given.children), fallback=[*split_identifier(given.id), "class"]),
        responsibilities=responsibilities(given.children),
    )
    return finished(text, PurposeSource.DOCSTRING if told else PurposeSource.NAME, own=own_names(given), path=path)


def _kind(given: ClassInput) -> str:
    """What the language calls it."""
    head = given.signature.replace("(", " ").replace(")", " ").replace("{", " ")
    words = [*given.modifiers, *head.split()[:_HEAD_WORDS]]
    if given.language == "python" or "class" in words:
        return "enum" if "enum" in words else "class"
    found = [_KINDS[word] for word in words if word in _KINDS]
    # `type Store struct` is a struct, `type Id = string` a type.
    return next((kind for kind in found if kind not in ("type", "data type")), found[0] if found else "class")


def _field_name(field: str, language: str) -> str:
    """The name of a field as written: `Request *http.Request` in Go, `name: string` elsewhere."""
    name = printable(field).partition(":")[0].strip()
    name = name.partition(" ")[0] if language == "go" else name.rpartition(" ")[2]
    return "" if name.startswith("__") else name.strip("@$*&")
