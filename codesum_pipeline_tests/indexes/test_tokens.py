import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from codesum_pipeline.indexes.lanes.sparse import join_tokens
from codesum_pipeline.indexes.lanes.tokens import STOP_WORDS, joined_tokens, split_identifier, tokenize


def test_spellings_of_one_name_share_their_parts_and_the_whole() -> None:
    assert tokenize("getUserName") == tokenize("get_user_name") == ["get", "user", "name", "getusername"]
    assert tokenize("get user name") == ["get", "user", "name"]


def test_capitals_in_a_row_are_one_part() -> None:
    assert split_identifier("HTTPServer2") == ["http", "server", "2"]
    assert split_identifier("parseXMLFile") == ["parse", "xml", "file"]


def test_words_are_stemmed() -> None:
    assert tokenize("connections connecting connected") == ["connect", "connect", "connect"]


def test_stop_words_and_single_characters_are_left_out() -> None:
    assert tokenize("where is the i of x") == []


def test_scripts_without_spaces_are_cut_into_pairs() -> None:
    assert tokenize("处理用户登录") == ["处理", "理用", "用户", "户登", "登录"]
    assert "用户" in tokenize("用户login")


def test_a_blob_is_no_word() -> None:
    assert tokenize("a" * 41) == []


@given(st.text())
def test_tokens_hold_no_white_space_and_are_never_stop_words(text: str) -> None:
    for token in tokenize(text):
        assert token and not any(character.isspace() for character in token)
    assert tokenize(text) == tokenize(text)
    assert tokenize(" ".join(STOP_WORDS)) == []


@given(st.lists(st.text(st.one_of(st.sampled_from("abXY_09 .\n\tthe"), st.characters(codec="utf-8"))), max_size=6))
@example(["", "the", "getUserName é", "getUserName\nis_ok", "", "处理用户登录"])
def test_many_texts_have_the_tokens_that_each_has_alone(texts: list[str]) -> None:
    for start in range(len(texts) + 1):
        some = pa.array(texts, pa.large_string()).slice(start)
        assert join_tokens(some).to_pylist() == [joined_tokens(text) for text in texts[start:]]
