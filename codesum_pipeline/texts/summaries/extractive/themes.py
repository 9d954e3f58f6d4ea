"""What classes, files and folders are about where no author says it: the headlines of what they hold.

A headline is the first sentence of a text. One that only spells the name says nothing, and is left out.
"""

from collections import Counter
from collections.abc import Sequence

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.texts.summaries.author_texts.plain_sentences import (
    clip_text,
    make_printable,
    make_sentence,
    split_sentences,
    word_set,
)
from codesum_pipeline.texts.summaries.extractive.composing import (
    bare_name,
    is_chosen_name,
    is_public,
    lower_first,
    rank_children,
)
from codesum_pipeline.texts.summaries.extractive.words import (
    capitalize,
    fold_word,
    name_in_words,
    name_words,
    split_identifier,
    stem_of,
    telling_weight,
)
from codesum_pipeline.texts.summaries.inputs import ChildText

# How texts begin that only say what a file or folder holds.
LISTS = ("Defines ", "Re-exports ", "Runs with ", "Holds ")
_MAX_HEADLINES = 3
_MAX_CHARS = 120
# Of so many headlines at least, a word in most of them is what all are about.
_LEAST_SHARING = 4
_SHARED_PART = 0.6


def headline_of(child: ChildText) -> str:
    """The first sentence of a child's text, without the mark at its end; "" where it only spells the name."""
    if child.is_placeholder:
        return ""
    first = next(iter(split_sentences(make_printable(child.summary), limit=1)), "").rstrip(".")
    said, name = split_identifier(first), split_identifier(_name_of(child))
    return (
        ""
        if " " not in first or said == name or not set(said) - {*name, *_KINDS_SAID}
        else clip_text(first, _MAX_CHARS)
    )


_VERB_STEMS = frozenset(map(fold_word, word_set("verbs")))
_KINDS_SAID = ("file", "folder", "class", "the", "of")


def theme_of(children: Sequence[ChildText], *levels: Level, own_name: str) -> str:
    """Up to three headlines of the children at these levels as one sentence, the word that most share before them; ""
    without any. Functions are said by what they do, all others by their names, too."""
    ranked = [
        one
        for one in rank_children(children)
        if one.level in levels and is_chosen_name(bare_name(one)) and bare_name(one) != own_name
    ]
    if len(children) == 1 and children[0].level is Level.MODULE:
        # A folder that only holds another one is about the same.
        return make_sentence(headline_of(children[0]))
    found = [(one, headline) for one in ranked if (headline := headline_of(one))]
    found = [pair for pair in found if is_public(pair[0])] or found
    said = dict.fromkeys(_said(one, headline) for one, headline in found[:_MAX_HEADLINES])
    if not said:
        return ""
    lead = _shared_word([f"{bare_name(one)} {headline}" for one, headline in found], own_name)
    listed = "; ".join(said)
    return f"{capitalize(f'{lead}: {listed}' if lead else listed)}{'' if listed.endswith('…') else '.'}"


def _said(child: ChildText, headline: str) -> str:
    text = lower_first(headline)
    name = name_in_words(_name_of(child))
    is_named = child.level is not Level.FUNCTION and name.lower() not in text.lower()
    return f"{name}: {text}" if is_named else text


def _name_of(child: ChildText) -> str:
    return stem_of(bare_name(child)) if child.level is Level.FILE else bare_name(child)


def _shared_word(texts: Sequence[str], own_name: str) -> str:
    """The telling word that most texts have and the name does not; "" of few texts."""
    if len(texts) < _LEAST_SHARING:
        return ""
    own = {*map(fold_word, name_words(own_name)), *_VERB_STEMS}
    counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for text in texts:
        words = {fold_word(word): word for word in split_identifier(text) if telling_weight(word) and word.isalpha()}
        counts.update(words.keys() - own)
        for stem, word in sorted(words.items()):
            spelled[stem] = min(word, spelled.get(stem, word), key=lambda one: (len(one), one))
    best = min(counts, key=lambda stem: (-counts[stem], stem), default="")
    return spelled[best] if best and counts[best] >= _SHARED_PART * len(texts) else ""
