"""Make the table of related words that a search reads: `python -m benchmarks.make_related_words`.

The words are those of the table of word frequencies that stand in at least one
of `2 ** RAREST` source files; related are the nearest by the packaged static
model. The same model and table give the same bytes.
"""

from pathlib import Path

import numpy as np

from codesum_pipeline.evidence.author_texts.plain_sentences import frequent_words
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.indexes.file_formats.index_files import StringTable
from codesum_pipeline.indexes.file_formats.stored_zip import write_npz
from codesum_pipeline.indexes.lanes.tokens import tokenize
from codesum_pipeline.search.retrieval.query import STEPS

TABLE = Path(__file__).parents[1] / "codesum_pipeline/indexes/shipped_models/related_words.npz"
RAREST = 12
MOST_RELATED = 8
LEAST_LIKENESS = 0.45
_SHORTEST = 3
_AT_ONCE = 1_000


def main() -> None:
    """Write the table, and say how large it is."""
    frequent = frequent_words(rarest=RAREST)
    words = sorted(word for word in frequent if word.isascii() and word.isalpha() and len(word) >= _SHORTEST)
    words = [word for word in words if len(tokenize(word)) == 1]
    stems = [tokenize(word)[0] for word in words]
    vectors = load_embedder("static").embed(words)
    related = np.full((len(words), MOST_RELATED), -1, dtype=np.int16)
    likeness = np.zeros((len(words), MOST_RELATED), dtype=np.uint8)
    for start in range(0, len(words), _AT_ONCE):
        cosines = vectors[start : start + _AT_ONCE] @ vectors.T
        for row, of_word in enumerate(cosines, start=start):
            taken = {stems[row]}
            places = []
            for place in np.argsort(-of_word, kind="stable")[: 4 * MOST_RELATED].tolist():
                if stems[place] not in taken and of_word[place] >= LEAST_LIKENESS:
                    taken.add(stems[place])
                    places.append(place)
            places = places[:MOST_RELATED]
            related[row, : len(places)] = places
            likeness[row, : len(places)] = np.round(of_word[places] * STEPS)
    table = StringTable.of(words)
    write_npz(TABLE, {"words": table.content, "offsets": table.offsets, "related": related, "likeness": likeness})
    print(f"{len(words):,} words, {int((related >= 0).sum()):,} related, {TABLE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
