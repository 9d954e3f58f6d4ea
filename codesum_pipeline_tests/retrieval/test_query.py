import pytest

from codesum_pipeline.retrieval.query import names_in


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("LoginHandler", ("LoginHandler", "login_handler")),
        ("LoginHandler::authenticate", ("LoginHandler.authenticate", "login_handler_authenticate")),
        ("src/auth.py", ("src/auth.py", "src_auth_py")),
        ("add item", ("add", "item", "add_item")),
        ("where is get_user() called", ("get_user", "where_is_get_user_called")),
        ("how does login work", ("how_does_login_work",)),
        ("?!", ()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_names_are_words_that_look_like_code_and_what_a_short_query_says(text: str, names: tuple[str, ...]) -> None:
    assert names_in(text) == names
