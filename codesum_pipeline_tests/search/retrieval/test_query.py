import pytest

from codesum_pipeline.search.retrieval.query import compounds_in, identifiers_in, names_in, parse_query


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


def test_identifiers_are_the_words_that_only_code_is_written_with() -> None:
    text = "How does Session::send use get_adapter of HTTPAdapter, or Retry?"
    assert identifiers_in(text) == ("Session.send", "get_adapter", "HTTPAdapter")


@pytest.mark.parametrize(
    ("text", "compounds"),
    [
        ("Thread pool", ("threadpool", "thread_pool")),
        (
            "the event loop timer",
            ("eventloop", "event_loop", "looptimer", "loop_timer", "eventlooptimer", "event_loop_timer"),
        ),
        ("the cost of a loop", ()),
        ("x axis", ()),
        ("utf8 codec", ()),
        ("cart", ()),
    ],
    ids=("two words", "three words", "no stop word in between", "no single letter", "no digits", "one word"),
)
def test_neighbouring_words_are_one_name(text: str, compounds: tuple[str, ...]) -> None:
    assert compounds_in(text) == compounds


def test_a_file_may_be_called_by_a_compound() -> None:
    assert {"threadpool", "thread", "pool"} < parse_query("many thread pools", embedder=None).words


@pytest.mark.parametrize("piece", ["./", "-", "a", "a-", ":: "])
def test_a_query_of_any_length_is_read_once(piece: str) -> None:
    """As many characters would take hours if each were looked at from all before it."""
    text = piece * 500_000

    assert len(names_in(text)) <= 2
    assert len(identifiers_in(text)) <= 1
