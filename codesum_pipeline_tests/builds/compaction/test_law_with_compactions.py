"""A compacted history changes no later build: what is built step by step still equals what is built from scratch."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from codesum_pipeline.builds.compaction.attestation import Policy, Selection
from codesum_pipeline.builds.compaction.compactable_rows import HistoryRows
from codesum_pipeline.builds.compaction.compacting import Compactor
from codesum_pipeline.foundation.data_model.document import LEVELS, HistoryEvent, HistoryRow
from codesum_pipeline.foundation.settings.llm_settings import ModelPrice
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.summaries.text_history import explain_text
from codesum_pipeline_tests.builds.compaction.test_kills import Paid
from codesum_pipeline_tests.builds.law.test_law import must_equal_a_clean_build, workspace_at
from codesum_pipeline_tests.support.compaction_home import MODEL, OPS, now, signed
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.settings import changed
from codesum_pipeline_tests.support.ssh_keys import recorded

PAY = '''"""Payments."""


def pay(card, amount):
    """Charge a card."""
    if amount > {0}:
        raise ValueError(amount)
    return card.charge(amount, {0})
'''
STATES = [
    {"pay.py": PAY.format(1), "old.py": PAY.format(9)},
    {"pay.py": PAY.format(1).replace("Charge", "Debit")},
]
# Texts and files of before come back.
LATER = [
    STATES[0],
    {"pay.py": PAY.format(1).replace("Charge", "Bill"), "new.py": PAY.format(3)},
    {**STATES[1], "old.py": PAY.format(9).replace("Charge", "Bill")},
]


def compact(workspace: Workspace, policy: Policy, folder: Path) -> int:
    """Compact all old rows; how many they were."""
    (folder / "signers").write_text(f"{OPS} {recorded('plain_key.pub')}")
    free = (ModelPrice(model=MODEL, input=0.0, output=0.0),)
    settings = changed(
        workspace.settings,
        llm={"enabled": True, "model": MODEL, "prices": free},
        compaction={"allowed_signers": folder / "signers"},
    )
    source = HistoryRows(workspace.tables, workspace.layout, workspace.key)
    compactor = Compactor(settings, workspace.layout.home, now, lambda _settings, _templates: Paid(folder / "calls"))
    job = compactor.attest(
        source, Selection(before="2026-06-01T00:00:00.000Z"), policy=policy, attested_by=OPS, max_output_bytes=1000
    )
    compactor.run(signed(job), source)
    return len(job.sources)


def must_go_on(folder: Path, policy: Policy, later: Sequence[Mapping[str, str]]) -> None:
    """Build, compact, build on, and compare each build with a clean one."""
    repo = GitRepo.create(folder / "shop")
    built = workspace_at(folder / "home", repo)
    for files in STATES:
        repo.commit_exactly(files)
        build(built)
    before = built.tables.read_rows("document_history", "shop", HistoryRow)
    published = built.layout.published("shop").resolve()

    rows = compact(built, policy, folder)
    reports = build(built)

    after = built.tables.read_rows("document_history", "shop", HistoryRow)
    assert rows > 4
    assert len(after) == len(before) + 1 - (rows if policy is Policy.TOMBSTONED else 0)
    assert built.layout.published("shop").resolve() == published
    assert sum(reports[f"{level}_summaries"].written for level in LEVELS) == 0
    for number, files in enumerate(later):
        repo.commit_exactly(files)
        build(built)
        must_equal_a_clean_build(built, repo, folder / f"clean {number}")
    history = built.tables.read_rows("document_history", "shop", HistoryRow)
    assert [row.sequence for row in history] == sorted({row.sequence for row in history})
    assert [row.event for row in history].count(HistoryEvent.COMPACTED) == 1
    for id_ in {row.id for row in history if row.event is not HistoryEvent.COMPACTED}:
        assert explain_text(built, id_)


@pytest.mark.slow
def test_an_incremental_build_over_a_compacted_history_equals_a_clean_one(tmp_path: Path) -> None:
    must_go_on(tmp_path, Policy.TOMBSTONED, LATER[:1])


@pytest.mark.slow
@pytest.mark.parametrize("policy", list(Policy))
def test_incremental_builds_over_a_compacted_history_equal_clean_ones(tmp_path: Path, policy: Policy) -> None:
    must_go_on(tmp_path, policy, LATER)
