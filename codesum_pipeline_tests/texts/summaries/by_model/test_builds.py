"""Whole builds in which a model writes: what is asked for, what stands instead, and what the next build does."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from codesum_pipeline.foundation.data_model.document import Cause, Gate, Level, WrittenBy
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome, LedgerRow
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.summaries.by_model.outages import read_outages
from codesum_pipeline.texts.summaries.level_step import write_level
from codesum_pipeline_tests.support.comparing import first_difference, published_files, table_rows
from codesum_pipeline_tests.support.homes import Reports, build
from codesum_pipeline_tests.support.llm_server import Behaviour, Fails, ModelRequest
from codesum_pipeline_tests.support.llm_server.odd_providers import answers_only
from codesum_pipeline_tests.support.model_builds import Shop, shop
from codesum_pipeline_tests.support.till import BASKET, BY_MODEL, FUNCTIONS, PAY, TAX, TILL


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop of which a model has written everything; copy it before you change it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CODESUM_TEST_PROVIDER_KEY", "sk-loopback-0123456789abcdef")
        with shop(tmp_path_factory.mktemp("built"), TILL) as made:
            build(made.workspace())
            yield made


@pytest.fixture
def till(built: Shop, tmp_path: Path) -> Shop:
    """A copy of the shop with its home; the provider is the same, and what it saw so far is forgotten."""
    copied = Shop.copy(built, tmp_path)
    built.server.seen.clear()
    return copied


def documents(workspace: Workspace) -> dict[str, tuple[str, str | None]]:
    """Of every document who wrote it, and what stopped a model."""
    rows = workspace.tables.read("documents", workspace.key, columns=["id", "written_by", "gate"]).to_pylist()
    return {row["id"]: (row["written_by"], row["gate"]) for row in rows}


def written(reports: Reports) -> dict[str, str]:
    """What a build wrote, and why."""
    levels = [reports[f"{level}_summaries"] for level in Level]
    return {rewrite.id: rewrite.cause.value for level in levels for rewrite in level.rewrites}


def counted(workspace: Workspace) -> Counter[tuple[str, str | None]]:
    return Counter(documents(workspace).values())


def test_a_model_writes_all_but_placeholders_and_the_ledger_is_what_the_provider_saw(built: Shop) -> None:
    workspace = built.workspace()

    assert counted(workspace) == {("llm", None): BY_MODEL, ("placeholder", "placeholder"): 1}
    ledger = workspace.tables.read_rows("ledger", workspace.key, LedgerRow)
    assert len(ledger) == len({row.request_hash for row in ledger}) == BY_MODEL
    assert {row.outcome for row in ledger} == {AttemptOutcome.GOOD}


def test_a_model_writes_no_functions_from_a_plan_of_other_functions(till: Shop) -> None:
    till.repo.commit({"till/tax.py": TAX.replace("amount += 1", "amount += 2")})
    workspace = till.workspace()
    build(workspace, until="symbols")

    with pytest.raises(BrokenStore, match="'shop': the plan was made from other functions .* summary_plan again"):
        write_level(workspace, Level.FUNCTION)


def test_a_build_that_finds_everything_written_asks_for_nothing(till: Shop) -> None:
    reports = build(till.workspace())

    assert (written(reports), till.server.seen) == ({}, [])


@pytest.mark.slow
def test_texts_that_were_kept_before_surroundings_were_noted_stand(till: Shop) -> None:
    workspace = till.workspace()
    path = workspace.tables.path("texts_function", "shop")
    rows = pq.read_table(path)
    place = rows.schema.get_field_index("written_with")
    before = pa.struct([field for field in rows.schema.field(place).type if field.name != "around"])
    older = pa.StructArray.from_arrays(
        [pc.struct_field(rows.column(place).combine_chunks(), field.name) for field in before],
        fields=list(before),
        mask=pc.is_null(rows.column(place)).combine_chunks(),
    )
    field = pa.field("written_with", before)
    metadata = rows.schema.metadata
    pq.write_table(rows.set_column(place, field, older).replace_schema_metadata(metadata), path)

    till.repo.commit({"till/tax.py": TAX.replace("amount += 1", "amount += 2")})
    reports = build(till.workspace())

    assert set(written(reports)) == {"till/tax.py::round_up", "till/tax.py", "till", "."}


EDITS: dict[str, tuple[dict[str, str], set[str]]] = {
    "a comment": ({"till/tax.py": TAX.replace("RATE = 19", "# By law.\nRATE = 19")}, set()),
    "another format": ({"till/tax.py": TAX.replace("(amount, rate=RATE)", "(\n    amount, rate=RATE\n)")}, set()),
    "one function's body": (
        {"till/tax.py": TAX.replace("amount += 1", "amount += 2")},
        {"till/tax.py::round_up", "till/tax.py", "till", "."},
    ),
    "a call across modules": (
        {"till/tax.py": f"{TAX}\n\ndef double(amount):\n    if amount:\n        return add_tax(add_tax(amount))\n"},
        {"till/tax.py::double", "till/tax.py", "till", "."},
    ),
    "a function that becomes trivial": (
        {"till/tax.py": TAX.replace("    while amount % 10:\n        amount += 1\n    return", "    return")},
        {"till/tax.py::round_up", "till/tax.py", "till", "."},
    ),
    "a global that a file's writer is shown": (
        {"till/tax.py": TAX.replace("RATE = 19", "RATE = 19\nLOW_RATE = 7")},
        {"till/tax.py", "till", "."},
    ),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=[]
            if name in ("another format", "a function that becomes trivial", "a call across modules")
            else pytest.mark.slow,
        )
        for name in EDITS
    ],
)
def test_an_edit_costs_calls_for_itself_and_its_ancestors_alone(till: Shop, name: str) -> None:
    files, rewritten = EDITS[name]
    till.repo.commit(files)

    reports = build(till.workspace())

    assert set(written(reports)) == rewritten
    trivial = {id_ for id_, (writer, _) in documents(till.workspace()).items() if writer == WrittenBy.PLACEHOLDER}
    assert len(till.server.seen) == len(rewritten - trivial)
    assert not any(gate for id_, (_, gate) in documents(till.workspace()).items() if id_ not in trivial)


def test_a_renamed_file_costs_a_call_for_itself_and_none_for_its_symbols(till: Shop) -> None:
    (till.repo.path / "till/tax.py").rename(till.repo.path / "till/taxes.py")
    till.repo.commit({"shop/pay.py": PAY.replace("till.tax", "till.taxes")})

    reports = build(till.workspace())

    assert {"till/taxes.py", "till/taxes.py::add_tax", "till/taxes.py::round_up"} <= set(written(reports))
    assert len(till.server.seen) == len({"till/taxes.py", "shop/pay.py", "shop", "till", "."})


def test_a_moved_file_costs_no_call_for_itself_and_its_symbols(till: Shop) -> None:
    (till.repo.path / "till/tax.py").rename(till.repo.path / "shop/tax.py")
    till.repo.commit({"shop/pay.py": PAY.replace("till.tax", "shop.tax")})

    reports = build(till.workspace())

    assert {"shop/tax.py", "shop/tax.py::add_tax", "shop/tax.py::round_up"} <= set(written(reports))
    assert len(till.server.seen) == len({"shop/pay.py", "shop", "till", "."})


def test_a_vendored_copy_costs_calls_for_the_folders_around_it_alone(till: Shop) -> None:
    till.repo.commit({"lib/tax.py": TAX})

    reports = build(till.workspace())

    assert {"lib/tax.py", "lib/tax.py::add_tax", "lib/tax.py::round_up"} <= set(written(reports))
    assert len(till.server.seen) == len({"lib", "."})


def test_a_fork_with_a_home_of_its_own_costs_no_call_where_the_cache_is_shared(till: Shop) -> None:
    workspace = till.workspace(home="fork", summary_cache_dir=str(till.folder / "home/cache"))

    build(workspace)

    assert till.server.seen == []
    assert counted(workspace) == {("llm", None): BY_MODEL, ("placeholder", "placeholder"): 1}


def test_no_secret_of_the_code_reaches_the_provider(tmp_path: Path) -> None:
    secret = "AKIA" + "Q4XZ7J2MNB5K3WPL"
    files = {
        "a.py": f'KEY = "{secret}"\n\n\nclass Store:\n    """Opens with {secret}."""\n\n'
        f'    def read(self, name):\n        """Uses {secret}."""\n        if name:\n'
        f'            return self.open("{secret}", name)\n        return None\n',
        "README.md": f"# Store\n\nThe key is {secret}.\n",
    }
    with shop(tmp_path, files) as found:
        reports = build(found.workspace())

        assert found.server.seen
        assert [call.number for call in found.server.seen if secret in json.dumps(call.body)] == []
    masked = [set(reports[f"{level}_summaries"].asked.secrets_masked) for level in Level]
    assert masked == [{"aws-access-key"}] * len(Level)


@pytest.mark.slow
def test_a_prompt_edit_is_held_until_it_is_confirmed(till: Shop) -> None:
    template = till.folder / "home/prompts/instruction/function.md"
    template.parent.mkdir(parents=True)
    template.write_text("Write the entry. {name} {code_language}\n\n{body}\n\n{context}\n")

    held = build(till.workspace(confirmed=False, prompts_dir="prompts", max_rewrite_fraction=0.2))

    assert (written(held), till.server.seen) == ({}, [])
    forecast = held["summary_plan"].forecast[Level.FUNCTION]
    assert {gate: saving.calls for gate, saving in forecast.stopped.items()} == {Gate.CONFIRM: FUNCTIONS}

    confirmed = written(build(till.workspace(prompts_dir="prompts", max_rewrite_fraction=0.2)))

    assert {id_ for id_, cause in confirmed.items() if cause == Cause.PROMPT} == {
        "shop/pay.py::pay",
        "till/basket.py::Basket::__init__",
        "till/basket.py::Basket::add",
        "till/basket.py::Basket::total",
        "till/tax.py::add_tax",
        "till/tax.py::round_up",
    }

    till.server.seen.clear()
    shutil.rmtree(template.parent)
    build(till.workspace(prompts_dir="prompts"))
    assert till.server.seen == [], "going back is free"


def test_by_default_nothing_is_asked_for_and_everything_is_counted(tmp_path: Path) -> None:
    with shop(tmp_path, TILL) as found:
        workspace = found.workspace(llm={"max_summaries_per_run": 0})
        reports = build(workspace)

        forecast = reports["summary_plan"].forecast
        assert sum(level.all_stopped.calls for level in forecast.values()) == BY_MODEL
        assert all(level.all_stopped.expected_usd > 0 for level in forecast.values())
        assert all(level.asked.at_most_usd == 0 for level in forecast.values())
        assert counted(workspace) == {("extractive", "cap"): BY_MODEL, ("placeholder", "placeholder"): 1}
        assert found.server.seen == []
        assert written(build(found.workspace(llm={"max_summaries_per_run": 0}))) == {}


@pytest.mark.slow
def test_a_run_stops_at_its_cap_and_the_next_ones_go_on_until_all_is_written(tmp_path: Path) -> None:
    with shop(tmp_path, TILL) as found:
        calls = []
        while not calls or calls[-1]:
            assert len(calls) < BY_MODEL, calls
            found.server.seen.clear()
            workspace = found.workspace(llm={"max_summaries_per_run": 5})
            build(workspace)
            calls.append(len(found.server.seen))
        whole = found.workspace(home="clean")
        build(whole)

        assert max(calls) <= 5
        assert first_difference(table_rows(workspace), table_rows(whole)) is None


def test_a_cap_in_dollars_is_never_passed(tmp_path: Path) -> None:
    with shop(tmp_path, TILL) as found:
        workspace = found.workspace(llm={"max_cost_usd_per_run": 0.006})
        build(workspace)

        ledger = workspace.tables.read_rows("ledger", workspace.key, LedgerRow)
        assert 0 < sum(row.cost_usd for row in ledger) <= 0.006
        assert 0 < counted(workspace)["llm", None] < BY_MODEL


@pytest.mark.slow
def test_switched_off_the_extractive_texts_come_back_and_on_again_nothing_is_paid_twice(till: Shop) -> None:
    off = build(till.workspace(llm={"enabled": False}))

    assert set(written(off).values()) == {Cause.DOWNGRADED}
    assert counted(till.workspace())["extractive", "disabled"] == BY_MODEL

    on = build(till.workspace())

    assert set(written(on).values()) == {Cause.UPGRADED}
    assert till.server.seen == []


def test_offline_what_was_written_stays_and_what_is_new_waits(till: Shop) -> None:
    till.repo.commit({"till/tax.py": TAX.replace("amount += 1", "amount += 3")})
    build(till.workspace(), until="repo_snapshot")

    workspace = till.workspace(offline=True)
    build(workspace)

    found = documents(workspace)
    assert found["till/tax.py::round_up"] == ("extractive", "offline")
    assert found["till/tax.py::add_tax"] == ("llm", None)
    assert till.server.seen == []


def test_lost_credentials_leave_the_extractive_texts_and_the_next_run_goes_on(tmp_path: Path) -> None:
    def fails(_call: ModelRequest) -> Behaviour:
        return Fails(401)

    with shop(tmp_path, TILL, fails) as found:
        workspace = found.workspace()
        build(workspace)

        assert counted(workspace)["extractive", Gate.NO_CREDENTIALS] == BY_MODEL
        assert workspace.layout.published("shop").exists()


def test_a_model_that_gives_nothing_at_all_is_noted_at_the_level_where_it_was_given_up_and_the_index_is_published(
    tmp_path: Path,
) -> None:
    def fails(_call: ModelRequest) -> Behaviour:
        return Fails(400)

    with shop(tmp_path, TILL, fails) as found:
        workspace = found.workspace()
        build(workspace)

    noted = read_outages(workspace.layout, "shop")
    assert list(noted) == [Level.FUNCTION]
    assert f"none of {FUNCTIONS} function texts" in noted[Level.FUNCTION].because
    assert len(found.server.seen) == workspace.settings.llm.give_up_after
    assert workspace.layout.published("shop").exists()


@pytest.mark.slow
def test_a_recording_builds_the_same_index_with_the_network_closed(tmp_path: Path) -> None:
    with shop(tmp_path, TILL) as found:
        recorded = found.workspace(llm={"backend": "record", "recording": "answers"})
        build(recorded)
    shutil.copytree(tmp_path / "home/answers", tmp_path / "replayed/answers")

    replayed = found.workspace(home="replayed", llm={"backend": "replay", "recording": "answers", "api_base": None})
    build(replayed)

    assert first_difference(table_rows(recorded), table_rows(replayed)) is None
    assert first_difference(published_files(recorded), published_files(replayed)) is None
    assert {writer for writer, _ in documents(replayed).values()} == {WrittenBy.LLM, WrittenBy.PLACEHOLDER}


STATES: list[dict[str, Any]] = [
    {"till/basket.py": BASKET.replace("count < 1", "count < 2")},
    {"till/more.py": TAX.replace("round_up", "round_down"), "README.md": "# Tills\n\nMore than one.\n"},
    {"shop/pay.py": PAY.replace("round_up(add_tax(", "(round_up(")},
    {"till/tax.py": TAX.replace("Up to the next ten.", "Up to the next ten, for cash.")},
]


@pytest.mark.slow
def test_after_some_edits_the_index_equals_a_clean_one_that_was_written_anew(till: Shop) -> None:
    for files in STATES:
        till.repo.commit(files)
        workspace = till.workspace(graph_policy="strict")
        build(workspace)
    clean = till.workspace(home="clean", graph_policy="strict")
    build(clean)

    assert first_difference(table_rows(workspace), table_rows(clean)) is None
    assert first_difference(published_files(workspace), published_files(clean)) is None


def test_a_form_that_a_server_does_not_follow_is_left_once_in_a_build_of_all_levels(tmp_path: Path) -> None:
    with shop(tmp_path, TILL, answers_only("json_schema")) as found:
        build(found.workspace())

    forms = [request.form for request in found.server.seen]
    assert forms == ["named", "required", *["json_schema"] * BY_MODEL]


def test_a_recording_of_a_server_that_ignores_a_form_builds_the_same_texts(tmp_path: Path) -> None:
    with shop(tmp_path, TILL, answers_only("json_schema")) as found:
        recorded = found.workspace(llm={"backend": "record", "recording": "answers"})
        build(recorded)
    shutil.copytree(tmp_path / "home/answers", tmp_path / "replayed/answers")

    replayed = found.workspace(home="replayed", llm={"backend": "replay", "recording": "answers", "api_base": None})
    build(replayed)

    assert len(found.server.seen) == BY_MODEL + 2
    assert first_difference(published_files(recorded), published_files(replayed)) is None
