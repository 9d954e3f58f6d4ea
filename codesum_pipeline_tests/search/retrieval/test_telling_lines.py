"""Lines that tell why a hit fits, and hits of a file that share a place."""

import pytest

from codesum_pipeline.search.retrieval.hits import Hit, share_places
from codesum_pipeline.search.retrieval.passages import NO_LINES, find_telling

SOURCE = """def pay(order, card):
    '''Take the money of an order.'''
    log.debug(order)
    if card.expires < today():
        raise CardExpired(card)

    else:
        receipt = bank.withdraw(card, order.total)
    print_receipt(receipt)
    return receipt
"""
LINES = SOURCE.splitlines()


def numbers(query: str, *, most: int = 2, **options) -> list[int]:
    return [*find_telling(LINES[1:], query, most=most, start_line=2, **options).lines]


def test_the_lines_that_fit_best_together_are_found():
    assert numbers("the card is expired") == [4, 5]
    assert numbers("withdraw from the bank, print the receipt") == [8, 9]


def test_blank_lines_and_lines_of_one_word_do_not_count():
    assert numbers("raise an expired card, else withdraw from the bank") == [5, 8]


def test_what_the_reader_knows_is_left_out():
    assert 2 in numbers("take the money of an order")
    assert 2 not in numbers("take the money of an order", known="Take the money of an order. Logs.")


def test_a_wanted_line_is_among_them():
    assert 9 in numbers("the card is expired", line=9)
    assert numbers("the card is expired", line=6) == [4, 5]


@pytest.mark.parametrize("span", [(6, 7), (11, 20), (50, 60)], ids=["nothing said", "the end", "behind the end"])
def test_where_nothing_is_said_there_are_no_lines(span: tuple[int, int]):
    assert find_telling(LINES[span[0] - 1 : span[1]], "card", most=2, start_line=span[0]) == NO_LINES


@pytest.mark.parametrize(("place", "is_seen"), [(300, True), (301, False)])
def test_the_first_three_hundred_lines_are_looked_at(place: int, is_seen: bool):
    lines = ["do nothing more"] * 400
    lines[place - 1] = "card has expired"

    found = find_telling(lines, "expired card", most=1, start_line=1)
    assert (place in found.lines) == is_seen


def test_fewer_lines_than_wanted_are_all_of_them():
    assert numbers("card", most=50) == [2, 3, 4, 5, 8, 9, 10]


def test_by_words_alone_the_share_says_how_much_lines_tell():
    queries = ("the card expires", "a card of lions", "feed lions")
    found = [find_telling(LINES[1:], query, most=2, start_line=2, by_words=True) for query in queries]

    assert 4 in found[0].lines
    assert found[0].share > found[1].share > found[2].share == 0


def hits(*paths: str) -> list[Hit]:
    return [
        Hit(
            f"{path}::f{n}", "module" if path.endswith("/") else "function", "r", path, 1, 2, f"f{n}", 1.0, "", None, ""
        )
        for n, path in enumerate(paths)
    ]


def shared(*paths: str, count: int = 3) -> tuple[list[tuple[int, int]], int]:
    places, taken = share_places(hits(*paths), count, most_of_file=2)
    return [(place.at, len(place.others)) for place in places], taken


def test_a_file_has_two_places_and_its_other_hits_are_with_the_second():
    assert shared("a", "a", "a", "b", "a", "c") == ([(0, 0), (1, 2), (3, 0)], 5)
    assert shared("a", "a", "b", "c") == ([(0, 0), (1, 0), (2, 0)], 3)


def test_hits_behind_the_last_place_are_taken_while_they_need_none():
    assert shared("a", "a", "b", "a", "a") == ([(0, 0), (1, 2), (2, 0)], 5)


def test_where_other_files_do_not_fill_the_places_each_hit_has_its_own():
    assert shared("a", "a", "a", "a", "b", count=4) == ([(0, 0), (1, 0), (2, 0), (3, 0)], 4)
    assert shared("a", "a", "a", "a", "a", "b", count=9) == ([(n, 0) for n in range(6)], 6)
    assert shared() == ([], 0)


def test_a_folder_shares_no_place():
    assert shared("a/", "a/", "a/", "b") == ([(0, 0), (1, 0), (2, 0)], 3)
