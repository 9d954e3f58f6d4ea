"""Notebooks as Jupyter writes them."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

# A cell by its kind and its text.
Cells = Iterable[tuple[str, str]]


def notebook(
    cells: Cells,
    *,
    run: int = 1,
    plot: str = "iVBORw0KGgo=",
    kernel: str = "python",
    ending: str = ".py",
    indent: int = 1,
) -> str:
    """A notebook of nbformat 4 that was run so many times: each run has its own counters, ids, outputs and metadata."""
    written = [_cell(kind, text, place, run, plot) for place, (kind, text) in enumerate(cells)]
    metadata = {
        "kernelspec": {"display_name": kernel, "language": kernel, "name": f"kernel-{run}"},
        "language_info": {"name": kernel, "file_extension": ending, "version": f"3.{run}"},
        "widgets": {"state": {f"widget-{run}": plot}},
    }
    return json.dumps({"cells": written, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=indent)


def _cell(kind: str, text: str, place: int, run: int, plot: str) -> Mapping[str, Any]:
    cell = {"cell_type": kind, "id": f"cell-{run}-{place}", "metadata": {"run": run}}
    lines = text.splitlines(keepends=True)
    if kind != "code":
        return {**cell, "source": lines}
    shown = {"output_type": "display_data", "data": {"image/png": plot, "text/plain": [f"<Figure {run}>"]}}
    return {**cell, "execution_count": 100 * run + place, "outputs": [shown], "source": lines}
