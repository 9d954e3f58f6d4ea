"""The lines that match as Python's own expressions find them, line by line in decoded texts."""

import re
from collections.abc import Iterator
from pathlib import Path

from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.source_lines.line_groups import SearchedTexts, find_lines
from codesum_pipeline.search.source_lines.matching import LinePattern
from codesum_pipeline.search.source_lines.packed_texts import KeptTexts
from codesum_pipeline_tests.support.homes import open_home

Place = tuple[str, int]


def opened(home: Path, key: str = "shop") -> SearchedTexts:
    layout = open_home(home).layout
    index = PublishedIndex.open(layout.published(key))
    texts, problem = KeptTexts(layout.texts(key), 1 << 30).open(index, layout.mirror(key), timeout_s=60)
    assert not problem
    return SearchedTexts(index, texts, None)


def found_lines(searched: SearchedTexts, pattern: LinePattern) -> list[Place]:
    found = find_lines(pattern, [searched], timeout_s=60)
    assert not found.stopped
    return sorted((group.document.path, line.number) for group in found.groups for line in group.lines)


def lines_of_texts(texts: dict[str, str]) -> Iterator[tuple[str, int, str]]:
    """Each line of decoded texts: one that ends with both keeps its carriage return, as ripgrep has it."""
    for path, text in texts.items():
        lines = re.sub(r"\r(?!\n)", "\n", text).split("\n")
        yield from ((path, number, line) for number, line in enumerate(lines if lines[-1] else lines[:-1], start=1))


def expected_lines(texts: dict[str, str], pattern: LinePattern) -> list[Place]:
    expression = re.escape(pattern.text) if pattern.is_fixed else pattern.text
    # Python's own does not match in an empty line.
    expression = expression.replace(r"\B", r"(?:(?<=\w)(?=\w)|(?<!\w)(?!\w))")
    if pattern.is_word:
        expression = rf"(?<!\w)(?:{expression})(?!\w)"
    compiled = re.compile(expression, re.IGNORECASE if pattern.ignores_case else 0)
    return sorted((path, number) for path, number, line in lines_of_texts(texts) if compiled.search(line))
