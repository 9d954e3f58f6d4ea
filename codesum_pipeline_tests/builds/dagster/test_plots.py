"""Plots are Markdown: a bar is as long as its count, and nothing that is there is invisible."""

from codesum_pipeline.builds.reports.report_values import WIDTH, draw_bars, draw_lines


def test_bars_are_sorted_by_count_and_the_largest_fills_the_width() -> None:
    assert draw_bars("skipped because", {"binary": 12, "minified": 300, "too large": 1}).splitlines() == [
        "| skipped because |  | count |",
        "| --- | --- | --- |",
        f"| minified | {'█' * WIDTH} | 300 |",
        "| binary | █ | 12 |",
        "| too large | ▏ | 1 |",
    ]


def test_a_line_has_a_column_for_each_value_and_ends_with_the_last() -> None:
    assert draw_lines("nDCG@10", {"all": [0.0, 0.5, 1.0]}).splitlines()[2] == "| all | ▁▅█ | 1\\.000 |"
