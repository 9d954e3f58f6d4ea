"""One document, why it is as it is, and SQL over everything."""

import json

import pytest

from codesum_pipeline.answers.agent_tools.call import nearest_ids
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of


def test_a_document_is_shown_with_its_fields_and_neighbours(codesum, shop):
    shown = codesum(shop, "show", "shop/orders.py::OrderBook::place").stdout

    assert shown.startswith("shop/orders.py::OrderBook::place  lines 14-21\nfunction · python · shop\n")
    for expected in (
        "def place(self, basket, card)",
        "intent",
        "raises",
        "shop/orders.py::total_price",
        "shop/payment.py::charge_card",
        "written by",
        "extractive",
        "content hash",
    ):
        assert expected in shown


def test_a_document_for_programs_has_every_field_and_what_stands_around_it(codesum, shop):
    document = json.loads(codesum(shop, "show", "shop/orders.py::OrderBook", "--json").stdout)

    def named(field):
        return [(each["type"], each["id"]) for each in document[field]]

    assert document["repo"] == "shop"
    assert document["context"].keys() == {"called_by", "calls"}
    assert document["hash"] == document["summary_hash"]
    assert named("parents") == [("file", "shop/orders.py"), ("module", "shop"), ("module", ".")]
    assert named("children") == [
        ("function", "shop/orders.py::OrderBook::__init__"),
        ("function", "shop/orders.py::OrderBook::place"),
    ]
    assert named("calls") == [
        ("function", "shop/orders.py::total_price"),
        ("function", "shop/payment.py::charge_card"),
    ]
    assert document["called_by"] == []
    assert document["children"][1]["summary"].startswith("Charge the card and remember the order.")


def test_neighbours_are_shown_with_what_they_are_for(codesum, shop):
    shown = codesum(shop, "show", "shop/orders.py::OrderBook::place").stdout

    assert "  shop/orders.py::OrderBook  Keeps the orders of one day." in shown


def test_a_near_miss_names_the_nearest_ids(codesum, shop):
    result = codesum(shop, "show", "shop/orders.py::OrderBook::plcae")

    assert result.exit_code == 2
    assert "shop/orders.py::OrderBook::place" in result.stderr.partition("nearest: ")[2]


@pytest.mark.parametrize(
    "wanted",
    ["place", "OrderBook.place", "orders.py::OrderBook::place"],
    ids=["name", "qualified name", "end of the id"],
)
def test_a_name_is_enough_to_show_a_document(codesum, shop, wanted):
    result = codesum(shop, "show", wanted)

    assert result.exit_code == 0
    assert result.stdout.startswith("shop/orders.py::OrderBook::place")


def test_the_nearest_of_a_file_is_a_file_of_that_name_and_not_all_of_its_language():
    ids = ["a/auth.js", "a/db.js", "lib/utils.js", "lib/utils.js::sign", "test/support/utils.js"]

    assert nearest_ids("lib/util.js", ids)[0] == "lib/utils.js"
    assert nearest_ids("utils.js", ids)[:2] == ["lib/utils.js", "test/support/utils.js"]


def test_among_very_many_ids_the_nearest_is_found_as_well():
    ids = [f"part_{number}/unit_{number}.py::load_item_{number}" for number in range(20_000)]

    assert nearest_ids("part_777/unit_777.py::laod_item_777", ids)[0] == "part_777/unit_777.py::load_item_777"


OVERLOADS = (
    "class Till {\n  int add(int cents) { return cents; }\n  int add(int cents, int count) { return cents * count; }\n"
    "  int add(String cents) { return 1; }\n}\n"
)


def test_an_overload_is_shown_by_its_id_and_one_that_is_gone_names_those_that_stand(codesum, git_repo, tmp_path):
    home = open_home(tmp_path / "home")
    location = str(git_repo({"Till.java": OVERLOADS}).path)
    build(workspace_of(home, RepositoryEntry(key="till", location=location)))
    listed = codesum(tmp_path / "home", "sql", "SELECT id FROM documents WHERE type = 'function' ORDER BY id", "--csv")
    ids = listed.stdout.split()[1:]

    assert ids[0] == "Till.java::Till::add"
    signatures = ("int add(int cents)", "int add(int cents, int count)", "int add(String cents)")
    for id_, signature in zip(ids, signatures, strict=True):
        assert signature in codesum(tmp_path / "home", "show", id_).stdout
    assert codesum(tmp_path / "home", "explain", ids[2]).stdout.startswith(ids[2])
    for gone in ("Till.java::Till::add#2", "Till.java::Till::add#000000", "Till.java::Till::add#000000-2", "Till.add#"):
        stale = codesum(tmp_path / "home", "show", gone)
        assert stale.exit_code == 2
        assert stale.stderr.partition("nearest: ")[2].startswith(", ".join(ids))


def test_a_cause_is_explained_with_commit_run_and_price(codesum, shop):
    explained = codesum(shop, "explain", "shop/orders.py").stdout

    assert explained.startswith("shop/orders.py  file  written: new  commit ")
    assert "run run" in explained
    assert "free" in explained


def test_an_explanation_for_programs_lists_the_steps(codesum, shop):
    explained = json.loads(codesum(shop, "explain", "shop", "--json").stdout)

    assert (explained["repo"], explained["id"]) == ("shop", "shop")
    assert explained["steps"][0]["cause"] == "new"


def test_sql_prints_a_table_json_or_csv(codesum, shop):
    query = "SELECT repo, type, count(*) AS n FROM documents WHERE type = 'class' GROUP BY ALL"

    assert codesum(shop, "sql", query).stdout.splitlines() == ["repo  type   n", "shop  class  1"]
    assert json.loads(codesum(shop, "sql", query, "--json").stdout) == {"repo": "shop", "type": "class", "n": 1}
    assert codesum(shop, "sql", query, "--csv").stdout == "repo,type,n\nshop,class,1\n"


def test_sql_lists_its_tables(codesum, shop):
    assert {"documents", "edges", "vectors"} <= set(codesum(shop, "sql", "SHOW TABLES").stdout.split())


def test_sql_shows_structures_as_json(codesum, shop):
    query = "SELECT calls FROM documents WHERE id = 'shop/orders.py::OrderBook::place'"

    assert codesum(shop, "sql", query, "--csv").stdout == (
        'calls\n"[""shop/orders.py::total_price"", ""shop/payment.py::charge_card""]"\n'
    )


@pytest.mark.parametrize(
    "query",
    [
        "COPY (SELECT 1) TO 'written.csv'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO 'written.csv'",
        "CREATE TABLE t AS SELECT 1",
        "ATTACH 'written.db'",
        "SET enable_external_access = true",
        "SELECT 1; SELECT 2",
        "INSTALL httpfs",
        "SELECT * FROM read_text('secret.txt')",
        "SELECT * FROM 'secret.txt'",
        "SELEC 1",
        "",
    ],
)
def test_sql_reads_the_tables_and_nothing_else(codesum, shop, tmp_path, query):
    (tmp_path / "secret.txt").write_text("secret")

    result = codesum(shop, "sql", query)

    assert (result.stdout, result.exit_code) == ("", 2)
    assert [path.name for path in tmp_path.iterdir()] == ["secret.txt"]


def test_sql_over_an_empty_home_finds_no_rows(codesum, tmp_path):
    assert codesum(tmp_path / "empty", "sql", "SELECT id FROM documents").stdout == "id\n"
