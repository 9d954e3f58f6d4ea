"""What is trivial, and what is said of it."""

import pytest
from msgspec.structs import replace

from codesum_pipeline.evidence.inputs import FunctionInput, TextFileInput, children_of
from codesum_pipeline.foundation.data_model.document import WrittenText
from codesum_pipeline.foundation.settings.stage_settings import FilterSettings
from codesum_pipeline.foundation.store.rows import to_table
from codesum_pipeline.texts.summaries.function_texts import trivial_functions
from codesum_pipeline.texts.summaries.placeholders import is_empty, placeholder_text
from codesum_pipeline_tests.evidence.extractive.shown_inputs import (
    child,
    class_input,
    file_input,
    function_in,
    module_input,
)

FUNCTIONS = {
    "two lines without work": ("def size(self):\n    return self.n\n", True),
    "a docstring is no line": ('def size(self):\n    """The size."""\n    return self.n\n', True),
    "two lines that raise": ("def size(self):\n    raise NotImplementedError\n", False),
    "two lines that write": ("def size(self, n):\n    self.n = n\n", False),
    "two lines that call outward": ("def size(self):\n    return self.db.count()\n", False),
    "two lines that call only the language": ("def size(self):\n    return len(self.n)\n", True),
    "three plain lines": ("def size(self):\n    n = self.n\n    return n\n", False),
    "a skipped name without a branch": ("def get_size(self):\n    n = self.n\n    return n\n", True),
    "a skipped name with a branch": ("def get_size(self):\n    if self.n:\n        return 1\n    return 2\n", False),
    "a skipped name that works": ("def set_size(self, n):\n    m = n\n    self.n = m\n", False),
    "a special method without a branch": ("def __len__(self):\n    n = self.n\n    return n\n", True),
}


def is_trivial(source: str, settings: FilterSettings) -> bool:
    return bool(trivial_functions(to_table([function_in(source)], FunctionInput), settings))


@pytest.mark.parametrize(("source", "expected"), FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_a_function_is_trivial_when_it_is_short_or_skipped_and_does_no_work(source, expected):
    assert is_trivial(source, FilterSettings()) is expected


def test_the_thresholds_are_the_settings():
    source = "def size(self):\n    n = self.n\n    return n\n"

    assert is_trivial(source, FilterSettings(min_lines=4))
    assert is_trivial(source, FilterSettings(skip_patterns=("^si",)))
    assert not is_trivial(source, FilterSettings(min_complexity=1, skip_patterns=("^si",)))


EMPTY = {
    "a class with nothing in it": (class_input(), True),
    "a class with a field": (class_input(fields=("x",)), False),
    "a class with a docstring": (class_input(docstring="Says something."), False),
    "a class with a method": (class_input(children=(child("f", "Does."),)), False),
    "a file with nothing in it": (file_input(), True),
    "a file with an import": (file_input(imports=("os",)), False),
    "a text file of blanks": (TextFileInput("a.md", "a.md", "markdown", " \n\n---\n"), True),
    "a text file with a word": (TextFileInput("a.md", "a.md", "markdown", "word"), False),
    "a folder of placeholders": (module_input(children=(child("a.py", "x", placeholder=True),)), True),
    "a folder with a README": (module_input(readme="Words."), False),
    "a folder with a file": (module_input(children=(child("a.py", "Does."),)), False),
}


@pytest.mark.parametrize(("document", "expected"), EMPTY.values(), ids=EMPTY.keys())
def test_above_functions_only_what_is_empty_is_trivial(document, expected):
    assert is_empty(document, children_of(document)) is expected


@pytest.mark.parametrize(
    ("language", "signature", "stands_for"),
    [
        pytest.param("typescript", "export type Gone = Map<Id, Item[]>", "Map<Id, Item[]>", id="another name"),
        pytest.param(
            "typescript", "type Gone<T, U extends T = T> = U extends T ? 1 : 2", "U extends T ? 1 : 2", id="defaults"
        ),
        pytest.param("typescript", "type Gone<F = () => void> = (on: F) => Item", "(on: F) => Item", id="arrows"),
        pytest.param("go", "type Gone map[string]int", "map[string]int", id="Go"),
        pytest.param("go", "type Gone struct{}", None, id="nothing at all in Go"),
        pytest.param("java", "class Gone", None, id="no type"),
    ],
)
def test_a_type_without_members_says_what_it_stands_for(language, signature, stands_for):
    document = replace(class_input("Gone"), language=language, signature=signature)

    expected = f"Type Gone stands for {stands_for}." if stands_for else "Class Gone without members of its own."
    assert placeholder_text(document).summary == expected


def test_each_level_has_its_template():
    source = "class Queue:\n    def get_size(self):\n        return self.n\n"

    assert placeholder_text(function_in(source)) == WrittenText(
        "Short function get_size of Queue.",
        "Part of auth/login.",
        ("size", "get", "src"),
    )
    assert placeholder_text(class_input("Gone", bases=("Base",))) == WrittenText(
        "Class Gone without members of its own, derived from Base.",
        "Part of auth/login.",
        ("gone", "src", "auth"),
    )
    assert placeholder_text(file_input("src/auth/__init__.py")) == WrittenText(
        "File __init__.py without content.", "Part of src/auth.", ("init", "py", "src")
    )
    assert placeholder_text(module_input("src/auth")) == WrittenText(
        "Folder auth with nothing but empty files.", "Part of src/auth.", ("auth", "src", "module")
    )
