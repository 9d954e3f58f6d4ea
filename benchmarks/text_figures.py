"""What texts are made of, counted: headlines by their evidence, echoes, empty texts, leftover markup, lengths.

Counts are by language, level and what is counted, so that those of many folders are summed. They are read off the
texts alone, whichever version wrote them:

- *headline*: the first sentence, unless it only says the name or a fact that the signature or the graph shows; counted
  by its evidence (`PurposeSource`), "none" without one;
- *echo*: every telling word of summary and purpose is a word of the name, the signature or the path;
- *names*: no echo, but every telling word is one of those or of the names that it holds, imports or exports;
- *empty*: no headline, and nothing but the name and what it is part of;
- *residue*: marks of a markup, or a bracket without its other half.
"""

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.text_library import Document, Library
from codesum_pipeline.evidence.author_texts.plain_sentences import split_sentences
from codesum_pipeline.evidence.extractive.words import identifier_in_words, name_in_words
from codesum_pipeline.evidence.inputs import ClassInput, FileInput, FunctionInput, ModuleInput, children_of
from codesum_pipeline.foundation.data_model.document import LEVELS, Level, PurposeSource
from codesum_pipeline.indexes.lanes.tokens import tokenize

MARKS = Path(__file__).with_name("text_marks.toml")
NO_HEADLINE = "none"
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
_IDENTIFIER = re.compile(r"\w+")
_PAIRS = ("()", "[]", "{}")

# How often each thing occurs: by language, level and what it is.
Counts = Counter[tuple[str, str, str]]


@cache
def _marks() -> Mapping[str, Any]:
    return tomllib.loads(MARKS.read_text("utf-8"))


@cache
def _words_of(name: str) -> frozenset[str]:
    return frozenset(_marks()[name].split())


@cache
def _labels() -> frozenset[str]:
    return frozenset(tokenize(_marks()["labels"]))


@cache
def _residue() -> Mapping[str, re.Pattern[str]]:
    return {name: re.compile(pattern) for name, pattern in _marks()["residue"].items()}


# Their first sentence is a headline whatever it says, unless it is the bare name.
_STATED = (PurposeSource.COMMENT, PurposeSource.MESSAGE, PurposeSource.BODY)


def headline_evidence(document: Document) -> str:
    """What the first sentence was made from; `NO_HEADLINE` where it is none."""
    source = document.source
    return source.value if source is PurposeSource.DOCSTRING or _is_headline(document) else NO_HEADLINE


def _is_headline(document: Document) -> bool:
    first = next(iter(split_sentences(document.text.summary)), "")
    name = document.child.name
    if not first or _is_bare(first.removesuffix(".").lower(), name_in_words(name).lower()):
        return False
    if document.source is not PurposeSource.NAME:
        return document.source in _STATED or not _is_fact(first, frozenset())
    spoken = _spoken([name])
    return not spoken.isdisjoint(tokenize(first)) and not _is_fact(first, spoken)


def _is_bare(sentence: str, name: str) -> bool:
    """Whether a sentence is a name, or the name behind words for what it is."""
    kind = sentence.removesuffix(name)
    return sentence.endswith(name) and not _words_of("articles").intersection(kind.split()) and not telling_words(kind)


def _is_fact(sentence: str, name: frozenset[str]) -> bool:
    """Whether a sentence opens as a fact does, and neither the next word nor the name shows it to be a clause."""
    lead, _, rest = sentence.partition(" ")
    if not {lead, lead.removesuffix(":")} & _words_of("leads"):
        return False
    return rest.partition(" ")[0].rstrip(".,") not in _words_of("articles") and not name.intersection(tokenize(lead))


def telling_words(text: str) -> frozenset[str]:
    """The stems of a text's words without function words and labels."""
    return frozenset(tokenize(text)) - _labels()


def _spoken(texts: Iterable[str]) -> frozenset[str]:
    """The stems of names as they are written and as a text says them."""
    found = [*texts]
    said = [identifier_in_words(name) for text in found for name in _IDENTIFIER.findall(text)]
    return frozenset(tokenize(" ".join([*found, *said])))


def own_words(document: Document) -> frozenset[str]:
    """What a reader sees of a document besides its text: its path, name and signature."""
    shown = document.writer_input
    signature = shown.signature if isinstance(shown, FunctionInput | ClassInput) else ""
    return _spoken([shown.id, document.child.name, signature])


def held_words(document: Document) -> frozenset[str]:
    """The names of what a document holds, imports and exports."""
    shown = document.writer_input
    names = [child.name for child in children_of(shown)]
    match shown:
        case ClassInput():
            names += [*shown.fields, *shown.bases]
        case FileInput():
            names += [*shown.imports, *shown.globals, *(shown.exports or ()), *(one.source for one in shown.reexports)]
        case FunctionInput():
            facts = shown.facts
            names += [one.text for one in (*facts.calls, *facts.writes, *facts.raises, *facts.returned)]
        case _:
            pass
    return _spoken(names)


def is_empty_text(document: Document) -> bool:
    """Whether a summary has no headline, and says nothing but the name and the place."""
    if headline_evidence(document) != NO_HEADLINE:
        return False
    own = _spoken([document.writer_input.id, document.child.name])
    return all(
        sentence.startswith("Part of ") or telling_words(sentence) <= own
        for sentence in split_sentences(document.text.summary)
    )


def residue_in(text: str) -> list[str]:
    """The kinds of leftover markup in a text."""
    found = [name for name, pattern in _residue().items() if pattern.search(text)]
    is_cut = "…" in text
    return found + ["bracket"] * (not is_cut and any(text.count(pair[0]) != text.count(pair[1]) for pair in _PAIRS))


def kinds_of(document: Document) -> Iterable[str]:
    """What is counted of one document."""
    text = f"{document.text.summary} {document.text.business_intent}"
    yield "documents"
    if document.child.is_placeholder:
        yield "placeholder"
        return
    yield f"headline {headline_evidence(document)}"
    yield f"chars {len(document.text.summary)}"
    yield f"intent chars {len(document.text.business_intent)}"
    yield from (f"residue {name}" for name in residue_in(text))
    if residue_in(text):
        yield "residue"
    said, own = telling_words(text), own_words(document)
    if is_empty_text(document):
        yield "empty"
    if said <= own:
        yield "echo"
    elif said <= own | held_words(document):
        yield "names"


def language_of(document: Document) -> str:
    """The language of a document's code; "text" of prose, "" of folders."""
    shown = document.writer_input
    return "" if isinstance(shown, ModuleInput) else shown.language


def count_texts(library: Library) -> Counts:
    """The counts of one folder."""
    counts: Counts = Counter()
    by_text = defaultdict(set)
    for document in library.documents.values():
        at = language_of(document), document.child.level.value
        counts.update((*at, kind) for kind in kinds_of(document))
        if document.child.level is Level.FUNCTION and not document.child.is_placeholder:
            by_text[document.text.summary].add(library.bodies[document.writer_input.id])
    for document in library.documents.values():
        if len(by_text.get(document.text.summary, ())) > 1 and document.child.level is Level.FUNCTION:
            counts[language_of(document), Level.FUNCTION.value, "equal"] += not document.child.is_placeholder
    return counts


def share_of(counts: Mapping[str, int], kind: str) -> float:
    """How many of the documents that are no placeholders are of a kind."""
    return counts.get(kind, 0) / max(1, counts.get("documents", 0) - counts.get("placeholder", 0))


def summed(counts: Counts, *, level: str, language: str | None = None) -> Counter[str]:
    """The counts of a level, of one language or all."""
    found: Counter[str] = Counter()
    for (spoken, at, kind), number in counts.items():
        if at == level and language in (None, spoken):
            found[kind] += number
    return found


def quantiles(counts: Mapping[str, int], unit: str) -> list[int]:
    """The quantiles of the numbers that kinds such as `chars 80` stand for."""
    numbers = sorted(
        int(kind.removeprefix(f"{unit} ")) for kind, times in counts.items() if kind.startswith(f"{unit} ")
        for _ in range(times)
    )  # fmt: skip
    return [numbers[min(len(numbers) - 1, int(share * len(numbers)))] for share in QUANTILES] if numbers else []


SHARES = ("empty", "echo", "names", "residue", "equal")


def figures_of(counts: Mapping[str, int]) -> dict[str, object]:
    """The figures of some documents of one level."""

    def part(prefix: str) -> dict[str, float]:
        found = sorted(kind for kind in counts if kind.startswith(f"{prefix} "))
        return {kind.removeprefix(f"{prefix} "): round(share_of(counts, kind), 4) for kind in found}

    return {
        "documents": counts.get("documents", 0),
        "placeholders": counts.get("placeholder", 0),
        "headlines": part("headline"),
        **{kind: round(share_of(counts, kind), 4) for kind in SHARES},
        "residue_kinds": part("residue"),
        "summary_chars": quantiles(counts, "chars"),
        "intent_chars": quantiles(counts, "intent chars"),
    }


def all_figures(counts: Counts) -> dict[str, object]:
    """The figures of every level, and of each language's functions and classes together."""
    levels = {level.value: figures_of(summed(counts, level=level.value)) for level in LEVELS}
    languages = sorted({language for language, level, _ in counts if level == Level.FUNCTION.value})
    by_language = {
        one: figures_of(sum((summed(counts, level=level, language=one) for level in ("function", "class")), Counter()))
        for one in languages
    }
    return {"levels": levels, "languages": by_language}


def figures_table(title: str, rows: Mapping[str, Mapping[str, Any]]) -> Table:
    """A row for each level or language; shares are of the documents that are no placeholders."""
    heads = ("documents", "placeholders", "headlines by evidence", *SHARES, "summary chars", "intent chars")
    table = Table("", *heads, title=title)
    for name, one in rows.items():
        headlines = ", ".join(f"{source} {share:.0%}" for source, share in one["headlines"].items())
        table.add_row(
            name, str(one["documents"]), str(one["placeholders"]), headlines,
            *(f"{one[kind]:.1%}" for kind in SHARES),
            *(" ".join(map(str, one[key])) for key in ("summary_chars", "intent_chars")),
        )  # fmt: skip
    return table


def tables_of(title: str, figures: Mapping[str, Any]) -> Sequence[Table]:
    """By level, and by language the functions and classes."""
    return [
        figures_table(f"{title}, by level", figures["levels"]),
        figures_table(f"{title}, functions and classes by language", figures["languages"]),
    ]
