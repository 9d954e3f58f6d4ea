"""Plots are Markdown: a bar is as long as its count, and nothing that is there is invisible."""

from codesum_pipeline.builds.reports.report_values import WIDTH, draw_bars, draw_histogram, draw_lines


def test_bars_are_sorted_by_count_and_the_largest_fills_the_width() -> None:
    assert draw_bars("skipped because", {"binary": 12, "minified": 300, "too large": 1}).splitlines() == [
        "| skipped because |  | count |",
        "| --- | --- | --- |",
        f"| minified | {'█' * WIDTH} | 300 |",
        "| binary | █ | 12 |",
        "| too large | ▏ | 1 |",
    ]


def test_a_histogram_keeps_the_order_of_its_ranges_and_an_empty_one_has_no_bar() -> None:
    drawn = draw_histogram("characters", [0.0, 50.0, 100.0, 150.0], [4, 0, 8]).splitlines()[2:]

    assert drawn == [
        f"| 0 to 50 | {'█' * (WIDTH // 2)} | 4 |",
        "| 50 to 100 |  | 0 |",
        f"| 100 to 150 | {'█' * WIDTH} | 8 |",
    ]


def test_a_line_has_a_column_for_each_value_and_ends_with_the_last() -> None:
    assert draw_lines("nDCG@10", {"all": [0.0, 0.5, 1.0]}).splitlines()[2] == "| all | ▁▅█ | 1\\.000 |"
