"""The files of the model, in the format that `model2vec.StaticModel.from_pretrained` reads."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save

from benchmarks.static_embedder.teacher import TEACHER

Floats = npt.NDArray[np.floating[Any]]

MAX_TOKENS = 512
SIZE_LIMIT_BYTES = 9_000_000
_FILES = ("MODEL_CARD.md", "config.json", "model.safetensors", "tokenizer.json")

# One int8 scale per row, not one per matrix: the rows differ in length by a factor of 1,000. A scale keeps 8
# significant bits: a sum of int8 x scale is then exact in float64, whatever its order, which makes a text's vector the
# same in every batch and on every machine.
SCALE_BITS = 8


@dataclass(frozen=True, slots=True)
class Quantised:
    """Token vectors as `tokens * scales[:, None]`; model2vec calls the scales `weights`."""

    tokens: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float32]

    def rows(self) -> Floats:
        rows: Floats = self.tokens.astype(np.float64) * self.scales[:, np.newaxis].astype(np.float64)
        return rows


def quantise(vectors: Floats) -> Quantised:
    """Round each row to int8 under its own scale, which is rounded up so that no value is clipped."""
    mantissa, exponent = np.frexp(np.abs(vectors).max(axis=1).astype(np.float64) / 127)
    scales = np.ldexp(np.ceil(mantissa * 2**SCALE_BITS) / 2**SCALE_BITS, exponent)
    scales = np.where(scales > 0, scales, 1.0)
    tokens = np.rint(vectors / scales[:, np.newaxis]).astype(np.int8)
    return Quantised(tokens=tokens, scales=scales.astype(np.float32))


def write_model(folder: Path, rows: Quantised, tokenizer: str) -> None:
    """Write weights, tokenizer and configuration.

    The tokenizer's hash travels in the weights' header, so that the weights' hash names both.
    """
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "tokenizer_name": TEACHER,
        "hidden_dim": rows.tokens.shape[1],
        "seq_length": 1_000_000,
        "normalize": True,
        "pooling": "mean",
        "max_length": MAX_TOKENS,
        "embedding_dtype": "int8",
    }
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer_bytes = tokenizer.encode()
    metadata = {"tokenizer_sha256": hashlib.sha256(tokenizer_bytes).hexdigest()}
    weights = save({"embeddings": rows.tokens, "weights": rows.scales}, metadata=metadata)
    (folder / "model.safetensors").write_bytes(weights)
    (folder / "tokenizer.json").write_bytes(tokenizer_bytes)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def write_checksums(folder: Path) -> None:
    """Write SHA256SUMS over the model's files, in the format of `sha256sum`, and hold the size limit."""
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in _FILES]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
    size = sum((folder / name).stat().st_size for name in _FILES)
    if size > SIZE_LIMIT_BYTES:
        raise SystemExit(f"{folder}: {size:,} bytes, more than {SIZE_LIMIT_BYTES:,}")
    print(f"{folder}: {size:,} bytes")
    print("".join(lines), end="")
