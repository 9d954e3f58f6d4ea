"""Which model a name means, and what happens to names that mean none."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.indexes.embedders.static import STATIC_MODEL_FOLDER, StaticEmbedder


@pytest.mark.parametrize(
    "name",
    ["", "minlm", "MINILM", "word2vec", "voyage/voyage-code-3", "./model", "litellm/", "sentence-transformers/"],
)
def test_a_name_that_means_nothing_is_refused_with_the_choices(name: str) -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"is not known(; the nearest is 'minilm')?; known are: static, minilm, .*litellm/MODEL",
    ):
        load_embedder(name)


def test_a_missing_folder_is_named() -> None:
    with pytest.raises(ConfigurationError, match="embedder '/no/such/model': there is no folder /no/such/model"):
        load_embedder("/no/such/model")


def test_a_folder_may_hold_a_static_model(tmp_path: Path) -> None:
    folder = shutil.copytree(STATIC_MODEL_FOLDER, tmp_path / "model")

    assert load_embedder(str(folder)).model_id == load_embedder("static").model_id

    (folder / "SHA256SUMS").unlink()
    with pytest.raises(ConfigurationError, match="SHA256SUMS cannot be read; a folder in model2vec's format must hold"):
        StaticEmbedder(folder, name=str(folder))


def test_the_short_and_the_long_name_of_a_model_of_openai_are_one_model() -> None:
    assert load_embedder("text-embedding-3-small").model_id == load_embedder("litellm/text-embedding-3-small").model_id


def test_a_model_at_another_place_is_another_model() -> None:
    ids = {load_embedder("litellm/openai/bge", api_base=base).model_id for base in (None, "http://a", "http://b")}

    assert len(ids) == 3


_LOAD = """
import sys
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
try:
    print(load_embedder(sys.argv[1], offline=sys.argv[2] == "offline").model_id)
except ConfigurationError as error:
    print(error)
print(sorted({"torch", "transformers", "sentence_transformers", "litellm"} & set(sys.modules)))
"""


def load(name: str, how: str, **environment: str) -> list[str]:
    """What a process of its own says: the libraries read their places from the environment at import."""
    shown = subprocess.run(
        [sys.executable, "-c", _LOAD, name, how],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, **environment},
    )
    return shown.stdout.splitlines()


def write_model(folder: Path) -> None:
    """The least that is a model by its files; none of its weights is read before a text is embedded."""
    folder.mkdir(parents=True)
    (folder / "tokenizer.json").write_bytes((STATIC_MODEL_FOLDER / "tokenizer.json").read_bytes())
    (folder / "modules.json").write_text(json.dumps([{"idx": 0, "path": "", "type": "x"}]), encoding="utf-8")
    (folder / "model.safetensors").write_bytes(b"weights")


def test_a_model_of_the_hub_is_taken_from_the_local_cache(tmp_path: Path) -> None:
    repo = tmp_path / "hub" / "models--acme--code-model"
    write_model(repo / "snapshots" / ("a" * 40))
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text("a" * 40)

    by_name = load("sentence-transformers/acme/code-model", "offline", HF_HOME=str(tmp_path))
    by_revision = load(f"sentence-transformers/acme/code-model@{'a' * 40}", "offline", HF_HOME=str(tmp_path))

    assert by_name[0].startswith("sentence-transformers/acme/code-model@")
    assert by_revision == by_name
    assert by_name[1] == "[]"


def test_offline_a_model_that_is_not_in_the_cache_is_refused_with_the_way_to_get_it(tmp_path: Path) -> None:
    message = load("sentence-transformers/all-mpnet-base-v2", "offline", HF_HOME=str(tmp_path))

    assert message[0] == (
        "embedder 'sentence-transformers/all-mpnet-base-v2': sentence-transformers/all-mpnet-base-v2 is not in the "
        "local cache and offline is set: run `hf download sentence-transformers/all-mpnet-base-v2` where there is a "
        "network, or name a folder that holds the model"
    )


def test_a_hub_that_does_not_answer_is_named_as_the_reason(tmp_path: Path) -> None:
    place = {"HF_HOME": str(tmp_path), "HF_ENDPOINT": "http://127.0.0.1:9"}

    assert (
        "is not in the local cache and the hub cannot be reached"
        in load("sentence-transformers/acme/code-model", "online", **place)[0]
    )


@pytest.mark.parametrize(
    "url", ["https://user:sk-secret123@host/v1", "https://host/v1?key=sk-secret123", "sk-secret123"]
)
def test_a_key_in_the_address_is_refused_and_not_repeated(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigurationError, match="keys belong in the environment") as raised:
        load_settings({"home": tmp_path, "embedder_api_base": url}, environ={})

    assert "secret123" not in str(raised.value)
