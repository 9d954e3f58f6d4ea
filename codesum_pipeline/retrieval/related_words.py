"""Words that mean nearly the same as those of a question, from a table that ships with the package.

People ask for "the smallest allowed length" where code says `min_len`. A passage
that has a related word in place of one that was asked for counts too, as far as
the two are alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import as_file, files

from codesum_pipeline.indexes.stored_zip import Array, map_npz
from codesum_pipeline.indexes.string_table import StringTable
from codesum_pipeline.indexes.tokens import split_identifier, tokens_of_word

# Cosines are kept in this many steps.
STEPS = 255


@dataclass(frozen=True)
class RelatedWords:
    """`related[k]` are the positions in `words`, which are sorted, of those nearest to word k, -1 behind the last;
    `likeness` are their cosines in `STEPS`."""

    words: StringTable
    related: Array
    likeness: Array

    def of(self, text: str) -> dict[str, float]:
        """The tokens related to the words of a text, each with its highest cosine; none of the text's own."""
        said = dict.fromkeys(part for word in text.split() for part in split_identifier(word))
        own = {token for part in said for token in tokens_of_word(part).split()}
        self._read([word for word in said if word not in self._known])
        found: dict[str, float] = {}
        for word in said:
            for token, likeness in self._known.get(word, ()):
                if token not in own:
                    found[token] = max(found.get(token, 0.0), likeness)
        return found

    @cached_property
    def _known(self) -> dict[str, list[tuple[str, float]]]:
        """The tokens related to words of the table that were asked for before."""
        return {}

    def _read(self, words: Sequence[str]) -> None:
        for word, position in zip(words, self.words.find_all(words), strict=True):
            if position is not None:
                of_word = zip(self.related[position].tolist(), self.likeness[position].tolist(), strict=True)
                self._known[word] = [
                    (token, steps / STEPS)
                    for other, steps in of_word
                    if other >= 0
                    for token in tokens_of_word(self.words[other]).split()
                ]

    def arrays(self) -> Mapping[str, Array]:
        """What `packaged` reads."""
        return {
            "words": self.words.content,
            "offsets": self.words.offsets,
            "related": self.related,
            "likeness": self.likeness,
        }


@cache
def packaged() -> RelatedWords:
    """The table of the package, mapped into memory."""
    with as_file(files("codesum_pipeline.indexes") / "models" / "related_words.npz") as path:
        arrays = map_npz(path)
    return RelatedWords(StringTable(arrays["words"], arrays["offsets"]), arrays["related"], arrays["likeness"])
