"""A name that looks like a definition of the repository, and means something nearer: `nearer_names.toml`."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline_tests.graph.sources import references_of

CASES: Mapping[str, Mapping[str, Any]] = tomllib.loads(Path(__file__).with_name("nearer_names.toml").read_text("utf-8"))


@pytest.mark.parametrize("claim", CASES)
def test_a_name_means_what_is_nearest(claim: str) -> None:
    files, users = CASES[claim]["files"], CASES[claim].get("users", {})

    assert references_of(files) == {(user, used) for user, all_used in users.items() for used in all_used.split()}
