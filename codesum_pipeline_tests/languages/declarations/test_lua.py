"""What is read from Lua."""

from codesum_pipeline.foundation.data_model.symbol import Import, Parameter
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.lua_case import SOURCE
from codesum_pipeline_tests.languages.declarations.references import references_of


def test_functions_belong_to_the_table_in_their_name() -> None:
    found = symbols_by_name("lua", SOURCE)

    assert {name: (symbol.type.value, symbol.parent_id) for name, symbol in found.items()} == {
        "Account": ("class", None),
        "Account::new": ("function", "file::Account"),
        "Account::deposit": ("function", "file::Account"),
        "round": ("function", None),
        "round::half": ("function", "file::round"),
        "Account::close": ("function", "file::Account"),
        "handlers::open": ("function", None),
        "Savings": ("class", None),
    }


def test_docs_signatures_and_visibility() -> None:
    found = symbols_by_name("lua", SOURCE)

    assert found["Account"].docstring == "A bank account."
    assert found["Account"].bases == ("Base",)
    assert found["Savings"].bases == ("Account",)
    assert found["Account::new"].docstring == "Makes an account.\n@param name string"
    assert found["Account::deposit"].docstring == "Puts money in.\nNegative amounts are refused."
    assert found["Account::deposit"].signature == "function Account:deposit(amount)"
    assert found["Account::close"].signature == "Account.close = function(self)"
    assert {name for name, symbol in found.items() if not symbol.is_public} == {"round", "round::half"}
    assert parse("lua", SOURCE).facts.docstring == "Accounts, and what moves between them."


def test_what_a_function_says_about_itself() -> None:
    found = symbols_by_name("lua", SOURCE)
    deposit = found["Account::deposit"]

    assert found["Account::new"].facts.parameters == (
        Parameter("name", None, None, "positional"),
        Parameter("...", None, None, "var_positional"),
    )
    assert deposit.complexity == 7
    assert [fact.text for fact in deposit.facts.raises] == ['error("negative: " .. amount)']
    assert [fact.text for fact in deposit.facts.returned] == ["false", "true, self.total"]
    assert [fact.text for fact in found["Account::new"].facts.calls] == [
        "setmetatable",
        "Logger.new",
        "log:info",
    ]


def test_imports_globals_calls_and_typed_names() -> None:
    facts = parse("lua", SOURCE).facts
    references = references_of(facts)
    names = [symbol[0] for symbol in references["symbols"]]
    new = names.index("Account::new")

    assert facts.imports == (
        Import("lib.json", 0, None, "json", None, 4),
        Import("base", 0, None, "Base", None, 5),
    )
    assert facts.globals == ("LIMIT",)
    assert [typed[1:] for typed in references["typed"] if typed[0] == new] == [["log", "Logger"]]
    assert ["log", "info", 0] in [call[1:] for call in references["calls"] if call[0] == new]


def test_a_semicolon_between_statements_changes_nothing() -> None:
    assert parse("lua", "a = 1; b = 2;\n").facts.source == parse("lua", "a = 1\nb = 2\n").facts.source


def test_what_has_no_name_yet_is_no_definition() -> None:
    source = "local function round(x)\n  local = function(y) return y / 2 end\nend\n"

    assert list(symbols_by_name("lua", source)) == ["round"]


def test_a_function_that_does_not_parse_leaves_the_others() -> None:
    parsed = parse("lua", "function good() end\nlocal = 3\n-- Fine.\nfunction fine() good() end\n")

    assert parsed.facts.syntax_errors > 0
    assert {"file::good", "file::fine"} <= {symbol.id for symbol in parsed.symbols}
