"""What every reader of the index relies on when a text becomes a vector."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.indexes.embedders.static import BATCH_SIZE, STATIC_MODEL_FOLDER, StaticEmbedder

TEXTS = (
    "Parse the configuration file and return its settings.",
    "def getUserName(self) -> str: return self._user.name",
    "Retries a request with exponential back-off, at most five times.",
    "Überprüft die Anmeldung · 認証を確認する · 사용자",
    "(a)[b]{c}<d>",
    "token " * 700,
    "",
)


@pytest.fixture(scope="module")
def static() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.fixture
def model_copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STATIC_MODEL_FOLDER, tmp_path / "static"))


def test_the_shipped_files_are_the_ones_that_were_measured():
    listed = (STATIC_MODEL_FOLDER / "SHA256SUMS").read_text(encoding="utf-8")
    names = ("MODEL_CARD.md", "config.json", "model.safetensors", "tokenizer.json")
    digests = {name: hashlib.sha256((STATIC_MODEL_FOLDER / name).read_bytes()).hexdigest() for name in names}

    assert listed == "".join(f"{digest}  {name}\n" for name, digest in digests.items())


def test_the_shipped_model_stays_under_nine_megabytes():
    assert sum(path.stat().st_size for path in STATIC_MODEL_FOLDER.iterdir()) <= 9_000_000


def test_the_model_id_names_the_weights(static):
    digest = hashlib.sha256((STATIC_MODEL_FOLDER / "model.safetensors").read_bytes()).hexdigest()

    assert static.model_id == f"static@{digest[:12]}"


def test_the_weights_name_their_tokenizer_so_that_one_hash_covers_both():
    header = (STATIC_MODEL_FOLDER / "model.safetensors").read_bytes()[:1_000]
    tokenizer = hashlib.sha256((STATIC_MODEL_FOLDER / "tokenizer.json").read_bytes()).hexdigest()

    assert tokenizer.encode() in header


def test_two_loads_give_the_same_bytes(static):
    assert StaticEmbedder().embed(TEXTS).tobytes() == static.embed(TEXTS).tobytes()


def test_a_vector_does_not_depend_on_the_batch_it_was_embedded_in(static):
    # Two batches, and texts of all lengths at the ends of both.
    some = [f"{text} {number}" for number in range(8) for text in TEXTS]
    many = [*some, *(f"word {number}" for number in range(2 * BATCH_SIZE - 2 * len(some))), *some[::-1]]
    one_by_one = np.concatenate([static.embed([text]) for text in some])

    vectors = static.embed(many)
    assert vectors[: len(some)].tobytes() == one_by_one.tobytes()
    assert vectors[-len(some) :][::-1].tobytes() == one_by_one.tobytes()
    assert static.embed(many[::-1])[::-1].tobytes() == vectors.tobytes()


@given(st.text() | st.text("getHTTPServer2_parse \n\t[UNK]é世", max_size=1500))
def test_a_query_has_the_vector_of_a_document_with_its_text(static, text):
    assert static.embed_query(text).tobytes() == static.embed([text])[0].tobytes()


def test_a_vector_does_not_depend_on_the_order_in_which_its_tokens_are_added(static):
    words = [f"{word} {number}" for number in range(50) for word in ("parse", "the", "zeta")]

    assert static.embed([" ".join(words)]).tobytes() == static.embed([" ".join(sorted(words))]).tobytes()


def test_vectors_are_float32_rows_of_length_one(static):
    vectors = static.embed(TEXTS[:-1])

    assert (vectors.dtype, vectors.shape) == (np.float32, (len(TEXTS) - 1, static.dimensions))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    "text", ["", " \n\t", "()[]{}<>", "𓀀 𓀁"], ids=["empty", "blank", "marks", "unknown-characters"]
)
def test_a_text_without_a_known_token_is_a_row_of_zeros(static, text):
    assert static.embed([text]).tolist() == [[0.0] * static.dimensions]


def test_no_texts_give_no_rows(static):
    assert static.embed([]).shape == (0, static.dimensions)
    assert static.count_tokens([]) == []


def test_near_in_meaning_is_near_in_cosine(static):
    query, near, far = static.embed(
        ["read the settings file", "load configuration from disk", "draw a circle on the canvas"]
    )

    assert query @ near > query @ far


def test_the_vectors_are_those_of_model2vec(static):
    model2vec = pytest.importorskip("model2vec")
    theirs = model2vec.StaticModel.from_pretrained(STATIC_MODEL_FOLDER).encode(TEXTS)

    assert static.embed(TEXTS) == pytest.approx(theirs, abs=1e-6)


def test_an_identifier_reads_like_its_words(static):
    assert static.embed(["getUserName"]).tobytes() == static.embed(["get user name"]).tobytes()


def test_what_follows_the_longest_text_is_ignored(static):
    words = "parse the file " * 400
    cut = static.truncate(words, static.max_tokens)

    assert static.embed([words]).tobytes() == static.embed([cut]).tobytes()


def test_progress_adds_up_to_the_number_of_texts(static):
    steps: list[int] = []
    static.embed(["a word"] * (BATCH_SIZE + 3), progress=steps.append)

    assert steps == [BATCH_SIZE, 3]


def test_a_file_name_that_is_not_utf8_can_be_embedded(static):
    assert static.count_tokens(["caf\udce9.py"]) == static.count_tokens(["caf?.py"])
    assert static.truncate("caf\udce9.py and more", 2) == "caf\udce9"


@pytest.mark.parametrize(
    ("text", "max_tokens", "kept"),
    [
        ("read the file", 3, "read the file"),
        ("read the file", 2, "read the"),
        ("read the file", 0, ""),
        ("a 한국", 2, "a"),
    ],
    ids=["short-enough-stays", "cut-after-a-token", "nothing-fits", "a-character-is-never-split"],
)
def test_truncate_ends_at_a_token_boundary(static, text, max_tokens, kept):
    assert static.truncate(text, max_tokens) == kept


@given(text=st.text(max_size=200), max_tokens=st.integers(min_value=0, max_value=30))
def test_truncate_keeps_a_prefix_and_respects_the_limit(static, text, max_tokens):
    cut = static.truncate(text, max_tokens)

    assert text.startswith(cut)
    assert static.count_tokens([cut])[0] <= max_tokens
    assert static.truncate(cut, max_tokens) == cut


def test_the_static_embedder_is_known_by_name(static):
    assert load_embedder("static").model_id == static.model_id


def test_an_unknown_embedder_is_refused_with_the_known_names():
    with pytest.raises(
        ConfigurationError, match=r"embedder: 'word2vec' is not known; known are: static, minilm, sentence-transformers"
    ):
        load_embedder("word2vec")


def test_without_torch_a_model_that_it_runs_is_refused_with_the_way_out(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)

    with pytest.raises(
        ConfigurationError, match=r"run by sentence-transformers, which is not installed: in a checkout, `"
    ):
        load_embedder(str(tmp_path))


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_changed_file_is_refused_with_the_way_out(model_copy, name):
    content = bytearray((model_copy / name).read_bytes())
    content[-10] ^= 1
    (model_copy / name).write_bytes(content)

    with pytest.raises(ConfigurationError, match=rf"{name} was changed .*reinstall the package"):
        StaticEmbedder(model_copy)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "SHA256SUMS"])
def test_a_missing_file_is_refused_with_the_way_out(model_copy, name):
    (model_copy / name).unlink()

    with pytest.raises(ConfigurationError, match=rf"{name} cannot be read; reinstall the package"):
        StaticEmbedder(model_copy)


def test_a_file_that_the_checksums_do_not_list_is_refused(model_copy):
    (model_copy / "SHA256SUMS").write_text("", encoding="utf-8")

    with pytest.raises(ConfigurationError, match="expected not listed"):
        StaticEmbedder(model_copy)


def test_embedding_a_query_imports_no_deep_learning_library():
    script = (
        "import sys\n"
        "from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder\n"
        "load_embedder('static').embed(['where is the cache?'])\n"
        "print(sorted({'torch', 'transformers', 'sentence_transformers', 'model2vec'} & set(sys.modules)))\n"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)

    assert shown.stdout == "[]\n"
