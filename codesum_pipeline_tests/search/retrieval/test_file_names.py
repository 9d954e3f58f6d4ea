from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.indexes.lanes.tokens import tokenize
from codesum_pipeline.search.retrieval.file_names import FileNames, name_of_file

PATHS = st.lists(st.sampled_from(["a/retry_budget.py", "retry.py", "x/__init__.py", "budget.test.ts", "RetryPool.go"]))


@given(PATHS, st.sets(st.sampled_from(tokenize("retry budget pool test wait"))))
def test_a_file_is_named_in_a_query_that_has_all_words_of_its_name(paths: list[str], words: set[str]) -> None:
    names = FileNames.of((10 * place, path) for place, path in enumerate(paths))

    named = [
        10 * place
        for place, path in enumerate(paths)
        if (of_name := {*tokenize(name_of_file(path))}) and of_name <= words
    ]
    assert names.rows_within(words).tolist() == named


def test_a_name_ends_at_its_first_dot() -> None:
    assert [name_of_file(path) for path in ("a/b.test.ts", "Makefile", ".gitignore")] == ["b", "Makefile", ""]


def test_a_file_that_stands_for_its_folder_is_called_as_the_folder_is() -> None:
    paths = ("web/router/index.ts", "router/__init__.py", "src/router/mod.rs", "index.js", "router/routes.py")
    assert [name_of_file(path) for path in paths] == ["router", "router", "router", "index", "routes"]
