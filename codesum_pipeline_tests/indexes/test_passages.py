import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.indexes.lanes.lane_texts import PASSAGE_CHARACTERS, TEXT_BREAK, break_apart, cut_passages


@given(st.lists(st.text("abc \t", max_size=400)).map("\n".join))
def test_passages_are_whole_lines_and_together_the_source(source: str) -> None:
    passages = cut_passages(source).split(TEXT_BREAK)

    assert "".join(passages) == source
    assert all(passage.endswith("\n") for passage in passages[:-1])
    assert all(len(passage) <= PASSAGE_CHARACTERS for passage in passages)


@given(st.lists(st.text("abc\r\f\u2028\n", max_size=600)).map("\n".join))
def test_passages_end_at_line_ends_of_every_kind_and_take_in_all_lines_that_fit(source: str) -> None:
    found: list[str] = []
    for line in source.splitlines(keepends=True):
        if found and len(found[-1]) + len(line) <= PASSAGE_CHARACTERS:
            found[-1] += line
        else:
            found.append(line)

    assert cut_passages(source).split(TEXT_BREAK) == (found or [""])


def test_a_line_that_is_too_long_is_a_passage_of_its_own() -> None:
    line = "x" * (PASSAGE_CHARACTERS + 1) + "\n"

    assert cut_passages(f"a\n{line}b\n").split(TEXT_BREAK) == ["a\n", line, "b\n"]


def test_each_passage_knows_its_text() -> None:
    passages, positions = break_apart(pa.array(["a|b", "", "c"]), "|")

    assert passages.to_pylist() == ["a", "b", "", "c"]
    assert positions.to_pylist() == [0, 0, 1, 2]
