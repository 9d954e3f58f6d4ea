"""What a check passes over was looked at before, and all that its verdict depends on is the same."""

import random
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from msgspec import json
from msgspec.structs import replace

from codesum_pipeline.builds.checks.fault_checks import (
    CHECK_FUNCTIONS,
    DOCUMENT_FAULTS,
    DOCUMENT_PARTS,
    LEAK_FAULT,
    VECTOR_FAULTS,
    VECTOR_PARTS,
    find_document_faults,
)
from codesum_pipeline.builds.checks.fault_finding import FaultQuery, PartsOf
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.foundation.data_model.hashing import sha256_hex
from codesum_pipeline.foundation.store import table_parts
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline_tests.builds.dagster.test_checks import (
    TOTAL,
    Change,
    checked_home,
    faults,
    plant,
    scaled,
    with_value,
)
from codesum_pipeline_tests.builds.law.test_law import workspace_at
from codesum_pipeline_tests.builds.law.test_law_of_parts import NEIGHBOURS, cut_by
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.random_edits import OPERATIONS, change
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP

__all__ = ["checked_home"]
NOT_CITED = "a filled field is not cited"
TOO_LONG = "a vector that is not of length one, nor of zeros"
# The text of a file of tests names what they test.
LEAKING = {
    "shop/angles.py": (
        'def arg2(x):\n    return atan2(x, 1)\n\n\ndef atan2(x, y):\n    """Give an angle."""\n    return x + y\n'
    ),
    "tests/test_angles.py": (
        "from shop.angles import arg2, atan2\n\n\n"
        "def test_atan2_arg2():\n    assert atan2(1, 2) == 3\n    assert arg2(4) == 4\n\n\n"
        'def test_that_they_fit():\n    """It takes an angle, which gives 3."""\n    assert atan2(1, 2) == 3\n'
    ),
}


def memo(home: Home, check: str) -> Path:
    return home.layout.memos("shop") / f"{check}.looked_at.json"


def claim_all(home: Home, check: str, table: str, columns: list[str]) -> None:
    """Change a memo so that it says of the present rows, too, that they were looked at."""
    said = json.decode(memo(home, check).read_bytes().partition(b"\n")[2])
    hashes = home.tables.by_parts(table, "shop", columns=columns).hashes()
    content = json.encode(said | {"parts": {hash_: [] for hash_ in hashes}})
    memo(home, check).write_bytes(sha256_hex(content).encode() + b"\n" + content)


def flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-20] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("lose", [Path.unlink, flip_a_bit, lambda file: file.write_bytes(b"")])
@pytest.mark.parametrize(
    ("check", "parts", "plan", "fault"),
    [
        ("documents_are_whole", DOCUMENT_PARTS, with_value(TOTAL, citations=[]), NOT_CITED),
        ("vectors_are_whole", VECTOR_PARTS, scaled(1.01), TOO_LONG),
    ],
)
def test_without_its_memo_a_check_looks_at_all_rows(
    checked_home: Home, check: str, parts: PartsOf, plan: Change, fault: str, lose: Callable[[Path], object]
) -> None:
    plant(checked_home, parts.table, plan)
    claim_all(checked_home, check, parts.table, parts.columns)

    before = faults(checked_home)
    lose(memo(checked_home, check))

    assert fault not in before
    assert fault in faults(checked_home)


def test_under_other_settings_and_by_force_all_is_looked_at(checked_home: Home) -> None:
    plant(checked_home, "documents", with_value(TOTAL, citations=[]))
    claim_all(checked_home, "documents_are_whole", "documents", DOCUMENT_PARTS.columns)
    kept = memo(checked_home, "documents_are_whole").read_bytes()
    usual = checked_home.workspace("shop", run_id="test")
    forced = replace(usual, force=True)
    other = replace(usual, versions={**usual.versions, "parser": "other"})

    found = {}
    for name, workspace in {"usual": usual, "forced": forced, "other": other}.items():
        memo(checked_home, "documents_are_whole").write_bytes(kept)
        found[name] = not all(each.passed for each in find_document_faults(workspace))

    assert found == {"usual": False, "forced": True, "other": True}


@pytest.mark.parametrize(
    ("first", "table"),
    [
        pytest.param(
            lambda rows: [row for row in rows if row["src_id"] != "shop/cart.py::Cart::checkout"],
            "edges",
            id="a caller that is new",
        ),
        pytest.param(
            lambda rows: [
                {**row, "signature": "def total(items, checkout)"} if row["id"] == TOTAL else row for row in rows
            ],
            "symbols",
            id="a parameter that is gone",
        ),
    ],
)
def test_a_name_leaks_once_it_is_no_longer_the_texts_own_or_is_that_of_a_new_neighbour(
    checked_home: Home, first: Change, table: str
) -> None:
    sound = checked_home.tables.read(table, "shop")
    plant(checked_home, "documents", with_value(TOTAL, summary="Adds up what checkout() has."))
    plant(checked_home, table, first)

    before = faults(checked_home)
    checked_home.tables.write(table, "shop", sound)

    assert LEAK_FAULT not in before
    assert faults(checked_home) == {LEAK_FAULT: 1}


QUERIES = {fault: query for each in (*DOCUMENT_FAULTS.values(), VECTOR_FAULTS) for fault, query in each.items()}
VALUES = {"lanes": ["code"], "model": "m", "dimensions": 1, "tolerance": 0.1}


def run(query: FaultQuery, columns: dict[str, str]) -> None:
    """Run a query where tables have only these columns, and no rows."""
    connection = duckdb.connect()
    for table, names in columns.items():
        connection.register(table, TABLES[table].schema.empty_table().select(names.split()))
    connection.execute(query.sql, {name: value for name, value in VALUES.items() if f"${name}" in query.sql})


@pytest.mark.parametrize("fault", [fault for fault, query in QUERIES.items() if query.reads])
def test_a_query_reads_the_columns_that_it_declares_and_each_of_them(fault: str) -> None:
    query = QUERIES[fault]

    run(query, dict(query.reads))
    for table, columns in query.reads.items():
        for column in columns.split():
            others = " ".join(name for name in columns.split() if name != column)
            with pytest.raises((duckdb.Error, pa.ArrowInvalid)):
                run(query, {**query.reads, table: others})


@pytest.mark.parametrize("modulus", [3, *(pytest.param(number, marks=pytest.mark.slow) for number in (1, 0))])
def test_after_any_edit_a_check_says_what_one_says_that_looks_at_everything(
    modulus: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(modulus)
    repo = GitRepo.create(tmp_path / "shop", files := {**SHOP, **NEIGHBOURS, **LEAKING})
    built = workspace_at(tmp_path / "home", repo)
    cut_by(modulus, monkeypatch)
    found = []
    for _ in range(4):
        build(built)
        usual = [finding for check in CHECK_FUNCTIONS.values() for finding in check(built)]
        state = {file: file.read_bytes() for file in built.layout.memos("shop").glob("*.looked_at.json")}
        whole = [finding for check in CHECK_FUNCTIONS.values() for finding in check(replace(built, force=True))]
        # A check by force kept the same.
        assert {file: json.decode(file.read_bytes().partition(b"\n")[2]) for file in state} == {
            file: json.decode(content.partition(b"\n")[2]) for file, content in state.items()
        }
        found.append((usual, whole))
        files = change(files, chance.choice(OPERATIONS), chance)
        repo.commit_exactly(files)
    table_parts._cuts.cache_clear()

    assert [usual for usual, _ in found] == [whole for _, whole in found]
    assert any(not finding.passed for finding in found[0][0])
