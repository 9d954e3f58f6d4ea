"""Side effects, each said with one of reads, writes, emits, raises or mutates."""

from codesum_pipeline.model.symbols import Fact, SymbolFacts
from codesum_pipeline.summaries.extractive.plain import clip
from codesum_pipeline.summaries.extractive.scanning import RECEIVERS, names_in_chain, outline
from codesum_pipeline.summaries.extractive.value_phrases import target_words
from codesum_pipeline.summaries.extractive.word_lists import word_set
from codesum_pipeline.summaries.extractive.words import spoken, with_article
from codesum_pipeline.summaries.extractive.written import MAX_ITEM, MAX_SIDE_EFFECTS, MIN_ITEM

_MUTATORS = word_set(
    "append add extend update pop remove clear insert setdefault discard popitem appendleft popleft sort reverse"
)
_READING = frozenset(
    (
        "opens a file", "lists a folder", "walks a folder tree", "searches a folder", "searches a folder tree",
        "asks for input", "receives data", "opens a URL",
    )
)  # fmt: skip
_WRITING = frozenset(
    (
        "deletes a file", "creates folders", "creates a folder", "renames a file", "replaces a file", "copies a file",
        "copies a folder", "deletes a folder", "moves a file", "changes file permissions",
        "changes the working directory",
        "creates a temporary folder", "creates a temporary file", "commits", "rolls back", "executes a statement",
    )
)  # fmt: skip
_EMITTING = (
    "logs",
    "prints",
    "warns",
    "sends",
    "emits",
    "publishes",
    "dispatches",
    "notifies",
    "broadcasts",
    "signals",
    "runs a s",
    "starts a s",
    "starts a t",
    "ends the program",
)


def side_effects(
    facts: SymbolFacts, acts: list[tuple[int, str, Fact]], errors: list[tuple[str, str, Fact]]
) -> list[tuple[str, int]]:
    """Texts of 10 to 200 characters, each with the canonical line that shows it first."""
    found: dict[str, int] = {}
    for fact in facts.writes:
        _note(found, _mutation(fact.text), fact.line)
    for fact in facts.calls:
        _note(found, _mutating_call(fact.text), fact.line)
    for _, phrase, fact in acts:
        _note(found, _outward(phrase.strip()), fact.line)
    for name, message, fact in errors:
        _note(found, f"raises {name}" + (f": {message}" if message else ""), fact.line)
    return list(found.items())[:MAX_SIDE_EFFECTS]


def _note(found: dict[str, int], text: str, line: int) -> None:
    if text:
        found.setdefault(clip(text if len(text) >= MIN_ITEM else f"{text} itself", MAX_ITEM), line)


def _mutation(text: str) -> str:
    words = target_words(text)
    if not words:
        return ""
    root = text.partition(".")[0].partition("[")[0]
    if root in RECEIVERS:
        return f"mutates its {words}"
    return f"mutates {with_article(words, definite=True)}"


def _mutating_call(text: str) -> str:
    names = names_in_chain(outline(text))
    if not names or len(names) < 3 or names[-1] not in _MUTATORS or names[0] not in RECEIVERS:
        return ""
    return f"mutates its {spoken(names[-2])}"


def _outward(phrase: str) -> str:
    first = phrase.split(" ", 1)[0]
    if phrase in _READING or first == "reads":
        return phrase if first == "reads" else f"reads: {phrase}"
    if phrase in _WRITING or first == "writes":
        return phrase if first == "writes" else f"writes: {phrase}"
    if phrase.startswith(_EMITTING):
        return phrase if first == "emits" else f"emits: {phrase}"
    return ""
