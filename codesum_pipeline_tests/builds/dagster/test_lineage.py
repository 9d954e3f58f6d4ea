"""What Dagster shows of who reads what is what the steps read: of real builds, both ways."""

import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.steps.digest_steps import DIGEST_STEPS, StepNotes
from codesum_pipeline.builds.steps.reuse import PUBLISHED, RecordingStore
from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.foundation.data_model.progress import no_progress
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.builds.dagster.digest_home import FILES, SHORTER, SIGN_IN, DigestHome
from codesum_pipeline_tests.support.homes import empty_serving_file, open_home, workspace_of
from codesum_pipeline_tests.support.model_builds import KEY_ENV, shop
from codesum_pipeline_tests.support.receivers import webhook_receiver
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP
from codesum_pipeline_tests.support.shop_questions import write_shop_questions
from codesum_pipeline_tests.support.till import TILL

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
MORE = {"more.py": "def more(a):\n    if a:\n        return 1\n    return 2\n"}
ALL_STEPS = (*STEPS, *DIGEST_STEPS.values())


# They write below the folder of versions, where others read.
MAKE_VERSIONS = ("index_candidate", "published_index")


@dataclass
class Builds:
    """What the steps of some builds read and wrote, tables and the published index."""

    reads: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    writes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def run(self, home: Home, ws: Workspace) -> None:
        """Every step once, in order, whether it need run or not."""
        with empty_serving_file():
            for step in STEPS:
                with self._noting(ws, step.name) as noted:
                    step.run(noted, progress=no_progress)
            for digest_step in DIGEST_STEPS.values():
                notes = StepNotes()
                with self._noting(ws, digest_step.name) as noted:
                    digest_step.run(home, noted, notes)
                assert not notes.failures

    @contextmanager
    def _noting(self, ws: Workspace, step: str) -> Iterator[Workspace]:
        recording = RecordingStore(ws.tables.root)
        with opened_files() as opened:
            yield replace(ws, tables=recording)
        self.reads[step].update(recording.reads())
        self.writes[step].update(recording.writes())
        if ws.layout.digests in opened:
            (self.writes if step == "intent_matches" else self.reads)[step].add("intent_matches")
        if ws.layout.hold(ws.key) in opened:
            self.reads[step].add("hold")
        if step not in MAKE_VERSIONS and opens_published(ws, opened, step):
            self.reads[step].add(PUBLISHED)


def opens_published(ws: Workspace, opened: set[Path], step: str) -> bool:
    """Whether a version was opened that is not the candidate: after its publication, any is the published one."""
    versions = ws.layout.versions(ws.key)
    digests = {path.relative_to(versions).parts[0] for path in opened if versions in path.parents}
    if step == "retrieval_evaluation":
        digests -= {row["digest"] for row in ws.tables.read("candidate", ws.key).to_pylist()}
    return any(not name.startswith(".") for name in digests)


_opened: list[set[Path]] = []


def _note_opened(event: str, arguments: tuple[Any, ...]) -> None:
    if _opened and event in ("open", "sqlite3.connect") and isinstance(arguments[0], str | os.PathLike):
        _opened[-1].add(Path(arguments[0]))


@contextmanager
def opened_files() -> Iterator[set[Path]]:
    """The files that Python opens in the block."""
    found: set[Path] = set()
    _opened.append(found)
    try:
        yield found
    finally:
        _opened.pop()


sys.addaudithook(_note_opened)


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Builds:
    """Builds of every kind: with questions and a gate, by a model, with standing questions; each twice."""
    found, folder = Builds(), tmp_path_factory.mktemp("builds")
    evaluation: Mapping[str, Any] = {"enabled": True, "gate": True}
    questions = {"questions": write_shop_questions(folder / "questions.jsonl")}
    repo = GitRepo.create(folder / "shop", SHOP)
    for more in ({}, MORE):
        repo.commit(more)
        for chosen in (evaluation, {**evaluation, **questions}):
            home = open_home(folder / "home", evaluation=chosen)
            found.run(home, workspace_of(home, RepositoryEntry("shop", str(repo.path))))
    with pytest.MonkeyPatch.context() as patch, shop(folder / "by model", TILL) as till:
        patch.setenv(KEY_ENV, "sk-loopback-0123456789abcdef")
        for more in ({}, MORE):
            till.repo.commit(more)
            found.run(open_home(till.folder / "home"), till.workspace())
    with webhook_receiver() as receiver:
        digests = DigestHome.at(
            open_home(folder / "told" / "home"), GitRepo.create(folder / "told" / "shop", FILES), hook=receiver.url
        )
        digests.ask(auth=SIGN_IN)
        for changed in ({}, SHORTER):
            digests.repo.commit(changed)
            found.run(digests.home, digests.home.workspace("shop", run_id="run"))
        assert digests.digests
    return found


def test_steps_read_and_write_what_they_declare(builds: Builds) -> None:
    not_tables = {PUBLISHED, "hold", "intent_matches", "digests"}

    # What a step writes itself it may also take over from.
    assert {step.name: builds.reads[step.name].difference(step.writes) for step in ALL_STEPS} == {
        step.name: set(step.reads) for step in ALL_STEPS
    }
    assert {name: written - not_tables for name, written in builds.writes.items()} == {
        step.name: set(step.writes) - not_tables for step in ALL_STEPS
    }


def test_the_assets_that_an_asset_depends_on_wrote_what_its_step_read(builds: Builds, tmp_path: Path) -> None:
    graph = build_defs({"home": tmp_path}).resolve_asset_graph()
    shown = {
        key.to_user_string(): {parent.to_user_string() for parent in graph.get(key).parent_keys}
        for key in graph.materializable_asset_keys
    }
    written_by: dict[str, str] = {}
    for step in ALL_STEPS:
        before = {written_by[name] for name in builds.reads[step.name] if name in written_by}
        assert shown[step.name] == before, step.name
        written_by |= dict.fromkeys((*builds.writes[step.name], *step.writes), step.name)
