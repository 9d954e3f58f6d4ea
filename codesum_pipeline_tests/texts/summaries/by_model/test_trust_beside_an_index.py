"""Whole builds under `trust = "scip"`: a model is asked about what an index confirms, and about nothing else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codesum_pipeline.builds.reports.report_values import report_values
from codesum_pipeline.foundation.data_model.document import Gate, PlanRow
from codesum_pipeline.foundation.data_model.edge import Edge
from codesum_pipeline.foundation.data_model.possible_values import Reason
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.summaries.by_model.gates import count_trust
from codesum_pipeline.texts.summaries.by_model.plan_prices import PlanPricing, describe_ways_on, price_all
from codesum_pipeline.texts.summaries.rewrite_plan import plan_summaries
from codesum_pipeline_tests.support.homes import Reports, build
from codesum_pipeline_tests.support.model_builds import Shop, shop
from codesum_pipeline_tests.support.python_indexer import index_python
from codesum_pipeline_tests.support.scip_shops import put_content, put_index
from codesum_pipeline_tests.support.till import BY_MODEL, TILL

TRUST = {"trust": "scip"}
BASKET = "till/basket.py::Basket"
# Nobody calls the other two methods of the basket, and no index tells of a README.
WAITING = {f"{BASKET}::__init__", f"{BASKET}::add", "README.md"}
TOUCHED = {
    "shop/pay.py::pay", "till/tax.py::add_tax", "till/tax.py::round_up", f"{BASKET}::total", BASKET,
    "shop/pay.py", "till/tax.py", "till/basket.py", "shop", "till", ".",
}  # fmt: skip


@pytest.fixture
def till(tmp_path: Path) -> Iterator[Shop]:
    with shop(tmp_path, TILL) as found:
        yield found


def built(till: Shop) -> Reports:
    till.server.seen.clear()
    return build(till.workspace(llm=TRUST))


def documents(workspace: Workspace) -> dict[str, tuple[str, str | None]]:
    rows = workspace.tables.read("documents", workspace.key, columns=["id", "written_by", "gate"]).to_pylist()
    return {row["id"]: (row["written_by"], row["gate"]) for row in rows}


def by_model(till: Shop) -> set[str]:
    """The documents whose texts are a model's; all others but the empty file say that they wait for trust."""
    found = documents(till.workspace(llm=TRUST))
    others = {id_: gate for id_, (writer, gate) in found.items() if writer == "extractive"}
    assert set(others.values()) <= {Gate.TRUST}
    return {id_ for id_, (writer, _) in found.items() if writer == "llm"}


def test_beside_an_index_only_what_it_touches_is_asked_for(till: Shop) -> None:
    put_index(till.folder / "home", TILL)

    built(till)

    assert by_model(till) == TOUCHED
    assert len(till.server.seen) == len(TOUCHED)


def test_without_an_index_nothing_is_asked_for_and_all_wait(till: Shop) -> None:
    reports = built(till)

    assert (by_model(till), till.server.seen) == (set(), [])
    forecast = reports["summary_plan"].forecast.values()
    assert sum(level.waiting.calls for level in forecast) == BY_MODEL


@pytest.mark.slow
def test_an_index_that_comes_later_lets_a_model_write_and_one_that_goes_takes_its_texts(till: Shop) -> None:
    home = till.folder / "home"
    built(till)
    put_index(home, TILL)
    built(till)
    assert (by_model(till), len(till.server.seen)) == (TOUCHED, len(TOUCHED))

    (home / "mirrors/shop.scip").unlink()
    built(till)
    assert (by_model(till), till.server.seen) == (set(), [])

    put_index(home, TILL)
    built(till)
    assert (by_model(till), till.server.seen) == (TOUCHED, [])


@pytest.mark.slow
def test_a_file_that_the_index_is_not_of_any_more_waits_again(till: Shop) -> None:
    put_index(till.folder / "home", TILL)
    built(till)
    till.repo.commit({"till/tax.py": "# By law.\n" + TILL["till/tax.py"]})

    built(till)

    assert (by_model(till), till.server.seen) == (set(), [])


def test_a_plan_says_what_passes_and_what_waits_each_with_its_price(till: Shop) -> None:
    put_index(till.folder / "home", TILL)
    workspace = till.workspace(llm=TRUST)
    report = build(workspace, until="summary_plan")["summary_plan"]
    rows = workspace.tables.read_rows("plan", "shop", PlanRow)
    found = price_all(rows, PlanPricing.of(workspace.tables, "shop", workspace.settings))

    assert {row.id for row in rows if row.gate is Gate.TRUST} == WAITING
    assert (found.trusted.calls, found.stopped[Gate.TRUST].calls) == (len(TOUCHED), len(WAITING))
    waiting = found.stopped[Gate.TRUST]
    assert found.trusted.expected_usd > waiting.expected_usd > 0
    assert found.trusted.at_most_usd > waiting.at_most_usd > waiting.expected_usd
    values = report_values(report)
    assert (values["predicted_calls"], values["waiting_for_trust"]) == (len(TOUCHED), len(WAITING))
    assert values["waiting_for_trust_expected_usd"] == pytest.approx(waiting.expected_usd, abs=1e-6)
    assert values["waiting_for_trust_at_most_usd"] == pytest.approx(waiting.at_most_usd, abs=1e-6)
    (way,) = describe_ways_on("shop", workspace.settings, found)
    assert f"lets 11 texts (about {found.trusted.input_tokens + found.trusted.output_tokens:,} tokens" in way
    assert " pass, and 3 texts (about " in way and f"{waiting.prices}) wait" in way


def test_a_plan_that_finds_everything_as_it_was_left_says_the_same_of_what_waits(till: Shop) -> None:
    put_index(till.folder / "home", TILL)
    built(till)
    settled = built(till)["summary_plan"]

    fresh = plan_summaries(till.workspace(llm=TRUST))

    first, second = (
        [(level.waiting, level.asked + level.all_stopped - level.waiting) for level in report.forecast.values()]
        for report in (settled, fresh)
    )
    assert first == second
    assert sum(waiting.calls for waiting, _ in second) == len(WAITING)


def test_after_a_build_it_is_known_what_passed_and_what_waits(till: Shop) -> None:
    put_index(till.folder / "home", TILL)
    built(till)
    workspace = till.workspace(llm=TRUST)

    found = count_trust(workspace.tables, "shop", workspace.settings)

    assert found is not None
    assert (found.passing, found.waiting.calls) == (len(TOUCHED), len(WAITING))
    assert found.edges and found.waiting.at_most_usd > found.waiting.expected_usd > 0
    off = till.workspace()
    assert count_trust(off.tables, "shop", off.settings) is None


WALLET = """class Wallet:
    def charge_card(self, owner, amount):
        if amount < 0:
            raise ValueError(amount)
        return owner.name
"""
GUESSED = ("shop/pay.py::pay", "till/wallet.py::Wallet::charge_card")


def test_a_guess_that_the_index_contradicts_is_gone_before_a_plan_trusts_anything(till: Shop) -> None:
    """One class alone has such a method, so that the syntax guesses it; the index knows that it is a library's."""
    pay = TILL["shop/pay.py"].replace("charge(", "charge_card(").replace("\n\n\n", "\nfrom till import wallet\n\n\n", 1)
    files = {**TILL, "till/wallet.py": WALLET, "shop/pay.py": pay}
    till.repo.commit(files)
    without = till.workspace(llm=TRUST)
    build(without, until="call_graph")
    outside = {"charge_card": "scip-python python terminals 1.0 `terminals`/Terminal#charge_card()."}
    put_content(till.folder / "home", index_python(files, outside=outside))
    beside = till.workspace(llm=TRUST)
    before = edges_of(without)
    build(beside, until="summary_plan")

    after = edges_of(beside)
    assert before[GUESSED].reason == Reason.UNIQUE_NAME
    assert GUESSED not in after
    assert after["shop/pay.py::pay", "terminals.Terminal.charge_card"].is_external
    gates = {row.id: row.gate for row in beside.tables.read_rows("plan", "shop", PlanRow)}
    assert (gates["till/wallet.py::Wallet::charge_card"], gates["shop/pay.py::pay"]) == (Gate.TRUST, None)


def edges_of(workspace: Workspace) -> dict[tuple[str, str], Edge]:
    return {(edge.src_id, edge.dst): edge for edge in workspace.tables.read_rows("edges", "shop", Edge)}
