"""What an embedding model promises."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from codesum_pipeline.foundation.language_facts.writing_systems import is_mostly_latin
from codesum_pipeline.indexes.file_formats.stored_zip import Vectors

# How the ids of models begin that know hardly a word in other scripts than the Latin one.
_ENGLISH_MODELS = ("static@", "minilm@")


class Embedder(Protocol):
    """Turns texts into unit vectors, so that near in meaning is near in cosine."""

    @property
    def model_id(self) -> str:
        """`name@` and 12 hex digits of what identifies the model, its weights where they can be seen: vectors of
        different ids must not be compared."""

    @property
    def dimensions(self) -> int:
        """The length of a vector. Slow models have to be loaded or called for it."""

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text count; `embed` ignores what follows."""

    @property
    def query_prompt(self) -> str:
        """The prefix of a query that the model needs; empty for most."""

    @property
    def save_every(self) -> int | None:
        """After how many texts their vectors are saved for an interrupted build; None where recomputing costs less."""

    @property
    def billed_tokens(self) -> int:
        """The tokens that a provider counted since the embedder was loaded; 0 for a model that runs here."""

    @property
    def usd_per_token(self) -> float | None:
        """The price of a token, 0 for a model that runs here, None if it is not known."""

    def embed(self, texts: Sequence[str], *, progress: Callable[[int], None] | None = None) -> Vectors:
        """Return float32 (len(texts), dimensions) with rows of length one, or of zeros for a text that says nothing to
        the model. `progress` receives the number of texts after each batch. Raises `ConfigurationError`,
        `EmbedderUnavailable` or `UnusableVectors`."""

    def embed_query(self, text: str) -> Vectors:
        """Return the vector (dimensions,) of a query, which some models embed otherwise than a document."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the length of each text in this model's tokens, or in tokens of about that length."""

    def truncate(self, text: str, max_tokens: int) -> str:
        """Return the longest prefix that ends at a token boundary and has at most `max_tokens` tokens, as
        `count_tokens` counts them."""


def is_read_by(embedder: Embedder | None, text: str) -> bool:
    """Whether the vector of a text means something: whether the model knows its script."""
    return is_mostly_latin(text) or (embedder is not None and not embedder.model_id.startswith(_ENGLISH_MODELS))


def unit_rows(rows: npt.NDArray[np.float64]) -> Vectors:
    """Return the rows at length one; a row of zeros stays as it is. Squares are added in a fixed tree of element-wise
    steps, whose rounding numpy cannot rearrange."""
    squares = rows * rows
    while squares.shape[1] > 1:
        if squares.shape[1] % 2:
            squares = np.pad(squares, ((0, 0), (0, 1)))
        half = squares.shape[1] // 2
        squares = squares[:, :half] + squares[:, half:]
    lengths = np.sqrt(squares)
    return (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
