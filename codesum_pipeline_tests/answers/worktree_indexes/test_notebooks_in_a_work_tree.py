"""Notebooks of a work tree are answered as by a clean index of it."""

import pytest

from codesum_pipeline_tests.support.notebooks import notebook
from codesum_pipeline_tests.support.overlay_answers import indexed, must_hold_the_law

CELLS = [("markdown", "# Churn\n\nWhy customers leave."), ("code", "def load_orders(path):\n    return open(path)")]
FILES = {"churn.ipynb": notebook(CELLS), "use.py": "def other(x):\n    return x\n"}


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param({"churn.ipynb": notebook(CELLS, run=2)}, id="run again"),
        pytest.param({"churn.ipynb": notebook([*CELLS, ("code", "def fit(x):\n    return x")])}, id="a new cell"),
        pytest.param({"other.ipynb": notebook(CELLS[::-1])}, id="a new notebook"),
        pytest.param({"churn.ipynb": "no JSON"}, id="no notebook any more"),
    ],
)
def test_an_edit_of_a_notebook_is_answered_as_by_a_clean_index(tmp_path, edit):
    checkout = indexed(tmp_path, FILES)
    checkout.repo.write(edit)

    must_hold_the_law(checkout)
