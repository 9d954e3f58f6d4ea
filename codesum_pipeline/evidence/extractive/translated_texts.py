"""Files of translated texts: which language, how many texts, and the first of them."""

import re
from collections.abc import Iterable

from codesum_pipeline.evidence.author_texts.plain_sentences import clip_text, make_printable
from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.printable import count_noun

_CODE = re.compile(r"([a-z]{2})(?:[-_][rR]?[A-Z]{2}|[-_][A-Za-z]{4}|[-_]\d{3})?")
# Folders that hold translations, and how files of Android and of Java are marked.
_OF_LOCALES = re.compile(r"(?:^|/)(?:_?locales?|lang|langs|languages|i18n|l10n|translations|intl)/", re.I)
_MARKED = re.compile(
    r"(?:^|/)values-([\w-]+)/|(?:^|/)([\w-]+)\.lproj/|[a-z]_([a-z]{2}(?:_[A-Z]{2})?)\.(?:properties|resx|arb)$"
)
_CODE_MARKS = frozenset('{}"')
_MAX_TEXT, _MOST_CHARS = 50, 400


def spoken_language(code: str) -> str:
    """`pt_BR` as "Portuguese (pt_BR)", `de` as "German"; "" of no known code."""
    match = _CODE.fullmatch(code)
    language = packaged_table(__package__, "languages_of_texts").get(match[1], "") if match else ""
    return f"{language} ({code})" if language and match and match[0] != match[1] else language


def language_of_translation(path: str) -> str:
    """The language of a file of translated texts, by its name or its folder's; "" of others."""
    if marked := _MARKED.search(path):
        return spoken_language(next(filter(None, marked.groups())))
    if not _OF_LOCALES.search(path):
        return ""
    *folders, name = path.split("/")
    parts = [name.partition(".")[0], *name.split(".")[1:-1], *reversed(folders[-2:])]
    return next(filter(None, map(spoken_language, parts)), "")


def translation_statement(language: str, texts: Iterable[str], *, are_all: bool = True) -> str:
    """`120 texts in German, such as "Speichern"`; "" without texts. They may be the first of more."""
    found = list(texts)
    shown = list_quoted(found, 3)
    more = "" if are_all else "More than "
    return (
        f"{more}{count_noun(len(found), 'text')}{f' in {language}' if language else ''}, such as {shown}"
        if shown
        else ""
    )


def list_quoted(texts: Iterable[str], limit: int) -> str:
    """The first texts that have words, each once and in quotes."""
    found = dict.fromkeys(clip_text(make_printable(text[:_MOST_CHARS]), _MAX_TEXT) for text in texts)
    worded = [f'"{text}"' for text in found if any(map(str.isalpha, text)) and _CODE_MARKS.isdisjoint(text)]
    return ", ".join(worded[:limit])
