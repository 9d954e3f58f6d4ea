"""A route is found however its parameters are written, and by its end."""

import pytest

from codesum_pipeline.indexes.file_formats.route_names import asked_route_forms, route_forms

SAME = {
    "Express": "GET /users/:id",
    "FastAPI": "GET /users/{user_id}",
    "Flask": "GET /users/<int:id>",
    "Next.js": "GET /users/[id]",
    "an expression": "GET /users/(?P<id>[0-9]+)",
    "a bound parameter": "GET /users/{id:int}",
    "a bound parameter of Express": r"GET /users/:id(\d+)",
    "a value that was tried": "GET /users/42",
    "a slash at the end": "get /users/:id/",
    "an address": "GET https://example.org/users/7?full=1",
    "no slash at the beginning": "GET users/{id}",
}


@pytest.mark.parametrize("asked", SAME.values(), ids=SAME)
def test_parameters_are_alike_in_all_forms(asked: str) -> None:
    assert asked_route_forms(asked) == ["get /users/{}"]
    assert route_forms(asked)[:2] == ["get /users/{}", "/users/{}"]


def test_a_route_in_a_sentence_is_asked_for() -> None:
    assert asked_route_forms("where is GET /users/:id handled?") == ["get /users/{}"]


@pytest.mark.parametrize(
    ("declared", "forms"),
    [
        ("GET about", ["get /about", "/about"]),
        ("about", ["/about"]),
        ("^about$", ["/about"]),
        ("GET :id", ["get /{}", "/{}"]),
        ("ALL *", []),
        ("^$", []),
    ],
)
def test_a_declared_path_may_have_no_slash(declared: str, forms: list[str]) -> None:
    assert route_forms(declared) == forms


def test_a_path_is_found_by_its_end_unless_that_is_a_parameter_alone() -> None:
    assert route_forms("GET,POST /api/users/:id") == [
        "get /api/users/{}", "post /api/users/{}", "/api/users/{}", "get /users/{}", "post /users/{}", "/users/{}",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["login", "how are users stored", "", "a" * 400 + "/b", "GET the user", "src/auth.py"])
def test_what_is_no_path_has_no_forms(text: str) -> None:
    assert asked_route_forms(text) == []


def test_a_text_of_any_length_takes_no_time() -> None:
    assert route_forms("/" + "(" * 290) != []
