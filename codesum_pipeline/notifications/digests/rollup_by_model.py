"""A roll-up of digests by a model: the prompt, the caps, and the check of the answer.

Text of an earlier digest is data between markers, as code is: the model that wrote it
may have been misled. A claim about it needs a quote from a digest that
cites what the claim cites, as a claim about code needs one from the code.

The digests form one block, in the order in which they were written. What does not fit is cut from the oldest one
that still has room, and those before it are left out. Every `[N]` in the block is the N-th of one merged list, which
begins with the newest digest's sources: what is left out at the other end changes no number.
"""

import logging
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.digest_record import DigestCitation, SummaryResult
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.hashing import canonical_json
from codesum_pipeline.foundation.data_model.markdown import with_closed_fence
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.data_model.standing_question import Intent
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.notifications.digests.articles import Article, with_single_spaces
from codesum_pipeline.notifications.digests.claims import CheckedClaims, result_of
from codesum_pipeline.notifications.digests.digest_by_model import (
    DigestJob,
    DigestRequest,
    DigestTemplates,
    ask_model,
    check_gates,
)
from codesum_pipeline.notifications.digests.digest_rows import DigestDraft, DigestRow
from codesum_pipeline.notifications.digests.prompt_room import room_for, room_of_prompt
from codesum_pipeline.source.masking.secrets import mask_secrets
from codesum_pipeline.texts.llm.budgets import LEAST_SHOWN, cut_to_fit, prompt_chars
from codesum_pipeline.texts.llm.marking import enclose, without_invisible
from codesum_pipeline.texts.llm.pins import blake3_of

LABEL = "DIGEST"
# A fence or a span of code, in which brackets are code, or else a citation.
_FENCED = r"(?:^ {0,3}(?P<fence>`{3,}|~{3,}).*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z))"
_SPAN = r"(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"
_NUMBER = re.compile(rf"{_FENCED}|{_SPAN}|(?<!\w)\[(?P<number>\d{{1,6}})\](?!\()", re.MULTILINE | re.DOTALL)


class PastBlock(Struct, frozen=True):
    """The block, how many digests are in it, how many of these were cut, and what its `[N]` refer to.

    `texts` are those of the digests as they are shown, the newest first.
    """

    text: str
    texts: tuple[str, ...]
    rows_used: int
    rows_cut: int
    citations: tuple[DigestCitation, ...]


def join_past(rows: Sequence[DigestRow], room: int) -> PastBlock:
    """As many of the newest digests as fit into `room` characters."""
    merged = MergedCitations()
    blocks: list[str] = []
    texts: list[str] = []
    rows_cut = known = 0
    for row in newest_first(rows):
        text = without_invisible(mask_secrets(merged.renumbered(row.result)).text).strip()
        block = _block(row, text, merged.listed)
        if len(block) > room:
            spare = room - (len(block) - len(text))
            text = cut_text(text, spare) if spare >= LEAST_SHOWN else ""
            block = _block(row, text, merged.listed) if text else ""
            rows_cut += bool(block)
        if not block:
            break
        blocks.append(block)
        texts.append(text)
        known = len(merged.listed)
        room -= len(block) + 1
        if rows_cut:
            break
    return PastBlock("\n".join(reversed(blocks)), tuple(texts), len(blocks), rows_cut, tuple(merged.listed[:known]))


def newest_first(rows: Sequence[DigestRow]) -> list[DigestRow]:
    """The rows, newest first; ties break by id."""
    return sorted(rows, key=lambda row: (row.created_at, row.id), reverse=True)


class MergedCitations:
    """The merged citations of several digests: a place that two of them cite is in the list once."""

    def __init__(self) -> None:
        self.listed: list[DigestCitation] = []
        self._numbers: dict[tuple[str, str, str], int] = {}

    def number(self, citation: DigestCitation) -> int:
        """The number of a citation; a new citation is added to the list."""
        if citation.key not in self._numbers:
            self.listed.append(citation)
            self._numbers[citation.key] = len(self.listed)
        return self._numbers[citation.key]

    def renumbered(self, result: SummaryResult) -> str:
        """The text of a digest with the numbers of this list; numbers without a citation are taken out."""
        numbers = {place: self.number(citation) for place, citation in enumerate(result.citations, start=1)}
        return renumber_citations(result.summary, numbers)


def renumber_citations(text: str, numbers: Mapping[int, int]) -> str:
    """The text with each `[N]` renumbered; a number without a new one is taken out."""

    def anew(found: re.Match[str]) -> str:
        if not found["number"]:
            return found[0]
        new = numbers.get(int(found["number"]))
        return f"[{new}]" if new else ""

    return _NUMBER.sub(anew, text)


def numbers_in(text: str) -> list[int]:
    """Every number that a text cites, in the order of its first mention."""
    return list(dict.fromkeys(int(found["number"]) for found in _NUMBER.finditer(text) if found["number"]))


def cut_text(text: str, room: int) -> str:
    """The text up to a sentence's or line's end; a fence of code that is open there is closed."""
    short = cut_to_fit(text, room)
    closed = with_closed_fence(short)
    if len(closed) <= room:
        return closed
    return with_closed_fence(cut_to_fit(text, room - (len(closed) - len(short))))


def _block(row: DigestRow, text: str, listed: Sequence[DigestCitation]) -> str:
    """A digest between markers, under its date, with the sources that its numbers cite."""
    sources = [
        f"[{number}] {one_line(found.name)}, {one_line(found.place.rpartition('@')[0])}, {one_line(found.repository)}"
        for number in numbers_in(text)
        if number <= len(listed) and (found := listed[number - 1])
    ]
    head = f"Digest of {row.created_at[:10]}, {', '.join(row.repositories)}:"
    return enclose("\n".join([head, text, *(mask_secrets(source).text for source in sources)]), LABEL)


_log = logging.getLogger(__name__)
_BEFORE_STOP = re.compile(r"(?<!\s)\s++(?=[.,;:!?](?:\s|$))")


def request_for(
    rows: Sequence[DigestRow], intent: Intent, templates: DigestTemplates, settings: Settings
) -> tuple[DigestRequest, PastBlock]:
    """What a model is asked about these digests, the oldest cut or left out where there is no room.

    Raises `ConfigurationError` if there is none for any digest, and where the templates alone are too long.
    """
    texts = (row.result.summary for row in newest_first(rows))
    fixed, places = _turns(templates, intent, ""), templates.system.has_history + templates.instruction.has_history
    block = join_past(rows, room_for(texts, *fixed, settings) // places)
    if not block.rows_used:
        # The estimate of costs is cautious: the caps decide whether a request about the newest one alone is allowed.
        room = room_of_prompt(*fixed, settings) // places
        block = join_past(newest_first(rows)[:1], room)
    if not block.rows_used:
        raise ConfigurationError(
            f"llm.max_prompt_chars = {prompt_chars(settings.llm):,}: {room:,} characters are left for earlier digests, "
            f"which is less than the newest one needs, however short it is cut: raise it, or shorten the templates"
        )
    system, prompt = _turns(templates, intent, block.text)
    # The history may be in the system turn, which then differs for each roll-up.
    digest = blake3_of(canonical_json({"system": system, "instruction": templates.instruction.text}))
    template = templates.resolve(system, digest)
    return DigestRequest(template, prompt, _articles(block), block.rows_used), block


def aggregate_history(job: DigestJob, rows: Sequence[DigestRow], templates: DigestTemplates) -> DigestDraft:
    """The digests `rows` in one, in the intent's language, through one question to a model.

    Raises what `check_gates`, `request_for` and `ask_model` do.
    """
    intent, settings = job.intent, job.settings
    check_gates(settings)
    request, block = request_for(rows, intent, templates, settings)
    left_out = len(rows) - block.rows_used
    if block.rows_cut or left_out:
        _log.warning(
            "the roll-up of %s: of %d digests the oldest %d left out and %d cut to fit the prompt",
            intent.name,
            len(rows),
            left_out,
            block.rows_cut,
        )

    def compose(claims: CheckedClaims) -> SummaryResult:
        used = {number for claim in claims.claims for number in claim.numbers}
        result = result_of(intent.name, claims, dict(enumerate(block.citations, start=1)), items=len(used))
        if not left_out:
            return result
        note = f"(Of {len(rows):,} digests the oldest {left_out:,} are not in it: there was no room.)"
        return replace(result, summary=f"{result.summary}\n\n{note}")

    return ask_model(job, request, compose)


def _turns(templates: DigestTemplates, intent: Intent, history: str) -> tuple[str, str]:
    return (
        templates.system.for_rollup(language=intent.language, history=history),
        templates.instruction.for_rollup(intent_text=intent.text, history=history),
    )


def _articles(block: PastBlock) -> list[Article]:
    """For each citation the texts that cite it, as a quote may give them: with and without our numbers and escapes."""
    texts: dict[int, list[str]] = {number: [] for number in range(1, len(block.citations) + 1)}
    for text in block.texts:
        bare = _BEFORE_STOP.sub("", renumber_citations(text, {})).replace("\\", "")
        for number in numbers_in(text):
            texts[number] += [with_single_spaces(text), with_single_spaces(bare)]
    return [Article(number, "", tuple(sources)) for number, sources in texts.items()]
