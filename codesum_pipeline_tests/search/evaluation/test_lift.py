"""The lift ledger finds a lift that is there, a loss that is there, and what was paid."""

import dataclasses
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.foundation.data_model.document import HistoryRow, Level, TextRow, WrittenBy, WrittenText
from codesum_pipeline.foundation.data_model.progress import no_progress
from codesum_pipeline.foundation.settings.stage_settings import EvaluationSettings
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.search.evaluation.evaluate import Interval, QuestionResult
from codesum_pipeline.search.evaluation.evaluation_step import evaluate_candidate
from codesum_pipeline.search.evaluation.lift import (
    Arm,
    Lift,
    LiftRow,
    find_savings,
    lift_markdown,
    lift_of,
    lift_report,
)
from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question
from codesum_pipeline.search.evaluation.records import last_lift
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.homes import build, empty_serving_file
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.settings import changed

# Functions that say nothing by name or code, and what each is for.
PURPOSES = (
    "grind coffee beans before breakfast", "water tomato plants in summer", "tune a violin by ear",
    "polish silver cutlery for guests", "feed hungry pigeons at noon", "mend torn fishing nets",
    "bake sourdough bread overnight", "sharpen kitchen knives on stone", "paint wooden fences green",
    "fold paper cranes from newspapers", "count sheep until midnight", "carve pumpkins in october",
)  # fmt: skip


MakeShop = Callable[[str], Workspace]


@pytest.fixture
def make_shop(git_repo: Callable[..., GitRepo], make_workspace: Callable[..., Workspace]) -> MakeShop:
    """`make_shop(docstring)`: a file for each purpose, built; `{}` in a docstring stands for the purpose."""

    def make(docstring: str) -> Workspace:
        body = "    if a > b:\n        return a - b\n    return b\n"
        files = {
            f"part{number:02}.py": f"def f{number:02}(a, b):\n{docstring.format(purpose)}{body}"
            for number, purpose in enumerate(PURPOSES)
        }
        workspace: Workspace = make_workspace(git_repo(files).path)
        build(workspace)
        return workspace

    return make


@pytest.fixture
def shop(make_shop: MakeShop) -> Workspace:
    return make_shop("")


def id_of(number: int) -> str:
    return f"part{number:02}.py::f{number:02}"


QUESTIONS = [
    Question(
        id=str(number),
        query=purpose,
        relevant=(AnswerPlace(f"part{number:02}.py", 1, 4, f"f{number:02}", "function"),),
        level=Level.FUNCTION,
    )
    for number, purpose in enumerate(PURPOSES)
]


def written(purpose: str) -> WrittenText:
    return WrittenText(summary=f"It serves to {purpose}.", business_intent=purpose, keywords=tuple(purpose.split()))


def shuffled(texts: Sequence[WrittenText]) -> list[WrittenText]:
    return random.Random(3).sample(texts, len(texts))


def write_by_model(ws: Workspace, texts: Mapping[str, WrittenText], *, dollars: float) -> PublishedIndex:
    """The index with these functions' texts as if a model had written them, each for so many dollars."""
    table = texts_table(Level.FUNCTION)
    rows = [
        replace(
            row, text=texts[row.id], text_hash=texts[row.id].text_hash, written_by=WrittenBy.LLM, model="some/model"
        )
        for row in ws.tables.read_rows(table, ws.key, TextRow)
    ]
    ws.tables.write_rows(table, ws.key, rows, TextRow)
    begin = [step.name for step in STEPS].index("summary_documents")
    with empty_serving_file():
        for step in STEPS[begin:]:
            step.run(ws, progress=no_progress)
    history = ws.tables.read_rows("document_history", ws.key, HistoryRow)
    paid = [replace(row, cost_usd=dollars) if row.id in texts else row for row in history]
    ws.tables.write_rows("document_history", ws.key, paid, HistoryRow)
    return PublishedIndex.open(ws.layout.published(ws.key))


def row_of(lift: Lift, texts: str, level: str) -> LiftRow:
    (row,) = [row for row in lift.rows if (row.texts, row.level) == (texts, level)]
    return row


def test_texts_that_say_what_is_asked_are_a_lift_with_its_price(shop: Workspace) -> None:
    index = write_by_model(shop, {id_of(n): written(purpose) for n, purpose in enumerate(PURPOSES)}, dollars=0.5)

    lift = lift_report(shop, index, QUESTIONS)

    assert [(row.level, row.texts) for row in lift.rows] == [
        (level, texts)
        for level in ("all", "function", "undocumented")
        for texts in ("code only", "extractive texts", "texts by a model")
    ]
    assert row_of(lift, "texts by a model", "undocumented").cost_usd == 6.0
    assert find_savings(lift) == []
    best = row_of(lift, "texts by a model", "function")
    assert best.gain is not None and best.gain.low > 0
    assert (best.score.mean, best.cost_usd, best.questions) == (1.0, 6.0, 12)
    assert row_of(lift, "extractive texts", "function").cost_usd == 0.0


def test_texts_that_say_it_of_other_functions_lose_little_beside_the_authors(make_shop: MakeShop) -> None:
    documented = make_shop('    """Helps to {}."""\n')
    before = documented.tables.read_rows(texts_table(Level.FUNCTION), documented.key, TextRow)
    texts = shuffled([row.text for row in before])
    index = write_by_model(documented, {row.id: text for row, text in zip(before, texts, strict=True)}, dollars=0.5)

    lift = lift_report(documented, index, QUESTIONS)

    loss = row_of(lift, "texts by a model", "function").gain
    assert loss is not None and -0.15 < loss.mean <= 0
    assert row_of(lift, "extractive texts", "function").score.mean == 1.0
    assert row_of(lift, "texts by a model", "documented").gain == loss
    assert find_savings(lift) == [
        f"What its author documented gained nothing by the model's texts ({loss.mean:+.3f}, 12 questions): they cost "
        "$6.00, which `llm.documented = false` would save."
    ]
    assert find_savings(lift)[0] in lift_markdown(lift)


def test_texts_that_say_it_of_other_functions_are_a_loss_where_nobody_documented_them(shop: Workspace) -> None:
    texts = shuffled([written(purpose) for purpose in PURPOSES])
    index = write_by_model(shop, {id_of(n): text for n, text in enumerate(texts)}, dollars=0.5)

    loss = row_of(lift_report(shop, index, QUESTIONS), "texts by a model", "undocumented").gain

    assert loss is not None and loss.mean < 0


def test_without_a_models_texts_code_and_extractive_texts_are_compared_on_own_questions(shop: Workspace) -> None:
    shop_index = PublishedIndex.open(shop.layout.published(shop.key))

    assert lift_report(shop, shop_index, None) == Lift(())
    assert [row.texts for row in lift_report(shop, shop_index, QUESTIONS).rows] == ["code only", "extractive texts"] * 2


def test_each_build_that_is_evaluated_says_what_its_models_texts_bought(shop: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text("".join(f"{json.dumps(as_row(question))}\n" for question in QUESTIONS))
    write_by_model(shop, {id_of(n): written(purpose) for n, purpose in enumerate(PURPOSES)}, dollars=0.5)
    asking = EvaluationSettings(enabled=True, questions=str(file))

    report = evaluate_candidate(replace(shop, settings=changed(shop.settings, evaluation=asking)))

    best = row_of(last_lift(shop), "texts by a model", "all")
    assert best.gain is not None and best.gain.low > 0
    assert (report.model_texts_gain, report.model_texts_cost_usd) == (best.gain.mean, 6.0)
    assert [row.texts for row in last_lift(shop).rows] == ["code only", "extractive texts", "texts by a model"] * 3


def as_row(question: Question) -> dict[str, Any]:
    (target,) = question.relevant
    return {
        "id": question.id,
        "query": question.query,
        "level": "function",
        "relevant": [{"file_path": target.file_path}],
        "cited_symbols": [
            {"file_path": target.file_path, "symbol": target.symbol, "kind": "function", "start_line": 1, "end_line": 4}
        ],
    }


def answers(*values: float, level: Level | None = None) -> list[QuestionResult]:
    questions = [dataclasses.replace(QUESTIONS[number], level=level) for number in range(len(values))]
    return [
        QuestionResult(question, "", {"ndcg@10": value}, 0.0, ())
        for question, value in zip(questions, values, strict=True)
    ]


def test_the_ledger_as_a_page_names_levels_gains_and_dollars() -> None:
    arms = [Arm("code only", answers(0.5, 0.5)), Arm("texts by a model", answers(0.75, 0.75), {"function": 1.5})]

    lift = lift_of(arms)

    half, gain = Interval(0.5, 0.5, 0.5), Interval(0.25, 0.25, 0.25)
    assert lift.rows[0] == LiftRow("all", 2, "code only", half, None, 0.0)
    assert lift.rows[1] == LiftRow("all", 2, "texts by a model", Interval(0.75, 0.75, 0.75), gain, 1.5)
    assert lift_markdown(lift).split("\n")[:4] == [
        "| level | questions | texts | score | from – to | gain | from – to | cost, $ | $ per +0.01 |",
        "|---|---:|---|---:|---|---:|---|---:|---:|",
        "| all | 2 | code only | 0.500 | 0.500 – 0.500 |  |  |  |  |",
        "| all | 2 | texts by a model | 0.750 | 0.750 – 0.750 | **+0.250** | +0.250 – +0.250 | 1.50 | 0.06 |",
    ]


def test_the_lift_of_what_authors_documented_is_told_apart() -> None:
    arms = [
        Arm("code only", answers(0.5, 0.5)),
        Arm("texts by a model", answers(0.9, 0.4), {"function": 3.0}, {"documented": 2.0, "undocumented": 1.0}),
    ]
    groups = {QUESTIONS[0].id: "undocumented", QUESTIONS[1].id: "documented"}

    lift = lift_of(arms, groups)

    gains = {row.level: (row.questions, row.cost_usd, row.gain and round(row.gain.mean, 3)) for row in lift.rows[1::2]}
    assert gains == {
        "all": (2, 3.0, 0.15),
        "any": (2, 0.0, 0.15),
        "undocumented": (1, 1.0, 0.4),
        "documented": (1, 2.0, -0.1),
    }
    assert [line.partition(":")[2] for line in find_savings(lift)] == [
        " they cost $2.00, which `llm.documented = false` would save."
    ]
