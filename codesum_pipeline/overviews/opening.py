"""What a repository says of itself first: its README's opening words, else those of its root folder's document."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codesum_pipeline.model.ids import ROOT_MODULE
from codesum_pipeline.overviews.model_words import NO_WORDS, ModelWords
from codesum_pipeline.overviews.view import View
from codesum_pipeline.summaries.documentation.prose import Prose, read_prose

_README = re.compile(r"readme(?:\.(?:md|markdown|rst|txt|adoc|org))?", re.IGNORECASE)
_SENTENCES = 3
_MOST_CHARS = 600
# Words of a sentence that are enough to find it again among the marks of its markup.
_WORDS_TO_FIND = 4
_INTRODUCES = re.compile(r"\b(?:(?:is|are) (?:an?|the|one)|provides|offers|implements|lets|allows|makes|helps|aims)\b")
# After a badge, a notice and a release; later ones are about details.
_LATEST = 5
_LINK = re.compile(r"\[([^\[\]]+)\](?:\[[^\[\]]*\])?")
_SEPARATORS = re.compile(r" [•|·»] ")
_TELLING_TITLE = 4
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class OpeningText:
    """The words and where they stand; without a line they are a document's that somebody or something else wrote."""

    title: str
    text: str
    path: str | None = None
    line: int | None = None


def readme_path(root: str, paths: Mapping[str, object] | list[str]) -> str | None:
    """The README of the root folder; one in Markdown before others."""
    inside = "" if root == ROOT_MODULE else f"{root}/"
    found = [path for path in paths if path.startswith(inside) and _README.fullmatch(path[len(inside) :])]
    return min(found, key=lambda path: (not path.lower().endswith(".md"), path), default=None)


def opening_of(view: View, readme: tuple[str, str] | None, words: ModelWords = NO_WORDS) -> OpeningText:
    """From the README's path and text, else from the root folder's document: of a model's, what is repeated of it."""
    if readme:
        path, text = readme
        prose = read_prose(text)
        first = _introducing(prose, view)
        kept = [one for one in prose.sentences[first : first + _SENTENCES] if not _is_navigation(one)]
        told = _told(prose.title, [_without_brackets(one) for one in kept])
        if told:
            return OpeningText(prose.title, told, path, _line_of(text, kept[0] if kept else prose.title))
    root = view.places.get(view.root)
    return OpeningText("", words.summary if words.is_by_model else root.summary if root else "")


def _told(title: str, sentences: Sequence[str]) -> str:
    """A title that is more than a name, and as many sentences as fit."""
    told = f"{title.rstrip('.')}." if len(_WORD.findall(title)) >= _TELLING_TITLE else ""
    for sentence in sentences:
        if len(told) + len(sentence) > _MOST_CHARS:
            break
        told = f"{told} {sentence}".strip()
    return told


def _introducing(prose: Prose, view: View) -> int:
    """Which of the first sentences says what the repository is: `Name is a …`; else the first one."""
    names = {*_WORD.findall(prose.title.lower())[:1], *_WORD.findall(view.name.lower())}
    for number, sentence in enumerate(prose.sentences[:_LATEST]):
        words = _WORD.findall(sentence.lower())
        if set(words[:2]) & names and _INTRODUCES.search(" ".join(words[:6])):
            return number
    return 0


def _without_brackets(sentence: str) -> str:
    """A link whose address stands elsewhere is its text."""
    return _LINK.sub(r"\1", sentence)


def _is_navigation(sentence: str) -> bool:
    """A row of links is no sentence."""
    links = _LINK.findall(sentence)
    return bool(_SEPARATORS.search(sentence)) or (len(links) > 1 and not _WORD.search(_LINK.sub("", sentence)))


def _line_of(text: str, sentence: str) -> int:
    """The line on which a sentence begins, whatever marks stand between its words; the first where it is not found."""
    words = _WORD.findall(sentence)[:_WORDS_TO_FIND]
    found = re.search(r"[\W_]{1,40}".join(map(re.escape, words)), text) if words else None
    return text.count("\n", 0, found.start()) + 1 if found else 1
