"""Names that are used without a call in the languages whose calls follow rules, and what only looks so: `uses.toml`."""

import tomllib
from pathlib import Path

import pytest

from codesum_pipeline_tests.graph.sources import references_of

LANGUAGES = tomllib.loads(Path(__file__).with_name("uses.toml").read_text("utf-8"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_used_has_its_user_and_what_only_looks_so_has_none(language: str) -> None:
    files, users = LANGUAGES[language]["files"], LANGUAGES[language]["users"]

    assert references_of(files) == {(user, used) for user, all_used in users.items() for used in all_used.split()}
