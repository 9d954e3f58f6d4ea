"""The text of a parsed source file: what it is for, and what it defines."""

from collections.abc import Sequence

from codesum_pipeline.model.documents import Level, PurposeSource, WrittenText
from codesum_pipeline.summaries.extractive.children import (
    abilities,
    bare_name,
    is_public,
    noun_names,
    ranked,
    responsibilities,
    voices,
)
from codesum_pipeline.summaries.extractive.doc_comments import docstring_of
from codesum_pipeline.summaries.extractive.docstrings import Docstring
from codesum_pipeline.summaries.extractive.intent import further_sentence
from codesum_pipeline.summaries.extractive.keywords import BODY, DOCSTRING, NAME, PARAMETER, merge_keywords
from codesum_pipeline.summaries.extractive.namespaces import held_names, named
from codesum_pipeline.summaries.extractive.places import area_of, tested_area
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
from codesum_pipeline.summaries.extractive.words import split_identifier, spoken
from codesum_pipeline.summaries.extractive.written import MAX_INTENT, MAX_SUMMARY, MIN_SUMMARY, Written, finished
from codesum_pipeline.summaries.inputs import ChildText, FileInput
from codesum_pipeline.summaries.own_names import own_names

_PURPOSE_CHARS = 400
_FURTHER_CHARS = 200
_MAX_CLASSES = 4
_MAX_ABILITIES = 5
_MAX_NAMES = 6
_CHILD_CHARS = 140
# Imported by every second file: they do not say what a file builds on.
_EVERYDAY_IMPORTS = word_set(
    """
    __future__ abc argparse builtins collections contextlib copy dataclasses datetime enum errno functools gc inspect io
    itertools json logging math numbers operator os pathlib platform random re shutil six string sys tempfile textwrap
    time traceback types typing typing_extensions unittest uuid warnings weakref
    """
)
_FIXED_NAMES = {
    "__main__.py": "Runs the package as a program",
    "conftest.py": "Shares fixtures and hooks among the tests of its folder",
    "setup.py": "Builds and installs the package",
    "manage.py": "Runs the project's management commands",
    "noxfile.py": "Defines the project's automated sessions",
    "__version__.py": "States the version of the package",
    "_version.py": "States the version of the package",
    "version.py": "States the version of the package",
}


def write_file(given: FileInput) -> Written:
    """Write one file's text from its head and its top-level symbols' texts."""
    doc = file_docstring(given)
    told = purpose_from_docstring(doc)
    source = PurposeSource.DOCSTRING if told else PurposeSource.CHILDREN if given.children else PurposeSource.NAME
    purpose = told[0] if told else _fixed_purpose(given)
    defines = _defines(given, is_opening=not purpose)
    summary = join_sentences([clip(purpose, _PURPOSE_CHARS), defines, _constants(given)], MAX_SUMMARY)
    if len(summary) < MIN_SUMMARY:
        summary = join_sentences(
            [summary, f"A {given.language.capitalize()} file on {area_of(given.id)}."], MAX_SUMMARY
        )
    used = told[1] if told else 0
    further = further_sentence(doc.sentences[used:], summary)
    stem = given.name.rpartition(".")[0] or given.name
    own = [(stem, NAME), *((name, PARAMETER) for name in given.globals), *((name, BODY) for name in given.imports)]
    own.extend((word, DOCSTRING) for one in doc.sentences[:4] for word in one.split())
    own.extend((bare_name(child), PARAMETER) for child in ranked(given.children)[:20])
    text = WrittenText(
        summary=summary,
        business_intent=join_sentences([clip(further, _FURTHER_CHARS), _role(given)], MAX_INTENT),
        keywords=merge_keywords(own, voices(given.children), fallback=[*split_identifier(given.id), "file"]),
        responsibilities=responsibilities(given.children),
    )
    return finished(text, source, own=own_names(given) | held_names(given.children))


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


def _fixed_purpose(given: FileInput) -> str:
    fixed = _FIXED_NAMES.get(given.name)
    if fixed:
        return sentence(fixed)
    if given.name == "__init__.py":
        package = given.id.rpartition("/")[0].rpartition("/")[2] or "the root"
        names = list(given.exports or ()) or [name.rpartition(".")[2] for name in given.imports]
        names = [printable(name) for name in dict.fromkeys(names) if name and name != "*" and not name.startswith("_")]
        if names and not given.children:
            listed = enumerate_first(names, _MAX_NAMES)
            return f"Entry of the package {printable(package)}: brings together {listed}."
        return f"Entry of the package {printable(package)}."
    stars = [printable(name.strip(".*")) for name in given.imports if name.endswith("*")]
    verb = "defines" if len(stars) == 1 else "define"
    return f"Passes on what {enumerate_words(stars[:4])} {verb}." if stars and not given.children else ""


def _defines(given: FileInput, *, is_opening: bool) -> str:
    children = ranked(given.children)
    tests = [child for child in children if bare_name(child).startswith("test") and child.level is Level.FUNCTION]
    if len(tests) * 2 > len(children):
        names = [spoken(bare_name(child).removeprefix("test")) for child in tests]
        topics = list(dict.fromkeys(filter(None, names)))
        return sentence(f"Tests {_stem_words(given)}: {enumerate_first(topics, _MAX_ABILITIES)}")
    classes = [child for child in children if child.level is Level.CLASS]
    parts = [_classes(classes, given.language, is_opening=is_opening)] if classes else []
    functions = [child for child in children if child.level is Level.FUNCTION and (is_public(child) or not classes)]
    verbs = abilities(functions, limit=_MAX_ABILITIES)
    nouns = noun_names(functions, limit=3) if len(verbs) < 3 else []
    if verbs:
        parts.append(f"functions to {enumerate_words(verbs)}")
    if nouns:
        parts.append(f"functions for {enumerate_words(nouns)}")
    return sentence(f"Defines {enumerate_words(parts)}") if parts else ""


def _classes(classes: Sequence[ChildText], language: str, *, is_opening: bool) -> str:
    # A Scala trait and its companion object have one name, as have the parts of a class of C#: said once.
    by_name: dict[str, ChildText] = {}
    for child in classes:
        by_name.setdefault(bare_name(child), child)
    limit = _CHILD_CHARS if is_opening and len(by_name) <= 2 else 0
    names = [named(child, language, limit=limit) for child in by_name.values()]
    return f"the class{'es' if len(names) > 1 else ''} {enumerate_first(names, _MAX_CLASSES)}"


def _stem_words(given: FileInput) -> str:
    stem = given.name.partition(".")[0]
    return spoken(stem.removeprefix("test_").removesuffix("_test")) or "the code"


def _constants(given: FileInput) -> str:
    names = [name for name in map(printable, given.globals) if name and not name.startswith("_")]
    if not names:
        return ""
    return f"Sets the constant{'s' if len(names) > 1 else ''} {enumerate_first(names, _MAX_NAMES)}."


def _role(given: FileInput) -> str:
    builds = [name.partition(".")[0] for name in given.imports if not name.startswith(".")]
    own = {*_EVERYDAY_IMPORTS, *given.id.split("/")}
    builds = [printable(name) for name in dict.fromkeys(builds) if name and name not in own][:4]
    on = f"; builds on {enumerate_words(builds)}" if builds else ""
    count = len([child for child in given.children if is_public(child)])
    offers = f", with {count} public definition{'s' if count != 1 else ''}" if count else ""
    area = area_of(given.id)
    return f"Tests {tested_area(given.id)}{offers}{on}." if area.startswith("test ") else f"Covers {area}{offers}{on}."
