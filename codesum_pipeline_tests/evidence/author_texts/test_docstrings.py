"""Docstrings of every style are read alike."""

import inspect

import pytest

from codesum_pipeline.evidence.author_texts.docstrings import EMPTY, Docstring, opening_of, read_docstring

REST = """
Return the :class:`~shop.Order` of a customer.

More about it.

:param customer: who
    ordered
:param int limit: at most
:type customer: Customer
:returns: the order
:raises KeyError: if there is none
"""
EPYTEXT = """
Return the B{order} of a customer.

@param customer: who ordered
@return: the order
@raise KeyError: if there is none
"""
GOOGLE = """
Return the order of a customer.

Args:
    customer (Customer): who
        ordered
    *limits: at most

Returns:
    Order: the order

Raises:
    KeyError: if there is none

Example:
    >>> order(1)
    2
"""
NUMPY = """
Return the order of a customer.

Parameters
----------
customer : Customer
    who ordered
limit, top : int, optional
    at most

Returns
-------
Order
    the order

Raises
------
KeyError
    if there is none

Notes
-----
Left out.
"""
OPENING = ("Return the order of a customer.",)
STYLES = {
    "reST": (
        REST,
        Docstring(
            ("Return the Order of a customer.", "More about it."),
            {"customer": "who ordered", "limit": "at most"},
            "the order",
            {"customer": "Customer", "limit": "int"},
        ),
    ),
    "epytext": (EPYTEXT, Docstring(OPENING, {"customer": "who ordered"}, "the order")),
    "Google": (
        GOOGLE,
        Docstring(
            OPENING,
            {"customer": "who ordered", "limits": "at most"},
            "the order",
            {"customer": "Customer"},
            "Order",
        ),
    ),
    "NumPy": (
        NUMPY,
        Docstring(
            OPENING,
            {"customer": "who ordered", "limit": "at most", "top": "at most"},
            "the order",
            {"customer": "Customer", "limit": "int", "top": "int"},
            "Order",
        ),
    ),
}


@pytest.mark.parametrize(("text", "read"), STYLES.values(), ids=STYLES.keys())
def test_each_style_gives_prose_parameters_result_and_types(text, read):
    assert read_docstring(inspect.cleandoc(text)) == read


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        pytest.param(
            "Writes all.\n\nArgs:\n    rows: some\n\nNothing is buffered.",
            ("Writes all.", "Nothing is buffered."),
            id="after a section",
        ),
        pytest.param(
            ":param rows:\nsome\n\nNothing is buffered.", ("Nothing is buffered.",), id="after a field that ends"
        ),
    ],
)
def test_prose_beside_sections_is_read(text, prose):
    assert read_docstring(text).sentences == prose


PROSE = {
    "an abbreviation ends no sentence": (
        "Take one, e.g. C, i.e. this. Then stop.",
        ("Take one, e.g. C, i.e. this.", "Then stop."),
    ),
    "wrapped lines are one sentence": ("Take the rows\nof a file.\n", ("Take the rows of a file.",)),
    "a title without a mark stands alone": ("Row reader\nReads rows.", ("Row reader", "Reads rows.")),
    "doctests are left out": ("Add.\n\n>>> add(1)\n2\n", ("Add.",)),
    "literal blocks are left out": ("Add like this::\n\n    add(1)\n\nDone.", ("Add like this", "Done.")),
    "a fence is left out": ("Add.\n\n```\nadd(1)\n```\nDone.", ("Add.", "Done.")),
    "a directive is left out": ("Add.\n\n.. versionadded:: 1.0\n   so\n\nDone.", ("Add.", "Done.")),
    "a list completes its sentence": ("Takes one of:\n\n- a row\n- a file\n", ("Takes one of: a row; a file",)),
    "code marks become plain": ("Read ``rows`` of `f` and **all** <b>bold</b>.", ("Read rows of f and all bold.",)),
    "an underlined title is a heading": ("rows\n~~~~\n\nReads rows.", ("Reads rows.",)),
    "a sentence ends after its brackets": (
        "Reads it (as in A. B did. So it is). Then stops.",
        ("Reads it (as in A. B did. So it is).", "Then stops."),
    ),
    "a sentence ends after its quote": (
        'Says "Stop. Go." to it. Then stops.',
        ('Says "Stop. Go." to it.', "Then stops."),
    ),
    "a bracket that never closes ends no sentence": ("Reads it :( Then stops. So.", ("Reads it :( Then stops.", "So.")),
    "a line that goes on is no title": ("Throws an\nAssertionError if not.", ("Throws an AssertionError if not.",)),
    "a sentence in a script without blanks": ("読む。書く。", ("読む。", "書く。")),
    "numbers with a point are no sentences": (
        "Since 3.11 it works. 2 of them.",
        ("Since 3.11 it works.", "2 of them."),
    ),
    "star arguments stay": ("Pass *args and **kwargs on.", ("Pass *args and **kwargs on.",)),
}


@pytest.mark.parametrize(("text", "expected"), PROSE.values(), ids=PROSE.keys())
def test_prose_is_told_from_the_rest(text, expected):
    assert read_docstring(text).sentences == expected


def test_nothing_gives_nothing():
    assert read_docstring(None) is read_docstring("") is read_docstring(" \n ") is EMPTY


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        pytest.param(
            "FIXME: this is wrong and too long to be of use to anybody who reads it. Loads rows.",
            "Loads rows.",
            id="notes",
        ),
        pytest.param("Converted to C from https://example.com/a/b.", "Converted to C.", id="links at an end"),
        pytest.param("Loads rows. For docs see: https://example.com", "Loads rows.", id="pointers to links"),
        pytest.param("+--> A --> B <--+\n\nLoads rows.", "Loads rows.", id="drawings"),
        pytest.param("if (x) { y = 1; }\n\nLoads rows.", "Loads rows.", id="code that was commented out"),
        pytest.param("shop.load_rows\n\nLoads rows.", "Loads rows.", id="a name alone"),
        pytest.param("Created by Anna on 1/2/24.\n\nLoads rows.", "Loads rows.", id="who made it"),
        pytest.param("Loads rows. Since 1.2.3.", "Loads rows.", id="since when"),
        pytest.param("See the guide below. Loads rows.", "Loads rows.", id="pointers"),
        pytest.param("See if rows are there.", "See if rows are there.", id="to see whether"),
        pytest.param("(){}[]<>=;:,.\n" * 9, "", id="signs alone"),
        pytest.param("Loads rows. Inspired by https://example.com/x", "Loads rows.", id="a word that a link leaves"),
        pytest.param("Parses it.\n\nstream ::= START document END", "Parses it.", id="grammars"),
        pytest.param("Loads rows.\n\n  rows = load()\n  rows[0]  # 1\n\nFast.", "Loads rows.", id="indented code"),
    ],
)
def test_an_opening_has_no_notes_links_and_code(text, opening):
    assert opening_of(read_docstring(text))[0] == opening


@pytest.mark.parametrize("field", [": : nothing", ":  :"])
def test_a_field_without_a_name_takes_no_prose_away(field: str) -> None:
    assert read_docstring(f"Return the order.\n\n{field}\n").sentences[0] == "Return the order."
