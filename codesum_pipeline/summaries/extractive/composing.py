"""How every text is put together: what it opens with, then facts; keywords of its own words and its children's."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from codesum_pipeline.model.documents import PurposeSource, WrittenText
from codesum_pipeline.summaries.documentation.opening import further_sentence
from codesum_pipeline.summaries.documentation.plain import join_sentences
from codesum_pipeline.summaries.extractive.children import responsibilities, voices
from codesum_pipeline.summaries.extractive.keywords import DOCSTRING, merge_keywords
from codesum_pipeline.summaries.extractive.words import split_identifier
from codesum_pipeline.summaries.extractive.written import MAX_SUMMARY, ExtractiveText, finished
from codesum_pipeline.summaries.inputs import (
    ClassInput,
    FileInput,
    FunctionInput,
    ModuleInput,
    TextFileInput,
    children_of,
)

_MAX_SENTENCES = 4


def composed(
    given: FunctionInput | ClassInput | FileInput | TextFileInput | ModuleInput,
    opening: str,
    facts: Iterable[str],
    *,
    name: str = "",
    part: str,
    source: PurposeSource,
    words: Iterable[tuple[str, float]],
    prose: Sequence[str] = (),
    used: int = 0,
    own: Collection[str] | None = None,
    path: str = "",
    **fields: Any,
) -> ExtractiveText:
    """The text of one document; of the author's `prose` the opening has the first `used` sentences.

    A `name` in words opens a text of which nothing but its place can be said; elsewhere it would only say again what
    stands above the text. `part` is what it is part of, told where the author says no more. `own` and `path` are
    those of `finished`.
    """
    shown = list(filter(None, (opening, *facts)))
    is_told = any(not one.startswith("Part of ") for one in shown)
    summary = join_sentences(shown if is_told else [name, *shown], MAX_SUMMARY)
    told = [*words, *((word, DOCSTRING) for one in prose[:_MAX_SENTENCES] for word in one.split())]
    children = children_of(given)
    fallback = [*split_identifier(given.id.partition("::")[0]), *split_identifier(given.name), "code"]
    text = WrittenText(
        summary=summary,
        business_intent=further_sentence(prose[used:], summary) or part,
        keywords=merge_keywords(told, voices(children), fallback=fallback),
        **{"responsibilities": responsibilities(children), **fields},
    )
    return finished(text, source, own=own, path=path)
