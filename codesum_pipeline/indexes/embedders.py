"""A text becomes a vector.

The promise that the index rests on: a vector depends on its text and the model, never on the batch, the
order or the machine. `StaticEmbedder` keeps it bit for bit, by arithmetic that is exact until the last step.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load as load_safetensors
from tokenizers import Tokenizer

from codesum_pipeline.model.errors import ConfigurationError

Vectors = npt.NDArray[np.float32]

STATIC_MODEL_FOLDER = Path(__file__).parent / "models" / "static"

# The length model2vec cuts at by default, and the limit of the model the vectors come from.
STATIC_MAX_TOKENS = 512

# Texts tokenised in one call: enough to keep the tokenizer's threads busy, few enough for a smooth progress bar.
BATCH_SIZE = 256

WAY_OUT = "reinstall the package codesum-pipeline"


class Embedder(Protocol):
    """Turns texts into unit vectors, so that near in meaning is near in cosine."""

    @property
    def model_id(self) -> str:
        """`name@` and 12 hex digits of the weights' sha256: vectors of different ids must not be compared."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text count; `embed` ignores what follows."""
        ...

    @property
    def query_prompt(self) -> str:
        """What the model wants before a query; empty for most."""
        ...

    def embed(self, texts: Sequence[str], *, progress: Callable[[int], None] | None = None) -> Vectors:
        """Return float32 (len(texts), dimensions) with rows of length one, or of zeros for a text without a
        known token. `progress` is told after each batch how many texts it held."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the length of each text in this model's tokens."""
        ...

    def truncate(self, text: str, max_tokens: int) -> str:
        """Return the longest prefix that ends at a token boundary and has at most `max_tokens` tokens."""
        ...


class StaticEmbedder:
    """The model that ships with the package: the mean of a text's token vectors, at length one.

    The folder is in model2vec's format and gives model2vec's vectors, but is read here directly: importing
    model2vec costs more than importing, loading and answering together do without it.

    A token vector is int8 times a scale of 8 significant bits, so a float64 holds any sum of them exactly,
    in whatever order it is taken; the division by the token count falls away with the length. The squares
    are then added in a fixed tree of element-wise steps, whose rounding numpy cannot rearrange.
    """

    query_prompt = ""

    def __init__(self, folder: Path = STATIC_MODEL_FOLDER) -> None:
        """Load and check the model; raise `ConfigurationError` when a file is not the one that was shipped."""
        checksums = _read_checksums(folder)
        weights = _read_checked(folder / "model.safetensors", checksums)
        tensors = load_safetensors(weights)
        self._tokens: npt.NDArray[np.int8] = tensors["embeddings"]
        self._scales: npt.NDArray[np.float64] = tensors["weights"].astype(np.float64)
        self._tokenizer = Tokenizer.from_buffer(_read_checked(folder / "tokenizer.json", checksums))
        self._unknown_id: int | None = self._tokenizer.token_to_id("[UNK]")
        self.model_id = f"static@{checksums['model.safetensors'][:12]}"
        self.dimensions = self._tokens.shape[1]
        self.max_tokens = STATIC_MAX_TOKENS

    def embed(self, texts: Sequence[str], *, progress: Callable[[int], None] | None = None) -> Vectors:
        """Return float32 (len(texts), dimensions) with rows of length one, or of zeros for a text without a
        known token. `progress` is told after each batch how many texts it held."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), BATCH_SIZE):
            batch = self._token_ids(texts[start : start + BATCH_SIZE])
            sums = np.stack([self._sum_of_tokens(ids[: self.max_tokens]) for ids in batch])
            vectors[start : start + len(batch)] = _unit_rows(sums)
            if progress is not None:
                progress(len(batch))
        return vectors

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the length of each text in tokens, unknown ones included."""
        return [len(ids) for ids in self._token_ids(texts)]

    def truncate(self, text: str, max_tokens: int) -> str:
        """Return the longest prefix that ends at a token boundary and has at most `max_tokens` tokens."""
        encoding = self._tokenizer.encode(_encodable(text), add_special_tokens=False)
        if len(encoding) <= max_tokens:
            return text
        offsets = encoding.offsets
        kept = max_tokens
        # One character can be several tokens (a Hangul syllable is two or three) and is kept or dropped whole.
        while kept > 0 and offsets[kept - 1][1] > offsets[kept][0]:
            kept -= 1
        return text[: offsets[kept - 1][1]] if kept > 0 else ""

    def _token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        encodable = [_encodable(text) for text in texts]
        encodings = self._tokenizer.encode_batch_fast(encodable, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def _sum_of_tokens(self, ids: list[int]) -> npt.NDArray[np.float64]:
        known = [token_id for token_id in ids if token_id != self._unknown_id]
        total: npt.NDArray[np.float64] = self._scales[known] @ self._tokens[known].astype(np.float64)
        return total


@cache
def load_embedder(name: str) -> Embedder:
    """Return the embedder that a setting names, loaded once a process, or raise `ConfigurationError`."""
    loaders: Mapping[str, Callable[[], Embedder]] = {"static": StaticEmbedder}
    if name not in loaders:
        raise ConfigurationError(f"embedder: {name!r} is not known; known are: {', '.join(sorted(loaders))}")
    return loaders[name]()


def _unit_rows(rows: npt.NDArray[np.float64]) -> Vectors:
    """Return the rows at length one; a row of zeros stays as it is."""
    squares = rows * rows
    while squares.shape[1] > 1:
        if squares.shape[1] % 2:
            squares = np.pad(squares, ((0, 0), (0, 1)))
        half = squares.shape[1] // 2
        squares = squares[:, :half] + squares[:, half:]
    lengths = np.sqrt(squares)
    return (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def _encodable(text: str) -> str:
    """Replace lone surrogates, which file names that are not UTF-8 carry and a tokenizer refuses.

    One character stands for one, so that offsets stay true.
    """
    return text if text.isascii() else text.encode("utf-8", errors="replace").decode("utf-8")


def _read_checksums(folder: Path) -> dict[str, str]:
    """Return sha256 by file name, as SHA256SUMS lists them."""
    lines = _read(folder / "SHA256SUMS").decode("utf-8").splitlines()
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def _read_checked(path: Path, checksums: Mapping[str, str]) -> bytes:
    """Return the file's content, if it is the one that was shipped."""
    content = _read(path)
    digest = hashlib.sha256(content).hexdigest()
    expected = checksums.get(path.name, "not listed")
    if digest != expected:
        raise ConfigurationError(
            f"embedder 'static': {path} was changed (sha256 {digest}, expected {expected}); {WAY_OUT}"
        )
    return content


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"embedder 'static': {path} cannot be read; {WAY_OUT}") from error
