"""A notebook in a real build: its documents, its place in the graph, and what a run, an edit and a rebuild change."""

import base64
import random
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.file import NOTEBOOK, SourceFile
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.comparing import first_difference, published_files, table_rows
from codesum_pipeline_tests.support.homes import build, built_once, copy_built, open_home, workspace_of
from codesum_pipeline_tests.support.notebooks import notebook
from codesum_pipeline_tests.support.repositories import GitRepo

PRICES = '"""Prices."""\n\n\ndef discount(price, percent):\n    """Lower a price."""\n    return price * percent\n'
CELLS = [
    ("markdown", "# Churn of customers\n\nWhy customers leave the shop within a year."),
    ("code", "%matplotlib inline\n!pip install pandas\nfrom shop.prices import discount\nimport pandas as pd"),
    ("markdown", "Orders come from the warehouse, one row for each."),
    (
        "code",
        "def load_orders(path):\n    orders = pd.read_csv(path)\n    return orders.map(lambda one: discount(one, 3))",
    ),
    (
        "code",
        "class ChurnModel:\n    '''Tells who leaves.'''\n\n    def fit(self, orders):\n        self.mean = 3",
    ),
    ("code", "def plot_churn(model):\n    if model.mean > 3:\n        model.plot()\n    return model"),
]
PLOT = base64.b64encode(random.Random(1).randbytes(30_000)).decode()
SCALA = [("markdown", "# Totals"), ("code", "def total(prices: Seq[Int]): Int = {\n  prices.sum\n}")]
FILES = {
    "shop/__init__.py": "",
    "shop/prices.py": PRICES,
    "shop/use.py": "from notebooks.churn import load_orders\n\n\ndef run(path):\n    return load_orders(path)\n",
    "notebooks/churn.ipynb": notebook(CELLS, plot=PLOT),
    "notebooks/totals.ipynb": notebook(SCALA, kernel="scala", ending=".sc"),
    "notebooks/growth.ipynb": notebook([("code", "growth <- function(x) x")], kernel="R", ending=".r"),
}
OTHER_CELLS = [*CELLS[:-1], ("code", CELLS[-1][1].replace("> 3", "> 4"))]
_TEXTS = ("function_summaries", "class_summaries", "file_summaries", "module_summaries")


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_once(tmp_path_factory.mktemp("notebooks"), FILES)


def workspace_in(folder: Path, repo: GitRepo, home: str = "home", **settings: Any) -> Workspace:
    return workspace_of(open_home(folder / home, **settings), RepositoryEntry("shop", str(repo.path)))


@pytest.fixture
def built(once: Path, tmp_path: Path) -> tuple[GitRepo, Workspace]:
    """The repository, and its home in which it was built."""
    repo = copy_built(once, tmp_path)
    return repo, workspace_in(tmp_path, repo)


def documents_of(ws: Workspace) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in ws.tables.read("documents", ws.key).to_pylist()}


def files_of(ws: Workspace) -> dict[str, SourceFile]:
    return {row.path: row for row in ws.tables.read_rows("files", ws.key, SourceFile)}


def index_of(ws: Workspace) -> PublishedIndex:
    return PublishedIndex.open(ws.layout.published(ws.key))


def test_a_notebook_has_documents_in_the_language_of_its_kernel(built: tuple[GitRepo, Workspace]) -> None:
    documents, files = documents_of(built[1]), files_of(built[1])

    assert {id_ for id_ in documents if "churn" in id_} == {
        "notebooks/churn.ipynb",
        "notebooks/churn.ipynb::load_orders",
        "notebooks/churn.ipynb::ChurnModel",
        "notebooks/churn.ipynb::ChurnModel::fit",
        "notebooks/churn.ipynb::plot_churn",
    }
    assert documents["notebooks/totals.ipynb::total"]["language"] == "scala"
    languages = {path: files[path].language for path in files if path.endswith(".ipynb")}
    assert languages == dict(
        zip(
            [f"notebooks/{name}.ipynb" for name in ("churn", "growth", "totals")], ("python", "r", "scala"), strict=True
        )
    )
    assert {files[path].encoding for path in languages} == {NOTEBOOK}


def test_its_title_and_first_paragraph_document_it(built: tuple[GitRepo, Workspace]) -> None:
    summary = documents_of(built[1])["notebooks/churn.ipynb"]["summary"]

    assert summary == "Churn of customers. Why customers leave the shop within a year."


def test_its_imports_are_those_of_a_python_file_and_nothing_imports_it(built: tuple[GitRepo, Workspace]) -> None:
    edges = {(row["src_id"], row["dst"], row["kind"]) for row in built[1].tables.read("edges", "shop").to_pylist()}

    assert ("notebooks/churn.ipynb::load_orders", "shop/prices.py::discount", "call") in edges
    assert ("notebooks/churn.ipynb", "shop/prices.py", "import") in edges
    assert not [edge for edge in edges if edge[0].startswith("shop/") and "ipynb" in edge[1]]


def test_the_cell_and_line_of_a_document_are_known(built: tuple[GitRepo, Workspace]) -> None:
    index, path = index_of(built[1]), "notebooks/churn.ipynb"
    rows = {
        id_: index.row(id_) for id_ in (f"{path}::load_orders", f"{path}::ChurnModel::fit", "shop/prices.py::discount")
    }
    places = {
        id_: str(index.cell_at(id_.partition("::")[0], index.document(row)["start_line"])) for id_, row in rows.items()
    }

    assert [*places.values()] == ["cell 4, line 1", "cell 5, line 4", "None"]


def test_a_notebook_that_was_only_run_again_changes_no_document_and_no_published_file(
    built: tuple[GitRepo, Workspace],
) -> None:
    repo, ws = built
    documents, version = documents_of(ws), index_of(ws).version
    before = {name: entry["sha256"] for name, entry in version.manifest["files"].items()}
    repo.commit({"notebooks/churn.ipynb": notebook(CELLS, run=2, plot=PLOT[::-1], indent=4)})

    reports = build(ws)

    after = index_of(ws).version
    assert documents_of(ws) == documents
    assert {name: entry["sha256"] for name, entry in after.manifest["files"].items()} == before
    assert after.manifest["content_digest"] == version.manifest["content_digest"]
    assert [reports[step].written for step in _TEXTS] == [0, 0, 0, 0]
    assert reports["dense_index"].embedded == 0


def test_an_edit_of_a_cell_changes_the_documents_of_that_cell_alone(built: tuple[GitRepo, Workspace]) -> None:
    repo, ws = built
    before = documents_of(ws)
    repo.commit({"notebooks/churn.ipynb": notebook(OTHER_CELLS, run=2, plot=PLOT)})

    reports = build(ws)

    # A folder's row has the hashes of what is below it.
    after = {id_: row for id_, row in documents_of(ws).items() if row["type"] != "module"}
    changed = {id_ for id_, row in after.items() if row != before.get(id_)}
    assert changed == {"notebooks/churn.ipynb::plot_churn", "notebooks/churn.ipynb"}
    assert reports["function_summaries"].written == 1


def test_a_build_of_a_history_with_notebooks_equals_a_clean_one(
    built: tuple[GitRepo, Workspace], tmp_path: Path
) -> None:
    repo, ws = built
    edits: list[dict[str, str]] = [
        {"notebooks/churn.ipynb": notebook(OTHER_CELLS, run=3)},
        {"notebooks/churn.ipynb": notebook([*OTHER_CELLS[:2], ("code", "x = 1"), *OTHER_CELLS[2:]])},
        {"notebooks/churn.ipynb": notebook(SCALA, kernel="scala", ending=".sc"), "notebooks/new.ipynb": "broken"},
        {"notebooks/new.ipynb": notebook(CELLS), "shop/prices.py": PRICES.replace("discount", "rebate")},
    ]
    for edit in edits:
        repo.commit(edit)
        build(ws)

    clean = workspace_in(tmp_path, repo, "clean")
    build(clean)
    assert first_difference(table_rows(ws), table_rows(clean)) is None
    assert first_difference(published_files(ws), published_files(clean)) is None


def test_a_notebook_of_20_mb_of_plots_is_indexed_and_one_with_a_cell_of_10_mb_is_too_large(tmp_path: Path) -> None:
    plots = notebook([("code", f"def plot_{number}(x):\n    return x") for number in range(100)], plot="A" * 200_000)
    repo = GitRepo.create(
        tmp_path / "repository",
        {
            "plots.ipynb": plots,
            "huge.ipynb": notebook([("code", "x = 1\n" * 1_700_000)]),
            "none.ipynb": "no JSON",
            "prices.py": PRICES,
        },
    )
    ws = workspace_in(tmp_path, repo)

    reports = build(ws)

    files = files_of(ws)
    problems = {path: (row.reason, row.encoding_problem) for path, row in files.items() if row.reason}
    assert len(plots) > 20_000_000
    assert problems == {
        "huge.ipynb": ("too_large", "its cells have 10,200,000 bytes, more than 1,048,576"),
        "none.ipynb": ("notebook", "JSON is malformed: invalid character (byte 4)"),
    }
    assert reports["repo_snapshot"].encoding_problems == ()
    assert {"plots.ipynb::plot_99", "prices.py::discount"} <= documents_of(ws).keys()


@pytest.mark.parametrize(
    ("allowed", "kept"), [(("python",), ["churn"]), (("scala", "r"), ["growth", "totals"]), (("go",), [])]
)
def test_the_allowed_languages_are_those_of_kernels(
    once: Path, tmp_path: Path, allowed: tuple[str, ...], kept: list[str]
) -> None:
    ws = workspace_in(tmp_path, GitRepo(once / "repository"), lang_allowlist=allowed)
    build(ws, until="repo_snapshot")

    reasons = {path: row.reason for path, row in files_of(ws).items() if path.endswith(".ipynb")}
    assert [path for path, reason in reasons.items() if reason is None] == [f"notebooks/{name}.ipynb" for name in kept]
    assert {reason for reason in reasons.values() if reason} <= {"language"}
