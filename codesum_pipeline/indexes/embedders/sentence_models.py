"""Models of sentence-transformers, on the processor.

Texts are embedded one by one, each on a single thread, and several at a time on several threads. In a batch a text's
last bits depend on its neighbours, so that an index built step by step would differ from one built at once; on a
processor a batch gains little, since a text of a hundred tokens keeps it busy.
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, UnusableVectors
from codesum_pipeline.foundation.store.atomic import read_json
from codesum_pipeline.indexes.embedders.model_folders import MINILM_FILES, content_digest, module_folders
from codesum_pipeline.indexes.embedders.protocol import unit_rows
from codesum_pipeline.indexes.embedders.tokenizer_calls import cut_to_tokens, make_encodable, token_ids
from codesum_pipeline.indexes.file_formats.stored_zip import Vectors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# Where a model says nothing: what nearly all of them were trained on.
_USUAL_MAX_TOKENS = 512
# The names that models give to the prompt of a document; the first that is there counts, as sentence-transformers does.
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")
# About ten seconds' work of two cores: what is lost at most when a build is interrupted.
_SAVE_EVERY = 512
_PROGRESS_EVERY = 16


class SentenceEmbedder:
    """One model in one folder. Making it reads its configuration and hashes its weights; the first text loads it."""

    save_every = _SAVE_EVERY
    billed_tokens = 0
    usd_per_token = 0.0

    def __init__(self, name: str, folder: Path) -> None:
        """Raise `ConfigurationError` when the folder holds no model that can be used."""
        self._name = name
        self._folder = folder
        self._loaded: SentenceTransformer | None = None
        # For what a model does not do for several threads at once: it is loaded, and it cuts texts into tokens.
        self._lock = threading.RLock()
        self.model_id = _model_id(name, folder)
        self._tokenizer = _read_tokenizer(name, folder)
        named = _mapping(folder / "config_sentence_transformers.json").get("prompts")
        prompts = {str(key): str(text) for key, text in named.items() if text} if isinstance(named, Mapping) else {}
        self.query_prompt = prompts.get("query", "")
        self._document_prompt = next((prompts[key] for key in _DOCUMENT_PROMPTS if key in prompts), "")
        added = self._tokenizer.num_special_tokens_to_add(False) + self.count_tokens([self._document_prompt])[0]
        self.max_tokens = _longest_text(folder) - added

    @property
    def dimensions(self) -> int:
        """The length of a vector; loads the model."""
        found = self._model.get_embedding_dimension()
        return int(found) if found else len(self._forward(self._features("dimensions")))

    def embed(self, texts: Sequence[str], *, progress: Callable[[int], None] | None = None) -> Vectors:
        return self._embed([self._document_prompt + text for text in texts], progress)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._embed([self.query_prompt + text], None)[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(ids) for ids in token_ids(self._tokenizer, texts)]

    def truncate(self, text: str, max_tokens: int) -> str:
        return cut_to_tokens(self._tokenizer, text, max_tokens)

    def _embed(self, texts: Sequence[str], progress: Callable[[int], None] | None) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        features = [self._features(text) for text in texts]
        rows: list[npt.NDArray[np.float64]] = []
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            for row in pool.map(self._forward, features):
                rows.append(row)
                if progress is not None and (len(rows) % _PROGRESS_EVERY == 0 or len(rows) == len(texts)):
                    progress(len(rows) % _PROGRESS_EVERY or _PROGRESS_EVERY)
        vectors = np.stack(rows)
        if not np.isfinite(vectors).all():
            raise UnusableVectors(f"embedder {self._name!r}: the model gave a number that is not finite: use another")
        return unit_rows(vectors)

    def _features(self, text: str) -> dict[str, Any]:
        """A text as the model takes it. One thread at a time does this: a tokenizer is not made for several."""
        with self._lock:
            found: dict[str, Any] = self._model.preprocess([make_encodable(text)])
        return found

    def _forward(self, features: dict[str, Any]) -> npt.NDArray[np.float64]:
        import torch

        with torch.inference_mode():
            row: npt.NDArray[np.float64] = self._model.forward(features)["sentence_embedding"][0].double().numpy()
        return row

    @property
    def _model(self) -> "SentenceTransformer":
        """The model, loaded for whoever asks first."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> "SentenceTransformer":
        """Nothing is downloaded, and no code that a model brings along is run."""
        os.environ["HF_HUB_OFFLINE"] = "1"
        os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()
        torch.set_num_threads(1)
        try:
            model = SentenceTransformer(
                str(self._folder),
                device="cpu",
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True, "dtype": torch.float32},
            )
        except (OSError, ValueError, TypeError, KeyError, RuntimeError, ImportError) as error:
            raise ConfigurationError(
                f"embedder {self._name!r}: {self._folder} cannot be loaded by sentence-transformers: {error}"
            ) from error
        model.max_seq_length = _longest_text(self._folder)
        return model.eval()


def _model_id(name: str, folder: Path) -> str:
    """The name without the revision and without the folders of this machine, `@`, and what identifies the content."""
    if name == "minilm":
        return f"{name}@{MINILM_FILES['model.safetensors'][:12]}"
    known_as = folder.name if name.startswith(("/", "~")) else name.partition("@")[0]
    return f"{known_as}@{content_digest(name, folder)}"


def _read_tokenizer(name: str, folder: Path) -> Tokenizer:
    for part in ("", *module_folders(name, folder)):
        path = folder / part / "tokenizer.json"
        if path.is_file():
            tokenizer = Tokenizer.from_file(str(path))
            tokenizer.no_truncation()
            tokenizer.no_padding()
            return tokenizer
    raise ConfigurationError(f"embedder {name!r}: {folder} has no tokenizer.json")


def _longest_text(folder: Path) -> int:
    """How many tokens the model reads, those that it adds itself included."""
    own = _mapping(folder / "sentence_bert_config.json").get("max_seq_length")
    if isinstance(own, int):
        return own
    limits = (
        _mapping(folder / "config.json").get("max_position_embeddings"),
        _mapping(folder / "tokenizer_config.json").get("model_max_length"),
    )
    return min([limit for limit in limits if isinstance(limit, int) and limit > 0], default=_USUAL_MAX_TOKENS)


def _mapping(path: Path) -> Mapping[str, Any]:
    return read_json(path, dict[str, Any]) or {}
