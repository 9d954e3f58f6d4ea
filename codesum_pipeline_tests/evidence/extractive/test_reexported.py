import pytest

from codesum_pipeline.evidence.extractive.extractive_parents import fact_of_reexports
from codesum_pipeline.foundation.data_model.symbol import Reexport


@pytest.mark.parametrize(
    ("reexports", "expected"),
    [
        ((), ""),
        ((Reexport("X", "X", "crate::a::b"),), "Re-exports X."),
        ((Reexport("X", "X", "./sums"), Reexport("Y", "Z", "./sums")), "Re-exports X, Y."),
        ((Reexport("X", "X", ".a"), Reexport("Y", "Y", ".b")), "Re-exports X, Y."),
        ((Reexport("*", "*", "spdlog/logger.h"),), "Re-exports all of logger.h."),
        ((Reexport("X", "X", ".a"), Reexport("*", "*", "b.c")), "Re-exports X; all of c."),
        ((Reexport("b", None, "b.zig"),), "Re-exports b."),
        ((Reexport("*", "*", "./react.ts"),), "Re-exports all of react."),
        ((Reexport("default", "default", "./d"),), ""),
        (
            tuple(Reexport(f"N{n}", f"N{n}", ".") for n in range(11)),
            "Re-exports N0, N1, N2, N3, N4, N5, N6, N7, 3 more.",
        ),
    ],
)
def test_a_file_says_in_one_phrase_what_it_hands_on(reexports: tuple[Reexport, ...], expected: str) -> None:
    assert fact_of_reexports(reexports) == expected
