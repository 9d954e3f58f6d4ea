from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.indexes.file_formats.index_files import StringTable

STRINGS = st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True).map(lambda strings: sorted(strings))


@given(STRINGS, st.text(st.characters(exclude_categories=["Cs"])))
def test_what_is_in_the_table_is_found_and_nothing_else(strings: list[str], other: str) -> None:
    table = StringTable.of(strings)

    assert list(table) == strings
    assert [table.find(string) for string in strings] == list(range(len(strings)))
    assert (table.find(other) is None) == (other not in strings)


@given(STRINGS, st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=2))
def test_a_prefix_finds_all_strings_that_start_with_it(strings: list[str], prefix: str) -> None:
    table = StringTable.of(strings)

    found = [table[position] for position in table.with_prefix(prefix)]

    assert found == [string for string in strings if string.startswith(prefix)]


def test_a_search_can_be_held_to_a_range() -> None:
    table = StringTable.of(["b", "c", "a", "d"])

    assert table.find("a", start=2) == 2
    assert table.find("c", start=2) is None
    assert table.find("c", start=0, end=2) == 1


@given(STRINGS, st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_many_are_found_as_each_by_itself(strings: list[str], others: list[str]) -> None:
    table = StringTable.of(strings)
    # Strings that go on alike for longer than their heads.
    wanted = [*others, *strings, *(string + "\0" for string in strings), *(string * 9 for string in strings)]

    assert table.find_all(wanted) == [table.find(string) for string in wanted]
