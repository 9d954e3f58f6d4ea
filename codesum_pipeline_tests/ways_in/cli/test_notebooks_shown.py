"""The command line and the pages name the cell and the line of what they show of a notebook."""

import json

import pytest
from starlette.testclient import TestClient

from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.ways_in.http_serving.audit_log import Auditor
from codesum_pipeline.ways_in.web.web_app import pages_of
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.homes import built_once, open_home
from codesum_pipeline_tests.support.notebooks import notebook
from codesum_pipeline_tests.support.repositories import GitRepo

CELLS = [
    ("markdown", "# Churn of customers\n\nWhy customers leave the shop."),
    ("code", "def load_orders(path):\n    orders = open(path)\n    return orders.read()"),
]
FILES = {"churn.ipynb": notebook(CELLS), "old.ipynb": '{"nbformat": 2}', "cut.ipynb": "{"}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return built_once(tmp_path_factory.mktemp("notebooks"), FILES) / "home"


def test_a_hit_names_its_cell(codesum, home):
    arguments = ("search", "load orders", "--level", "function", "--top", "1")

    assert "churn.ipynb::load_orders  cell 2, line 1  lines 7-9  function" in codesum(home, *arguments).stdout
    hit = json.loads(codesum(home, *arguments, "--json").stdout)["hits"][0]
    assert (hit["start_line"], hit["cell"], hit["cell_line"]) == (7, 2, 1)


def test_a_document_names_its_cell(codesum, home):
    assert "churn.ipynb::load_orders  cell 2, line 1  lines 7-9" in codesum(home, "show", "load_orders").stdout
    document = json.loads(codesum(home, "show", "load_orders", "--json").stdout)
    assert (document["cell"], document["cell_line"]) == (2, 1)


def test_a_line_names_its_cell(codesum, home):
    assert " 8 (cell 2, line 2)     orders = open(path)" in codesum(home, "grep", "open\\(").stdout


def test_a_page_names_the_cell(home, tmp_path):
    opened = open_home(home)
    pages = pages_of(IndexCatalogue(opened.settings, opened.layout, opened.registry), tmp_path, Auditor(None, "web"))

    page = TestClient(pages, base_url="http://localhost").get("/", params={"q": "load orders"}).text

    assert "churn.ipynb:7-9 (cell 2, line 1)" in page


def test_a_notebook_of_large_outputs_is_compared_by_its_cells(tmp_path):
    plot = "A" * 2_000_000
    built_once(tmp_path, {"churn.ipynb": notebook(CELLS, plot=plot), "use.py": "x = 1\n"})
    edited = [*CELLS[:1], ("code", CELLS[1][1].replace("read()", "readlines()"))]
    GitRepo(tmp_path / "repository").write({"churn.ipynb": notebook(edited, run=2, plot=plot)})

    done = fork_codesum("--home", tmp_path / "home", "impact", cwd=tmp_path / "repository")

    assert done.returncode == 0, done.stderr
    assert "load_orders" in done.stdout
    assert "too large" not in done.stdout


def test_notebooks_that_cannot_be_read_are_named_with_the_reason(codesum, home):
    text = " ".join(codesum(home, "status", "shop").stdout.split())

    assert "2 notebooks that cannot be read: cut.ipynb (Input data was truncated), old.ipynb (nbformat 2" in text
    assert "1 indexed; skipped: 2 notebook" in text
    assert "in doubt" not in text
    assert "encodings" not in text
