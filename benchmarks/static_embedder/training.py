"""Token vectors learn to bring a question near its answer, and away from the other answers of a batch.

The loss is multiple negatives ranking (Henderson et al., 2017) in both directions. A batch is made of a few packages,
so that most wrong answers are of the same project, as they are in a search. A text is a sum of token vectors at length
one: the gradient is short enough to be written down, and only the rows of a batch's tokens move.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from benchmarks.static_embedder.training_texts import Bags, Integers, Pairs

Rows = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Plan:
    """What was tried and chosen; the results are in `benchmarks/results/static_embedder.md`."""

    epochs: int = 1
    batch: int = 1024
    of_one_package: int = 128
    temperature: float = 0.1
    learning_rate: float = 2e-3
    seed: int = 1


_MOMENTUM, _SPREAD, _TINY = 0.9, 0.99, 1e-8
_WARM_UP_STEPS = 30


def train_vectors(vectors: Rows, pairs: Pairs, plan: Plan) -> Rows:
    """The vectors after training; those of tokens that no text has stay as they are."""
    rows: Rows = vectors / np.linalg.norm(vectors, axis=1).mean()
    first, second = np.zeros_like(rows), np.zeros_like(rows)
    batches = [batch for epoch in range(plan.epochs) for batch in _batches(pairs.groups, plan, epoch)]
    losses: list[float] = []
    for step, batch in enumerate(batches):
        rate = plan.learning_rate * min(1, (step + 1) / _WARM_UP_STEPS) * (1 - step / len(batches))
        used, gradient, loss = _gradient(rows, pairs, batch, plan.temperature)
        first[used] += (1 - _MOMENTUM) * (gradient - first[used])
        second[used] += (1 - _SPREAD) * (gradient * gradient - second[used])
        size = rate * np.sqrt(1 - _SPREAD ** (step + 1)) / (1 - _MOMENTUM ** (step + 1))
        rows[used] -= size * first[used] / (np.sqrt(second[used]) + _TINY)
        losses.append(loss)
        if (step + 1) % 50 == 0:
            print(f"step {step + 1} of {len(batches)}: loss {np.mean(losses[-50:]):.4f}", flush=True)
    return rows


def texts_of(rows: Rows, bags: Bags, places: Integers) -> Rows:
    """The vectors of some texts, at length one."""
    numbers, lengths = bags.take(places)
    vectors: Rows = _matrix(numbers, lengths, len(rows)) @ rows
    return _unit(vectors)[0]


def _gradient(rows: Rows, pairs: Pairs, batch: Integers, temperature: float) -> tuple[Integers, Rows, float]:
    """The tokens of a batch, the gradient of each, and the loss."""
    (query_tokens, query_lengths), (document_tokens, document_lengths) = (
        pairs.queries.take(batch),
        pairs.documents.take(batch),
    )
    used, places = np.unique(np.concatenate((query_tokens, document_tokens)), return_inverse=True)
    local = rows[used]
    queries = _matrix(places[: len(query_tokens)], query_lengths, len(used))
    documents = _matrix(places[len(query_tokens) :], document_lengths, len(used))
    query_rows, query_sizes = _unit(queries @ local)
    document_rows, document_sizes = _unit(documents @ local)
    scores = query_rows @ document_rows.T / np.float32(temperature)
    by_query, by_document = _softmax(scores), _softmax(scores.T).T
    own = np.arange(len(batch))
    loss = -float(np.log(by_query[own, own] + 1e-12).mean() + np.log(by_document[own, own] + 1e-12).mean()) / 2
    pull: Rows = by_query + by_document
    pull[own, own] -= 2
    pull /= np.float32(2 * temperature * len(batch))
    query_pull = _tangent(pull @ document_rows, query_rows, query_sizes)
    document_pull = _tangent(pull.T @ query_rows, document_rows, document_sizes)
    gradient: Rows = queries.T @ query_pull + documents.T @ document_pull
    return used, gradient, loss


def _matrix(numbers: Integers, lengths: Integers, width: int) -> csr_array:
    ends = np.concatenate(([0], np.cumsum(lengths)))
    return csr_array((np.ones(len(numbers), dtype=np.float32), numbers, ends), shape=(len(lengths), width))


def _unit(rows: Rows) -> tuple[Rows, Rows]:
    sizes: Rows = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-6))
    return rows / sizes, sizes


def _tangent(pull: Rows, unit_rows: Rows, sizes: Rows) -> Rows:
    """The gradient before the text was brought to length one."""
    tangent: Rows = (pull - unit_rows * (pull * unit_rows).sum(axis=1, keepdims=True)) / sizes
    return tangent


def _softmax(scores: Rows) -> Rows:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    softmax: Rows = powers / powers.sum(axis=1, keepdims=True)
    return softmax


def _batches(groups: Integers, plan: Plan, epoch: int) -> Iterator[Integers]:
    """Every pair once, in stretches of one package."""
    random = np.random.default_rng((plan.seed, epoch))
    shuffled = random.permutation(len(groups))
    by_package = shuffled[np.argsort(groups[shuffled], kind="stable")]
    starts = np.flatnonzero(np.diff(groups[by_package], prepend=-1))
    stretches = [
        package[first : first + plan.of_one_package]
        for package in np.split(by_package, starts[1:])
        for first in range(0, len(package), plan.of_one_package)
    ]
    order = random.permutation(len(stretches))
    mixed = np.concatenate([stretches[place] for place in order])
    for first in range(0, len(mixed) - plan.batch + 1, plan.batch):
        yield mixed[first : first + plan.batch]
