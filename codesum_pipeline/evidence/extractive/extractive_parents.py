"""The texts of classes, files and folders: their authors' words or their names in words, then what they hold."""

import re
from collections.abc import Sequence
from functools import cache

from codesum_pipeline.evidence.author_texts.docstrings import (
    docstring_of,
    join_as_sentences,
    opening_of,
    read_documentation,
)
from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable, make_sentence, word_table
from codesum_pipeline.evidence.author_texts.prose import read_prose
from codesum_pipeline.evidence.extractive.class_statements import (
    events_of,
    only_names,
    statements_of_class,
    statements_of_component,
    telling_children,
    with_properties_alone,
)
from codesum_pipeline.evidence.extractive.code_facts import find_telling_texts
from codesum_pipeline.evidence.extractive.composing import (
    ExtractiveText,
    bare_name,
    compose_text,
    names_of_children,
    own_names,
    part_of,
    rank_children,
)
from codesum_pipeline.evidence.extractive.file_definitions import (
    names_of_urls,
    only_names_file,
    told_by_build,
    told_by_class,
    told_by_literals,
)
from codesum_pipeline.evidence.extractive.name_clauses import clause_of_class
from codesum_pipeline.evidence.extractive.text_files import is_prose, known_purpose
from codesum_pipeline.evidence.extractive.themes import (
    headline_of,
    is_of_one_kind,
    names_of_plain_parts,
    only_part,
    theme_of,
    told_below,
    told_by_kinds,
)
from codesum_pipeline.evidence.extractive.words import (
    BODY,
    DOCSTRING,
    NAME,
    PARAMETER,
    capitalize,
    folder_of,
    list_first,
    list_names,
    list_plain_names,
    make_fact,
    name_in_words,
    name_of_file,
    place_of,
    shared_prefix,
    stem_of,
)
from codesum_pipeline.evidence.inputs import ChildText, ClassInput, FileInput, ModuleInput, TextFileInput
from codesum_pipeline.foundation.data_model.document import Level, PurposeSource
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.foundation.data_model.symbol import Reexport
from codesum_pipeline.foundation.language_facts.language_profiles import Trait, has_trait, languages_with, profiles
from codesum_pipeline.foundation.language_facts.writing_systems import has_words
from codesum_pipeline.symbols.parsing.facts import MAX_FACTS

_MAX_FIELDS = 10
# The word for the kind is among the first words: `pub(crate) enum Mode`, `type Row struct`.
_HEAD_WORDS = 6
_KINDS = word_table("kinds")
# What a function type takes is nothing that it holds: `type Listener = (meta: { key: Key }) => void`.
_FUNCTION_TYPE = re.compile(r"^(?:export |declare )*type \w{1,80}(?:<[^=]{0,80}>)? = \(")


def write_class(whole: ClassInput) -> ExtractiveText:
    """Write one class's text from its head and its members' names and texts."""
    class_, events = with_properties_alone(whole), events_of(whole)
    doc = docstring_of(class_)
    opening, _ = opening_of(doc)
    kind = _kind(class_)
    # What an enumeration holds beside its values is declared with a type.
    values = [one for one in class_.fields if ": " not in one] if kind == "enum" else []
    is_caseless = kind == "enum" and class_.language == "swift" and "case " not in class_.own_source
    holds_nothing = is_caseless or _FUNCTION_TYPE.search(class_.signature)
    declared = () if holds_nothing else values or class_.fields
    fields = list(dict.fromkeys(filter(None, (_field_name(one, class_.language) for one in declared))))
    fields = [name for name in fields if not name.startswith("_")] or fields
    methods = [name for name in names_of_children(class_.children, Level.FUNCTION) if name != class_.name]
    are_all = len(class_.fields) < MAX_FACTS
    clause = "" if opening else clause_of_class(class_)
    is_told = bool(opening) and not only_names(opening, class_.name)
    theme = "" if is_told else theme_of(telling_children(class_), Level.FUNCTION, Level.CLASS, own_name=class_.name)
    held = "" if opening or theme else list_names(fields, _MAX_FIELDS, prefix=shared_prefix(fields), are_all=are_all)
    if held and (kind == "enum" or clause.startswith("Holds ")):
        clause, held = f"{clause or 'Is one of'}: {held}", ""
    said = (opening, clause, theme, make_fact("Holds", held))
    place = place_of(class_.id.partition("::")[0])
    return compose_text(
        class_,
        statements_of_component(whole, statements_of_class(class_, kind, fields, said)),
        name=f"{capitalize(kind)} {name_in_words(class_.name)}.",
        part=part_of(place, class_.holder),
        source=PurposeSource.DOCSTRING
        if opening
        else PurposeSource.NAME
        if clause or not theme
        else PurposeSource.CHILDREN,
        words=[(class_.name, NAME), *((name, PARAMETER) for name in (*class_.bases, *fields, *events, *methods))],
        prose=doc.sentences,
        own=own_names(class_),
        path=class_.id.partition("::")[0],
    )


def _kind(class_: ClassInput) -> str:
    """The language's word for a class: class, struct, enum, trait and so on."""
    head = class_.signature.replace("(", " ").replace(")", " ").replace("{", " ")
    words = [*class_.modifiers, *head.split()[:_HEAD_WORDS]]
    if has_trait(class_.language, Trait.ONLY_CLASSES) or "class" in words:
        return "enum" if "enum" in words else "class"
    found = [_KINDS[word] for word in words if word in _KINDS]
    # `type Store struct` is a struct, `type Id = string` a type.
    return next((kind for kind in found if kind not in ("type", "data type")), found[0] if found else "class")


def _field_name(field: str, language: str) -> str:
    """The name of a field as written: `Request *http.Request` in Go, `name: string` elsewhere."""
    name = make_printable(field).partition(":")[0].strip()
    name = name.partition(" ")[0] if has_trait(language, Trait.TYPE_FOLLOWS_NAME) else name.rpartition(" ")[2]
    return "" if name.startswith("__") or name == "serialVersionUID" else name.strip("@$*&")


_MAX_NAMES = 6
# So many names are told without their number.
_MAX_NAMED = 3
# Among the files of C and C++, only these pass on what they include.
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp")
# First parts of package names that are made from host names.
_DOMAINS = frozenset(("org", "com", "net", "io", "dev", "edu"))
# First parts of a path that name no other package.
_LANGUAGE_ROOTS = frozenset(("crate", "self", "super", "std"))


def write_file(file: FileInput) -> ExtractiveText:
    """Write one file's text from its head and its top-level symbols' names and texts."""
    doc = docstring_of(file)
    opening, _ = opening_of(doc)
    is_told = bool(opening) and not only_names_file(opening, file)
    theme = "" if is_told else theme_of(file.children, Level.CLASS, Level.FUNCTION, own_name=stem_of(file.name))
    known = "" if opening or theme else known_purpose(file.id)
    # What only says what it holds is read where nothing else says more.
    held = "" if opening or theme else (fact_of_reexports(file.reexports) if _hands_on(file) else "")
    imported = [*file.imports, *(one.source for one in file.reexports)]
    constants = [name for name in file.globals if not name.startswith("_") and name.strip("$").isidentifier()]
    literals = find_telling_texts(
        one for one in file.literals if one[:1] != "." and not any(one in name for name in imported)
    )
    children = [bare_name(child) for child in rank_children(file.children)[:20]]
    words = [(stem_of(file.name), NAME), *((name, PARAMETER) for name in (*file.globals, *children))]
    words += [*((name, BODY) for name in file.imports), *((text, DOCSTRING) for text in literals)]
    return compose_text(
        file,
        _said_of_file(file, opening, theme, told_by_build(file, known) if known else held, constants, is_told=is_told),
        name=f"File {name_of_file(file.id)}.",
        part=f"Part of {folder_of(file.id)}.",
        source=PurposeSource.DOCSTRING if opening else PurposeSource.CHILDREN if theme else PurposeSource.NAME,
        words=words,
        prose=doc.sentences,
        own=own_names(file) | names_of_urls(file),
    )


def _said_of_file(
    file: FileInput, opening: str, theme: str, held: str, constants: Sequence[str], *, is_told: bool
) -> list[str]:
    """The sentences of a file's text: where an author only names it, what its definitions and texts say follows."""
    if is_told:
        return [opening]
    opening = opening if has_words(opening) else ""
    theme = told_by_class(file, theme)
    if opening or theme or held:
        return [opening, theme, "" if theme or held else told_by_literals(file, ""), held]
    values = _values_in(file, constants)
    return [told_by_literals(file, values) or values]


def _values_in(file: FileInput, constants: Sequence[str]) -> str:
    """What a file of values, or a script, is: how many it defines with the first of them, else what it uses."""
    held = names_of_children(file.children, Level.CLASS) + names_of_children(file.children, Level.FUNCTION)
    noun, names = ("name", held) if held else ("value", constants)
    names = names or [bare_name(child) for child in rank_children(file.children)]
    if 0 < len(names) <= _MAX_NAMED:
        return make_fact("Defines", list_names(names, _MAX_NAMED))
    if names:
        return f"Defines {count_noun(len(names), noun)}, such as {list_names(names[:_MAX_NAMES], _MAX_NAMES)}."
    near = [name_in_words(stem_of(name.rpartition("/")[2])) for name in file.imports if name.startswith((".", "/"))]
    return make_fact("Runs with the packages", list_plain_names(_imported(file), _MAX_NAMES)) or make_fact(
        "Uses", list_first(near, _MAX_NAMES)
    )


def _hands_on(file: FileInput) -> bool:
    """Whether who imports the file can use what it imports: in C and C++ that is what a header includes."""
    return not has_trait(file.language, Trait.MACROS) or file.name.endswith(_HEADERS)


def _imported(file: FileInput) -> list[str]:
    """The external packages that it imports, each by its most informative name."""
    names = [name.strip("\"'<>") for name in file.imports if not name.startswith((".", "/", '"'))]
    # In PHP a class without a namespace and a function are no packages.
    packages = [
        _package(name, file.language)
        for name in names
        if not has_trait(file.language, Trait.NAMESPACED) or "\\" in name
    ]
    own = {*_LANGUAGE_ROOTS, *(part.lower() for part in file.id.split("/"))}
    return [name for name in dict.fromkeys(packages) if len(name) > 1 and name[0] != "_" and name.lower() not in own]


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
# Of so few parts one is a theme.
_FEW_PARTS = 3


# The files whose documentation speaks for their folder.
_ENTRY_FILES = (
    "__init__.py", "mod.rs", "lib.rs", "doc.go", "package-info.java", "index.js", "index.ts", "init.lua",
    "package.scala",
)  # fmt: skip


def write_module(folder: ModuleInput) -> ExtractiveText:
    """Write one folder's text from its README and its children's texts."""
    prose = read_prose(folder.readme or "")
    opening = join_as_sentences(*prose.opening, limit=_OPENING_CHARS) or _from_entry(folder)
    folders = [bare_name(child) for child in _of(folder, Level.MODULE)]
    statements = [opening] if opening else _said_of_folder(folder)
    is_root = folder.id in ("", ROOT_MODULE)
    return compose_text(
        folder,
        statements,
        name=f"Folder {list_plain_names([folder.name], 1)}.",
        part="The repository's root folder." if is_root else f"Part of {folder_of(folder.id)}.",
        source=PurposeSource.DOCSTRING if opening else PurposeSource.CHILDREN,
        words=[(folder.name, NAME), *((name, PARAMETER) for name in (prose.title, *folders))],
        prose=prose.sentences,
        own=own_names(folder) | names_of_plain_parts(folder),
    )


def _said_of_folder(folder: ModuleInput) -> list[str]:
    """The theme of a folder's parts; where that is about few of them, or they are of one kind, first what they are."""
    if part := only_part(folder):
        return [part]
    if is_of_one_kind(folder):
        return [make_sentence(told_by_kinds(folder))]
    theme = theme_of(folder.children, Level.FILE, Level.MODULE, own_name="")
    told = sum(bool(headline_of(child)) for child in folder.children)
    is_theme = told * 2 >= len(folder.children) or len(folder.children) <= _FEW_PARTS
    if theme and is_theme:
        return [theme]
    return [make_sentence(told_by_kinds(folder)) or "Holds 0 parts.", theme or make_sentence(told_below(folder))]


def _of(folder: ModuleInput, level: Level) -> list[ChildText]:
    return [child for child in rank_children(folder.children) if child.level is level]


def _from_entry(folder: ModuleInput) -> str:
    """The first sentence about the file that speaks for its folder, where it says more than names."""
    for child in _of(folder, Level.FILE):
        if bare_name(child) in _ENTRY_FILES and (headline := headline_of(child)):
            return make_sentence(headline)
    return ""


_MAX_REEXPORTS = 8
_MAX_SOURCES = 3
_ALL = "*"
_HEADER_ENDINGS = ("h", "hh", "hpp", "hxx", "inl")


def fact_of_reexports(reexports: Sequence[Reexport]) -> str:
    """`Re-exports X, Y; all of z.`; empty without any."""
    whole = [_short(one.source) for one in reexports if one.name == _ALL]
    single = (make_printable(one.name) for one in reexports if one.name not in (_ALL, "default"))
    names = list_first(single, _MAX_REEXPORTS)
    everything = f"all of {list_first(whole, _MAX_SOURCES)}" if whole else ""
    return make_fact("Re-exports", "; ".join(filter(None, (names, everything))))


def _short(source: str) -> str:
    """A module without the way to it: `./a/b` as `b`, `crate::a::b` as `b`, `.x.y` as `y`."""
    path = source.replace("::", "/").rstrip("/.")
    last = path.rpartition("/")[2] or path
    name, _, ending = last.rpartition(".")
    if ending in _HEADER_ENDINGS:
        return make_printable(last)
    return make_printable(name if name and _is_module(ending) else ending)


_MAX_CHARS = 400
_MAX_SENTENCES = 2


def author_opening(document: ClassInput | FileInput | TextFileInput | ModuleInput) -> str:
    """A class's or file's docstring, a folder's README, or a text for readers: the first sentences; "" for none."""
    match document:
        case ClassInput() | FileInput():
            return opening_of(docstring_of(document), most=_MAX_SENTENCES)[0]
        case TextFileInput():
            return _of_prose(document.text) if is_prose(document) else ""
        case ModuleInput():
            return _of_prose(document.readme or "")


def author_opening_of_function(docstring: str | None, language: str, name: str) -> str:
    """The first sentences of a function's documentation; "" if it says nothing."""
    if not docstring:
        return ""
    return opening_of(read_documentation(docstring, language, name), most=_MAX_SENTENCES)[0]


def _of_prose(text: str) -> str:
    return join_as_sentences(*read_prose(text).opening, limit=_MAX_CHARS)


@cache
def _is_module(ending: str) -> bool:
    """Whether files with an ending are imported by their paths."""
    return any(ending in profiles()[language].extensions for language in languages_with(Trait.FILES_ARE_MODULES))
