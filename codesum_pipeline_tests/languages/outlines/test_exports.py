"""What a file gives away, where it says so."""

import pytest

from codesum_pipeline_tests.languages.outlines.cases import symbols_of
from codesum_pipeline_tests.languages.outlines.erlang_case import CASE

FUNCTIONS = "one() -> two().\ntwo() -> 2.\n"


@pytest.mark.parametrize(
    ("head", "private"),
    [
        ("-export([one/0]).\n", ["two"]),
        ("-export([one/0]).\n-compile([export_all, nowarn_export_all]).\n", []),
        ("", []),
    ],
    ids=["only what is listed", "all", "no list says nothing"],
)
def test_what_a_list_of_exports_leaves_out_is_private(head: str, private: list[str]) -> None:
    symbols = symbols_of(CASE, head + FUNCTIONS)

    assert [name for name, symbol in symbols.items() if not symbol.is_public] == private


def test_the_title_of_a_section_documents_nothing() -> None:
    rule = "%%%" + "=" * 40
    symbols = symbols_of(
        CASE, f"{rule}\n%%% Callbacks\n{rule}\none() -> 1.\n\n{rule}\n%%% The one that is first.\n{rule}\ntwo() -> 2.\n"
    )

    assert {name: symbol.docstring for name, symbol in symbols.items()} == {
        "one": None,
        "two": "The one that is first.",
    }
