"""Sheets of texts for readers who do not know which version wrote them, and the count of their verdicts."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.blind_reading import (
    OF_EACH,
    PART_ENTRIES,
    Drawn,
    Verdict,
    by_number,
    cohens_kappa,
    draw_ids,
    number_entries,
    read_verdicts,
    shares,
    worst_entries,
    write_sheet,
)

LEVELS = {"function": 40, "class": 10, "file": 10, "module": 5}


def rows(**changes: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Documents of all levels by id."""
    found = {
        f"{level}{number}": {"type": level, "is_placeholder": False, "is_vendored": False}
        for level, count in LEVELS.items()
        for number in range(count)
    }
    return {id_: row | changes.get(id_, {}) for id_, row in found.items()}


def drawn(number: int, version: str = "after", level: str = "function") -> Drawn:
    return Drawn(number, version, "zoo", f"a.py::f{number}", level, f"Feeds the lion {number}.", "Part of zoo.")


def verdicts(reader: str, *words: str) -> list[Verdict]:
    return [Verdict(reader, number, word, "") for number, word in enumerate(words, start=1)]


def test_the_same_documents_are_drawn_whatever_their_texts_are() -> None:
    found = draw_ids(rows(), rows(), seed="1 zoo")

    assert found == draw_ids(rows(), rows(), seed="1 zoo") != draw_ids(rows(), rows(), seed="2 zoo")
    assert [sum(id_.startswith(level) for id_ in found) for level in LEVELS] == [15, 6, 6, 3]


def test_functions_take_the_place_of_levels_that_have_too_few() -> None:
    few = {id_: row for id_, row in rows().items() if row["type"] in ("function", "file")}

    found = draw_ids(few, few, seed="1 zoo")

    assert len(found) == OF_EACH
    assert sum(id_.startswith("function") for id_ in found) == OF_EACH - 6


def test_what_only_one_version_has_or_fills_from_a_template_is_not_drawn() -> None:
    before = {id_: row for id_, row in rows().items() if id_ != "module0"}
    after = rows(module1={"is_placeholder": True}, module2={"is_vendored": True})

    assert not {"module0", "module1", "module2"} & {*draw_ids(before, after, seed="1 zoo")}


def test_a_sheet_tells_nothing_of_versions_and_its_key_has_them(tmp_path: Path) -> None:
    entries = [(drawn(0, version), ["def f():"]) for version in ("before", "after") for _ in range(50)]

    write_sheet(number_entries(entries, 1), tmp_path)

    parts = [path.read_text("utf-8") for path in sorted(tmp_path.glob("part*.md"))]
    heads = [line for part in parts for line in part.splitlines() if line.startswith("## ")]
    assert heads == [f"## {number}" for number in range(1, 101)]
    assert parts[0].count("\n## ") == PART_ENTRIES
    assert not any("before" in part.partition("## 1")[2] or "after" in part.partition("## 1")[2] for part in parts[:1])
    assert (tmp_path / "key.json").read_text("utf-8").count('"before"') == 50


def test_verdicts_are_read_with_their_reader_and_reason(tmp_path: Path) -> None:
    (tmp_path / "ann.part1.tsv").write_text("1\thelps\n\n2\tfalse\tit returns a list\n", "utf-8")

    assert [*read_verdicts(tmp_path / "ann.part1.tsv")] == [
        Verdict("ann", 1, "helps", ""),
        Verdict("ann", 2, "false", "it returns a list"),
    ]


def test_a_line_that_is_no_verdict_is_named(tmp_path: Path) -> None:
    (tmp_path / "ann.tsv").write_text("1\tgood\n", "utf-8")

    with pytest.raises(SystemExit, match="'1.tgood' is no verdict"):
        [*read_verdicts(tmp_path / "ann.tsv")]


def test_shares_are_by_version_and_level() -> None:
    key = {1: drawn(1), 2: drawn(2, level="class"), 3: drawn(3, "before")}

    found = shares(key, verdicts("ann", "helps", "false", "restates"))

    assert found["after", "all"] == {"verdicts": 2, "helps": 0.5, "restates": 0, "false": 0.5, "unreadable": 0}
    assert found["before", "function"]["restates"] == 1
    assert found["after", "class"]["false"] == 1


def test_kappa_is_the_agreement_beyond_chance() -> None:
    # Cohen (1960): observed 0.7, expected 0.5.
    pairs = [("helps", "helps")] * 20 + [("helps", "false")] * 5 + [("false", "helps")] * 10 + [("false", "false")] * 15

    assert cohens_kappa(pairs) == pytest.approx(0.4)
    assert cohens_kappa([("helps", "helps")]) == 1


def test_the_worst_are_false_or_unreadable_texts_of_the_later_version() -> None:
    key = {1: drawn(1), 2: drawn(2), 3: drawn(3, "before"), 4: drawn(4)}
    judged = by_number([*verdicts("ann", "restates", "false", "false", "helps"), *verdicts("bob", "helps", "helps")])

    assert worst_entries(judged, key, 20) == [2, 1]
