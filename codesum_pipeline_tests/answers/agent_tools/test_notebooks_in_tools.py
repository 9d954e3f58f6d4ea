"""Whoever shows a notebook shows its cells, and names the cell and the line of what was found."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.changed_symbols import FileVersions, compare_symbols
from codesum_pipeline.answers.agent_tools.tool_answers import AnswerPage
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.foundation.data_model.file import NOTEBOOK
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.source_lines import packed_texts
from codesum_pipeline.search.source_lines.packed_texts import KeptTexts
from codesum_pipeline_tests.support.homes import built_once, open_home
from codesum_pipeline_tests.support.notebooks import notebook
from codesum_pipeline_tests.support.planted_secrets import TOKENS

PLOT = "iVBORw0KGgoAAAANSUhEUgAA"
SECRET = TOKENS["gitlab-token"](random.Random(1))
LONG = "".join(f"    step_{number} = model.step({number})\n" for number in range(70))
CELLS = [
    ("markdown", "# Churn of customers\n\nWhy customers leave the shop."),
    ("code", f"!ls\nTOKEN = '{SECRET}'\nimport pandas as pd"),
    ("markdown", "Orders come from the warehouse, one row for each."),
    ("code", "def load_orders(path):\n    orders = pd.read_csv(path)\n    return orders"),
    ("code", f"def train_slowly(model):\n{LONG}    calibrate_thermometer(model)\n    return model"),
]
FILES = {
    "churn.ipynb": notebook(CELLS, plot=PLOT),
    "none.ipynb": '{"nbformat": 2}',
    "use.py": "def other(x):\n    return x\n",
}

Ask = Callable[..., AnswerPage]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_once(tmp_path_factory.mktemp("notebooks"), FILES) / "home"


@pytest.fixture
def ask(home: Path, tmp_path: Path) -> Ask:
    catalogue = IndexCatalogue.of(open_home(home).settings)

    def page(tool: str, /, *, is_masked: bool = False, **given: Any) -> AnswerPage:
        found = tools_by_name()[tool].ask(ToolContext(catalogue, tmp_path, is_masked=is_masked), given)
        # No way of asking shows outputs, counters or the JSON of the file.
        assert not [word for word in (PLOT, "execution_count", "cell_type", "display_data") if word in found.text()]
        return found

    return page


def test_a_search_names_the_cell_and_the_line(ask: Ask) -> None:
    found = ask("search", query="load orders", limit=1)

    assert "churn.ipynb:15-17 (cell 4, line 1)  function  load_orders" in found.text()
    hit = json.loads(found.model_dump_json())["hits"][0]
    assert (hit["start_line"], hit["cell"], hit["cell_line"]) == (15, 4, 1)


def test_a_passage_of_a_long_function_has_a_cell_of_its_own(ask: Ask) -> None:
    found = ask("search", query="calibrate thermometer", levels=["function"], limit=1)
    hit = json.loads(found.model_dump_json())["hits"][0]

    assert (hit["cell"], hit["cell_line"], hit["passage_cell"]) == (5, 1, 5)
    assert hit["passage_cell_line"] == hit["passage_start"] - hit["start_line"] + 1 > 20
    assert f"(cell 5, line {hit['passage_cell_line']})" in found.text()


def test_an_excerpt_shows_cells(ask: Ask) -> None:
    text = ask("search", query="warehouse orders one row", levels=["file"], excerpt=6, limit=1).text()

    assert "14\t# %% cell 4" in text
    assert "12\t# Orders come from the warehouse, one row for each." in text


def test_reading_a_notebook_shows_its_script(ask: Ask) -> None:
    text = ask("read", ids=["churn.ipynb"], parts="source").text()

    assert "# %% cell 1 [markdown]" in text
    assert "import pandas as pd" in text
    assert "!ls" not in text


def test_reading_lines_of_a_notebook_says_in_which_cell_they_begin(ask: Ask) -> None:
    assert "begins in: cell 4, line 2" in ask("read", ids=["churn.ipynb:16-17"]).text()
    assert "15-17 (cell 4, line 1)  function" in ask("read", ids=["churn.ipynb::load_orders"]).text()
    assert "begins in" not in ask("read", ids=["use.py:2-2"]).text()


@pytest.mark.parametrize("place", ["churn.ipynb:16-17", "churn.ipynb:15-17 (cell 4, line 1)"])
def test_a_place_is_read_as_it_is_shown(ask: Ask, place: str) -> None:
    assert "orders = pd.read_csv(path)" in ask("read", ids=[place]).text()
    assert "load_orders" in ask("graph", id=place).text()


def test_texts_are_packed_anew_where_notebooks_are_read_otherwise(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout, folder = open_home(home).layout, tmp_path / "texts" / "shop"
    index, kept = PublishedIndex.open(layout.published("shop")), KeptTexts(folder, 1 << 30)

    def packed() -> bytes:
        return kept.open(index, layout.mirror("shop"), timeout_s=60)[0].text.tobytes()

    text = packed()
    # As if another version had been packed by a release that reads notebooks otherwise.
    earlier = (folder / index.version.digest).rename(folder / "earlier")
    (earlier / "text").write_bytes(text.replace(b"%% cell", b"%% CELL"))
    monkeypatch.setattr(packed_texts, "NOTEBOOKS_VERSION", "notebooks/other")

    assert b"# %% cell 1" in text
    assert packed() == text


def test_each_line_that_a_pattern_matches_has_its_cell(ask: Ask) -> None:
    text = ask("grep", pattern="pandas|read_csv|warehouse").text()

    assert "9 (cell 2, line 3)\timport pandas as pd" in text
    assert "16 (cell 4, line 2)\t" in text
    assert "12 (cell 3, line 1)\t# Orders come" in text


def test_no_pattern_matches_what_is_no_cell(ask: Ask) -> None:
    assert "no line matches" in ask("grep", pattern="nbformat|image/png|Figure").text()


def test_a_secret_in_a_cell_is_masked(ask: Ask) -> None:
    assert SECRET not in ask("read", is_masked=True, ids=["churn.ipynb"], parts="source").text()
    assert SECRET not in ask("grep", is_masked=True, pattern="TOKEN").text()


def test_a_notebook_that_cannot_be_read_is_named_with_the_reason(ask: Ask) -> None:
    with pytest.raises(Exception, match="notebook \\(nbformat 2 is not known, but 4 is; .*\\): it is no notebook"):
        ask("read", ids=["none.ipynb"])


def test_an_index_knows_the_cells_of_notebooks(home: Path) -> None:
    index = PublishedIndex.open(open_home(home).layout.published("shop"))

    assert (str(index.cell_at("churn.ipynb", 16)), index.cell_at("use.py", 1)) == ("cell 4, line 2", None)


@pytest.mark.parametrize("known", [{}, {"churn.ipynb": NOTEBOOK}], ids=["new", "indexed"])
def test_a_comparison_of_versions_is_one_of_cells(known: dict[str, str]) -> None:
    def compared(after: str) -> Any:
        versions = FileVersions("churn.ipynb", FILES["churn.ipynb"].encode(), after.encode())
        return compare_symbols([versions], hash_policy=HashPolicy.CANONICAL, encodings=known)

    rerun = compared(notebook(CELLS, run=5, plot="AAAA"))
    edited = compared(notebook([*CELLS[:3], ("code", CELLS[3][1].replace("csv", "json")), *CELLS[4:]], run=5))

    assert (rerun.changes, rerun.only_layout) == ([], ["churn.ipynb"])
    assert [(each.kind, each.id) for each in edited.changes] == [("body", "churn.ipynb::load_orders")]
