"""How large a repository is decides how it is built, and not what comes of it: a small one that is built as large ones
are has the index that it has otherwise."""

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.builds.law.test_law import differences
from codesum_pipeline_tests.languages.declarations.cases import all_cases
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP
from codesum_pipeline_tests.support.sizes import HIGH, LOW, run_with_sizes

CASES = [case for case in all_cases().values() if case]
IN_ALL_LANGUAGES = {**SHOP, **{f"languages/{case.path}": case.source for case in CASES}}
EDIT = {"shop/money.py": SHOP["shop/money.py"].replace("amount * 100 + 0.5", "amount * 100 + 0.49")}

Build = tuple[GitRepo, Workspace]


def workspace_at(home: Path, repo: GitRepo) -> Workspace:
    return workspace_of(open_home(home), RepositoryEntry("shop", str(repo.path)))


def index(home: Path, repo: GitRepo, sizes: Mapping[str, int]) -> Workspace:
    """The workspace of what `codesum index` builds with these numbers."""
    workspace = workspace_at(home, repo)
    done = run_with_sizes(sizes, "--home", home, "index", "shop", cwd=repo.path.parent)
    assert done.returncode == 0, done.stderr
    return workspace


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """An edited repository, and a build of it with the numbers as they are."""
    return _built(tmp_path_factory.mktemp("usual"), SHOP, EDIT)


@pytest.fixture(scope="module")
def usual_of_all_languages(tmp_path_factory: pytest.TempPathFactory) -> Build:
    return _built(tmp_path_factory.mktemp("languages"), IN_ALL_LANGUAGES)


def _built(folder: Path, *commits: Mapping[str, str]) -> Build:
    repo = GitRepo.create(folder / "shop")
    for files in commits:
        repo.commit(files)
    workspace = workspace_at(folder / "home", repo)
    build(workspace)
    return repo, workspace


@pytest.mark.slow
def test_builds_of_which_everything_is_large_end_in_the_index_of_a_small_one(usual: Build, tmp_path: Path) -> None:
    repo, built = usual
    repo.git("checkout", "-q", "--detach", "HEAD~1")
    index(tmp_path / "home", repo, LOW)
    repo.git("checkout", "-q", "main")

    assert differences(index(tmp_path / "home", repo, LOW), built) == (None, None)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [LOW, dict.fromkeys(LOW, HIGH)], ids=["large", "small"])
def test_a_first_build_in_all_languages_is_the_same_whether_everything_or_nothing_is_large(
    usual_of_all_languages: Build, tmp_path: Path, sizes: Mapping[str, int]
) -> None:
    repo, built = usual_of_all_languages

    assert differences(index(tmp_path / "home", repo, sizes), built) == (None, None)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOW)
def test_each_number_alone_changes_nothing(
    usual: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    repo, built = usual
    module, _, attribute = name.partition(":")
    monkeypatch.setattr(f"codesum_pipeline.{module}.{attribute}", LOW[name])
    workspace = workspace_at(tmp_path / "home", repo)
    build(workspace)

    assert differences(workspace, built) == (None, None)


# Numbers of these names choose between ways, or how much is worked on together.
_OF_SIZE = re.compile(
    r"_?(?:\w*AT_ONCE|\w*BATCH\w*|GROUP_\w+|\w*CHUNK|BLOCK_ROWS|(?:FEW|FEWEST|MANY|LITTLE)_\w+|WINDOW)"
)
# Rooms of which a build is made.
_ROOMS = (
    "graph",
    "foundation/store",
    "foundation/worker_processes",
    "indexes",
    "source",
    "symbols/parsing",
    "texts/summaries",
)
# Of no build of a home in a folder, or no choice of a way.
_ELSEWHERE = {
    # Requests to a provider: `indexes/test_embedders_litellm.py`.
    "indexes.embedders.litellm_models:_BATCH_BYTES",
    "indexes.embedders.litellm_models:_BATCH_TEXTS",
    # The work of a parser is counted in it, so another number gives another count: `symbols/parsing/test_bounded.py`.
    "symbols.parsing.bounded:CHUNK",
    # An argument of the function, too: `builds/hostile/test_secrets.py`.
    "symbols.parsing.masks:FEW_SECRETS",
    # Of a search: `indexes/test_highest.py`.
    "indexes.file_formats.highest_scores:_FEWEST_STRIDE",
    # What a comment is: `symbols/parsing/test_opening_comments.py`.
    "symbols.parsing.comment_kinds:_FEWEST_WORDS",
    # Of what parts a folder's text is: `evidence/extractive/test_folder_parts.py`.
    "evidence.extractive.extractive_parents:_FEW_PARTS",
    # What a file is: `source/test_content.py`.
    "source.files.content:_FEW_LINES",
    # Of buckets: `foundation/store/test_objects.py`, `foundation/store/test_reading_copy.py`.
    "foundation.store.object_storage.objects:_DELETED_AT_ONCE",
    "foundation.store.object_storage.reading_copy:_AT_ONCE",
}


def test_no_number_of_this_kind_is_left_out() -> None:
    package = Path(import_module("codesum_pipeline").__file__ or "").parent
    found = {
        f"{'.'.join(path.relative_to(package).with_suffix('').parts)}:{name}"
        for room in _ROOMS
        for path in (package / room).rglob("*.py")
        for name in re.findall(r"^(\w+) = [\d_(]", path.read_text(encoding="utf-8"), re.MULTILINE)
        if _OF_SIZE.fullmatch(name)
    }

    assert sorted(found - LOW.keys() - _ELSEWHERE) == []
