"""What a text may not name, at every level, in whole builds with a model."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.document import Cause, WrittenBy
from codesum_pipeline.texts.summaries.neighbours import neighbour_names_of
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.llm_server import Answers, Behaviour, ModelRequest, Script
from codesum_pipeline_tests.support.llm_server.answers import answer_of
from codesum_pipeline_tests.support.model_builds import Shop, shop

# Eight callers of one function: a prompt shows five.
CALLERS = "".join(
    f"\n\ndef sell_part_{number}(cart):\n    if cart:\n        return check_out(cart, {number})\n"
    for number in range(8)
)
FILES = {
    "shop/till.py": (
        "import os\n\n\ndef check_out(cart, open_drawer):\n    if open_drawer:\n"
        "        os.get_terminal_size()\n    return len(cart)\n"
    ),
    "shop/sales.py": f"from shop.till import check_out\n{CALLERS}",
    "audit/report.py": (
        "from shop.sales import sell_part_0\n\n\nclass DayReport:\n    def fill_rows(self, cart):\n"
        "        if cart:\n            self.row_count = sell_part_0(cart)\n"
    ),
}
LEAK = "Opens the till after {name} was done, and counts what lies in the cart."


def saying(names: Mapping[str, str]) -> Script:
    """A model that first names what `names` says for a part of the prompt, and answers well when it is asked again."""

    def script(call: ModelRequest) -> Behaviour:
        answer = answer_of(call)
        field = "purpose" if "purpose" in answer else "summary"
        name = next((name for part, name in names.items() if part in call.prompt and call.attempt == 1), None)
        return Answers(answer | {field: LEAK.format(name=name)} if name else None)

    return script


def complaints(made: Shop) -> set[str]:
    """What the model was told, but for the frame."""
    lines = [line for call in made.server.seen for complaint in call.complaints for line in complaint.splitlines()]
    return {line.removeprefix("- ") for line in lines if line.startswith("- ")}


FUNCTION, METHOD, CLASS = "1| def check_out", "def fill_rows", "signature: class DayReport"
FILE, FOLDER, ROOT = "imports: shop.till", "- sales.py (file)", "- audit (module)"


def test_a_neighbours_name_goes_back_at_every_level_also_one_that_was_not_shown(tmp_path: Path) -> None:
    names = {
        FUNCTION: "sell_part_7",
        METHOD: "shop.sales.sell_part_0",
        CLASS: "sell_part_0",
        FILE: "fill_rows",
        FOLDER: "DayReport.fill_rows",
        ROOT: "os.get_terminal_size",
    }
    with shop(tmp_path, FILES, saying(names)) as made:
        build(made.workspace())

        assert complaints(made) == {
            "purpose, business_intent: must not name the caller or callee 'sell_part_7'",
            "purpose, business_intent: must not name the caller or callee 'sell_part_0'",
            "summary, business_intent: must not name the caller or callee 'sell_part_0'",
            "summary, business_intent: must not name the caller or callee 'fill_rows'",
            "summary, business_intent: must not name the caller or callee 'DayReport.fill_rows'",
            "summary, business_intent: must not name the caller or callee 'get_terminal_size'",
            "summary, business_intent: must not name the caller or callee 'os.get_terminal_size'",
        }


def test_own_names_may_be_said_at_every_level(tmp_path: Path) -> None:
    names = {
        FUNCTION: "open_drawer",
        METHOD: "row_count",
        CLASS: "DayReport.fill_rows",
        FILE: "sell_part_3",
        FOLDER: "check_out",
        ROOT: "sell_part_0",
    }
    with shop(tmp_path, FILES, saying(names)) as made:
        build(made.workspace())

        assert complaints(made) == set()
        assert sum("counts what lies in the cart" in text for text in texts_of(made).values()) == len(names)


@pytest.mark.slow
def test_a_text_that_names_a_neighbour_of_today_is_written_again(tmp_path: Path) -> None:
    with shop(tmp_path, FILES, saying({FUNCTION: "print_slip"})) as made:
        build(made.workspace())
        made.repo.commit({"shop/slips.py": (
            "from shop.till import check_out\n\n\ndef print_slip(cart):\n    if cart:\n        check_out(cart, 1)\n"
        )})  # fmt: skip
        reports = build(made.workspace())

        causes = {one.id: (one.cause, one.cause_ids) for one in reports["function_summaries"].rewrites}
        assert causes["shop/till.py::check_out"] == (Cause.GRAPH, ("shop/slips.py::print_slip",))
        assert "print_slip" not in texts_of(made)["shop/till.py::check_out"]


@pytest.mark.slow
def test_a_file_whose_text_names_a_neighbour_of_today_is_written_again(tmp_path: Path) -> None:
    with shop(tmp_path, FILES, saying({FILE: "print_slip"})) as made:
        build(made.workspace())
        assert "print_slip" in texts_of(made)["shop/sales.py"]
        made.repo.commit({"audit/slips.py": (
            "from shop.sales import sell_part_1\n\n\ndef print_slip(cart):\n    if cart:\n        sell_part_1(cart)\n"
        )})  # fmt: skip
        build(made.workspace())

        assert "print_slip" not in texts_of(made)["shop/sales.py"]


@pytest.mark.slow
def test_where_a_model_may_not_be_asked_the_extractive_text_takes_the_place_of_one_that_leaks(tmp_path: Path) -> None:
    with shop(tmp_path, FILES, saying({FUNCTION: "print_slip"})) as made:
        build(made.workspace())
        made.repo.commit({"shop/slips.py": (
            "from shop.till import check_out\n\n\ndef print_slip(cart):\n    if cart:\n        check_out(cart, 1)\n"
        )})  # fmt: skip
        workspace = made.workspace(llm={"max_summaries_per_run": 0})
        build(workspace)

        rows = workspace.tables.read("documents", "shop", columns=["id", "written_by"]).to_pylist()
        writers = {row["id"]: row["written_by"] for row in rows}
        assert writers["shop/till.py::check_out"] == WrittenBy.EXTRACTIVE
        assert "print_slip" not in texts_of(made)["shop/till.py::check_out"]


def texts_of(made: Shop) -> dict[str, str]:
    rows = made.workspace().tables.read("documents", "shop", columns=["id", "summary", "business_intent"]).to_pylist()
    return {row["id"]: f"{row['summary']} {row['business_intent']}" for row in rows}


def test_all_neighbours_and_own_names_are_known(tmp_path: Path) -> None:
    with shop(tmp_path, FILES) as made:
        workspace = made.workspace(llm={"enabled": False})
        build(workspace)
        ids = ["shop/till.py::check_out", "audit/report.py::DayReport", "shop/sales.py", "shop", "."]
        found = neighbour_names_of(workspace, ids)

    callers = {f"shop/sales.py::sell_part_{number}" for number in range(8)}
    assert {id_: names.neighbours for id_, names in found.items()} == {
        "shop/till.py::check_out": callers | {"os.get_terminal_size"},
        "audit/report.py::DayReport": {"shop/sales.py::sell_part_0"},
        "shop/sales.py": {"shop/till.py::check_out", "audit/report.py::DayReport::fill_rows"},
        "shop": {"os.get_terminal_size", "audit/report.py::DayReport::fill_rows"},
        ".": {"os.get_terminal_size"},
    }
    assert {"cart", "open_drawer", "check_out"} <= found["shop/till.py::check_out"].own
    assert {"dayreport", "fill_rows"} <= found["audit/report.py::DayReport"].own
