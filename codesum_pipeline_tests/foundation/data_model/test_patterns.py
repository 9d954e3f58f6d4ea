"""Patterns that others write, matched without trying ways anew, and with the meaning that git gives them."""

import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.nearest_names import nearest_names
from codesum_pipeline.foundation.data_model.patterns import LONGEST_PATTERN, any_of, read_patterns
from codesum_pipeline_tests.support.repositories import GitRepo

# No class of other characters: `pathspec`, and not git, takes a slash for one of those that `[!a]` matches.
PIECES = ["a", "b", ".", "?", "*", "**", "/", "**/", "/**", "!", "\\*", "[ab]", "[a-c]", "[]a]", " "]
NAMES = st.lists(st.text("abc.*", min_size=1, max_size=3), min_size=1, max_size=5).map("/".join)
PATTERNS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)

HOSTILE = [
    pytest.param("*?*?*?*?*?*?*?*?*?*z9", id="stars and question marks"),
    pytest.param("*?" * 240 + "z9", id="as many as fit"),
    pytest.param("**/a*/" * 80 + "z", id="folders of any number"),
    pytest.param("**/" + "*a*/" * 60 + "z", id="stars in folders"),
    pytest.param("a/**/b*?*?/**/" * 30, id="all of them"),
    pytest.param("*[!z]*" * 80 + "9", id="classes"),
]
LONG_PATHS = ["a" * 4000, "a/" * 2000 + "b", "ab/" * 1300, ("a" * 50 + "/") * 80]


@given(st.lists(PATTERNS, min_size=1, max_size=3), NAMES)
def test_patterns_mean_what_pathspec_takes_them_for(patterns: list[str], path: str) -> None:
    try:
        expected = GitIgnoreSpec.from_lines(patterns, backend="simple").match_file(path)
    except ValueError:
        with pytest.raises(ConfigurationError, match="is no pattern as in .gitignore"):
            read_patterns(patterns, "path")
    else:
        assert read_patterns(patterns, "path").match_file(path) is expected


def test_patterns_mean_what_git_takes_them_for(tmp_path: Path) -> None:
    patterns = ["x[!a]y", "*[!b]z", "src/*.py", "**/deep/**/leaf", "!keep*", "[[]c", "d/", "*?*e"]
    paths = [
        "x/y",
        "xcy",
        "q/z",
        "az",
        "bz",
        "src/m.py",
        "a/src/m.py",
        "a/deep/b/c/leaf",
        "keepz",
        "[c",
        "d/f",
        "fe",
        "e",
    ]
    repository = GitRepo.create(tmp_path / "repository", {"README": "x"})
    for pattern in patterns:
        (repository.path / ".git/info/exclude").write_text(f"{pattern}\n")
        ignored = subprocess.run(
            ["git", "check-ignore", "--no-index", "--stdin"],
            cwd=repository.path, input="\n".join(paths), text=True, capture_output=True, timeout=60,
        )  # fmt: skip
        read = read_patterns([pattern], "path")
        assert [path for path in paths if read.match_file(path)] == ignored.stdout.split(), pattern


@pytest.mark.parametrize("pattern", HOSTILE)
def test_a_pattern_costs_no_more_than_its_length_times_the_paths(pattern: str) -> None:
    started = process_time()
    for path in LONG_PATHS:
        read_patterns([pattern], "path").match_file(path)
        # Globs of keys, owners and intents.
        fnmatchcase(path, pattern)

    assert process_time() - started < 5


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("a" * (LONGEST_PATTERN + 1), "path 'aaaa.*…' has 501 characters: a pattern has at most 500"),
        ("[z-a]", r"path '\[z-a\]' is no pattern as in .gitignore: bad character range z-a"),
        ("src/\\", "is no pattern as in .gitignore"),
    ],
)
def test_what_is_no_pattern_is_named_with_the_limit(pattern: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        read_patterns([pattern], "path")


def test_an_expression_of_a_setting_is_linear_whatever_it_says() -> None:
    started = process_time()

    assert not any_of((r"^(a+)+$", r"^(.*.*)*x$"))("a" * 100_000 + "b")
    assert any_of(("^get_", "^__.*__$"))("__init__")
    assert process_time() - started < 5


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("(", r"'\(' is not a regular expression of RE2: missing \)"),
        ("(?<=a)b", "is not a regular expression of RE2: invalid perl operator"),
        ("a" * 501, "has 501 characters: a pattern has at most 500"),
    ],
)
def test_what_is_no_linear_expression_is_refused(expression: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        any_of((expression,))


@pytest.mark.parametrize("at_once", [2, 100])
def test_the_nearest_names_are_the_likest_however_many_are_compared_at_once(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codesum_pipeline.foundation.data_model.nearest_names.COMPARED_AT_ONCE", at_once)
    names = ["save_order", "save_orders", "load_order", "zebra", "save_ordes"]

    assert nearest_names("save_odrer", names, most=2) == ["save_order", "save_orders"]


def test_nothing_that_patterns_need_slows_a_search_without_any() -> None:
    code = (
        "import sys, codesum_pipeline.search.retrieval.shelf; print({'pathspec', 're2', 'rapidfuzz'} & {*sys.modules})"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120).stdout == "set()\n"
