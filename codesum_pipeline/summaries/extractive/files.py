"""The text of a parsed source file: its author's words, then what it defines, exports and imports."""

from codesum_pipeline.model.documents import Level, PurposeSource, WrittenText
from codesum_pipeline.summaries.documentation.doc_comments import docstring_of
from codesum_pipeline.summaries.documentation.docstrings import Docstring
from codesum_pipeline.summaries.documentation.opening import further_sentence, opening_of
from codesum_pipeline.summaries.documentation.plain import join_sentences
from codesum_pipeline.summaries.extractive.children import (
    bare_name,
    names_of,
    offers,
    ranked,
    responsibilities,
    told_of_few,
    voices,
)
from codesum_pipeline.summaries.extractive.code_facts import telling_texts
from codesum_pipeline.summaries.extractive.keywords import BODY, DOCSTRING, NAME, PARAMETER, merge_keywords
from codesum_pipeline.summaries.extractive.naming import fact, listed, plainly, shared_prefix
from codesum_pipeline.summaries.extractive.places import folder_of, name_of_file
from codesum_pipeline.summaries.extractive.reexported import reexported
from codesum_pipeline.summaries.extractive.words import split_identifier
from codesum_pipeline.summaries.extractive.written import MAX_SUMMARY, Written, finished
from codesum_pipeline.summaries.inputs import FileInput
from codesum_pipeline.summaries.own_names import own_names

_MAX_CLASSES = 8
_MAX_FUNCTIONS = 12
_MAX_NAMES = 6
# What a path starts with that leads nowhere else.
_LANGUAGE_ROOTS = frozenset(("crate", "self", "super", "std"))


def write_file(given: FileInput) -> Written:
    """Write one file's text from its head and its top-level symbols' names and texts."""
    doc = file_docstring(given)
    told, used = opening_of(doc)
    stem = given.name.partition(".")[0] or given.name
    classes, functions = names_of(given.children, Level.CLASS), names_of(given.children, Level.FUNCTION)
    prefix = shared_prefix([*classes, *functions])
    constants = [name for name in given.globals if not name.startswith("_")]
    shown = [text for text in given.literals if not text.startswith(".") and text not in given.imports]
    literals = telling_texts(shown)
    facts = [
        fact("Classes:", listed(classes, _MAX_CLASSES, prefix=prefix)),
        offers(functions, prefix, "Functions:", _MAX_FUNCTIONS),
        fact("Constants:", listed(constants, _MAX_NAMES, prefix=shared_prefix(constants))),
        reexported(given.reexports),
        "" if told else told_of_few(given.children),
        fact("Mentions", literals),
        fact("Imports", plainly(_imported(given), _MAX_NAMES)),
    ]
    opening = told or f"File {name_of_file(given.id)}."
    summary = join_sentences([opening, *facts], MAX_SUMMARY)
    own = [(stem, NAME), *((name, PARAMETER) for name in given.globals), *((name, BODY) for name in given.imports)]
    own.extend((word, DOCSTRING) for one in doc.sentences[:4] for word in one.split())
    own.extend((bare_name(child), PARAMETER) for child in ranked(given.children)[:20])
    own.extend((text, DOCSTRING) for text in literals)
    text = WrittenText(
        summary=summary,
        business_intent=further_sentence(doc.sentences[used:], summary) or folder_of(given.id),
        keywords=merge_keywords(own, voices(given.children), fallback=[*split_identifier(given.id), "file"]),
        responsibilities=responsibilities(given.children),
    )
    source = PurposeSource.DOCSTRING if told else PurposeSource.CHILDREN if given.children else PurposeSource.NAME
    return finished(text, source, own=own_names(given))


def file_docstring(given: FileInput) -> Docstring:
    """What a file's documentation says; many open with a heading that only repeats the module's name."""
    doc = docstring_of(given)
    own = given.id.removesuffix(".py").replace("/", ".").lower()
    kept = tuple(
        one
        for number, one in enumerate(doc.sentences)
        if number or not (" " not in one.strip(".") and own.endswith(one.strip(".").lower()))
    )
    return Docstring(kept)


def _imported(given: FileInput) -> list[str]:
    """The packages from elsewhere that it imports, by their first names."""
    names = [name.strip("\"'<>") for name in given.imports if not name.startswith((".", "/", '"'))]
    firsts = (name.replace("::", ".").replace("\\", ".").split("/")[-1].split(".")[0] for name in names)
    own = {*_LANGUAGE_ROOTS, *(part.lower() for part in given.id.split("/"))}
    return [name for name in dict.fromkeys(firsts) if len(name) > 1 and name[0] != "_" and name.lower() not in own]
