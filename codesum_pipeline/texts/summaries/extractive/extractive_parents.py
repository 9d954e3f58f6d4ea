"""The texts of classes, files and folders: their authors' words or their names in words, then what they hold."""

import re
from collections.abc import Sequence
from functools import cache

from codesum_pipeline.ground.model.document import Level, PurposeSource
from codesum_pipeline.ground.model.ids import ROOT_MODULE
from codesum_pipeline.ground.model.symbol import Reexport
from codesum_pipeline.ground.profiles.language_profiles import Trait, has_trait, languages_with, profiles
from codesum_pipeline.symbols.parsing.facts import MAX_FACTS
from codesum_pipeline.texts.summaries.documentation.docstrings import (
    docstring_of,
    joined,
    opening_of,
    read_documentation,
)
from codesum_pipeline.texts.summaries.documentation.plain_sentences import printable, word_table
from codesum_pipeline.texts.summaries.documentation.prose import read_prose
from codesum_pipeline.texts.summaries.extractive.code_facts import telling_texts
from codesum_pipeline.texts.summaries.extractive.composing import (
    ExtractiveText,
    bare_name,
    composed,
    names_of,
    offers,
    own_names,
    ranked,
    told_of_few,
)
from codesum_pipeline.texts.summaries.extractive.text_files import is_prose
from codesum_pipeline.texts.summaries.extractive.words import (
    BODY,
    DOCSTRING,
    NAME,
    PARAMETER,
    capitalized,
    fact,
    folder_of,
    listed,
    name_of_file,
    named,
    place_of,
    plainly,
    said,
    shared_prefix,
    shortened,
    stem_of,
)
from codesum_pipeline.texts.summaries.inputs import ChildText, ClassInput, FileInput, ModuleInput, TextFileInput

_MAX_FIELDS = 10
_MAX_METHODS = 12
_MAX_CLASSES = 6
_MAX_BASES = 4
# The word for the kind is among the first words: `pub(crate) enum Mode`, `type Row struct`.
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
                "Derives" if has_trait(given.language, Trait.DERIVING) else "Extends",
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
    """The language's word for a class: class, struct, enum, trait and so on."""
    head = given.signature.replace("(", " ").replace(")", " ").replace("{", " ")
    words = [*given.modifiers, *head.split()[:_HEAD_WORDS]]
    if has_trait(given.language, Trait.ONLY_CLASSES) or "class" in words:
        return "enum" if "enum" in words else "class"
    found = [_KINDS[word] for word in words if word in _KINDS]
    # `type Store struct` is a struct, `type Id = string` a type.
    return next((kind for kind in found if kind not in ("type", "data type")), found[0] if found else "class")


def _field_name(field: str, language: str) -> str:
    """The name of a field as written: `Request *http.Request` in Go, `name: string` elsewhere."""
    name = printable(field).partition(":")[0].strip()
    name = name.partition(" ")[0] if has_trait(language, Trait.TYPE_FOLLOWS_NAME) else name.rpartition(" ")[2]
    return "" if name.startswith("__") else name.strip("@$*&")


_FILE_CLASSES = 8
_MAX_FUNCTIONS = 12
_MAX_NAMES = 6
# Among the files of C and C++, only these pass on what they include.
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp")
# First parts of package names that are made from host names.
_DOMAINS = frozenset(("org", "com", "net", "io", "dev", "edu"))
# First parts of a path that name no other package.
_LANGUAGE_ROOTS = frozenset(("crate", "self", "super", "std"))


def write_file(given: FileInput) -> ExtractiveText:
    """Write one file's text from its head and its top-level symbols' names and texts."""
    doc = docstring_of(given)
    told, used = opening_of(doc)
    classes, functions = names_of(given.children, Level.CLASS), names_of(given.children, Level.FUNCTION)
    prefix = shared_prefix([*classes, *functions])
    # The lead says that tests are tests; classes keep the word.
    listed_classes = listed(classes, _FILE_CLASSES, prefix=() if prefix == ("test",) else prefix)
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
            # The text of its only class names the class.
            "" if told_more and len(classes) == 1 else fact("Classes:", listed_classes),
            offers(functions, prefix, "Functions:", _MAX_FUNCTIONS),
            named("Constants:" if all(map(str.isupper, told_names)) else "Defines", told_names, _MAX_NAMES),
            ""
            if has_trait(given.language, Trait.MACROS) and not given.name.endswith(_HEADERS)
            else reexported(given.reexports),
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
    """The external packages that it imports, each by its most informative name."""
    names = [name.strip("\"'<>") for name in given.imports if not name.startswith((".", "/", '"'))]
    # In PHP a class without a namespace and a function are no packages.
    told = [
        _package(name, given.language)
        for name in names
        if not has_trait(given.language, Trait.NAMESPACED) or "\\" in name
    ]
    own = {*_LANGUAGE_ROOTS, *(part.lower() for part in given.id.split("/"))}
    return [name for name in dict.fromkeys(told) if len(name) > 1 and name[0] != "_" and name.lower() not in own]


def _package(name: str, language: str) -> str:
    """`node:fs/promises.readFile` gives `node fs`, `@a/b/c` `a b`, `example.com/mail` and `org.mail.Test` `mail`."""
    if has_trait(language, Trait.PATHS_TO_PACKAGES):
        parts = name.strip("@").split("/")[: 1 + name.startswith("@")]
        return " ".join(parts).partition(".")[0].replace(":", " ")
    parts = name.replace("::", ".").replace("\\", ".").rpartition("/")[2].split(".")
    return (
        parts[-1]
        if has_trait(language, Trait.LAST_PART_TELLS)
        else next((part for part in parts if part not in _DOMAINS), parts[0])
    )


_OPENING_CHARS = 360
_MAX_FILES = 12
_MAX_FOLDERS = 8
# The files that speak for their folder.
_FACTS = ("File ", "Classes:", "Functions:", "Tests:", "Constants:", "Defines ", "Re-exports ", "Mentions ", "Imports ")
_ENTRY_FILES = ("__init__.py", "mod.rs", "lib.rs", "doc.go", "package-info.java", "index.js", "index.ts", "init.lua")


def write_module(given: ModuleInput) -> ExtractiveText:
    """Write one folder's text from its README and its children's texts."""
    prose = read_prose(given.readme or "")
    told = joined(*prose.opening, limit=_OPENING_CHARS) or _from_entry(given)
    files = [name for child in _of(given, Level.FILE) if _is_word(name := stem_of(bare_name(child)))]
    folders = [bare_name(child) for child in _of(given, Level.MODULE)]
    is_root = given.id in ("", ROOT_MODULE)
    return composed(
        given,
        told,
        [
            fact("Folders:", plainly(folders, _MAX_FOLDERS)),
            fact("Files:", plainly(files, _MAX_FILES)),
        ],
        name=f"Folder {plainly([given.name], 1)}.",
        part="The repository's root folder." if is_root else folder_of(given.id),
        source=PurposeSource.DOCSTRING if told else PurposeSource.CHILDREN,
        words=[(given.name, NAME), *((name, PARAMETER) for name in (prose.title, *folders))],
        prose=prose.sentences,
        used=1,
        own=own_names(given),
    )


def _of(given: ModuleInput, level: Level) -> list[ChildText]:
    return [child for child in ranked(given.children) if child.level is level]


def _is_word(name: str) -> bool:
    """Whether a name was given by a person: no number, no digest."""
    return sum(map(str.isdigit, name)) * 3 < len(name)


def _from_entry(given: ModuleInput) -> str:
    """The words of the file that speaks for its folder, where an author wrote them."""
    for child in _of(given, Level.FILE):
        summary = printable(child.summary)
        if bare_name(child) in _ENTRY_FILES and not child.is_placeholder and not summary.startswith(_FACTS):
            return joined(summary.partition(". ")[0], limit=_OPENING_CHARS)
    return ""


_MAX_REEXPORTS = 8
_MAX_SOURCES = 3
_ALL = "*"
_HEADER_ENDINGS = ("h", "hh", "hpp", "hxx", "inl")


def reexported(reexports: Sequence[Reexport]) -> str:
    """`Re-exports X, Y; all of z.`; empty without any. Where all names come from one module, it says which."""
    whole = [_short(one.source) for one in reexports if one.name == _ALL]
    sources = dict.fromkeys(_short(one.source) for one in reexports if one.name != _ALL and one.original is not None)
    said = shortened((printable(one.name) for one in reexports if one.name not in (_ALL, "default")), _MAX_REEXPORTS)
    if len(sources) == 1 and (source := next(iter(sources))):
        said = f"{said} from {source}" if said else ""
    everything = f"all of {shortened(whole, _MAX_SOURCES)}" if whole else ""
    return fact("Re-exports", "; ".join(filter(None, (said, everything))))


def _short(source: str) -> str:
    """A module without the way to it: `./a/b` as `b`, `crate::a::b` as `b`, `.x.y` as `y`."""
    path = source.replace("::", "/").rstrip("/.")
    last = path.rpartition("/")[2] or path
    name, _, ending = last.rpartition(".")
    if ending in _HEADER_ENDINGS:
        return printable(last)
    return printable(name if name and _is_module(ending) else ending)


_MAX_CHARS = 400
_MAX_SENTENCES = 2


def author_opening(given: ClassInput | FileInput | TextFileInput | ModuleInput) -> str:
    """A class's or file's docstring, a folder's README, or a text for readers: the first sentences; "" for none."""
    match given:
        case ClassInput() | FileInput():
            return opening_of(docstring_of(given), most=_MAX_SENTENCES)[0]
        case TextFileInput():
            return _of_prose(given.text) if is_prose(given) else ""
        case ModuleInput():
            return _of_prose(given.readme or "")


def author_opening_of_function(docstring: str | None, language: str, name: str) -> str:
    """The first sentences of a function's documentation; "" if it says nothing."""
    if not docstring:
        return ""
    return opening_of(read_documentation(docstring, language, name), most=_MAX_SENTENCES)[0]


def _of_prose(text: str) -> str:
    return joined(*read_prose(text).opening, limit=_MAX_CHARS)


@cache
def _is_module(ending: str) -> bool:
    """Whether files with an ending are imported by their paths."""
    return any(ending in profiles()[language].extensions for language in languages_with(Trait.FILES_ARE_MODULES))
