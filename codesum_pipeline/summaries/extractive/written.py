"""What a writer hands back, and the bounds of its fields."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from codesum_pipeline.llm.leaks import names_in
from codesum_pipeline.model.documents import PurposeSource, WrittenText
from codesum_pipeline.summaries.documentation.plain import clip, join_sentences, printable
from codesum_pipeline.summaries.extractive.foreign_names import in_words
from codesum_pipeline.summaries.own_names import with_words

# Goes up with every change of a text that any input can show.
EXTRACTIVE_VERSION = "13"

MIN_SUMMARY, MAX_SUMMARY = 30, 600
MIN_INTENT, MAX_INTENT = 10, 300
MIN_ITEM, MAX_ITEM = 10, 200
MIN_INPUT, MAX_INPUT = 20, 200
MIN_TYPE_SUMMARY, MAX_TYPE_SUMMARY = 10, 80
MIN_DETAILS, MAX_DETAILS = 20, 400
MAX_RESPONSIBILITIES = 8
MAX_SIDE_EFFECTS = 8


@dataclass(frozen=True, slots=True)
class ExtractiveText:
    """A text, and where its first statement came from."""

    text: WrittenText
    purpose_source: PurposeSource


def finished(
    text: WrittenText, source: PurposeSource, *, own: Collection[str] | None = None, path: str = ""
) -> ExtractiveText:
    """The text as it leaves the writer: printable throughout, no field above its bounds, no empty one cited; a short
    summary ends with what it is part of.

    Of code that may have neighbours, `own` are the names that may be said (`own_names`); what it is part of may say
    those in its `path`, too.
    """
    summary, intent = printable(text.summary), printable(text.business_intent)
    if own is not None:
        summary, intent = in_words(summary, own), in_words(intent, with_words(names_in(path).union(own), path))
    if len(summary) < MIN_SUMMARY:
        before, lead, owner = summary.rpartition("Part of ")
        is_repeated = lead and intent.startswith(f"{lead}{owner.removesuffix('.')}")
        summary = f"{before.strip() if is_repeated else summary} {intent}".strip()
    intent = join_sentences([intent], MAX_INTENT)
    kept = replace(
        text,
        summary=join_sentences([summary], MAX_SUMMARY),
        business_intent=intent if len(intent) >= MIN_INTENT else f"{intent} Part of the code.".strip(),
        keywords=tuple(dict.fromkeys(filter(None, map(printable, text.keywords)))),
        side_effects=_bounded(text.side_effects, MAX_ITEM),
        responsibilities=_bounded(text.responsibilities, MAX_ITEM),
    )
    return ExtractiveText(
        replace(kept, citations=tuple([one for one in text.citations if getattr(kept, one.field)])), source
    )


def _bounded(items: Iterable[str], limit: int) -> tuple[str, ...]:
    texts = [clip(printable(item), limit) for item in items]
    return tuple([text for text in texts if len(text) >= MIN_ITEM])
