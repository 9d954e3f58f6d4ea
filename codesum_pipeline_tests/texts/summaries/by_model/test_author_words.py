"""The lanes read what an author wrote beside a model's text, at every level."""

import json
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.lanes.lane_texts import lane_sources, read_heads, with_name
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.model_builds import shop

FILES = {
    "till/README.md": "# Tills\n\nEverything about quokkas at the till. They are paid first. They sleep late.\n",
    "till/pay.py": '''"""Paying of the numbats. They never wait."""


class Counter:
    """Where the wombats stand in line. It is long."""

    def serve(self, guest):
        """Let a bandicoot pay. It gets a receipt. Nothing more is said."""
        if guest.is_rude:
            raise ValueError(guest)
        return guest.pay()

    def close(self, hour):
        if hour < 18:
            raise ValueError(hour)
        return hour
''',
}
BESIDE = {
    "till": "Tills: Everything about quokkas at the till. They are paid first.",
    "till/README.md": "Tills: Everything about quokkas at the till. They are paid first.",
    "till/pay.py": "Paying of the numbats. They never wait.",
    "till/pay.py::Counter": "Where the wombats stand in line. It is long.",
    "till/pay.py::Counter::serve": "Let a bandicoot pay. It gets a receipt.",
}


def last_name(id_: str) -> str:
    return id_.replace("::", "/").rpartition("/")[2]


def lane_summaries(workspace: Workspace) -> dict[str, str]:
    """What the lanes read as each document's summary."""
    return {
        row["id"]: row["summary"]
        for part in lane_sources(workspace, read_heads(workspace))
        for row in part.select(["id", "summary"]).to_pylist()
    }


@pytest.mark.slow
def test_the_lanes_read_the_authors_first_sentences_beside_a_models_text(tmp_path: Path) -> None:
    with shop(tmp_path, FILES) as found:
        workspace = found.workspace()
        build(workspace, until="summary_documents")
        rows = workspace.tables.read("documents", "shop", columns=["id", "type", "summary", "written_by"]).to_pylist()

    assert {row["type"] for row in rows} == set(Level)
    assert {row["written_by"] for row in rows} == {"llm"}
    summaries = {row["id"]: row["summary"] for row in rows}
    assert lane_summaries(workspace) == {
        id_: f"{summary}\n{BESIDE[id_]}" if id_ in BESIDE else summary for id_, summary in summaries.items()
    }
    assert not [words for words in BESIDE.values() if words in json.dumps(summaries)], (
        "the shown text is the model's alone"
    )


def test_what_no_model_wrote_is_read_with_the_words_of_its_name(tmp_path: Path) -> None:
    with shop(tmp_path, FILES) as found:
        workspace = found.workspace(llm={"max_summaries_per_run": 0})
        build(workspace, until="summary_documents")
        rows = workspace.tables.read("documents", "shop", columns=["id", "summary"]).to_pylist()

    assert lane_summaries(workspace) == {row["id"]: with_name(last_name(row["id"]), row["summary"]) for row in rows}
