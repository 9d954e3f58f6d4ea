"""The promotion gate: what is held back, what is not, and for how long."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.builds.steps.reuse import carry_out
from codesum_pipeline.builds.steps.step_list import PUBLISHED_INDEX, STEPS
from codesum_pipeline.foundation.data_model.errors import HeldBack
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.search.evaluation.evaluation_step import EvaluationReport, standing_hold
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import search_indexes
from codesum_pipeline_tests.builds.law.test_law import workspace_at
from codesum_pipeline_tests.support.homes import build, empty_serving_file
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP
from codesum_pipeline_tests.support.shop_questions import write_shop_questions
from codesum_pipeline_tests.support.spoiling import shuffle_lanes


class Shop:
    """A shop that was built and published, behind a gate."""

    def __init__(self, folder: Path, template: Path) -> None:
        self.folder = Path(shutil.copytree(template, folder / "shop", symlinks=True))
        registry = self.folder / "home" / "repos.yaml"
        registry.write_text(registry.read_text().replace(str(template), str(self.folder)))
        self.repo = GitRepo(self.folder / "repository")
        self.questions = str(self.folder / "questions.jsonl")
        self.first = self.published().version.digest

    @classmethod
    def build_in(cls, folder: Path) -> None:
        """What each shop is a copy of."""
        repo = GitRepo.create(folder / "repository", SHOP)
        evaluation = {"enabled": True, "gate": True, "questions": write_shop_questions(folder / "questions.jsonl")}
        build(workspace_at(folder / "home", repo, evaluation=evaluation))

    def at(self, **chosen: Any) -> Workspace:
        evaluation = {"enabled": True, "gate": True, "questions": self.questions} | chosen
        return workspace_at(self.folder / "home", self.repo, evaluation=evaluation)

    def commit(self, text: str) -> None:
        self.repo.commit({"docs/more.md": text})

    def build_worse(self, **chosen: Any) -> EvaluationReport:
        """A build whose lanes say of each document what belongs to another, as far as the gate lets it go."""
        ws = self.at(**chosen)
        reports: dict[str, Any] = {}
        with empty_serving_file(), suppress(HeldBack):
            for step in STEPS:
                if step.name == "index_candidate":
                    shuffle_lanes(ws)
                reports[step.name] = carry_out(step, ws).report
        evaluated: EvaluationReport = reports["retrieval_evaluation"]
        assert ("published_index" in reports) == (evaluated.held_because is None)
        return evaluated

    def published(self) -> PublishedIndex:
        return PublishedIndex.open(self.at().layout.published("shop"))

    def hold(self, **chosen: Any) -> str | None:
        ws = self.at(**chosen)
        fingerprint = ws.fingerprint(self.repo.git("rev-parse", "HEAD").strip())
        hold = standing_hold(ws.layout, "shop", ws.settings.evaluation, fingerprint=fingerprint)
        return hold.because if hold else None


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    Shop.build_in(folder)
    return folder


@pytest.fixture
def shop(template: Path, tmp_path: Path) -> Shop:
    return Shop(tmp_path, template)


def test_an_index_that_answers_clearly_worse_is_held_and_the_last_good_one_serves(shop: Shop) -> None:
    shop.commit("# More\n")

    report = shop.build_worse()

    assert report.held_because is not None
    assert report.published_score is not None and report.candidate_score is not None and report.gain_high is not None
    assert (report.compared, report.candidate_score < report.published_score) == (14, True)
    assert report.gain_high < -0.02
    assert report.held_because.startswith("the new index answers 14 questions worse than the published one: ")
    assert shop.hold() == report.held_because
    assert shop.published().version.digest == shop.first
    (best, *_) = search_indexes([shop.published()], "put a product into the cart", embedder=load_embedder("static"))
    assert best.file_path == "shop/cart.py"


def test_with_the_gate_off_it_is_published(shop: Shop) -> None:
    shop.commit("# More\n")

    report = shop.build_worse(gate=False)

    assert (report.held_because, report.compared) == (None, 0)
    assert shop.published().version.digest != shop.first


@pytest.mark.slow
def test_a_loss_within_the_margin_is_published(shop: Shop) -> None:
    shop.commit("# More\n")

    assert shop.build_worse(margin=1.0).held_because is None
    assert shop.published().version.digest != shop.first


def test_a_better_commit_is_published_and_ends_the_hold(shop: Shop) -> None:
    shop.commit("# More\n")
    shop.build_worse()
    # The same texts elsewhere: whatever was shuffled is made anew under other ids.
    shop.commit("# More of it\n")
    for table in ("terms", "vectors"):
        shop.at().tables.path(table, "shop").unlink()

    report = build(shop.at())["published_index"]

    assert report.published
    assert shop.published().version.manifest["commit"] == shop.repo.git("rev-parse", "HEAD").strip()
    assert shop.hold() is None and not shop.at().layout.hold("shop").exists()


def test_a_hold_stands_until_something_that_it_rested_on_changes(shop: Shop) -> None:
    shop.commit("# More\n")
    shop.build_worse()
    other = write_shop_questions(shop.folder / "others.jsonl", repo=None)

    assert shop.hold() is not None
    assert (shop.hold(gate=False), shop.hold(margin=0.03), shop.hold(questions=other)) == (None, None, None)
    shop.commit("# And more\n")
    assert shop.hold() is None


def test_a_held_build_is_held_again_word_for_word(shop: Shop) -> None:
    shop.commit("# More\n")
    first = shop.build_worse()

    again = build(shop.at(), until="retrieval_evaluation")["retrieval_evaluation"]

    assert (again.asked, again.held_because) == (0, first.held_because)


def test_a_candidate_that_is_held_back_is_not_published_by_its_step_alone_either(shop: Shop) -> None:
    shop.commit("# More\n")
    because = shop.build_worse().held_because

    with pytest.raises(HeldBack) as raised:
        carry_out(PUBLISHED_INDEX, shop.at())
    assert str(raised.value) == because
    assert carry_out(PUBLISHED_INDEX, shop.at(gate=False)).report.published


@pytest.mark.slow
def test_held_candidates_do_not_pile_up(shop: Shop) -> None:
    versions = shop.at().layout.versions("shop")
    counts = []
    for number in range(3):
        shop.commit(f"# More {number}\n")
        shop.build_worse()
        counts.append(len([path for path in versions.iterdir() if path.is_dir()]))

    assert counts == [2, 2, 2]


def test_what_people_deleted_is_no_loss_and_what_a_setting_leaves_out_is(
    shop: Shop, git_repo: Callable[..., GitRepo]
) -> None:
    shop.repo.git("rm", "-q", "shop/money.py", "docs/guide.md")
    shop.commit("# More\n")
    assert build(shop.at())["published_index"].published

    evaluation = {"enabled": True, "gate": True, "questions": shop.questions}
    narrowed = workspace_at(shop.folder / "home", shop.repo, evaluation=evaluation, skip_patterns=["shop/"])

    with pytest.raises(HeldBack):
        build(narrowed)
