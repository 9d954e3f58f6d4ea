"""What stands around a function is shown to its writer, and a text is written again for it only where that is asked."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.document import LEVELS, Level, SummaryDocument
from codesum_pipeline.texts.llm.templates import FILLED, resolve_short_template, resolve_template
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.model_builds import KEY_ENV, Shop, shop
from codesum_pipeline_tests.texts.summaries.by_model.examples import name_in

KEY = "AKIA" + "Q4XZ7J2MNB5K3WPL"
STOCK = f'''"""What is in store.

Key: {KEY}
"""

from app.counts import Count, count_all


class Stock(dict):
    """Keeps articles, opened with {KEY}."""

    def __init__(self, articles):
        self.articles = articles
        self.last_count = None
        self.update(articles)

    def take(self, article, amount):
        if self.articles[article] < amount:
            raise ValueError(article)
        self.last_count = Count(article, count_all(self.articles))
        def undo():
            if article in self.articles:
                self.articles[article] += amount
        return undo
'''
COUNTS = f'''from dataclasses import dataclass


@dataclass
class Count:
    article: str
    amount: int


def count_all(articles, token="{KEY}"):
    amount = 0
    for article in articles:
        amount += articles[article]
    return amount
'''
STORE = {
    "app/__init__.py": "",
    "app/stock.py": STOCK,
    "app/counts.py": COUNTS,
    "docs/logo.md": "[![logo](logo.png)](https://example.org/)\n",
    "docs/empty.html": "<html><head><title>Stock</title></head><body><script>let stock = 1</script></body></html>\n",
    "docs/words.md": "# Stock\n\nWhat is in store.\n",
    "README.md": "# Store\n\nKeeps articles.\n",
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Shop]:
    with shop(tmp_path, STORE) as made:
        yield made


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A store of which a model has written everything; it is only looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_ENV, "sk-loopback-0123456789abcdef")
        with shop(tmp_path_factory.mktemp("store"), STORE) as made:
            build(made.workspace())
            yield made


def piece(prompt: str, label: str) -> list[str]:
    found = re.search(rf"^<<<{label} (\w+)\n(.*?)\n\1 {label}>>>$", prompt, re.MULTILINE | re.DOTALL)
    return found[2].split("\n") if found else []


def shown_of(made: Shop, name: str) -> str:
    (prompt,) = {call.prompt for call in made.server.seen if name_in(call.prompt) == name}
    return prompt


def documents_called_for(made: Shop) -> set[str]:
    return {name_in(call.prompt) for call in made.server.seen}


def test_a_function_is_shown_with_its_class_its_file_and_its_callees_signatures(written: Shop) -> None:
    assert piece(shown_of(written, "Stock.take"), "context") == [
        'in class: class Stock(dict); it says "Keeps articles, opened with «masked aws-access-key»."; '
        "fields: articles, last_count",
        'in file: stock.py; it says "What is in store. Key: «masked aws-access-key»."',
        "calls Count: class Count; fields: article: str, amount: int",
        'calls count_all: def count_all(articles, token="«masked aws-access-key»")',
    ]
    assert piece(shown_of(written, "count_all"), "context") == ["in file: counts.py", "called by: Stock.take"]


def test_a_function_in_a_function_is_shown_with_the_heads_of_both_that_hold_it(written: Shop) -> None:
    labels = [line.partition(":")[0] for line in piece(shown_of(written, "Stock.take.undo"), "context")]

    assert labels == ["in function", "in class", "in file"]


def test_a_method_in_another_file_than_its_class_is_shown_with_it(tmp_path: Path) -> None:
    method = "package shop\n\nfunc (t *Till) Pay(amount int) int {\n\tt.sum += amount\n\treturn t.sum\n}\n"
    struct = "package shop\n\n// Till takes money.\ntype Till struct {\n\tsum int\n}\n"
    with shop(tmp_path, {"shop/pay.go": method, "shop/till.go": struct}) as made:
        build(made.workspace(), until="function_summaries")

        assert piece(shown_of(made, "Till.Pay"), "context") == [
            'in class: type Till struct; it says "Takes money."; fields: sum int',
            "in file: pay.go",
        ]


GO_METHOD = "package shop\n\nfunc (s *Server) Start(port int) int {\n\ts.port = port\n\treturn s.port\n}\n"
SERVER = 'class Server:\n    """A server of another kind."""\n\n    port = 0\n'
OTHER_SERVERS = {
    "of another language": ({"shop/serve.py": SERVER}, ["in file: start.go"]),
    "in test code of its own language": (
        {"shop/serve_test.go": "package shop\n\n// Server is for tests.\ntype Server struct {\n\tport int\n}\n"},
        ["in file: start.go"],
    ),
    "beside the class of its own language": (
        {"shop/serve.py": SERVER, "shop/serve.go": "package shop\n\ntype Server struct {\n\tport int\n}\n"},
        ["in class: type Server struct; fields: port int", "in file: start.go"],
    ),
    "beside test code": (
        {
            "shop/serve_test.go": "package other\n\ntype Server struct {\n}\n",
            "shop/serve.go": "package shop\n\ntype Server struct {\n\tport int\n}\n",
        },
        ["in class: type Server struct; fields: port int", "in file: start.go"],
    ),
}


@pytest.mark.parametrize("others", OTHER_SERVERS)
def test_a_method_is_shown_no_class_of_another_language_or_of_test_code(tmp_path: Path, others: str) -> None:
    files, expected = OTHER_SERVERS[others]
    with shop(tmp_path, {"shop/start.go": GO_METHOD, **files}) as made:
        build(made.workspace(llm={"tests": False}), until="function_summaries")

        assert piece(shown_of(made, "Server.Start"), "context") == expected


def test_a_method_is_shown_the_class_of_a_header_of_its_family(tmp_path: Path) -> None:
    method = '#include "till.h"\n\nint Till::pay(int amount) {\n  sum += amount;\n  return sum;\n}\n'
    header = "class Till {\n public:\n  int pay(int amount);\n  int sum;\n};\n"
    with shop(tmp_path, {"till.cpp": method, "till.h": header}) as made:
        build(made.workspace(), until="function_summaries")

        assert piece(shown_of(made, "Till.pay"), "context")[0].startswith("in class: class Till; fields: ")


def test_a_function_in_a_test_is_shown_its_own_class_and_file(tmp_path: Path) -> None:
    """It is asked about by hand alone."""
    from codesum_pipeline.texts.summaries.by_model.shown_contexts import Contexts

    test = "class TestTill:\n    def test_pay(self):\n        for amount in range(3):\n            assert amount < 3\n"
    with shop(tmp_path, {"tests/test_till.py": test}) as made:
        workspace = made.workspace(llm={"tests": False})
        build(workspace, until="function_summaries")

        shown = Contexts(workspace).shown("tests/test_till.py::TestTill::test_pay")
    assert shown.holders == ("in class: class TestTill", "in file: test_till.py")


def test_a_namespace_that_says_nothing_is_not_shown(tmp_path: Path) -> None:
    source = (
        "module Shop\n  # Takes money.\n  module Tills\n    class Till\n      def pay(amount)\n"
        "        raise 'nothing' if amount.zero?\n        amount\n      end\n    end\n  end\nend\n"
    )
    with shop(tmp_path, {"till.rb": source}) as made:
        build(made.workspace(), until="function_summaries")

        assert piece(shown_of(made, "Shop.Tills.Till.pay"), "context") == [
            "in class: class Till",
            'in class: module Tills; it says "Takes money."',
            "in file: till.rb",
        ]


def test_callees_heads_are_bounded_in_number_and_length(tmp_path: Path) -> None:
    parameters = ", ".join(f"parameter_{number}" for number in range(40))
    steps = "".join(f"def step_{n:02}({parameters}):\n    return parameter_0\n\n\n" for n in range(12))
    calls = "".join(f"        step_{n:02}(size)\n" for n in range(12))
    with shop(tmp_path, {"steps.py": f"{steps}def all_steps(size):\n    if size:\n{calls}    return size\n"}) as made:
        build(made.workspace(top_k_callees=12), until="function_summaries")
        lines = piece(shown_of(made, "all_steps"), "context")

    assert lines[0] == "in file: steps.py"
    assert [line.count(": ") for line in lines[1:]] == [1] * 10 + [0] * 2
    assert all(line.endswith("…") and len(line) <= 220 for line in lines[1:11])


def test_names_of_callers_and_callees_are_bounded(tmp_path: Path) -> None:
    owner, long = "Grow" + "AndGrow" * 20, "grow_" + "and_grow_" * 16
    callees = "".join(f"    def {long}{n:02}(self, size):\n        return size\n\n" for n in range(12))
    calls = "".join(f"            self.{long}{n:02}(size)\n" for n in range(12))
    grow = f"    def grow(self, size):\n        if size:\n{calls}        return size\n\n"
    caller = f"    def {long}caller(self, size):\n        if size:\n            return self.grow(size)\n"
    with shop(tmp_path, {"grow.py": f"class {owner}:\n{callees}{grow}{caller}        return size\n"}) as made:
        build(made.workspace(top_k_callees=12), until="function_summaries")
        lines = piece(shown_of(made, f"{owner}.grow"), "context")

    shown = f"{owner}.{long}"[:199] + "…"
    assert f"called by: {shown}" in lines
    assert {line.partition(":")[0] for line in lines if line.startswith("calls ")} == {f"calls {shown}"}
    assert f"calls {shown}" in lines and all(len(line) <= 410 for line in lines)


def test_no_secret_is_shown_of_what_stands_around_a_function(written: Shop) -> None:
    assert not any(KEY in call.prompt for call in written.server.seen)


def test_what_the_context_alone_says_must_not_be_named(written: Shop) -> None:
    """The document's own names, its class and what it uses may be."""
    from codesum_pipeline.texts.summaries.by_model.shown_contexts import Contexts

    code = Contexts(written.workspace()).shown("app/stock.py::Stock::take").code

    assert {"Stock", "dict", "last_count", "stock", "token"} <= set(re.findall(r"\w+", code))


CONTEXT_EDITS = {
    "the docstring of a class": ("app/stock.py", "Keeps articles", "Knows articles", {"Stock"}),
    "a callee's signature": ("app/counts.py", "articles, token", "articles, name", {"count_all", "counts.py"}),
    "the docstring of a file": ("app/stock.py", "What is in store", "All that is in store", {"stock.py"}),
}


def quick(name: str) -> Any:
    """All edits, of which the quick tests make one."""
    return pytest.mark.parametrize(
        "name", [pytest.param(each, marks=[] if each == name else pytest.mark.slow) for each in CONTEXT_EDITS]
    )


@quick("the docstring of a class")
def test_a_change_of_what_stands_around_functions_rewrites_none_of_them(store: Shop, name: str) -> None:
    path, old, new, own = CONTEXT_EDITS[name]
    build(store.workspace())
    store.server.seen.clear()
    store.repo.commit({path: STORE[path].replace(old, new, 1)})

    build(store.workspace())

    above = {"stock.py", "counts.py", "app", "shop"}
    assert own <= documents_called_for(store) <= own | above


@pytest.mark.slow
@quick("a callee's signature")
def test_under_the_strict_policy_it_rewrites_those_that_are_shown_it(store: Shop, name: str) -> None:
    path, old, new, _ = CONTEXT_EDITS[name]
    build(store.workspace(graph_policy="strict"))
    store.server.seen.clear()
    store.repo.commit({path: STORE[path].replace(old, new, 1)})

    workspace = store.workspace(graph_policy="strict")
    build(workspace)

    assert "Stock.take" in documents_called_for(store)
    causes = {row["id"]: row for row in workspace.tables.read("texts_function", "shop").to_pylist()}
    changed = {
        "the docstring of a class": "app/stock.py::Stock",
        "a callee's signature": "app/counts.py::count_all",
        "the docstring of a file": "app/stock.py",
    }
    take = causes["app/stock.py::Stock::take"]
    assert (take["cause"], take["cause_ids"]) == ("graph", [changed[name]])


def test_a_text_file_without_words_is_a_placeholder_that_nobody_asks_for(written: Shop) -> None:
    rows = written.workspace().tables.read_rows("documents", "shop", SummaryDocument)

    assert {row.id for row in rows if row.is_placeholder} == {"app/__init__.py", "docs/logo.md", "docs/empty.html"}
    assert {row.id: row.summary for row in rows if row.id == "docs/logo.md"} == {
        "docs/logo.md": "File logo.md without words."
    }
    assert {"logo.md", "empty.html"}.isdisjoint(documents_called_for(written))
    assert "words.md" in documents_called_for(written)


def test_a_text_file_without_words_is_a_placeholder_without_a_model(tmp_path: Path) -> None:
    with shop(tmp_path, STORE) as made:
        workspace = made.workspace(llm={"enabled": False})
        build(workspace)
        rows = workspace.tables.read_rows("documents", "shop", SummaryDocument)

    assert {"docs/logo.md", "docs/empty.html"} <= {row.id for row in rows if row.is_placeholder}


def test_every_placeholder_of_a_shipped_template_is_filled_somewhere(written: Shop) -> None:
    labels = {"source": "body", "text": "body"}
    filled: dict[Level, set[str]] = {level: {"level"} for level in LEVELS}
    for call in written.server.seen:
        level = next(level for level in LEVELS if call.prompt.startswith(_opening(level)))
        found = re.findall(r"^<<<(\w+) ", call.prompt, re.MULTILINE)
        filled[level] |= {labels.get(label, label) for label in found}
        if "python" in call.prompt.split("\n\n")[0]:
            filled[level].add("code_language")

    assert {level: frozenset(found) for level, found in filled.items()} == FILLED
    for level in LEVELS:
        assert (
            set(re.findall(r"\{(\w+)\}", resolve_template(None, level, language="English").instruction))
            <= FILLED[level]
        )


def _opening(level: Level) -> str:
    return resolve_template(None, level, language="English").instruction[:27]


def test_test_code_that_is_called_is_shown_by_name_alone_where_tests_are_not_sent(tmp_path: Path) -> None:
    called = "def make_stock(size):\n    if size:\n        return {}\n    return None\n"
    caller = (
        "from tests.making import make_stock\n\n\ndef try_out(size):\n    if size:\n"
        "        return make_stock(size)\n    return None\n"
    )
    files = {"app/trial.py": caller, "tests/__init__.py": "", "tests/making.py": called}
    shown = []
    for tests in (False, True):
        with shop(tmp_path / str(tests), files) as made:
            build(made.workspace(llm={"tests": tests}), until="function_summaries")
            shown.append(piece(shown_of(made, "try_out"), "context"))

    assert shown == [
        ["in file: trial.py", "calls make_stock"],
        ["in file: trial.py", "calls make_stock: def make_stock(size)"],
    ]


def test_a_row_names_the_short_template_where_that_wrote_it(tmp_path: Path) -> None:
    with shop(tmp_path, STORE) as made:
        workspace = made.workspace(llm={"max_prompt_chars": 30_000})
        build(workspace)
        rows = workspace.tables.read_rows("documents", "shop", SummaryDocument)

    short = {level: resolve_short_template(None, level, language="English") for level in LEVELS}
    full = resolve_template(None, Level.FUNCTION, language="English")
    assert {call.system for call in made.server.seen} == {template.system for template in short.values() if template}
    by_model = {(row.type, row.prompt_version) for row in rows if row.written_by == "llm"}
    assert by_model == {(level, template.digest) for level, template in short.items() if template}
    assert full.digest not in {digest for _, digest in by_model}
