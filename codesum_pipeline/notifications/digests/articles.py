"""The text about each change that a model is shown: a numbered entry, marked as data.

The number is before the markers, where no text of a repository can put
another one. Texts are masked before they are cut; a cut ends with a line or a
sentence, and a fence that it left open is closed.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from codesum_pipeline.foundation.data_model.markdown import with_closed_fence
from codesum_pipeline.foundation.data_model.printable import clean_text, one_line, shorten_text
from codesum_pipeline.foundation.language_facts.writing_systems import in_normal_form
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings, Trust
from codesum_pipeline.notifications.digests.digest_items import ChangeNature, Item
from codesum_pipeline.notifications.digests.wording import noun_of
from codesum_pipeline.source.masking.secrets import mask_secrets
from codesum_pipeline.texts.llm.budgets import CUT_MARK, Entry, fill_entries
from codesum_pipeline.texts.llm.marking import enclose, without_invisible

_LABEL = "CHANGE"
_NAME_CHARS = 200
_PLACE_CHARS = 300
_SUBJECT_CHARS = 150
_MOST_SUBJECTS = 5
_MOST_ALIKE = 5
_LEFT_OUT_CHARS = 120
# The characters around an entry: its number, the markers, a closing fence.
AROUND_CHARS = len(enclose("x", _LABEL)) + len("[1000000]\n\n\n````````````\n")
_TICKS = re.compile(r"`{3,}")
# A fence that is closed must not take more than is set aside for it.
_LONG_FENCE = re.compile(r"`{9,}|~{9,}")
# A shorter quote proves nothing, unless it is all of a text: `return None` is everywhere.
LEAST_QUOTE_CHARS = 12
LEAST_WHOLE_CHARS = 4
# What a model is told; the templates of digests say it in the same words.
QUOTE_RULE = (
    f"at least {LEAST_QUOTE_CHARS} characters, or all of a text that has fewer, but at least {LEAST_WHOLE_CHARS}; "
    "blanks do not count, nor a `+` or `-` in front"
)
_REMOVED, _ADDED = "-", "+"
_MARKS = _REMOVED + _ADDED
# Between two parts of a difference.
_GAP = re.compile(r"^@@$", re.MULTILINE)
_HAPPENED = {
    ChangeNature.ADDED: "new {}",
    ChangeNature.CHANGED: "changed {}",
    ChangeNature.MOVED: "moved or renamed {}",
    ChangeNature.REMOVED: "removed {}",
    ChangeNature.REWORDED: "{} with the same code as before and another description",
}


class Article(Struct, frozen=True):
    """One change as it is shown. `sources` are its texts, as far as they are shown, each with single spaces."""

    number: int
    text: str
    sources: tuple[str, ...]

    def has_quote(self, quote: str) -> bool:
        """Whether a quote obeys `QUOTE_RULE` and occurs word for word in one of the texts."""
        forms = {with_single_spaces(quote), with_single_spaces(quote.strip().lstrip(_MARKS))}
        counted = count_quote_chars(quote)
        if counted < LEAST_QUOTE_CHARS:
            return counted >= LEAST_WHOLE_CHARS and not forms.isdisjoint(self.sources)
        return any(form in source for form in forms for source in self.sources)


def count_quote_chars(quote: str) -> int:
    """The characters of a quote that count for `QUOTE_RULE`."""
    return len(with_single_spaces(quote).replace(" ", "").lstrip(_MARKS))


class Articles(Struct, frozen=True):
    """The entries that fit, and how many at the end do not."""

    shown: tuple[Article, ...]
    left_out: int

    @property
    def block(self) -> str:
        """All entries, as they are written in a prompt."""
        parts = [article.text for article in self.shown]
        if self.left_out:
            parts.append(f"({self.left_out:,} further changes matched, too, and are not shown: there was no room.)")
        return "\n\n".join(parts)


def first_entry_chars(items: Sequence[Item]) -> int:
    """The size of what is shown besides texts that can be cut: a prompt without room for it is a wrong setting."""
    return (len(_head(items[0])) + AROUND_CHARS if items else 0) + _LEFT_OUT_CHARS


def fill_articles(items: Sequence[Item], budget: int, llm: LlmSettings, *, about: str) -> Articles:
    """As many items from the front as can show something, in `budget` characters beyond what is always shown."""
    room = budget + first_entry_chars(items) - _LEFT_OUT_CHARS
    # No more of them can fit, whatever they say.
    most = 1 + room // AROUND_CHARS
    # No lines of tests by the setting, and under `trust` none: here nobody knows which an indexer's edges touch.
    bodies = [
        _Body.of(item, sends_code=llm.trust is Trust.OFF and (llm.tests or not item.change.is_test))
        for item in items[:most]
    ]
    entries = [Entry(_head(item), body.text) for item, body in zip(items, bodies, strict=False)]
    further = len(items) - len(entries)
    filled, left_out = fill_entries(
        entries, room, about=about, around_chars=AROUND_CHARS, called="changes", further=further
    )
    shown = []
    for number, (entry, body) in enumerate(zip(filled, bodies, strict=False), start=1):
        text = f"{entry.head}\n{with_closed_fence(entry.body)}" if entry.body else entry.head
        shown.append(Article(number, f"[{number}]\n{enclose(text, _LABEL)}", tuple(body.sources(entry.body))))
    return Articles(tuple(shown), left_out)


def _head(item: Item) -> str:
    """The head of an entry, which is never cut: what changed and where."""
    change, citation = item.change, item.citation
    name, place = _line(citation.name, _NAME_CHARS), _line(citation.place, _PLACE_CHARS)
    lines = [
        f"{_HAPPENED[item.happening].format(noun_of(change))}: {name}",
        f"at: {place}",
        f"repository: {_line(citation.repository, 100)}",
    ]
    if citation.date:
        lines.append(f"date: {one_line(citation.date)[:10]}")
    if change.before and item.happening is ChangeNature.MOVED:
        old, path = _line(change.before.name, _NAME_CHARS), _line(change.before.file_path, _PLACE_CHARS)
        lines.append(f"was: {old} in {path}")
    if item.alike:
        names = ", ".join(_line(each.state.name, 60) for each in item.alike[:_MOST_ALIKE])
        more = ", …" if len(item.alike) > _MOST_ALIKE else ""
        lines.append(f"the same change in {len(item.alike):,} others: {names}{more}")
    if item.parts:
        lines.append(f"with {len(item.parts):,} changed documents inside or around it")
    return "\n".join(lines)


def _line(text: str, most: int) -> str:
    return shorten_text(mask_secrets(one_line(text)).text, most)


class _Body(Struct, frozen=True):
    """The texts of one item in one text, the first to be cut last, and where in it each of them begins and ends."""

    text: str
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, item: Item, *, sends_code: bool) -> "_Body":
        text, spans = "", []
        for opening, shown, closing in _parts(item, sends_code=sends_code):
            start = len(text) + len(opening)
            text += f"{opening}{shown}{closing}\n"
            spans.append((start, start + len(shown)))
        return cls(text.removesuffix("\n"), tuple(spans))

    def sources(self, shown: str) -> Iterator[str]:
        """The parts of the texts that are inside the shown part of the body."""
        kept = len(self.text) if shown == self.text else len(shown.removesuffix(CUT_MARK).rstrip())
        for start, end in self.spans:
            part = self.text[start : min(end, kept)]
            if part.strip():
                yield with_single_spaces(part)
                yield from _sides(part)


def _parts(item: Item, *, sends_code: bool) -> Iterator[tuple[str, str, str]]:
    """The texts of an item, each with the words before and after it."""
    before, after = (with_closed_fence(_masked(text)) if text else "" for text in (item.before, item.after))
    if before == after:
        yield "what it is, before and now: ", after, ""
    elif after:
        yield "what it is now: ", after, ""
    if before and before != after:
        yield "what it was before: ", before, ""
    for subject in item.subjects[:_MOST_SUBJECTS]:
        yield "commit: ", _line(subject, _SUBJECT_CHARS), ""
    hunk = item.hunk
    if hunk and hunk.text and sends_code:
        lines = _masked(hunk.text)
        # A line of the code may be a fence itself.
        ticks = "`" * (1 + max((len(found) for found in _TICKS.findall(lines)), default=2))
        cut = ", the first of them" if hunk.is_cut else ""
        yield f"its lines, {hunk.added} added and {hunk.removed} removed{cut}:\n{ticks}diff\n", lines, f"\n{ticks}"


def _masked(text: str) -> str:
    shown = _LONG_FENCE.sub(lambda found: found[0][:8], without_invisible(clean_text(text)))
    return mask_secrets(shown).text.strip("\n")


def _sides(part: str) -> Iterator[str]:
    """The old lines and the new lines of a difference, as they are in the file."""
    for stretch in _GAP.split(part):
        lines = stretch.split("\n")
        for mark in (_REMOVED, _ADDED):
            if any(line.startswith(mark) for line in lines):
                yield with_single_spaces("\n".join(line[1:] for line in lines if line[:1] in (mark, " ")))


def with_single_spaces(text: str) -> str:
    """A text in which white space of any kind and length is one space."""
    return " ".join(in_normal_form(text, "NFC").split())
