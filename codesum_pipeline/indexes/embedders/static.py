"""The model that ships with the package, or another one in its format."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load as load_safetensors
from tokenizers import Tokenizer

from codesum_pipeline.indexes.embedders.model_folders import CheckedFolder, read_checksums
from codesum_pipeline.indexes.embedders.protocol import Vectors, unit_rows
from codesum_pipeline.indexes.embedders.token_sums import TokenSums, cut_to_tokens
from codesum_pipeline.model.errors import ConfigurationError

STATIC = "static"
STATIC_MODEL_FOLDER = Path(__file__).parent.parent / "models" / "static"

# The length model2vec cuts at by default, and the limit of the model the vectors come from.
STATIC_MAX_TOKENS = 512

# Texts embedded in one go: enough to share most of their lines, few enough for a smooth progress bar.
BATCH_SIZE = 2048

_WAY_OUT = "reinstall the package codesum-pipeline"
_WAY_OUT_OF_A_FOLDER = "a folder in model2vec's format must hold int8 vectors and a file SHA256SUMS of all digests"


class StaticEmbedder:
    """The mean of a text's token vectors, at length one.

    The folder is in model2vec's format and gives model2vec's vectors, but is read here directly: importing
    model2vec costs more than importing, loading and answering together do without it.

    A token vector is int8 times a scale of 8 significant bits, so a float64 holds any sum of them exactly,
    in whatever order it is taken; the division by the token count falls away with the length.
    """

    query_prompt = ""
    # Thousands of texts a second: writing them down would take longer than embedding them again.
    save_every = None
    billed_tokens = 0
    usd_per_token = 0.0

    def __init__(self, folder: Path = STATIC_MODEL_FOLDER, *, name: str = STATIC) -> None:
        """Load and check the model; raise `ConfigurationError` when a file is not the one that was shipped."""
        way_out = _WAY_OUT if name == STATIC else _WAY_OUT_OF_A_FOLDER
        checksums = read_checksums(folder / "SHA256SUMS", embedder=name, way_out=way_out)
        files = CheckedFolder(name, folder, checksums, way_out)
        tensors = load_safetensors(files.read("model.safetensors"))
        tokens: npt.NDArray[np.int8] = tensors["embeddings"]
        if tokens.dtype != np.int8:
            raise ConfigurationError(f"embedder {name!r}: its vectors are {tokens.dtype}; {way_out}")
        self._tokenizer = Tokenizer.from_buffer(files.read("tokenizer.json"))
        self._token_sums = TokenSums(self._tokenizer, tokens, tensors["weights"].astype(np.float64))
        self.model_id = f"{STATIC}@{checksums['model.safetensors'][:12]}"
        self.dimensions = tokens.shape[1]
        self.max_tokens = STATIC_MAX_TOKENS

    def embed(self, texts: Sequence[str], *, progress: Callable[[int], None] | None = None) -> Vectors:
        """Return float32 (len(texts), dimensions) with rows of length one, or of zeros for a text without a
        known token. `progress` is told after each batch how many texts it held."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), BATCH_SIZE):
            batch = texts[start : start + BATCH_SIZE]
            vectors[start : start + len(batch)] = unit_rows(self._token_sums.sums(batch, max_tokens=self.max_tokens))
            if progress is not None:
                progress(len(batch))
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query, which is that of a document."""
        vector: Vectors = unit_rows(self._token_sums.sum_of(text, max_tokens=self.max_tokens))[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the length of each text in tokens, unknown ones included."""
        return self._token_sums.count(texts)

    def truncate(self, text: str, max_tokens: int) -> str:
        """Return the longest prefix that ends at a token boundary and has at most `max_tokens` tokens."""
        is_short = self._token_sums.count([text])[0] <= max_tokens
        return text if is_short else cut_to_tokens(self._tokenizer, text, max_tokens)


def is_static_model(folder: Path) -> bool:
    """Whether a folder says that it holds a model in model2vec's format."""
    try:
        config = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and config.get("model_type") == "model2vec"
