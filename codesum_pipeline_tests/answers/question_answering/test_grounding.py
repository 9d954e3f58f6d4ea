"""What a synthesis is shown: which documents and files, how much of each, and what gives way first."""

from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.question_answering.citations import FileRef, RepositoryFiles
from codesum_pipeline.answers.question_answering.synthesis import (
    BUDGET_TOKENS,
    Material,
    ShownFile,
    fit_material,
    gather_material,
)
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.texts.llm.prices import CHARS_PER_TOKEN
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

LONG = "def f(x):\n    return x\n" + "# more\n" * 600


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> RepositoryFiles:
    folder = tmp_path_factory.mktemp("grounds")
    files = {
        "README.md": "# Many\n" + "word\n" * 700,
        "docs/overview.md": "# Overview\n",
        "Agents.md": "# Agents\n",
        "docs/Old_Roadmap_v2.md": "# Plans\n",
        "src/deep/roadmap.md": "# Not at the top\n",
        "CONTEXT.md": "# Context\n",
        "tests/test_m.py": "def test_f():\n    assert True\n",
        **{f"src/m{number}.py": LONG for number in range(8)},
    }
    return sources_of(folder, GitRepo.create(folder / "repository", files))


def sources_of(folder: Path, repository: GitRepo, **entry: Any) -> RepositoryFiles:
    """The files of a repository that is indexed as `many`."""
    registered = RepositoryEntry(key="many", location=str(repository.path), **entry)
    workspace = workspace_of(open_home(folder / "home"), registered)
    build(workspace)
    index = PublishedIndex.open(workspace.layout.published("many"))
    return RepositoryFiles(SourceReader(IndexCatalogue.of(workspace.settings), [index], print), load_embedder("static"))


def gathered(sources: RepositoryFiles, whole: str, *, primary: str = "README", taken_tokens: int = 0) -> Material:
    return gather_material(
        whole,
        sources,
        question="What is it?",
        repos=["many"],
        primary=primary,
        taken_tokens=taken_tokens,
    )


def test_the_five_files_named_most_are_shown_with_two_hundred_lines_each(sources: RepositoryFiles) -> None:
    named = " ".join(f"src/m{number}.py " * (number + 1) for number in range(8))

    material = gathered(sources, named)

    assert material.files == ("src/m7.py", "src/m6.py", "src/m5.py", "src/m4.py", "src/m3.py")
    shown = [piece.text for piece in material.pieces if not piece.is_document]
    assert {text.count("\n") + 1 for text in shown} == {200}
    assert all(text.startswith("  1| def f(x):") or text.startswith("1| def f(x):") for text in shown)


def test_tests_are_no_place_to_begin(sources: RepositoryFiles) -> None:
    assert gathered(sources, "tests/test_m.py " * 9 + "src/m1.py").files == ("src/m1.py",)


def test_the_projects_documents_are_the_primary_one_that_for_agents_roadmaps_and_context(
    sources: RepositoryFiles,
) -> None:
    material = gathered(sources, "")

    assert material.documents == ("README.md", "Agents.md", "docs/Old_Roadmap_v2.md", "CONTEXT.md")
    assert material.pieces[0].text.count("\n") + 1 == 500


@pytest.mark.parametrize("primary", ["docs/overview.md", "overview", "Overview.md"])
def test_the_primary_document_can_be_another(sources: RepositoryFiles, primary: str) -> None:
    assert gathered(sources, "", primary=primary).documents[0] == "docs/overview.md"


def piece(path: str, rank: int | None, tokens: int, *, is_document: bool = False) -> ShownFile:
    return ShownFile(FileRef("many", path), "x" * int(tokens * CHARS_PER_TOKEN), rank, is_document)


PIECES = [
    piece("README.md", None, 4000, is_document=True),
    piece("AGENTS.md", 7, 4000, is_document=True),
    piece("roadmap.md", 6, 4000, is_document=True),
    piece("CONTEXT.md", 6, 4000, is_document=True),
    *(piece(f"f{place}.py", 6 - place, 4000) for place in range(1, 6)),
]
ORDER = [
    "f5.py",
    "f4.py",
    "f3.py",
    "f2.py",
    "f1.py",
    {"roadmap.md", "CONTEXT.md"},
    {"roadmap.md", "CONTEXT.md"},
    "AGENTS.md",
]


@pytest.mark.parametrize("dropped", range(9))
def test_what_gives_way_first_is_the_last_file_then_the_first_then_plans_then_agents(dropped: int) -> None:
    material = fit_material(PIECES, 4000 * (9 - dropped))

    left_out = [file.path for file in material.left_out]
    assert len(left_out) == dropped
    for found, wanted in zip(left_out, ORDER, strict=False):
        assert found == wanted or found in wanted


def test_the_primary_document_is_cut_and_never_left_out() -> None:
    material = fit_material([piece("README.md", None, 90_000, is_document=True), *PIECES[1:]], BUDGET_TOKENS)

    assert [each.file.path for each in material.pieces] == ["README.md"]
    assert material.pieces[0].text.endswith("[cut here]")
    assert material.characters <= BUDGET_TOKENS * CHARS_PER_TOKEN


def test_the_budget_holds_what_is_shown_of_the_overview_too(sources: RepositoryFiles) -> None:
    named = " ".join(f"src/m{number}.py" for number in range(8))
    taken = 31_000

    material = gathered(sources, named, taken_tokens=taken)

    assert material.characters / CHARS_PER_TOKEN + taken <= BUDGET_TOKENS
    assert "README.md" in material.documents
    assert material.files == ()


@pytest.mark.parametrize(
    ("paths", "first"),
    [
        (["docs/roadmap-2019.md", "docs/roadmap-2024.md", "docs/roadmap-2025.md"], ["roadmap-2025", "roadmap-2024"]),
        (["old_roadmap.md", "roadmap.md", "a_very_old_roadmap.md"], ["roadmap", "old_roadmap"]),
        (["docs/roadmap.md", "roadmap_v2.md", "roadmap_v10.md"], ["roadmap_v2", "roadmap_v10"]),
        (["docs/roadmap_v2.md", "docs/roadmap_v3.md", "docs/roadmap_v1.md"], ["roadmap_v3", "roadmap_v2"]),
    ],
)
def test_of_many_roadmaps_the_latest_near_the_root_are_shown_and_not_the_first_by_name(
    tmp_path: Path, paths: list[str], first: list[str]
) -> None:
    repository = GitRepo.create(tmp_path / "repository", {path: f"# {path}\n" for path in paths})
    documents = gathered(sources_of(tmp_path, repository), "").documents

    assert [Path(path).stem for path in documents] == first


@pytest.mark.parametrize(
    ("kept_out", "shown"),
    [
        pytest.param({"subdir": "ours"}, {"ours/README.md"}, id="what stands beside the folder that was registered"),
        pytest.param({"exclude": ("docs/*", "AGENTS.md")}, {"README.md"}, id="what an entry leaves out"),
    ],
)
def test_what_is_kept_out_of_an_index_is_shown_to_no_model(
    tmp_path: Path, kept_out: dict[str, Any], shown: set[str]
) -> None:
    files = {
        "README.md": "# All\n",
        "AGENTS.md": "# Nobody else's\n",
        "docs/roadmap.md": "# Plans\n",
        "ours/README.md": "# Ours\n",
        "ours/a.py": LONG,
    }
    repository = GitRepo.create(tmp_path / "repository", files)

    assert set(gathered(sources_of(tmp_path, repository, **kept_out), "").documents) == shown
