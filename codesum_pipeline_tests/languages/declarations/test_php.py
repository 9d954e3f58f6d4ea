"""What is read from PHP."""

from codesum_pipeline.foundation.data_model.symbol import Import, Parameter
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.php_case import SOURCE
from codesum_pipeline_tests.languages.declarations.references import references_of


def test_classes_interfaces_traits_enums_and_bound_functions_are_found() -> None:
    found = symbols_by_name("php", SOURCE)

    assert {name: (symbol.type.value, symbol.parent_id) for name, symbol in found.items()} == {
        "Biller": ("class", None),
        "Biller::__construct": ("function", "file::Biller"),
        "Biller::send": ("function", "file::Biller"),
        "Biller::send::double": ("function", "file::Biller::send"),
        "Biller::make": ("function", "file::Biller"),
        "Biller::later": ("function", "file::Biller"),
        "Sends": ("class", None),
        "Sends::send": ("function", "file::Sends"),
        "LogsThings": ("class", None),
        "LogsThings::log": ("function", "file::LogsThings"),
        "Suit": ("class", None),
        "Suit::label": ("function", "file::Suit"),
        "lines": ("function", None),
    }


def test_docs_signatures_modifiers_and_bases() -> None:
    found = symbols_by_name("php", SOURCE)
    biller, send = found["Biller"], found["Biller::send"]

    assert biller.docstring == "Sends invoices.\n\n@see Invoice"
    assert biller.bases == ("Base", "Sends", "Counts", "LogsThings")
    assert biller.modifiers == ("final",)
    assert send.docstring == "Sends one invoice."
    assert send.signature == "public function send(Invoice $invoice, array &$seen): ?bool"
    assert found["Biller::make"].modifiers == ("test", "public", "static")
    assert found["Biller::later"].modifiers == ("abstract", "protected")
    assert {name for name, symbol in found.items() if not symbol.is_public} == {"Biller::later", "LogsThings::log"}


def test_what_a_method_says_about_itself() -> None:
    found = symbols_by_name("php", SOURCE)
    send = found["Biller::send"]

    assert found["Biller::__construct"].facts.parameters == (
        Parameter("logger", "LoggerInterface", None, "positional"),
        Parameter("limit", "?int", "self::RATE", "positional"),
        Parameter("tags", "string", None, "var_positional"),
    )
    assert send.facts.return_type == "?bool"
    assert send.complexity == 8
    assert [fact.text for fact in send.facts.raises] == [
        'new \\InvalidArgumentException("too much: {$invoice->total()}")'
    ]
    assert [fact.text for fact in send.facts.writes] == ["$this->total"]
    assert [fact.text for fact in send.facts.calls] == [
        "$invoice->total",
        "new \\InvalidArgumentException",
        "new Mail",
        "$mail->send",
        "$this->mailer?->address".replace("?", ""),
        "$this->logger->error",
        "money",
    ]
    assert found["lines"].facts.is_generator
    assert [fact.text for fact in found["Biller"].facts.fields] == [
        "RATE",
        "client: ?Client",
        "count: int",
    ]


def test_imports_package_and_globals() -> None:
    facts = parse("php", SOURCE).facts

    assert facts.imports == (
        Import("App\\Models", 0, "Invoice", None, None, 7),
        Import("App\\Models", 0, "Customer", "Client", None, 7),
        Import("App\\Support", 0, "money", None, None, 8),
        Import("Psr\\Log", 0, "LoggerInterface", None, None, 9),
        Import("bootstrap.php", 0, None, None, None, 11),
    )
    assert references_of(facts)["package"] == "App\\Billing"
    assert facts.globals == ("LIMIT",)


def test_typed_names_are_told_to_the_graph() -> None:
    references = references_of(parse("php", SOURCE).facts)
    names = [symbol[0] for symbol in references["symbols"]]

    def typed(name: str) -> list[list[str]]:
        return [row[1:] for row in references["typed"] if row[0] == names.index(name)]

    assert typed("Biller") == [["client", "Client"], ["count", "int"]]
    assert typed("Biller::__construct") == [
        ["$logger", "LoggerInterface"],
        ["$this->logger", "LoggerInterface"],
        ["$limit", "int"],
        ["$tags", "string"],
        ["$this->mailer", "Mailer"],
    ]
    assert ["$mail", "Mail"] in typed("Biller::send")


def test_html_around_code_is_kept() -> None:
    facts = parse("php", "<h1>Hi</h1>\n<?php function f() { return 1; } ?>\n<p>\n").facts

    assert facts.source == "<h1>Hi</h1>\n<?php\nfunction f() {\n    return 1;\n}\n?>\n<p>\n"


def test_html_before_the_first_tag_is_shown_the_same_way_again() -> None:
    source = parse("php", "<h1>\n  Hi\n</h1>\n\n<?php\necho 1;\n").facts.source

    assert source == "<h1>\n  Hi\n</h1>\n<?php\necho 1;"
    assert parse("php", source).facts.source == source


def test_a_namespace_in_braces_adds_nothing_to_names() -> None:
    assert list(symbols_by_name("php", "<?php namespace A { class B { function c() {} } }")) == ["B", "B::c"]


def test_a_function_that_does_not_parse_leaves_the_others() -> None:
    parsed = parse("php", "<?php\nfunction good() {}\nfunction bad() { $x = ; }\nfunction fine() { good(); }\n")

    assert parsed.facts.syntax_errors > 0
    assert {"file::good", "file::fine"} <= {symbol.id for symbol in parsed.symbols}
