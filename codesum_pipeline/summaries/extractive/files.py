"""The text of a parsed source file: its author's words, then what it defines, exports and imports."""

from codesum_pipeline.model.documents import Level, PurposeSource
from codesum_pipeline.summaries.documentation.doc_comments import docstring_of
from codesum_pipeline.summaries.documentation.opening import opening_of
from codesum_pipeline.summaries.extractive.children import bare_name, names_of, offers, ranked, told_of_few
from codesum_pipeline.summaries.extractive.code_facts import telling_texts
from codesum_pipeline.summaries.extractive.composing import composed
from codesum_pipeline.summaries.extractive.keywords import BODY, DOCSTRING, NAME, PARAMETER
from codesum_pipeline.summaries.extractive.naming import fact, listed, named, plainly, shared_prefix
from codesum_pipeline.summaries.extractive.places import folder_of, name_of_file, stem_of
from codesum_pipeline.summaries.extractive.reexported import reexported
from codesum_pipeline.summaries.extractive.written import ExtractiveText
from codesum_pipeline.summaries.inputs import FileInput
from codesum_pipeline.summaries.own_names import own_names

_MAX_CLASSES = 8
_MAX_FUNCTIONS = 12
_MAX_NAMES = 6
# Where the first part of an import's path names the package.
_PATHED = ("javascript", "typescript", "tsx")
# Only these hand on what they include.
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp")
# What names of packages begin with that are those of hosts.
_DOMAINS = frozenset(("org", "com", "net", "io", "dev", "edu"))
# What a path starts with that leads nowhere else.
_LANGUAGE_ROOTS = frozenset(("crate", "self", "super", "std"))


def write_file(given: FileInput) -> ExtractiveText:
    """Write one file's text from its head and its top-level symbols' names and texts."""
    doc = docstring_of(given)
    told, used = opening_of(doc)
    classes, functions = names_of(given.children, Level.CLASS), names_of(given.children, Level.FUNCTION)
    prefix = shared_prefix([*classes, *functions])
    # Of tests the lead says that they are tests; classes keep the word.
    listed_classes = listed(classes, _MAX_CLASSES, prefix=() if prefix == ("test",) else prefix)
    told_more = "" if told else told_of_few(given.children)
    imported = [*given.imports, *(one.source for one in given.reexports)]
    told_names = [name for name in given.globals if not name.startswith("_") and name.strip("$").isidentifier()]
    literals = telling_texts(
        one for one in given.literals if one[:1] != "." and not any(one in name for name in imported)
    )
    children = [bare_name(child) for child in ranked(given.children)[:20]]
    words = [(stem_of(given.name), NAME), *((name, PARAMETER) for name in (*given.globals, *children))]
    words += [*((name, BODY) for name in given.imports), *((text, DOCSTRING) for text in literals)]
    return composed(
        given,
        told,
        [
            # Its only class is named by what is told of it.
            "" if told_more and len(classes) == 1 else fact("Classes:", listed_classes),
            offers(functions, prefix, "Functions:", _MAX_FUNCTIONS),
            named("Constants:" if all(map(str.isupper, told_names)) else "Defines", told_names, _MAX_NAMES),
            "" if given.language in ("c", "cpp") and not given.name.endswith(_HEADERS) else reexported(given.reexports),
            told_more,
            fact("Mentions", literals),
            fact("Imports", plainly(_imported(given), _MAX_NAMES)),
        ],
        name=f"File {name_of_file(given.id)}.",
        part=folder_of(given.id),
        source=PurposeSource.DOCSTRING if told else PurposeSource.CHILDREN if given.children else PurposeSource.NAME,
        words=words,
        prose=doc.sentences,
        used=used,
        own=own_names(given),
    )


def _imported(given: FileInput) -> list[str]:
    """The packages from elsewhere that it imports, each by the name that tells most."""
    names = [name.strip("\"'<>") for name in given.imports if not name.startswith((".", "/", '"'))]
    # In PHP a class without a namespace and a function are no packages.
    told = [_package(name, given.language) for name in names if given.language != "php" or "\\" in name]
    own = {*_LANGUAGE_ROOTS, *(part.lower() for part in given.id.split("/"))}
    return [name for name in dict.fromkeys(told) if len(name) > 1 and name[0] != "_" and name.lower() not in own]


def _package(name: str, language: str) -> str:
    """`node:fs/promises.readFile` gives `node fs`, `@a/b/c` `a b`, `example.com/mail` and `org.mail.Test` `mail`."""
    if language in _PATHED:
        parts = name.strip("@").split("/")[: 1 + name.startswith("@")]
        return " ".join(parts).partition(".")[0].replace(":", " ")
    parts = name.replace("::", ".").replace("\\", ".").rpartition("/")[2].split(".")
    return parts[-1] if language == "haskell" else next((part for part in parts if part not in _DOMAINS), parts[0])
