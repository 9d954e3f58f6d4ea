"""What pages show of evaluations, costs, parts, and the history of texts."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.document import Cause, HistoryEvent, HistoryRow, Level, WrittenBy
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.ways_in.web.figures import cost_charts, evaluation_chart, history_of
from codesum_pipeline.ways_in.web.rendering import draw_diagram
from codesum_pipeline_tests.ways_in.web.figures import write_evaluations, write_ledger
from codesum_pipeline_tests.ways_in.web.reading import get, page, shown
from codesum_pipeline_tests.ways_in.web.serving import serving

MEANS = [(0.5, 0.4), (0.75, 0.5), (1.0, 0.25)]
SPENT = [
    ("2026-01-02", Level.FUNCTION, 0.5),
    ("2026-01-02", Level.CLASS, 0.25),
    ("2026-01-05", Level.FUNCTION, 0.25),
]


@pytest.fixture(scope="module")
def measured(web_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose repository `zoo` was evaluated three times, and whose texts were paid; `evil` was not."""
    home = tmp_path_factory.mktemp("measured") / "home"
    shutil.copytree(web_home, home, symlinks=True)
    write_evaluations(home, "zoo", MEANS)
    write_ledger(home, "zoo", SPENT)
    (HomeLayout(home).warehouse / "evaluations" / "repo=evil" / "part-0.parquet").unlink(missing_ok=True)
    with serving(home, home.parent) as address:
        yield address


def test_a_repositorys_page_draws_its_evaluations_over_versions_with_a_table_behind(measured):
    found = page(measured, "/repository", repo="zoo")
    titles = [each for tag, each in found.elements if tag == "svg"]

    assert [each["aria-labelledby"].split()[0] for each in titles if each["class"] == "chart"] == [
        "evaluations-title",
        "cost-days-title",
        "cost-levels-title",
    ]
    for text in ("all lanes", "code only", "2026-01-03", "0.750", "0.670 to 0.830", "0303030303"):
        assert text in found.text, text


def test_what_texts_cost_is_drawn_by_day_and_by_level(measured):
    text = " ".join(page(measured, "/repository", repo="zoo").text.split())

    assert "US dollars by day; $1.00 in all." in text and "US dollars by level; $1.00 in all." in text
    assert "2026-01-02 2 2 2,000 200 $0.75" in text and "2026-01-05 1 1 1,000 100 $0.25" in text
    assert "function 2 2 2,000 200 $0.75" in text and "class 1 1 1,000 100 $0.25" in text


def test_where_nothing_was_measured_or_spent_it_says_so(measured):
    text = " ".join(page(measured, "/repository", repo="evil").text.split())

    assert "It was not evaluated yet" in text
    assert "No model was asked for its texts: they cost nothing." in text


def test_values_stand_where_they_belong(tmp_path):
    write_evaluations(tmp_path, "zoo", MEANS)
    write_ledger(tmp_path, "zoo", SPENT)
    chart = evaluation_chart(HomeLayout(tmp_path), "zoo")
    days, levels = cost_charts(HomeLayout(tmp_path), "zoo")
    assert chart is not None
    top, bottom = chart.y_ticks[-1].at, chart.y_ticks[0].at
    (best, middle) = ([point.y for point in line.points] for line in chart.lines)

    assert [line.name for line in chart.lines] == ["all lanes", "code only"]
    assert best == [pytest.approx((top + bottom) / 2), pytest.approx(top + (bottom - top) / 4), pytest.approx(top)]
    assert middle[2] == pytest.approx(top + (bottom - top) * 0.75)
    assert [bar.height / days.bars[0].height for bar in days.bars] == [1.0, pytest.approx(1 / 3, abs=0.01)]
    assert [bar.label for bar in levels.bars] == ["function: $0.75", "class: $0.25"]


def test_one_evaluation_is_a_point(tmp_path):
    write_evaluations(tmp_path, "zoo", MEANS[:1])
    chart = evaluation_chart(HomeLayout(tmp_path), "zoo")

    assert chart is not None
    assert [(len(line.points), line.band) for line in chart.lines] == [(1, ""), (1, "")]


def test_calls_that_cost_nothing_are_drawn_as_nothing(tmp_path):
    write_ledger(tmp_path, "zoo", [("2026-01-02", Level.FILE, 0.0)])
    days, _ = cost_charts(HomeLayout(tmp_path), "zoo")

    assert [(bar.height, bar.label) for bar in days.bars] == [(0.0, "2026-01-02: $0.00")]


@pytest.mark.slow
def test_a_damaged_table_is_named_and_the_rest_of_the_page_stands(web_home, tmp_path):
    home = Path(shutil.copytree(web_home, tmp_path / "home", symlinks=True))
    write_evaluations(home, "zoo", MEANS)
    for table in ("evaluations", "document_history"):
        (HomeLayout(home).warehouse / table / "repo=zoo" / "part-0.parquet").write_bytes(b"PAR1 no PAR1")
    with serving(home, tmp_path) as address:
        repository = page(address, "/repository", repo="evil"), get(address, "/repository", repo="zoo")
        document = page(address, "/document", repo="zoo", id="zoo/keeper.py::feed")

    assert "Folders" in repository[0].text
    assert "table 'document_history' of repository 'zoo' is damaged" in document.text and "Called by" in document.text
    assert "is damaged" in shown(repository[1].text).text


def test_a_document_has_the_history_of_its_text_and_what_it_cost(tmp_path):
    def row(sequence: int, id_: str, **changed: object) -> HistoryRow:
        values = {
            "sequence": sequence,
            "id": id_,
            "level": Level.FILE,
            "event": HistoryEvent.WRITTEN,
            "cause": Cause.NEW,
            "cause_ids": (),
            "writer": "w",
            "written_by": WrittenBy.EXTRACTIVE,
            "summary_hash": "s",
            "text_hash": "t",
            "run_id": "r",
            "commit": f"{sequence:040x}",
            "written_at": f"2026-01-{sequence:02}T00:00:00Z",
            "cost_usd": 0.0,
        }
        return HistoryRow(**(values | changed))

    rows = [row(1, "a.py"), row(2, "b.py", cost_usd=9.0)]
    rows += [
        row(3, "a.py", cause=Cause.CHILD, cause_ids=tuple("abcde"), written_by=WrittenBy.LLM, cost_usd=0.5),
        row(4, "a.py", event=HistoryEvent.SAME_TEXT, cause=Cause.FORCED, cost_usd=0.25),
    ]
    TableStore(HomeLayout(tmp_path).warehouse).write_rows("document_history", "zoo", rows, HistoryRow)
    found = history_of(HomeLayout(tmp_path), "zoo", "a.py")

    assert [(each.day, each.what, each.why, each.written_from, each.usd) for each in found.changes] == [
        ("2026-01-04", "looked at, same text", "forced", "", 0.25),
        ("2026-01-03", "written", "child", "a model", 0.5),
        ("2026-01-01", "written", "new", "the code", 0.0),
    ]
    assert (found.changes[1].causes, found.changes[1].more_causes) == (["a", "b", "c"], 2)
    assert (found.usd, found.earlier) == (0.75, 0)


def test_the_history_stands_on_the_documents_page(site):
    text = " ".join(page(site, "/document", repo="zoo", id="zoo/keeper.py::feed").text.split())

    assert "history of its text: 1 entry, free" in text
    assert "written new the code free" in text


def test_an_overviews_diagram_has_each_user_left_of_what_it_uses_and_arrows_between_boxes():
    mermaid = (
        'graph LR\n  p0["a"]\n  p1["b"]\n  p2["c"]\n  p3["d"]\n  p0 --> p1\n  p1 --> p2\n  p0 --> p2\n  p2 <--> p3\n'
    )
    found = shown(draw_diagram(mermaid))
    boxes = {
        name: float(each["x"])
        for name, (_, each) in zip("abcd", [each for each in found.elements if each[0] == "rect"], strict=True)
    }
    paths = [each["d"] for tag, each in found.elements if each.get("class") == "arrow"]

    assert boxes["a"] < boxes["b"] < boxes["c"] == boxes["d"]
    # The arrow from a to c passes the layer of b at a place of its own.
    assert [path.count("H") for path in paths] == [0, 0, 1, 0]
    assert "a uses b; b uses c; a uses c; c and d use each other" in found.text


@pytest.mark.parametrize("text", ["", "graph LR\n  p0 --> p1\n", "sequenceDiagram\n  A->>B: hi\n"])
def test_what_no_overview_wrote_is_not_drawn(text):
    assert draw_diagram(text) == ""


def test_a_ring_of_twelve_parts_that_use_each_other_is_drawn():
    boxes = "".join(f'  p{number}["part {number}"]\n' for number in range(12))
    arrows = "".join(f"  p{number} --> p{(number + 1) % 12}\n" for number in range(12))

    assert len([each for each in shown(draw_diagram(f"graph LR\n{boxes}{arrows}")).elements if each[0] == "rect"]) == 12
