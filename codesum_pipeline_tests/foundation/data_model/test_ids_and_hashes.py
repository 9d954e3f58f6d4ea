import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.foundation.data_model.errors import InvalidKey
from codesum_pipeline.foundation.data_model.hashing import canonical_json, graph_hash, module_content_hash, summary_hash
from codesum_pipeline.foundation.data_model.ids import (
    check_repository_key,
    module_path_of,
    parent_modules,
    symbol_id,
    without_suffix,
)


@pytest.mark.parametrize("key", ["a", "Flask-3.0", "owner.name_x", "9lives", "a" * 100])
def test_a_key_is_a_folder_and_a_partition_name(key: str) -> None:
    assert check_repository_key(key) == key


@pytest.mark.parametrize(
    "key", ["", "../evil", "a..b", "-a", ".a", "a/b", "x,y", "a" * 101, "ä", "a b", "a.lock", "a."]
)
def test_any_other_key_is_refused(key: str) -> None:
    with pytest.raises(InvalidKey, match="1-100 letters"):
        check_repository_key(key)


def test_an_id_is_the_path_and_the_parts_of_the_qualified_name() -> None:
    assert symbol_id("src/auth.py", ("LoginHandler", "authenticate")) == "src/auth.py::LoginHandler::authenticate"


@pytest.mark.parametrize(
    ("id_", "plain"),
    [
        pytest.param("a.py::f", "a.py::f", id="no suffix"),
        pytest.param("a.py::A::f#3fa91c", "a.py::A::f", id="a hash"),
        pytest.param("a.py::A::f#3fa91c-12", "a.py::A::f", id="a hash and a count"),
        pytest.param("a.cpp::operator==#3fa91c", "a.cpp::operator==", id="after an operator"),
        pytest.param("a.js::A::#facade", "a.js::A::#facade", id="a private name"),
        pytest.param("a.js::A::#facade#3fa91c", "a.js::A::#facade", id="a private name with a suffix"),
        pytest.param("a.kt::A::closes #2", "a.kt::A::closes #2", id="a name that ends in a number"),
    ],
)
def test_an_id_without_its_suffix_is_that_of_the_implementation(id_: str, plain: str) -> None:
    assert without_suffix(id_) == plain


def test_a_module_is_a_folder() -> None:
    assert module_path_of("src/auth.py") == "src"
    assert module_path_of("setup.py") == "."
    assert parent_modules("a/b/c.py") == ["a/b", "a", "."]
    assert parent_modules("a/b/c.py", root="a") == ["a/b", "a"]
    assert parent_modules("c.py") == ["."]


def test_a_context_is_hashed_as_a_sorted_set() -> None:
    expected = hashlib.sha1(b"called_by=a|b\ncalls=c").hexdigest()
    assert graph_hash(["b", "a", "b"], ["c"]) == expected


def test_a_summary_hash_covers_the_writer_and_what_it_is_shown() -> None:
    assert summary_hash("extractive/1", "x") == hashlib.sha1(b"extractive/1\nx").hexdigest()


@given(st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=4))
def test_a_module_hash_does_not_depend_on_the_order_of_its_children(children: dict[str, str]) -> None:
    assert module_content_hash(children) == module_content_hash(dict(reversed(children.items())))


def test_canonical_json_has_one_form() -> None:
    assert canonical_json({"b": [1, "ü"], "a": None}) == '{"a":null,"b":[1,"ü"]}'
