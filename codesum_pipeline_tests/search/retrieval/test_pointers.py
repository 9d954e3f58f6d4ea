import pytest

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.query import Pointer, pointers_in
from codesum_pipeline.search.retrieval.searching import answer_query, search_indexes

TEXTS = {
    "why does shop/cart.py:2 fail": [Pointer(("shop", "cart.py"), 2)],
    'File "/usr/lib/python3/shop/cart.py", line 14, in total': [
        Pointer(("usr", "lib", "python3", "shop", "cart.py"), 14)
    ],
    "at open (C:\\src\\Shop\\Cart.cs:line 7)": [Pointer(("src", "shop", "cart.cs"), 7)],
    "see src/cart.rs#L9 and ./auth.go": [Pointer(("src", "cart.rs"), 9), Pointer(("auth.go",), None)],
    "is it in cart.py?": [Pointer(("cart.py",), None)],
    "look at lib/cart.rb.": [Pointer(("lib", "cart.rb"), None)],
    "panic at cart.go line 12": [Pointer(("cart.go",), 12)],
    "how are prices summed": [],
    "version 2.0 of it": [],
}


@pytest.mark.parametrize(("text", "found"), TEXTS.items(), ids=TEXTS)
def test_paths_and_lines_are_found_in_a_text(text: str, found: list[Pointer]) -> None:
    assert list(pointers_in(text)) == found


def test_of_many_places_the_last_count() -> None:
    """A traceback ends with the place that failed."""
    text = "".join(f'  File "/srv/app/part{number}.py", line {number}, in run\n' for number in range(1, 2_001))

    found = pointers_in(text)

    assert len(found) == 40
    assert found[-1] == Pointer(("srv", "app", "part2000.py"), 2_000)


@pytest.mark.parametrize("piece", ["a", "a/", "a.", "./", "\\", "~-", "a.b ", "a-1."])
def test_a_text_of_any_length_and_kind_is_read_once(piece: str) -> None:
    """Megabytes, which would take hours where each character is looked at from all before it."""
    assert len(pointers_in(piece * 500_000)) <= 40


def test_a_file_without_a_word_of_the_question_is_found_by_its_path(shop: PublishedIndex, embedder: Embedder) -> None:
    hits = search_indexes([shop], "zzz qqq shop/auth.py", embedder=embedder)

    assert hits[0].file_path == "shop/auth.py"


QUESTIONS = {
    "a path": ("what is shop/auth.py good for when articles have prices", "shop/auth.py"),
    "a path of another machine": ("/home/me/clones/shop/auth.py and the price of articles", "shop/auth.py"),
    "a name alone": ("sum of the prices in auth.py", "shop/auth.py"),
    # Of the functions around the line the shortest, whatever else is said.
    "a line": ("put an article into the cart, cart.py:2", "shop/cart.py::total_price"),
    "a traceback": (
        'Traceback (most recent call last):\n  File "/srv/app/shop/auth.py", line 1, in <module>\nTypeError: no price',
        "shop/auth.py::LoginHandler::authenticate",
    ),
}


@pytest.mark.parametrize(("question", "first"), QUESTIONS.values(), ids=QUESTIONS)
def test_what_a_question_points_to_comes_first(
    shop: PublishedIndex, embedder: Embedder, question: str, first: str
) -> None:
    found = answer_query([shop], question, embedder=embedder)

    assert found.hits[0].id == first
    assert found.fits_well


def test_a_path_that_no_file_has_points_to_nothing(shop: PublishedIndex, embedder: Embedder) -> None:
    plain, pointing = (
        search_indexes([shop], text, embedder=embedder) for text in ("sum of prices", "sum of prices, lost.py")
    )

    assert plain[0].id == pointing[0].id


def test_a_level_that_is_asked_for_is_kept(shop: PublishedIndex, embedder: Embedder) -> None:
    hits = search_indexes([shop], "prices in shop/auth.py", embedder=embedder, levels=[Level.FUNCTION])

    assert {hit.type for hit in hits} == {"function"}
