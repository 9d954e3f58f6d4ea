"""Under `trust = "scip"` a model writes about what an indexer's edges touch, and about what holds that."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import Gate
from codesum_pipeline.foundation.data_model.edge import Edge
from codesum_pipeline.texts.summaries.rewrite_plan import plan_summaries
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.model_builds import shop
from codesum_pipeline_tests.support.till import BY_MODEL, TILL

CALLER, CALLEE = "shop/pay.py::pay", "till/tax.py::add_tax"
TOUCHED = {CALLER, CALLEE, "shop/pay.py", "till/tax.py", "shop", "till", "."}


@pytest.mark.parametrize(
    ("changes", "trusted"),
    [
        pytest.param({"reason": "scip:scip-python", "confidence": 1.0}, TOUCHED, id="an indexer's edge"),
        pytest.param({"reason": "scip:scip-python", "confidence": 0.9}, set(), id="one that it is not sure of"),
        pytest.param({"reason": "ast:import", "confidence": 1.0}, set(), id="an edge read off the syntax"),
    ],
)
def test_what_an_indexers_edges_touch_is_trusted(tmp_path: Path, changes: dict[str, object], trusted: set[str]) -> None:
    with shop(tmp_path, TILL) as found:
        workspace = found.workspace(llm={"trust": "scip"})
        build(workspace, until="call_graph")
        edges = workspace.tables.read_rows("edges", "shop", Edge)
        marked = [
            replace(edge, **changes) if (edge.src_id, edge.dst) == (CALLER, CALLEE) else edge  # type: ignore[arg-type]
            for edge in edges
        ]
        workspace.tables.write_rows("edges", "shop", marked, Edge)

        plan_summaries(workspace)

    assert marked != edges or not trusted
    rows = workspace.tables.read("plan", "shop", columns=["id", "gate"]).to_pylist()
    assert {row["id"] for row in rows if row["gate"] is None} - {"till/__init__.py"} == trusted
    assert sum(row["gate"] == Gate.TRUST for row in rows) == BY_MODEL - len(trusted)
