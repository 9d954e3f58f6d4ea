"""What classes, files and folders are about where no author says it: the headlines of what they hold.

A headline is the first sentence of a text. One that only spells the name says nothing, and is left out.
"""

import re
from collections import Counter
from collections.abc import Sequence

from codesum_pipeline.evidence.author_texts.plain_sentences import (
    clip_text,
    make_printable,
    make_sentence,
    split_sentences,
)
from codesum_pipeline.evidence.extractive.composing import (
    bare_name,
    is_chosen_name,
    is_public,
    lower_first,
    rank_children,
)
from codesum_pipeline.evidence.extractive.translated_texts import spoken_language
from codesum_pipeline.evidence.extractive.words import (
    STOP_WORDS,
    capitalize,
    identifier_in_words,
    in_a_row,
    list_first,
    name_in_words,
    name_words,
    split_identifier,
    stem_of,
    telling_stems,
)
from codesum_pipeline.evidence.inputs import ChildText, ModuleInput
from codesum_pipeline.evidence.leaks import names_in
from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.language_facts.writing_systems import has_words, without_end

_TABLES = packaged_table(__package__, "themes")
_DETAILS, _FILE_DETAILS, _COMMON = (tuple(_TABLES[name]) for name in ("details", "file_details", "common"))
_OF_ANY = re.compile("|".join(_TABLES["of_any"]))
_KINDS_SAID = _TABLES["kinds_said"].split()
# Folders that only say where their language puts code.
PLACES = frozenset(
    ("src", "main", "java", "kotlin", "scala", "lib", "com", "org", "source", "commonMain", "androidMain")
)
_STYLES = (".css", ".scss", ".less", ".sass", ".svg")
# What such a text names are its words.
_OF_WORDS = " that names "
_MAX_HEADLINES = 3
# Of more functions than these so many must say what they do: one in four.
_FEW, _LEAST_SHARE = 6, 4
# What follows the first sentence of a function that does not do it, or that is the data of a test.
_NOT_DONE = re.compile(r"\. (?:(?:Always )?[Rr]aises (?:a )?(?:not supported|not implemented)|Gives the cases )", re.I)
# A longer lead before a colon is no name.
_NAME_WORDS = 4
_MAX_CHARS = 120


def headline_of(child: ChildText) -> str:
    """The first sentence of a child's text, without the mark at its end; "" where it only spells the name or says a
    detail. Of what is itself about several things it is the first."""
    if child.is_placeholder or child.name.endswith(_STYLES):
        return ""
    if child.level is Level.FUNCTION and _NOT_DONE.search(child.summary):
        return ""
    whole = without_end(next(iter(split_sentences(make_printable(child.summary), limit=1)), ""))
    first, several, _ = whole.partition("; ")
    if several and child.level is Level.MODULE:
        # One thing of many in a folder is not what that is about.
        return ""
    if child.level in (Level.FILE, Level.MODULE) and first[:1].isupper():
        # `Router: matches a path` of a file: the name of the only class says no more.
        name, _, rest = first.partition(": ")
        is_told = name_words(name) == name_words(_name_of(child)) or child.level is Level.MODULE
        first = capitalize(rest) if rest and is_told and name.count(" ") < _NAME_WORDS else first
    said, name_said = split_identifier(first), split_identifier(_name_of(child))
    is_bare = not has_words(first) or said == name_said or not set(said) - {*name_said, *_KINDS_SAID}
    is_file_detail = child.level in (Level.FILE, Level.MODULE) and whole.startswith((*_DETAILS, *_FILE_DETAILS))
    is_detail = is_file_detail or first.startswith(_DETAILS) or _OF_WORDS in first or first == "Style sheet"
    is_detail = is_detail or _OF_ANY.match(first) is not None
    return "" if is_bare or is_detail else clip_text(first, _MAX_CHARS)


def theme_of(children: Sequence[ChildText], *levels: Level, own_name: str) -> str:
    """Up to three headlines of the children at these levels as one sentence; "" without any. Functions are said by what
    they do, all others by their names, too."""
    found = [
        (one, headline) for one in rank_children(children) if one.level in levels and (headline := headline_of(one))
    ]
    found = [pair for pair in found if not _is_constructor(pair[0], own_name)]
    functions = sum(one.level is Level.FUNCTION for one in children)
    if len(found) * _LEAST_SHARE < functions and functions > _FEW:
        # A few of many are not what it is about.
        return ""
    found = [pair for pair in found if is_public(pair[0])] or found
    found.sort(key=lambda pair: pair[0].level is Level.FUNCTION and pair[1].startswith(_COMMON))
    if len(children) == 1 and children[0].level is Level.MODULE:
        # A folder that only holds another one is about the same.
        return make_sentence(next(iter(split_sentences(make_printable(children[0].summary), limit=1)), ""))
    said = dict.fromkeys(_said(one, headline, own_name) for one, headline in found[:_MAX_HEADLINES])
    if not said:
        return ""
    return make_sentence(capitalize("; ".join(said)))


def _is_constructor(child: ChildText, owner: str) -> bool:
    """Whether a method has its name from the language or from its class."""
    return child.level is Level.FUNCTION and (bare_name(child) == owner or not is_chosen_name(bare_name(child)))


_LEAD = re.compile(r"this (?:method|function|class|module|file) (?:is (?:responsible|used) (?:for|to) )?", re.I)


def _said(child: ChildText, headline: str, own_name: str) -> str:
    text = lower_first(_LEAD.sub("", headline, count=1) if _LEAD.match(headline) else headline)
    name = name_in_words(_name_of(child))
    lead, _, rest = text.partition(": ")
    is_named = bool(rest) and lead.count(" ") < _NAME_WORDS
    is_known = (
        is_named
        or bare_name(child) in PLACES
        or name.lower() in text.lower()
        or name_words(name) == name_words(own_name)
    )
    return text if child.level is Level.FUNCTION or is_known else f"{name}: {text}"


def _name_of(child: ChildText) -> str:
    return stem_of(bare_name(child)) if child.level is Level.FILE else bare_name(child)


_PARTS = packaged_table(__package__, "folder_parts")
_PLAIN_ENDINGS = frozenset(_PARTS["plain_endings"].split())
_TEST = re.compile(r"^tests?[_-]|[._-](?:tests?|specs?)$|(?<=[a-z0-9])(?:Tests?|Specs?|IT)$")
# Elsewhere `InputSpec` is no specification of a test.
_IS_TESTED = re.compile(r"tests?\b|specs?\b", re.I)
_TESTS, _LANGUAGES, _FOLDERS = ("test", "tests"), ("translation", "translations"), ("folder", "folders")
_ANDROID = "values-"
_UNTELLING = STOP_WORDS | frozenset(("equals", "hash", "util", "utils", "override", "common", "core"))
_MAX_NAMES, _MOST, _SHARED, _MAX_WORDS = 6, 0.7, 0.6, 3
_FEW_PARTS, _MAX_SENTENCE, _MAX_TEST = 3, 200, 90
# How sentences about folders begin that list what these hold.
_LISTING = ("Holds ", "Most mention ", "Folder ", "Top-level keys", "Lines of text", "Text of ", "Defines ", "File ")
# How texts begin that only name things.
_BARE = (
    "File ", "Defines ", "Top-level keys", "Re-exports ", "Runs with ", "Class ", "Configures ", "Table of ",
    "Lines of text", "Text of ", "Changes ", "Tests that mention ", "Runs the ",
)  # fmt: skip


def only_part(folder: ModuleInput) -> str:
    """What a folder's one part is, in its own words; where that one only names things, with the words that it mentions.
    "" where it has others."""
    if len(folder.children) != 1:
        return ""
    (child,) = folder.children
    sentences = split_sentences(make_printable(child.summary), limit=2)
    first = next(iter(sentences), "")
    is_bare = first.startswith(_BARE) and ": " not in first and '"' not in first
    if not (is_bare or child.is_placeholder or " that names " in first):
        return " ".join(clip_text(one, _MAX_SENTENCE) for one in sentences)
    if child.level is Level.MODULE:
        return first
    mentioned = in_a_row(_untold_words(folder, child.keywords)[:_MAX_WORDS])
    return f"Holds {_group(_kind(child), [child])}" + (f", which mentions {mentioned}" if mentioned else "") + "."


def names_of_plain_parts(folder: ModuleInput) -> frozenset[str]:
    """The names in what is told of a folder's one part, where that is no code."""
    told = [child.summary for child in folder.children if child.name.rpartition(".")[2].lower() in _PLAIN_ENDINGS]
    return names_in(*told) if len(folder.children) == 1 and told else frozenset()


def is_of_one_kind(folder: ModuleInput) -> bool:
    """Whether a folder's parts are of one kind that is no code: tests, drawings, translations."""
    kinds = Counter(map(_kind, folder.children))
    kind, number = max(kinds.items(), key=lambda pair: (pair[1], pair[0]), default=(_FOLDERS, 0))
    plain = [*_PARTS["openings"].values(), *map(list, (_TESTS, _LANGUAGES))]
    return number >= max(_FEW_PARTS - (kind == _TESTS), _MOST * len(folder.children)) and list(kind) in plain


def told_by_kinds(folder: ModuleInput) -> str:
    """`12 drawings: bell, arrow, …`; of several kinds the two that most parts are of."""
    kinds: dict[tuple[str, str], list[ChildText]] = {}
    for child in sorted(folder.children, key=lambda one: one.name):
        kinds.setdefault(_kind(child), []).append(child)
    ranked = sorted(kinds, key=lambda kind: (-len(kinds[kind]), kind))
    if not ranked:
        return ""
    said = _first_tests(kinds.get(_TESTS, ()))
    told = [_group(kind, kinds[kind], _FEW_PARTS if said else _MAX_NAMES) for kind in ranked[:2]]
    others = len(folder.children) - sum(len(kinds[kind]) for kind in ranked[:2])
    more = f"; {others} more" if others else ""
    is_plain = (is_of_one_kind(folder) and ranked[0] != _TESTS) or len(folder.children) < _FEW_PARTS
    words = [] if said or is_plain else _shared_words(folder)
    shared = in_a_row(words[:_MAX_WORDS]) if len(words) > 1 else ""
    return f"Holds {'; '.join(told)}{more}" + (f". {said}" if said else f". Most mention {shared}" if shared else "")


def told_below(folder: ModuleInput) -> str:
    """`Data: reads records from a database`: the first thing that each of a folder's folders says, at most three."""
    found: dict[str, None] = {}
    for child in rank_children([one for one in folder.children if one.level is Level.MODULE]):
        sentences = split_sentences(make_printable(child.summary), limit=4)
        said = next((one for one in sentences if not child.is_placeholder and not one.startswith(_LISTING)), "")
        first = without_end(said.partition("; ")[0]).rstrip(".…")
        lead, _, rest = first.partition(": ")
        if not first or len(first) > _MAX_SENTENCE:
            continue
        if lead in ("Page", "Template") or not rest or lead.count(" ") > _FEW_PARTS:
            name = "" if bare_name(child) in PLACES else f"{_said_name(child, _FOLDERS)}: "
            first = f"{name}{lower_first(rest if lead in ('Page', 'Template') and rest else first)}"
        found[first] = None
    told = [*found][:_FEW_PARTS]
    return capitalize("; ".join([told[0], *map(lower_first, told[1:])])) if told else ""


def _first_tests(children: Sequence[ChildText]) -> str:
    """`Login: rejects a wrong password`, of the first files whose tests are sentences."""
    found: list[str] = []
    for child in children:
        first = without_end(make_printable(child.summary).removeprefix("Tests: ").partition(";")[0].partition(". ")[0])
        name = _said_name(child, _TESTS)
        is_sentence = (
            first.count(" ") > 1 and ": " not in first and len(first) <= _MAX_TEST and not first.startswith(_BARE)
        )
        if (
            is_sentence
            and not any(first.lower() in one.lower() for one in found)
            and len(telling_stems(first) - telling_stems(f"{name} {child.id.replace('/', ' ')}") - {"test"}) > 1
        ):
            found.append(f"{name}: {lower_first(first)}")
    return capitalize("; ".join(found[:2]))


def _group(kind: tuple[str, str], children: Sequence[ChildText], most: int = _MAX_NAMES) -> str:
    names = [_said_name(child, kind) for child in children]
    lead = f"the {kind[0]}" if len(children) == 1 else f"{len(children)} {kind[1]}"
    link = " of" if kind == _TESTS else " into" if kind == _LANGUAGES else "" if len(children) == 1 else ":"
    return f"{lead}{link} {list_first(names, most)}"


def _kind(child: ChildText) -> tuple[str, str]:
    name = bare_name(child)
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    if child.level is Level.MODULE:
        if _language(name):
            return _LANGUAGES
        one, many = (_PARTS["endings"].get(ending) if ending.endswith("set") else None) or _FOLDERS
        return one, many
    if is_test_path(child.id):
        return _TESTS
    if _language(stem_of(name)) and ending in ("json", "yml", "yaml", "po", "properties", "ftl", "arb"):
        return _LANGUAGES
    tables = _PARTS
    opening = next((kinds for lead, kinds in tables["openings"].items() if child.summary.startswith(lead)), None)
    one, many = opening or tables["endings"].get(ending) or ("file", "files")
    return one, many


def is_test_path(path: str) -> bool:
    """Whether a file has the name of a test; one that ends with `Spec` only below a folder of tests."""
    folder, _, name = path.rpartition("/")
    match = _TEST.search(stem_of(name))
    return match is not None and (not match[0].startswith("Spec") or _IS_TESTED.search(folder) is not None)


def _language(name: str) -> str:
    return spoken_language(name.removeprefix(_ANDROID).removesuffix(".lproj"))


def _said_name(child: ChildText, kind: tuple[str, str]) -> str:
    name = bare_name(child)
    if kind == _LANGUAGES:
        return _language(name) or _language(stem_of(name))
    stem = name.rpartition(".")[0] if child.level is Level.MODULE and "." in name[1:] else name
    stem = stem if child.level is Level.MODULE else stem_of(name)
    bare = _TEST.sub("", stem, count=1) if kind == _TESTS else stem
    return identifier_in_words((bare or stem).partition(".html")[0].strip("_"), written_out=False) or make_printable(
        name
    )


def _shared_words(folder: ModuleInput) -> list[str]:
    """The keywords of most parts that are no words of the folder's path."""
    told = [child.keywords for child in folder.children if not child.is_placeholder]
    counts = Counter(word for words in told for word in dict.fromkeys(words))
    shared = [word for word, number in counts.items() if number >= max(_FEW_PARTS, _SHARED * len(folder.children))]
    shared.sort(key=lambda word: (-counts[word], word))
    return _untold_words(folder, shared)


def _untold_words(folder: ModuleInput, words: Sequence[str]) -> list[str]:
    names = " ".join([folder.id, *(child.name for child in folder.children)])
    told = {word.removesuffix("s") for word in split_identifier(names)}
    return [one for one in words if one.isalpha() and one.removesuffix("s") not in told and one not in _UNTELLING]
