"""How every text is put together: its opening, its facts, what it says of its children; and the bounds of all fields.

The order that children are listed in never matters: public before private, placeholders last, classes first, then by
name.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from codesum_pipeline.evidence.author_texts.docstrings import opening_of, read_documentation
from codesum_pipeline.evidence.author_texts.plain_sentences import (
    clip_text,
    join_sentences,
    make_printable,
)
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.words import (
    DOCSTRING,
    merge_keywords,
    name_words,
    split_identifier,
)
from codesum_pipeline.evidence.inputs import (
    AnyInput,
    ChildText,
    ClassInput,
    FileInput,
    FunctionInput,
    Holder,
    ModuleInput,
    children_of,
)
from codesum_pipeline.evidence.leaks import names_in
from codesum_pipeline.foundation.data_model.document import Level, PurposeSource, WrittenText

RECEIVERS = ("self", "cls", "this")


def function_names(
    *, qualified_name: str, signature: str, parameters: Iterable[str], attributes: Iterable[str]
) -> frozenset[str]:
    """The own names of a function; `attributes` are those of its object that it uses and does not call."""
    return with_words(names_in(qualified_name, signature, *parameters, *attributes), qualified_name)


def own_names(document: FunctionInput | ClassInput | FileInput | ModuleInput) -> frozenset[str]:
    """The own names of a document. Words of its docstring or README are none of them."""
    match document:
        case FunctionInput():
            return function_names(
                qualified_name=document.qualified_name,
                signature=document.signature,
                parameters=[one.name for one in document.facts.parameters],
                attributes=document.facts.attributes,
            )
        case ClassInput():
            code = (document.qualified_name, document.signature, *document.bases, *document.fields)
        case FileInput():
            exported = (*(document.exports or ()), *(one.name for one in document.reexports))
            parts = [*_parts(document)]
            found = file_names(document.id, document.imports, document.globals, exported) | names_in(*parts)
            return with_words(found, document.id, *document.imports, *document.globals, *parts)
        case ModuleInput():
            code = (document.id, document.name)
    texts = [*code, *_parts(document)]
    return with_words(names_in(*texts), *texts)


def with_words(names: frozenset[str], *own: str) -> frozenset[str]:
    """The names, and of these own ones the words with a number: `i128` of `test_i128`."""
    return names.union(word for name in own for word in name_words(name) if not word.isalpha())


def file_names(path: str, imports: Iterable[str], constants: Iterable[str], exports: Iterable[str]) -> frozenset[str]:
    """The own names of a parsed file without its definitions. Of a dotted import the package counts; an `__init__.py`
    passes on what it imports, so that the whole name counts there."""
    found = [name.lstrip(".") for name in imports]
    passed_on = found if path.rpartition("/")[2] == "__init__.py" else [name.partition(".")[0] for name in found]
    return names_in(path, *passed_on, *constants, *exports)


def _parts(document: ClassInput | FileInput | ModuleInput) -> Iterable[str]:
    return (child.name for child in document.children)


# Raised with every change that gives any input another text.
EXTRACTIVE_VERSION = "21"

MAX_SUMMARY = 600
MIN_INTENT, MAX_INTENT = 10, 300
MIN_ITEM, MAX_ITEM = 10, 200
MIN_INPUT, MAX_INPUT = 20, 200
MIN_TYPE_SUMMARY, MAX_TYPE_SUMMARY = 10, 80
MIN_DETAILS, MAX_DETAILS = 20, 400
MAX_RESPONSIBILITIES = 8
MAX_SIDE_EFFECTS = 8


class ExtractiveText(Struct, frozen=True):
    """A text, and where its first statement came from."""

    text: WrittenText
    purpose_source: PurposeSource


def _bounded(items: Iterable[str]) -> tuple[str, ...]:
    texts = [clip_text(make_printable(item), MAX_ITEM) for item in items]
    return tuple([text for text in texts if len(text) >= MIN_ITEM])


_MAX_SENTENCES = 4


def compose_text(
    document: AnyInput,
    statements: Iterable[str],
    *,
    name: str = "",
    part: str,
    source: PurposeSource,
    words: Iterable[tuple[str, float]],
    prose: Sequence[str] = (),
    own: Collection[str] | None = None,
    path: str = "",
    **fields: Any,
) -> ExtractiveText:
    """The text of one document: printable throughout, no field above its bounds, no empty one cited.

    The first of the `statements` is the headline, if there is one; a `name` in words stands where there is no statement
    at all. `part` says what the document is a part of, and what for. Of code that may have neighbours, `own` are the
    names that may be said (`own_names`); `part` may say those in `path`, too.
    """
    summary = make_printable(join_sentences([*filter(None, statements)] or [name], MAX_SUMMARY))
    intent = make_printable(part)
    if own is not None:
        summary = without_foreign_names(summary, own)
        intent = without_foreign_names(intent, with_words(names_in(path).union(own), path))
    intent = join_sentences([intent], MAX_INTENT)
    own_words = [*words, *((word, DOCSTRING) for one in prose[:_MAX_SENTENCES] for word in one.split())]
    children = children_of(document)
    fallback = [*split_identifier(document.id.partition("::")[0]), *split_identifier(document.name), "code"]
    keywords = merge_keywords(own_words, keywords_of_parts(children), fallback=fallback)
    written = fields | {
        "summary": join_sentences([summary], MAX_SUMMARY),
        "business_intent": intent if len(intent) >= MIN_INTENT else f"{intent} Part of the code.".strip(),
        "keywords": tuple(dict.fromkeys(filter(None, map(make_printable, keywords)))),
        "side_effects": _bounded(fields.get("side_effects", ())),
        "responsibilities": _bounded(fields.get("responsibilities", list_responsibilities(children))),
    }
    cited = tuple(one for one in fields.get("citations", ()) if written.get(one.field))
    return ExtractiveText(WrittenText(**written | {"citations": cited}), source)


_MAX_PURPOSE_CHARS = 200


def part_of(place: str, holder: Holder | None) -> str:
    """`Part of citations: checks that answers quote what was read.`, from what the author says of the holder."""
    purpose = _purpose_of(holder) if holder else ""
    return f"Part of {place}: {lower_first(purpose)}" if purpose else f"Part of {place}."


@lru_cache(maxsize=4096)
def _purpose_of(holder: Holder) -> str:
    """The first sentence of the words about it; "" where they say nothing."""
    opening, _ = opening_of(read_documentation(holder.words, holder.language, holder.name), most=1)
    return clip_text(opening, _MAX_PURPOSE_CHARS)


# In a language with these letters nouns keep their capitals.
_GERMAN = frozenset("äöüßÄÖÜ")


def lower_first(sentence: str) -> str:
    """A sentence as it goes on after a colon: acronyms and names keep their capitals."""
    first = sentence.split(" ", 1)[0]
    is_word = (first[1:].islower() and _GERMAN.isdisjoint(sentence)) or first in ("A", "An")
    # A Turkish capital gives two characters.
    return f"{sentence[:1].lower()[:1]}{sentence[1:]}" if is_word else sentence


_MAX_NAME_CHARS = 80


def bare_name(child: ChildText) -> str:
    """The child's own name."""
    return _own_name(child.name, child.level in (Level.FUNCTION, Level.CLASS))


@lru_cache(maxsize=65536)
def _own_name(name: str, is_symbol: bool) -> str:
    return make_printable(name.rpartition("::")[2].rpartition(".")[2] if is_symbol else name)


def is_public(child: ChildText) -> bool:
    return not bare_name(child).startswith("_")


def rank_children(children: Sequence[ChildText]) -> list[ChildText]:
    """Children by what a reader should hear of first."""
    return sorted(
        children,
        key=lambda child: (
            not is_public(child),
            child.is_placeholder,
            child.level is not Level.CLASS,
            child.name,
            child.id,
        ),
    )


def names_of_children(children: Sequence[ChildText], level: Level) -> list[str]:
    """The names of a level's children, each once, public ones alone where there are some; special methods never."""
    found = [child for child in rank_children(children) if child.level is level and is_chosen_name(bare_name(child))]
    return list(dict.fromkeys(bare_name(child) for child in ([*filter(is_public, found)] or found)))


def is_chosen_name(name: str) -> bool:
    """Whether a name was chosen: constructors, operators and special methods have theirs from the language."""
    is_makers = name in ("constructor", "initialize", "init", "default") or name.startswith(("__", "~"))
    return not is_makers and any(map(str.isalnum, name.removeprefix("operator")))


def keywords_of_parts(children: Sequence[ChildText]) -> list[tuple[str, ...]]:
    """The keywords of the children that say what the parent is about: tests only where there is nothing else."""
    written = [child for child in children if not child.is_placeholder]
    own = [child for child in written if not bare_name(child).lower().startswith(("test", "conftest"))]
    return [child.keywords for child in own or written]


def list_responsibilities(children: Sequence[ChildText]) -> tuple[str, ...]:
    """The main children, each with its name and the opening of its text."""
    written = [child for child in reversed(rank_children(children)) if not child.is_placeholder]
    named = {bare_name(child)[:_MAX_NAME_CHARS] or "part": child.summary for child in written}
    first = [*reversed(named.items())][:MAX_RESPONSIBILITIES]
    return tuple([clip_text(f"{name}: {summary}", MAX_ITEM) for name, summary in first])
