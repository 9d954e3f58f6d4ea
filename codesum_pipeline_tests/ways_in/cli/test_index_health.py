"""What the doctor and the status say of a compiler's index, and of a setting that lets no text pass without one."""

from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.scip_shops import put_content, put_index
from codesum_pipeline_tests.support.shop import SHOP

TRUST = '[llm]\nenabled = true\nmodel = "openai/gpt-4o-mini"\ntrust = "scip"\n'
STALE = {**SHOP, "shop/base.py": SHOP["shop/base.py"].replace("as_row", "as_a_row")}


def built(folder: Path, settings: str = "") -> Path:
    """A home with the shop, beside whatever index was put there."""
    repo, home = GitRepo.create(folder / "repo", SHOP), folder / "home"
    home.mkdir(exist_ok=True)
    (home / "codesum.toml").write_text(settings)
    llm = {"enabled": True, "model": "openai/gpt-4o-mini", "trust": "scip"} if settings else {}
    build(workspace_of(open_home(home, llm=llm), RepositoryEntry("shop", str(repo.path))))
    return home


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that is of another text in one file."""
    folder = tmp_path_factory.mktemp("beside")
    put_index(folder / "home", STALE)
    return built(folder, TRUST)


def test_the_doctor_says_what_an_index_is_worth(codesum: Any, beside: Path) -> None:
    done = codesum(beside, "doctor")

    assert done.exit_code == 0, done.stdout
    assert "compiler's index: scip-python 1.2.3 for 12 files; 1 file of another text than the index" in done.stdout
    assert "of another text: shop/base.py: line " in done.stdout
    assert "the index and the syntax agree on " in done.stdout
    assert " confirmed, " in done.stdout
    assert "shop" in done.stdout.splitlines()[-1], "it is in order all the same"


def test_the_status_of_a_repository_says_of_how_many_files_its_index_tells(codesum: Any, beside: Path) -> None:
    shown = codesum(beside, "status", "shop").stdout

    assert "scip-python 1.2.3 for 12 files; 1 file of another text than the index; " in shown


def test_without_an_index_doctor_and_status_do_not_speak_of_one(codesum: Any, tmp_path: Path) -> None:
    home = built(tmp_path)

    assert "compiler" not in codesum(home, "doctor").stdout
    assert "another text" not in codesum(home, "status", "shop").stdout


def test_an_index_that_cannot_be_read_is_a_problem_with_a_way_out(codesum: Any, tmp_path: Path) -> None:
    put_content(tmp_path / "home", b"")
    home = built(tmp_path)

    done = codesum(home, "doctor")

    assert done.exit_code == 1
    assert "index mirrors/shop.scip: it is empty" in done.stdout
    assert "way out: make mirrors/shop.scip anew, or remove it" in done.stdout


def test_a_command_that_writes_no_index_is_a_problem_with_a_way_out(codesum: Any, tmp_path: Path) -> None:
    repo, home = GitRepo.create(tmp_path / "repo", SHOP), open_home(tmp_path / "home")
    entry = RepositoryEntry("shop", str(repo.path), scip_command="no-such-indexer")
    build(workspace_of(home, entry))

    done = codesum(tmp_path / "home", "doctor")

    assert done.exit_code == 1
    assert "no-such-indexer" in done.stdout
    assert "way out: correct the entry's scip_command, then `codesum index shop --force`" in done.stdout


@pytest.mark.parametrize(
    ("sources", "why"),
    [
        pytest.param(None, "it has no index", id="no index"),
        pytest.param({"other.py": "def f():\n    return 1\n"}, "its index says nothing of its files", id="another's"),
        pytest.param(
            {path: text.replace("def ", "def x", 1) for path, text in SHOP.items()},
            "its index is of other texts than those of the commit",
            id="stale",
        ),
    ],
)
def test_trust_that_nothing_passes_is_told_with_the_reason_and_the_way_out(
    codesum: Any, tmp_path: Path, sources: dict[str, str] | None, why: str
) -> None:
    if sources:
        put_index(tmp_path / "home", sources)
    home = built(tmp_path, TRUST)

    done = codesum(home, "doctor")

    assert done.exit_code == 1
    assert "llm.trust = 'scip' keeps the model from all of " in done.stdout
    assert why in done.stdout
    assert "way out: put an index of the commit at mirrors/shop.scip" in done.stdout


def test_trust_that_something_passes_is_in_order(codesum: Any, beside: Path) -> None:
    assert "llm.trust" not in codesum(beside, "doctor").stdout
