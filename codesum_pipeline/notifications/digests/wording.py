"""One item in words: its name, what happened to it, where, and what differs now.

Words of the repository are in code spans and fences, or in escaped prose: they
cannot form Markdown or an `[N]`. Differences are reported
sentence by sentence and name by name.
"""

import re
from collections.abc import Iterable, Sequence, Set

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE, SEPARATOR
from codesum_pipeline.foundation.data_model.markdown import code_span, escape_prose
from codesum_pipeline.foundation.data_model.printable import clean_text, count_noun, list_words, shorten_text, some_of
from codesum_pipeline.foundation.data_model.standing_question import DocumentChange
from codesum_pipeline.indexes.lanes.tokens import tokenize
from codesum_pipeline.notifications.digests.digest_items import ChangeNature, Item, happening_of
from codesum_pipeline.notifications.digests.hunks import PART, Hunk, without_blank_ends, without_shared_indent
from codesum_pipeline.texts.llm.plain_text import Markup, markup_of

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“(])")
# `Methods: add, close.` and `Calls add, close.`: a word, then names.
_LISTING = re.compile(
    r"(Methods|Functions|Classes|Constants|Fields|Values|Tests|Files|Folders|Sections|Entries|Names"
    r"|Calls|Raises|Returns|Yields|Takes|Sets|Creates|Extends|Imports|Mentions|Holds|Defines):? (.+?)\.?"
)
# Where something is, and not what, or that there is nothing to say of it.
_OF_PLACE = re.compile(r"Part of .{0,120}\.?|Short function [^:]{0,120}\.|Class \S{1,120} without members of its own.*")
_OTHERS = re.compile(r", (?:\d+|and) more\b")
_MOST_NAMES = 5
_LONG_BEGINNING = 60
# Lists that are complete in a text, or end by saying that there are more.
_WHOLE_LISTINGS = frozenset(("Methods", "Functions", "Classes", "Constants", "Fields", "Values", "Files", "Folders"))


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, without those that say where its document is."""
    found = (each.strip() for each in _SENTENCE.split(" ".join(text.split())))
    return [each for each in found if each and not _OF_PLACE.fullmatch(each)]


def is_listing(sentence: str) -> bool:
    """Whether a sentence is a word with a list of names, the form of code facts."""
    return _LISTING.fullmatch(sentence) is not None


def differences_between(before: str, after: str) -> tuple[list[str], list[str]]:
    """A line for each difference: first of sentences, then of lists of names.

    Lists that may be cut are left out, since a name that is not in them may exist all the same.
    """
    old, new = sentences_of(before), sentences_of(after)
    removed, added = ([each for each in one if each not in other] for one, other in ((old, new), (new, old)))
    old_lists, new_lists = _listings(removed), _listings(added)
    names = (_listed(label, old_lists[label], new_lists[label]) for label in new_lists if label in old_lists)
    after_text, before_text = (" ".join(each for each in side if not is_listing(each)) for side in (added, removed))
    start = _shared(after_text, before_text)
    labelled = (("Now", after_text), ("Before", before_text))
    words = [f"{word}: “{'… ' if start else ''}{text[start:]}”" for word, text in labelled if text[start:]]
    return words, [line for line in names if line]


def _shared(after: str, before: str) -> int:
    """The length of the common beginning of two long texts, in whole words."""
    pairs = enumerate(zip(after, before, strict=False))
    same = next((place for place, (one, other) in pairs if one != other), min(len(after), len(before)))
    return after.rfind(" ", 0, same) + 1 if same >= _LONG_BEGINNING else 0


def _listings(sentences: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in sentences:
        listing = _LISTING.fullmatch(each)
        if listing and listing[1] in _WHOLE_LISTINGS and not _OTHERS.search(each):
            names = [name.strip() for name in listing[2].split(", ")]
            found.setdefault(listing[1], []).extend(names)
    return found


def _listed(label: str, old: Sequence[str], new: Sequence[str]) -> str:
    added, removed = [each for each in new if each not in old], [each for each in old if each not in new]
    parts = []
    for word, names in (("now also", added), ("no longer", removed)):
        if names:
            parts.append(f"{word} {some_of(names, _MOST_NAMES)}")
    return f"{label}: {'; '.join(parts)}" if parts else ""


MOST_NAMES = 4
_NAME_CHARS = 100
_TEXT_CHARS = 260
_MOST_DETAILS = 3
# So many of a sentence identify it.
_TELLING_LETTERS = 24
_TELLING_WORDS = 5
# A phone shows some fifty in a line.
_LINE_CHARS = 110
_DATES = re.compile(r"\d+|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b")
_OUR_NUMBERS = re.compile(r"\[(\d{1,9})\]")
_NOUNS = {Level.FUNCTION: "function", Level.CLASS: "class", Level.FILE: "file", Level.MODULE: "folder"}
_ONE = {
    ChangeNature.ADDED: "is new",
    ChangeNature.CHANGED: "changed",
    ChangeNature.MOVED: "was moved or renamed",
    ChangeNature.REMOVED: "was removed",
    ChangeNature.REWORDED: "is described otherwise; its code is as it was",
}
_MANY = {**_ONE, ChangeNature.ADDED: "are new", ChangeNature.MOVED: "were moved or renamed"}
_MANY[ChangeNature.REMOVED] = "were removed"
_MANY[ChangeNature.REWORDED] = "are described otherwise; their code is as it was"


def quote_words(text: str, *, limit: int = _TEXT_CHARS) -> str:
    """Words of others within a line of ours. A number in brackets would be read as our citation."""
    return escape_prose(_OUR_NUMBERS.sub(r"(\1)", text), limit=limit)


def verb_of(happening: ChangeNature, count: int) -> str:
    return (_ONE if count == 1 else _MANY)[happening]


def noun_of(change: DocumentChange, count: int = 1) -> str:
    """`function`, `tests`; of a function that is a test, it is one."""
    word = "test" if change.is_test and change.level is Level.FUNCTION else _NOUNS[change.level]
    return word if count == 1 else f"{word}es" if word.endswith("s") else f"{word}s"


def name_of(change: DocumentChange) -> str:
    """The name as code; of a file its path, of a test its own without what it is in."""
    return code_span(_plain_name(change), limit=_NAME_CHARS)


def _plain_name(change: DocumentChange) -> str:
    state = change.state
    if change.is_test and change.level is Level.FUNCTION:
        return state.name.rpartition(".")[2]
    if change.level is Level.MODULE:
        return f"{state.file_path}/" if state.file_path != ROOT_MODULE else "(the whole repository)"
    return state.file_path if change.level is Level.FILE else state.name


def heading_of(item: Item) -> str:
    """The heading of an item: its name, what became of it and where, and how many lines came and went."""
    change, happening = item.change, item.happening
    lines = lines_of(item.hunk)
    if item.alike:
        return f"{_group(item)}{f'; the first: {lines}' if lines else ''}"
    kind = "" if change.level in (Level.FILE, Level.MODULE) else f" in {code_span(change.state.file_path)}"
    if happening is ChangeNature.MOVED:
        return f"**{name_of(change)}** {_moved(change)}{f' ({lines})' if lines else ', unchanged'}"
    what = f"is a new {noun_of(change)}" if happening is ChangeNature.ADDED else _ONE[happening]
    if happening is ChangeNature.ADDED or happening is ChangeNature.REMOVED:
        lines = ""
    return f"**{name_of(change)}** {what}{kind}{_with_parts(item)}{f' ({lines})' if lines else ''}"


def lines_of(hunk: Hunk | None) -> str:
    """The numbers of lines that came and went."""
    if hunk is None:
        return ""
    if hunk.is_masked:
        return "what changed is masked as a secret"
    parts = [f"{mark}{count}" for mark, count in (("+", hunk.added), ("−", hunk.removed)) if count]
    return f"{' '.join(parts)} line{'s' if hunk.added + hunk.removed != 1 else ''}" if parts else ""


def _group(item: Item) -> str:
    changes = (item.change, *item.alike)
    files = {(each.repository, each.state.file_path) for each in changes}
    kinds = {happening_of(each) for each in changes}
    levels = {each.level for each in changes}
    word = noun_of(item.change, 2) if len(levels) == 1 else "documents"
    where = f" in {len(files)} files" if len(files) > 1 else f" in {code_span(item.change.state.file_path)}"
    what = verb_of(item.happening, len(changes)) if len(kinds) == 1 else "changed"
    return f"**{len(changes)} {word} {what} alike**{where}: {names_of_changes(changes)}"


def names_of_changes(changes: Sequence[DocumentChange]) -> str:
    """The names of the first changes, and how many more there are."""
    shown = list(dict.fromkeys(name_of(each) for each in changes))
    return some_of(shown, MOST_NAMES) if len(shown) > MOST_NAMES else list_words(shown)


def _with_parts(item: Item) -> str:
    inside = [each for each in item.parts if each.document_id.startswith(item.change.document_id)]
    within = tuple(f"{each.document_id}{SEPARATOR}" for each in inside)
    inside = [each for each in inside if not each.document_id.startswith(within)]
    public = [each for each in inside if not each.state.name.rpartition(".")[2].startswith("_")]
    whole = item.happening in (ChangeNature.ADDED, ChangeNature.REMOVED, ChangeNature.MOVED)
    return f" with {names_of_changes(public or inside)}" if inside and whole else ""


def _moved(change: DocumentChange) -> str:
    before, after = change.before, change.after
    if before is None or after is None:
        raise ValueError(f"{change.document_id}: what moved has a place before and one after")
    old, new = before.name.rpartition(SEPARATOR)[2], after.name.rpartition(SEPARATOR)[2]
    is_named_anew = old != new and change.level in (Level.FUNCTION, Level.CLASS)
    was = f"was {code_span(old, limit=_NAME_CHARS)} before" if is_named_anew else ""
    if before.file_path == after.file_path:
        return f"{was}, in {code_span(after.file_path)}"
    place = f" to {code_span(after.file_path)}" if change.level in (Level.FUNCTION, Level.CLASS) else ""
    return " and ".join(filter(None, (was, f"moved from {code_span(before.file_path)}{place}")))


def details_of(item: Item, *, shown: str = "", is_whole: bool = False) -> list[str]:
    """What its text says now and did not say before; for a new or removed item what it is.

    What the `shown` lines of its code say is left out, and where these are the whole change, all that code says.
    """
    match item.happening:
        case ChangeNature.ADDED:
            text = words_about(item) or ("" if shown else _whole_sentences(sentences_of(item.after or "")))
            return [] if not text or _within(text, shown) else [quote_words(text)]
        case ChangeNature.REMOVED:
            text = _whole_sentences(sentences_of(item.before or ""))
            return [f"It was: {quote_words(text)}"] if text else []
        case _:
            words, names = differences_between(item.before or "", item.after or "")
            lines = [*(line for line in words if not _within(line, shown)), *([] if is_whole else names)]
            return [*([] if shown else _signatures(item)), *map(quote_words, lines)][:_MOST_DETAILS]


def words_about(item: Item) -> str:
    """What somebody wrote about something new: its facts and the words of its own name apart."""
    plain_sentences = [each for each in sentences_of(item.after or "") if not is_listing(each)]
    name = _letters(item.change.state.name.rpartition(".")[2])
    return _whole_sentences([each for each in plain_sentences if _letters(each) != name])


def _whole_sentences(candidates: Sequence[str]) -> str:
    """As many sentences as fit; the first one in any case."""
    text = ""
    for each in candidates:
        if text and len(text) + len(each) >= _TEXT_CHARS:
            break
        text = f"{text} {each}" if text else each
    return text


def _within(line: str, shown: str) -> bool:
    """Whether shown lines have the first words already, however these are spaced."""
    letters = _letters(line.removeprefix("Now: ").removeprefix("Before: "))
    return bool(shown) and letters[:_TELLING_LETTERS] in _letters(shown)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def _signatures(item: Item) -> list[str]:
    before, after = item.change.before, item.change.after
    if before is None or after is None or not before.signature or not after.signature:
        return []
    old, new = (code_span(clean_text(each.signature or ""), limit=_TEXT_CHARS) for each in (before, after))
    return [f"Signature: now {new}; before {old}"] if old != new else []


def is_renumbered(item: Item) -> bool:
    """Whether nothing but numbers and the names of months changed, as with a release."""
    if item.hunk is None or item.hunk.is_cut or item.hunk.added != item.hunk.removed or not item.hunk.added:
        return False
    lines = item.hunk.text.split("\n")
    old, new = ([_DATES.sub("", line[1:]) for line in lines if line[:1] == mark] for mark in "-+")
    return old == new


def is_prose(item: Item) -> bool:
    """Whether its file is written in words, and compared by them."""
    return markup_of(item.change.state.file_path) is not Markup.PLAIN and item.change.level is Level.FILE


def quote_sentences(hunk: Hunk, most: int) -> list[str]:
    """The sentences that came and went."""
    changed = [line for line in hunk.text.split("\n") if line[:1] in ("+", "-") and line[1:].strip()]
    # A heading, or an item of a list of names, says least.
    telling = [line for line in changed if len(line.split()) >= _TELLING_WORDS]
    changed = telling if len(telling) >= most else changed
    shown = [
        f"{'Now' if line[0] == '+' else 'Before'}: “{quote_words(line[1:].strip().removeprefix('- '))}”"
        for line in changed[:most]
    ]
    return [*shown, *_rest(hunk, len(shown))]


def lines_to_show(hunk: Hunk, most: int, words: Set[str]) -> list[str]:
    """Its lines, or where they are more, those parts of what came and went that have most of the words."""
    lines = hunk.text.split("\n")
    if len(lines) <= most:
        return lines
    parts: list[list[str]] = [[]]
    for line in lines:
        if line == PART:
            parts.append([])
        elif line[:1] in ("+", "-"):
            parts[-1].append(line)
    parts = [kept for part in parts if (kept := without_blank_ends(part))]
    hits = {place: len(words & set(tokenize("\n".join(part)))) for place, part in enumerate(parts)}
    chosen, left = set[int](), most
    for place in sorted(hits, key=lambda each: (-hits[each], each)):
        if left > 1:
            chosen.add(place)
            left -= len(parts[place]) + 1
    shown = [line for place in sorted(chosen) for line in (*parts[place], PART)]
    return without_shared_indent(shown[:-1][:most])


def fenced_block(hunk: Hunk, lines: Sequence[str]) -> str:
    """The lines in a fence that none of them can close."""
    shown = [shorten_text(line, _LINE_CHARS) for line in lines]
    text = "\n".join([*shown, *_rest(hunk, sum(line[:1] in ("+", "-") and bool(line[1:].strip()) for line in lines))])
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}diff\n{text}\n{fence}"


def _rest(hunk: Hunk, shown: int) -> list[str]:
    rest = hunk.added + hunk.removed - shown
    return [f"… {count_noun(rest, 'more line')} changed"] if rest > 0 else []
