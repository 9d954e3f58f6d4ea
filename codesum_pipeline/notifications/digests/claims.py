"""The form of a model's digest: claims, each accepted only if its quote is found in the cited changes.

A claim is a sentence, the numbers of the changes that it rests on, and words of
one of these, letter by letter. The quote is looked for in the texts of the
changes as they were shown, never in the words of the prompt around them. A
claim without one is dropped and counted. A number that no change has is removed
from its claim, or replaced by the number of the only change that contains its
quote.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct
from pydantic import Field

from codesum_pipeline.foundation.data_model.digest_record import DigestCitation, DigestClaim, SummaryResult
from codesum_pipeline.foundation.data_model.markdown import code_span, escape_prose
from codesum_pipeline.notifications.digests.articles import LEAST_QUOTE_CHARS, QUOTE_RULE, Article, count_quote_chars
from codesum_pipeline.texts.llm.answer_shapes import AnswerPart, AnswerTool, tool_for
from codesum_pipeline.texts.llm.checking import raise_complaints, read_object, validate_answer
from codesum_pipeline.texts.llm.pins import AnswerForm, SummaryResponse

TOOL_NAME = "emit_digest"
_DESCRIPTION = "Give the digest. Call this tool once, with every field."
_MOST_CLAIMS = 20
_MAX_CLAIM_CHARS = 500

# A number in brackets that is no index of code: `argv[1]` is one.
_CITED = re.compile(r"(?<!\s)\s*+(?<![\w)\]`])(?:\[\s*\d{1,9}(?:\s*[,;]\s*\d{1,9})*\s*\])+")
_NUMBER = re.compile(r"\d+")
_SPAN = re.compile(r"`([^`]+)`")
_BOLD = re.compile(r"\*\*(.+?)\*\*")
# What begins a block of Markdown.
_BLOCK_MARK = re.compile(r"^(?:[-*+>#=]+\s+|[-*+>#=~]{3,}\s*)+")
_ORDERED = re.compile(r"^(\d{1,9})([.)])(?=\s)")


class ClaimAnswer(AnswerPart):
    text: str = Field(
        min_length=10, max_length=_MAX_CLAIM_CHARS, description="One or two sentences, without any [N] in them."
    )
    citations: list[int] = Field(
        min_length=1, max_length=12, description="The numbers of the changes that it rests on, as they are shown: [N]."
    )
    quote: str = Field(
        min_length=1,
        max_length=500,
        description="Words of one of these changes that show it, copied letter by letter: a line or a part of one, "
        f"{QUOTE_RULE}.",
    )


class DigestAnswer(AnswerPart):
    """The digest of all changes that were shown."""

    claims: list[ClaimAnswer] = Field(
        min_length=1, max_length=_MOST_CLAIMS, description="The most important first; each says something of its own."
    )


class CheckedClaims(Struct, frozen=True):
    """The claims of an answer that hold, with the numbers of articles. `dropped` counts claims without a quote in an
    article that they cite; `removed_numbers` are of no article."""

    claims: tuple[DigestClaim, ...]
    dropped: int
    removed_numbers: tuple[int, ...]


@cache
def digest_tool() -> AnswerTool:
    """The tool that a model is made to call."""
    return tool_for(DigestAnswer, name=TOOL_NAME, description=_DESCRIPTION)


def read_claims(
    response: SummaryResponse, form: AnswerForm, articles: Sequence[Article], *, shown: Sequence[str] = ()
) -> CheckedClaims:
    """The claims of an answer that hold; raises `AnswerProblem` if it has another form, or none of them does.

    `shown` are the texts that were sent: an object that stands in one is no answer.
    """
    return read_object(response, form, digest_tool(), lambda value: _claims_of(value, articles), shown=shown)


def _claims_of(value: Any, articles: Sequence[Article]) -> CheckedClaims:
    answer = validate_answer(value, DigestAnswer)
    by_number = {article.number: article for article in articles}
    claims, removed = [], []
    for claim in answer.claims:
        found, unknown = _checked(claim, by_number)
        removed += unknown
        if found:
            claims.append(found)
    if not claims:
        raise_complaints(
            [
                "claims: no quote stands, letter by letter, in a change that its claim cites: copy each from one line "
                f"of the text between the markers of such a change, {QUOTE_RULE}{_too_short(answer.claims)}"
            ]
        )
    return CheckedClaims(tuple(claims), len(answer.claims) - len(claims), tuple(removed))


def result_of(
    intent_name: str, checked: CheckedClaims, citations: Mapping[int, DigestCitation], *, items: int
) -> SummaryResult:
    """The digest: one line for each claim, the citations in the order of their first use, and what was left out.

    `citations` are those of all articles by their numbers; `items` is the number of changes to report.
    """
    used = list(dict.fromkeys(number for claim in checked.claims for number in claim.numbers))
    place = {number: new for new, number in enumerate(used, start=1)}
    claims = tuple(
        DigestClaim(claim.text, tuple(place[number] for number in claim.numbers), claim.quote)
        for claim in checked.claims
    )
    lines = "\n".join(dict.fromkeys(f"- {_composed(claim)}" for claim in claims))
    paragraphs = [lines, *_left_out(checked, unreported=items - len(used), items=items)]
    return SummaryResult(intent_name, "\n\n".join(paragraphs), tuple(citations[number] for number in used), claims)


def _checked(claim: ClaimAnswer, shown: Mapping[int, Article]) -> tuple[DigestClaim | None, list[int]]:
    """The claim if its quote is found in its sources, and which of its numbers no article has."""
    text, inline = _without_numbers(claim.text)
    numbers = list(dict.fromkeys((*claim.citations, *inline)))
    known, unknown = [n for n in numbers if n in shown], [n for n in numbers if n not in shown]
    if not known:
        # The quote shows which one was meant, if only one contains it.
        holders = [number for number, article in shown.items() if article.has_quote(claim.quote)]
        known = holders if len(holders) == 1 else []
    if not text or not any(shown[number].has_quote(claim.quote) for number in known):
        return None, unknown
    return DigestClaim(text, tuple(known), claim.quote), unknown


def _too_short(claims: Iterable[ClaimAnswer]) -> str:
    """The quotes that have too few characters, and how many count."""
    counted = ((claim.quote, count_quote_chars(claim.quote)) for claim in claims)
    short = [f"{code_span(quote)} has {count}" for quote, count in counted if count < LEAST_QUOTE_CHARS]
    return f". Too short, unless it is all of a text: {', '.join(short)}" if short else ""


def _without_numbers(text: str) -> tuple[str, list[int]]:
    """The text without citations in it, and their numbers; code spans stay as they are."""
    numbers: list[int] = []

    def taken(found: re.Match[str]) -> str:
        numbers.extend(map(int, _NUMBER.findall(found[0])))
        return ""

    parts = [part if place % 2 else _CITED.sub(taken, part) for place, part in enumerate(re.split(r"(`[^`]+`)", text))]
    return "".join(parts).strip(), numbers


def _composed(claim: DigestClaim) -> str:
    """Markdown in which only code spans and our citations mean something; the citations come before a last period."""
    text = _BLOCK_MARK.sub("", _BOLD.sub(r"\1", claim.text)).strip()
    shown = _ORDERED.sub(r"\1\\\2", "".join(_pieces(text)))
    cited = "".join(f"[{number}]" for number in claim.numbers)
    return f"{shown[:-1]} {cited}." if shown.endswith(".") else f"{shown} {cited}"


def _pieces(text: str) -> Iterator[str]:
    for place, part in enumerate(_SPAN.split(text)):
        if part:
            yield code_span(part, limit=_MAX_CLAIM_CHARS) if place % 2 else _prose(part)


def _prose(text: str) -> str:
    """The text with Markdown escaped; white space at the ends is kept."""
    inner = text.strip()
    start, end = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{start}{escape_prose(inner, limit=2 * _MAX_CLAIM_CHARS)}{end}" if inner else text


def _left_out(checked: CheckedClaims, *, unreported: int, items: int) -> Iterable[str]:
    """The last line: what is left out, if anything is."""
    omissions = [f"{unreported:,} of {items:,} changes"] if unreported else []
    if checked.dropped:
        what = "1 statement" if checked.dropped == 1 else f"{checked.dropped} statements"
        omissions.append(f"{what} of the model without a quote from a change that it names")
    if omissions:
        yield f"(Not in this digest: {'; '.join(omissions)}.)"
