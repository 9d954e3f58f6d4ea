from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.indexes.tokens import STOP_WORDS, split_identifier, tokenize


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
    assert tokenize("处理用户登录") == ["处理", "理用", "用户", "户登", "登录", "处理用户登录"]
    assert "用户" in tokenize("用户login")


def test_a_blob_is_no_word() -> None:
    assert tokenize("a" * 41) == []


@given(st.text())
def test_tokens_hold_no_white_space_and_are_never_stop_words(text: str) -> None:
    for token in tokenize(text):
        assert token and not any(character.isspace() for character in token)
    assert tokenize(text) == tokenize(text)
    assert tokenize(" ".join(STOP_WORDS)) == []
