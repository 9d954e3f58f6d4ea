"""What a model's texts are worth to the search: questions asked of one repository's index with and without them.

    python -m benchmarks.model_texts TEXTS.jsonl QUESTIONS.jsonl CLONES [--home FOLDER]

TEXTS.jsonl holds texts of one commit: `repo, commit, id, summary,
business_intent, keywords`. They are put where the model's would stand, and what
follows is built as ever. QUESTIONS.jsonl and CLONES are as `benchmarks.retrieval`
takes them. Compared are extractive texts, the model's alone, the model's with the
author's words beside them (as lanes read them), and the model's for what nobody
documented.
"""

import argparse
import dataclasses
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from msgspec.structs import replace

from benchmarks.retrieval import ask_setups, by_question, print_table, tree_of, write_tree
from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.foundation.data_model.document import LEVELS, TextRow, WrittenBy
from codesum_pipeline.foundation.data_model.progress import no_progress
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.lanes import lane_texts
from codesum_pipeline.indexes.lanes.lane_texts import author_words
from codesum_pipeline.search.evaluation.evaluate import ALL, paired_interval
from codesum_pipeline.search.evaluation.questions import Question, read_questions
from codesum_pipeline.search.evaluation.report import signed_interval
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of

MEASURES = ("ndcg@10", "file_ndcg@10")
Texts = Mapping[str, Mapping[str, Any]]


def main() -> None:
    """Build each index, ask, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("texts", "questions", "clones"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--home", type=Path, default=Path(tempfile.gettempdir()) / "codesum-model-texts")
    arguments = parser.parse_args()
    rows = [json.loads(line) for line in arguments.texts.read_text().splitlines()]
    texts, repo = {row["id"]: row for row in rows}, rows[0]["repo"]
    questions = [question for question in read_questions(arguments.questions) if question.repo == repo]
    (tree,) = {tree_of(question) for question in questions}
    folder = arguments.home / "trees" / tree.key
    write_tree(tree, arguments.clones, folder)
    entry = RepositoryEntry(tree.key, str(folder.resolve()), subdir=tree.scope)
    tree_questions = [dataclasses.replace(question, repo=tree.key) for question in questions]
    found = {
        name: _measure_texts(arguments.home / "homes" / name.replace(" ", "-"), entry, tree_questions, name, texts)
        for name in ("extractive", "model alone", "model beside author", "model where undocumented")
    }
    print(f"\n{repo}: {len(tree_questions)} questions, {len(texts):,} texts\n")
    head = ["", *(column for measure in MEASURES for column in (measure, "against extractive"))]
    print_table([head, *([name, *_table_cells(found["extractive"], values)] for name, values in found.items())])


def _measure_texts(
    home: Path, entry: RepositoryEntry, questions: list[Question], name: str, texts: Texts
) -> dict[str, dict[str, float]]:
    opened = open_home(home)
    workspace = workspace_of(opened, entry)
    build(workspace, until="module_summaries")
    if name != "extractive":
        _put_in_texts(workspace, texts, only_undocumented=name == "model where undocumented")
    after = [step.name for step in STEPS].index("module_summaries") + 1
    words = (lambda *_: {}) if name == "model alone" else author_words
    with patch.object(lane_texts, "author_words", words):
        for step in STEPS[after:]:
            step.run(workspace, progress=no_progress)
    answers = ask_setups([PublishedIndex.open(opened.layout.published(entry.key))], questions, "static", [ALL])
    return {measure: by_question(answers, measure) for measure in MEASURES}


def _put_in_texts(workspace: Workspace, texts: Texts, *, only_undocumented: bool) -> None:
    """Let the texts stand as a model's."""
    documented = set()
    if only_undocumented:
        documented = set(author_words(workspace, _every_document(workspace)))
    for level in LEVELS:
        rows = workspace.tables.read_rows(texts_table(level), workspace.key, TextRow)
        written = [
            row if row.id not in texts or row.id in documented else _text_by_model(row, texts[row.id]) for row in rows
        ]
        workspace.tables.write_rows(texts_table(level), workspace.key, written, TextRow)


def _every_document(workspace: Workspace) -> pa.Table:
    tables = [workspace.tables.read(texts_table(level), workspace.key, columns=["id", "level"]) for level in LEVELS]
    return pa.concat_tables(tables).rename_columns(["id", "type"])


def _text_by_model(row: TextRow, text: Mapping[str, Any]) -> TextRow:
    sentences = {name: text[name] for name in ("summary", "business_intent")}
    return replace(
        row,
        written_by=WrittenBy.LLM,
        model="some/model",
        text=replace(row.text, **sentences, keywords=tuple(text["keywords"])),
    )


def _table_cells(before: Mapping[str, Mapping[str, float]], now: Mapping[str, Mapping[str, float]]) -> list[str]:
    cells = []
    for measure in MEASURES:
        ids = sorted(now[measure])
        values = [now[measure][id_] for id_ in ids]
        cells += [
            f"{sum(values) / len(values):.3f}",
            signed_interval(paired_interval([before[measure][id_] for id_ in ids], values)),
        ]
    return cells


if __name__ == "__main__":
    main()
