"""Builds by a model that measure their retrieval: that asks the model for nothing more."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.model_builds import shop
from codesum_pipeline_tests.support.till import BY_MODEL, TILL

DOCUMENTED = '''

def split_evenly(amount, parts):
    """Share the amount among several people without losing a single coin."""
    share, rest = divmod(amount, parts)
    return [share + (number < rest) for number in range(parts)]
'''
FILES = {**TILL, "till/tax.py": TILL["till/tax.py"] + DOCUMENTED}


@pytest.mark.parametrize("backend", ["litellm", pytest.param("record", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_asking_for_what_docstrings_say_without_them_asks_no_model(tmp_path: Path, backend: str) -> None:
    with shop(tmp_path, FILES) as found:
        llm = {"backend": backend, "recording": "answers"}
        reports = build(found.workspace(llm=llm, evaluation={"enabled": True}))

        assert reports["retrieval_evaluation"].questions > 0
        assert len(found.server.seen) == BY_MODEL + 1


@pytest.mark.slow
def test_a_replayed_build_can_be_measured_too(tmp_path: Path) -> None:
    llm = {"recording": str(tmp_path / "answers"), "prices": []}
    with shop(tmp_path, FILES) as found:
        recorded = build(found.workspace(llm={**llm, "backend": "record"}, evaluation={"enabled": True}))
    replayed = build(
        found.workspace(home="new", llm={**llm, "backend": "replay", "api_base": None}, evaluation={"enabled": True})
    )

    assert replace(replayed["retrieval_evaluation"], table_hash="") == replace(
        recorded["retrieval_evaluation"], table_hash=""
    )
