"""Words in a row have the tokens of the text: the tokenizer itself is the oracle."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from codesum_pipeline.indexes.embedders.static import MANY_TEXTS, STATIC_MODEL_FOLDER, TokenSums
from codesum_pipeline.indexes.embedders.tokenizer_calls import Lists
from codesum_pipeline.indexes.lanes.embedding import most_tokens

DEFINITION = (STATIC_MODEL_FOLDER / "tokenizer.json").read_bytes()
TOKENIZER = Tokenizer.from_buffer(DEFINITION)
TENSORS = load_file(STATIC_MODEL_FOLDER / "model.safetensors")
TOKENS, SCALES = TENSORS["embeddings"], TENSORS["weights"].astype(np.float64)
SUMS = TokenSums(DEFINITION, TOKENS, SCALES)

# White space and control characters, marks, special tokens, letters that change their number when they are cleaned,
# scripts that are cut into characters, parts of identifiers, a word that is too long for the model.
PIECES = st.sampled_from(
    [
        *"ab9_.-[]()'\"  \n\t\r\0\x0b\x0c\x1c\x7f\x85\xa0",
        *("[UNK]", "[PAD]", "[unk]", "def ", "getUserName", "HTTPServer2x", "A", "Bc", "utf8", "x" * 101),
        *("é", "e\u0301", "\u0327\u0301", "İ", "ß", "Σ", "ς", "ſ", "ﬁ", "한", "漢", "字", "\u3000", "\u200b", "\u2028"),
        *("\ufffd", "\udc80", "\U0001f642", "…", "—"),
    ]
)
TEXTS = st.lists(st.lists(PIECES, max_size=30).map("".join), max_size=4)


def ids_of(text: str) -> list[int]:
    encodable = text.encode("utf-8", errors="replace").decode()
    ids: list[int] = TOKENIZER.encode(encodable, add_special_tokens=False).ids
    return ids


def sum_of(ids: list[int]) -> list[float]:
    known = [token for token in ids if token != TOKENIZER.token_to_id("[UNK]")]
    total: list[float] = (SCALES[known] @ TOKENS[known].astype(np.float64)).tolist()
    return total


@given(TEXTS)
@example(["one [UNK] two\n[PAD]three", "", "one [UNK] two"])
def test_a_text_has_as_many_tokens_as_its_tokenizer_finds(texts: list[str]) -> None:
    assert SUMS.count(texts) == [len(ids_of(text)) for text in texts]


@given(TEXTS)
@example(["\ufdfa", "한국어", "\udc80", "“quoted…”"])
def test_no_text_has_more_tokens_than_its_length_allows(texts: list[str]) -> None:
    assert all(most_tokens(text) >= len(ids_of(text)) for text in texts)
    assert most_tokens("of ASCII as many as characters") == 30


@given(TEXTS, st.sampled_from([1, 7, 512]))
def test_a_sum_is_that_of_the_first_tokens_to_the_last_bit(texts: list[str], max_tokens: int) -> None:
    assert SUMS.sums(texts, max_tokens=max_tokens).tolist() == [sum_of(ids_of(text)[:max_tokens]) for text in texts]


@pytest.mark.parametrize(
    "scale", [pytest.param(0.75, id="whole numbers in 32 bits"), pytest.param(1 / 3, id="no whole numbers of a unit")]
)
def test_sums_are_exact_whatever_numbers_they_are_taken_in(scale: float) -> None:
    ids = ids_of("def total(prices): return 3")
    small = TOKENS // 4

    (row,) = TokenSums(DEFINITION, small, np.full(len(TOKENS), scale)).sums(
        ["def total(prices): return 3"], max_tokens=512
    )

    assert np.allclose(row, small[ids].sum(axis=0) * scale, rtol=1e-15)
    assert scale != 0.75 or row.tolist() == (small[ids].sum(axis=0) * scale).tolist()


def test_an_identifier_has_the_tokens_of_its_parts() -> None:
    assert ids_of("getHTTPServer2 sha256sum") == ids_of("get http server 2 sha 256 sum")


@given(TEXTS)
@example(
    [
        "one [UNK] two\n[PAD]three",
        "",
        "one [UNK] two",
        "\n\n",
        "Foo_Bar(x)\n\té",
        "a" * 40,
        "\0 \0 \0 \0 \0 \0 \0 a b c d e f g h",
    ]
)
# The first example waits for an import.
@settings(deadline=None)
def test_many_texts_are_read_as_few_are(texts: list[str]) -> None:
    many = [*texts, *[""] * MANY_TEXTS]

    assert SUMS.count(many)[: len(texts)] == [SUMS.count([text])[0] for text in texts]
    rows = SUMS.sums(many, max_tokens=7)[: len(texts)]
    assert rows.tolist() == [SUMS.sums([text], max_tokens=7)[0].tolist() for text in texts]


@pytest.mark.parametrize("lengths", [[], [0], [2, 0, 3, 1], [1] * 600], ids=str)
def test_lists_are_summed_each_on_its_own(lengths: list[int]) -> None:
    rows = np.arange(12.0).reshape(6, 2)
    lists = [[(first + place) % 6 for place in range(length)] for first, length in enumerate(lengths)]

    sums = Lists.of(lists).sums(rows)

    assert sums.tolist() == [rows[names].sum(axis=0).tolist() for names in lists]
    assert Lists.of(lists).totals(np.arange(6)).tolist() == [sum(names) for names in lists]


def test_lists_of_lists_are_joined_and_cut() -> None:
    inner = Lists.of([[7], [], [8, 9]])

    joined = Lists.of([[2, 0], [], [1], [0, 0]]).joined(inner)

    assert (joined.numbers.tolist(), joined.lengths.tolist()) == ([8, 9, 7, 7, 7], [3, 0, 0, 2])
    firsts = joined.firsts(2)
    assert (firsts.numbers.tolist(), firsts.lengths.tolist()) == ([8, 9, 7, 7], [2, 0, 0, 2])
