"""The text of a class: its author's words, or its name in words, then what it holds and offers."""

import re

from codesum_pipeline.model.documents import Level, PurposeSource
from codesum_pipeline.parsing.python_facts import MAX_FACTS
from codesum_pipeline.summaries.documentation.doc_comments import docstring_of
from codesum_pipeline.summaries.documentation.opening import opening_of
from codesum_pipeline.summaries.documentation.plain import printable
from codesum_pipeline.summaries.documentation.word_lists import word_table
from codesum_pipeline.summaries.extractive.children import names_of, offers, told_of_few
from codesum_pipeline.summaries.extractive.composing import composed
from codesum_pipeline.summaries.extractive.keywords import NAME, PARAMETER
from codesum_pipeline.summaries.extractive.naming import capitalized, fact, named, said, shared_prefix, shortened
from codesum_pipeline.summaries.extractive.places import place_of
from codesum_pipeline.summaries.extractive.written import ExtractiveText
from codesum_pipeline.summaries.inputs import ClassInput
from codesum_pipeline.summaries.own_names import own_names

_MAX_FIELDS = 10
_MAX_METHODS = 12
_MAX_CLASSES = 6
_MAX_BASES = 4
# The word for what it is stands among the first: `pub(crate) enum Mode`, `type Row struct`.
_HEAD_WORDS = 6
# A type's arguments, or what a base is called with.
_BASE_END = re.compile(r"[<\[(]")
_KINDS = word_table("kinds")


def write_class(given: ClassInput) -> ExtractiveText:
    """Write one class's text from its head and its members' names and texts."""
    doc = docstring_of(given)
    told, used = opening_of(doc)
    kind = _kind(given)
    fields = list(filter(None, (_field_name(one, given.language) for one in given.fields)))
    fields = [name for name in fields if not name.startswith("_")] or fields
    methods = [name for name in names_of(given.children, Level.FUNCTION) if name != given.name]
    bases = [_BASE_END.split(printable(base))[0].rpartition(".")[2] for base in given.bases]
    # Without its `I` an interface would be called as the class that implements it.
    told_bases = [base if said(base) == said(given.name) else said(base) for base in bases if base != "object"]
    return composed(
        given,
        told,
        [
            fact(
                "Derives" if given.language == "haskell" else "Extends",
                shortened(told_bases, _MAX_BASES),
            ),
            named(
                "Values:" if kind == "enum" else "Fields:", fields, _MAX_FIELDS, are_all=len(given.fields) < MAX_FACTS
            ),
            offers(methods, shared_prefix(methods), "Methods:", _MAX_METHODS),
            named("Holds", names_of(given.children, Level.CLASS), _MAX_CLASSES),
            "" if told or methods or fields else told_of_few(given.children),
        ],
        name=f"{capitalized(kind)} {said(given.name)}.",
        part=f"Part of {place_of(given.id.partition('::')[0])}.",
        source=PurposeSource.DOCSTRING if told else PurposeSource.NAME,
        words=[(given.name, NAME), *((name, PARAMETER) for name in (*given.bases, *fields))],
        prose=doc.sentences,
        used=used,
        own=own_names(given),
        path=given.id.partition("::")[0],
    )


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
