"""A file that is too much work is left to be a text and named; the rest is published, and the law holds.

What is counted settles a file: it is not read again before it, or the setting, changes. What meets the limits of a
worker's memory or processor time settles nothing.
"""

from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.builds.reports.kept_failures import read_failures
from codesum_pipeline.builds.steps.freshness import is_complete
from codesum_pipeline.foundation.language_facts.file_languages import TEXT
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.symbols.parsing import batches
from codesum_pipeline.symbols.parsing.parsers import parse_file
from codesum_pipeline_tests.builds.law.test_law import differences, must_equal_a_clean_build, workspace_at
from codesum_pipeline_tests.support.comparing import table_rows
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.symbols.parsing.test_bounded import ENDLESS, LOOKING_AHEAD

GOOD = """\
def price_of(item):
    '''The price of an item.'''
    if not item:
        raise ValueError(item)
    return item.price
"""
# Too much for the process of a small build, and for a worker with little memory.
LARGE = "DATA = [\n" + "    (1, 'a'),\n" * 65_000 + "]\n\n\n" + GOOD.replace("price", "cost")
LITTLE_MEMORY = {"worker_memory_mb": 64}


def failures(workspace: Workspace) -> dict[str, list[tuple[str, str, bool]]]:
    """What the last build left: each failed item with its reason, and whether it is settled."""
    found = read_failures(workspace.layout.memos(workspace.key))
    return {step: [(one.item, one.reason, one.is_settled) for one in some] for step, some in found.items()}


def build_with(home: Path, repo: GitRepo, **chosen: Any) -> Workspace:
    workspace = workspace_at(home, repo, **chosen)
    build(workspace, may_fail=True)
    return workspace


def test_a_file_of_too_much_work_is_a_text_with_its_reason_and_the_rest_is_published(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "shop", {"good.py": GOOD, "endless.kt": ENDLESS})

    workspace = build_with(tmp_path / "home", repo)

    ((item, reason, is_settled),) = failures(workspace)["symbols"]
    assert (item, is_settled) == ("endless.kt", True)
    assert reason.startswith("too much work: more than ") and "(max_steps_per_byte = " in reason
    rows = table_rows(workspace)
    assert {row["id"] for row in rows["documents"]} == {".", "endless.kt", "good.py", "good.py::price_of"}
    assert [row["failure"] for row in rows["file_facts"] if row["file_path"] == "endless.kt"] == [reason]


def test_it_is_settled_until_it_changes_and_named_by_each_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = GitRepo.create(tmp_path / "shop", {"good.py": GOOD, "endless.kt": ENDLESS})
    workspace = build_with(tmp_path / "home", repo)
    named = failures(workspace)
    read: list[str] = []

    def note(path: str, *rest: Any, **named: Any) -> Any:
        read.append(path)
        return parse_file(path, *rest, **named)

    monkeypatch.setattr(batches, "parse_file", note)

    assert is_complete(workspace)
    repo.commit({"good.py": GOOD.replace("price", "cost")})
    workspace = build_with(tmp_path / "home", repo)

    assert read == ["good.py"]
    assert failures(workspace) == named
    clean = build_with(tmp_path / "clean", repo)
    assert failures(clean) == named
    assert differences(workspace, clean) == (None, None)

    repo.commit({"endless.kt": "fun total(items: List<Int>): Int {\n    return items.sum()\n}\n"})
    workspace = build_with(tmp_path / "home", repo)
    assert failures(workspace) == {}
    must_equal_a_clean_build(workspace, repo, tmp_path / "mended")


@pytest.mark.slow
def test_another_limit_reads_it_again(tmp_path: Path) -> None:
    text = LOOKING_AHEAD[: len(LOOKING_AHEAD) // 4]
    repo = GitRepo.create(tmp_path / "shop", {"good.py": GOOD, "ahead.kt": text})
    low, high = {"max_steps_per_byte": 1}, {"max_steps_per_byte": 1_000}

    first = build_with(tmp_path / "home", repo, **low)
    assert [item for item, *_ in failures(first)["symbols"]] == ["ahead.kt"]
    raised = build_with(tmp_path / "home", repo, **high)
    assert failures(raised) == {}
    must_equal_a_clean_build(raised, repo, tmp_path / "clean", **high)
    lowered = build_with(tmp_path / "home", repo, **low)

    assert failures(lowered) == failures(first)
    assert differences(lowered, build_with(tmp_path / "low", repo, **low)) == (None, None)


@pytest.mark.slow
def test_a_file_that_a_worker_has_no_memory_for_is_tried_again_by_the_next_build(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "shop", {"good.py": GOOD, "large.py": LARGE})

    workspace = build_with(tmp_path / "home", repo, **LITTLE_MEMORY)

    reason = "the parser ended: it needed more than 64 MB of memory (worker_memory_mb)"
    assert failures(workspace) == {"symbols": [("large.py", reason, False)]}
    assert not is_complete(workspace)
    languages = {row["file_path"]: row["language"] for row in table_rows(workspace)["file_facts"]}
    assert languages == {"good.py": "python", "large.py": TEXT}

    workspace = build_with(tmp_path / "home", repo)

    assert failures(workspace) == {}
    assert {row["id"] for row in table_rows(workspace)["symbols"]} == {"good.py::price_of", "large.py::cost_of"}
    must_equal_a_clean_build(workspace, repo, tmp_path / "clean")
