"""What an upper level says of its children: which ones, and in which order.

The order that children are listed in never matters: public before private,
placeholders last, classes first, then by name.
"""

from collections.abc import Sequence

from codesum_pipeline.model.documents import Level
from codesum_pipeline.summaries.documentation.plain import clip, join_sentences, printable
from codesum_pipeline.summaries.documentation.sentences import sentences
from codesum_pipeline.summaries.extractive.naming import capitalized, fact, listed, said
from codesum_pipeline.summaries.extractive.words import name_words
from codesum_pipeline.summaries.extractive.written import MAX_ITEM, MAX_RESPONSIBILITIES
from codesum_pipeline.summaries.inputs import ChildText

_MAX_NAME_CHARS = 80
_MAX_TOLD, _TOLD_CHARS = 2, 200
# The longest word for what a class is: `Implementation session.`
_KIND_CHARS = 16


def bare_name(child: ChildText) -> str:
    """The child's own name."""
    is_symbol = child.level in (Level.FUNCTION, Level.CLASS)
    return printable(child.name.rpartition("::")[2].rpartition(".")[2] if is_symbol else child.name)


def is_public(child: ChildText) -> bool:
    return not bare_name(child).startswith("_")


def ranked(children: Sequence[ChildText]) -> list[ChildText]:
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


def names_of(children: Sequence[ChildText], level: Level) -> list[str]:
    """The names of a level's children, each once, public ones alone where there are some; special methods never."""
    found = [child for child in ranked(children) if child.level is level and _is_named(bare_name(child))]
    return list(dict.fromkeys(bare_name(child) for child in ([*filter(is_public, found)] or found)))


def offers(names: Sequence[str], prefix: tuple[str, ...], lead: str, limit: int) -> str:
    """The functions of a class or file as a fact; where most are tests, those alone."""
    if prefix == ("test",):
        lead, names = "Tests:", [name for name in names if name_words(name)[:1] == prefix]
    return fact(lead, listed(names, limit, prefix=prefix))


def _is_named(name: str) -> bool:
    """Whether a name was chosen: constructors, operators and special methods have theirs from the language."""
    is_makers = name in ("constructor", "initialize", "init", "default") or name.startswith(("__", "~"))
    return not is_makers and any(map(str.isalnum, name.removeprefix("operator")))


def voices(children: Sequence[ChildText]) -> list[tuple[str, ...]]:
    """The keywords of the children that say what the parent is about: tests only where there is nothing else."""
    told = [child for child in children if not child.is_placeholder]
    own = [child for child in told if not bare_name(child).lower().startswith(("test", "conftest"))]
    return [child.text.keywords for child in own or told]


def told_of_few(children: Sequence[ChildText]) -> str:
    """How the texts of the classes among them open, where they are few: they are what their parent is about."""
    found = [one for one in ranked(children) if one.level is Level.CLASS and not one.is_placeholder]
    return " ".join(filter(None, map(_told, found))) if len(found) <= _MAX_TOLD else ""


def _told(child: ChildText) -> str:
    """The opening of a text, with its name where that does not say it; "" where it is only the name."""
    own = [one for one in sentences(child.text.summary) if not one.startswith("Part of ")]
    name, text = said(bare_name(child)), join_sentences(own, _TOLD_CHARS)
    is_name = text.removesuffix(".").endswith(f" {name}") and len(text) < len(name) + _KIND_CHARS
    mark = "." if text.partition(" ")[0].endswith(":") else ":"
    return "" if is_name or not text else f"{capitalized(name)}{mark} {text}"


def responsibilities(children: Sequence[ChildText]) -> tuple[str, ...]:
    """The main children, each with its name and the opening of its text."""
    told = [child for child in reversed(ranked(children)) if not child.is_placeholder]
    named = {bare_name(child)[:_MAX_NAME_CHARS] or "part": child.text.summary for child in told}
    first = [*reversed(named.items())][:MAX_RESPONSIBILITIES]
    return tuple([clip(f"{name}: {summary}", MAX_ITEM) for name, summary in first])
