"""What is found equals what Python's own expressions find line by line: random patterns over made repositories."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codesum_pipeline.search.source_lines.matching import LinePattern
from codesum_pipeline_tests.search.source_lines.oracle import expected_lines, found_lines, opened
from codesum_pipeline_tests.support.homes import built_once

WORDS = (
    "load",
    "loadAll",
    "é",
    "straße",
    "Жук",
    "中文",
    "x1",
    "x",
    "_y",
    "42",
    "١",
    "a-b",
    "#",
    '"s"',
    "()",
    "\t",
    "  ",
)
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp1251")
ENDS = ("\n", "\r\n", "\r")


def made_texts(seed):
    """Files of random lines in several encodings, some of them empty or without a last line end."""
    chance = random.Random(seed)
    texts, files = {}, {}
    for number in range(24):
        encoding = ENCODINGS[number % len(ENCODINGS)] if number % 3 == 0 else "utf-8"
        words = [word for word in WORDS if encoding != "cp1251" or word.isascii() or word == "Жук"]
        lines = [" ".join(chance.choices(words, k=chance.randrange(7))) for _ in range(chance.randrange(30))]
        text = f"# coding: {encoding.removesuffix('-sig')}\n" + "".join(
            line + ENDS[0 if chance.random() < 0.6 else chance.randrange(3)] for line in lines
        )
        # Of the languages, Python alone reads what a file says of its encoding.
        ending = chance.choice(("py", "go", "md", "txt")) if encoding == "utf-8" else "py"
        path = f"{'src' if number % 2 else 'lib'}/file{number}.{ending}"
        texts[path] = text.rstrip("\r\n") if number % 5 == 0 else text
        files[path] = texts[path].encode(encoding)
    return texts, files | {"empty.py": b""}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The texts of two repositories, and their indexes."""
    found = []
    for seed in (1, 2):
        texts, files = made_texts(seed)
        folder = built_once(tmp_path_factory.mktemp("made"), files, filter={"min_lines": 0})
        found.append((texts, opened(folder / "home")))
    return found


ATOMS = st.sampled_from(
    ["load", "l", "x", "é", "Ж", "中", "ß", " ", r"\w", r"\d", r"\s", r"\W", r"\S", r"\D", ".", "[a-f]", "[^a-z ]",
     r"[\w-]", "[éЖ中]", r"\b", r"\B", "^", "$", r"\.", r"\(", "#", '"', "_", "(?:load|x)", "(?i:LOAD)"]
)  # fmt: skip
REPEATS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,3}", "*?", "+?"])


@st.composite
def pieces(draw):
    atom, repeat = draw(ATOMS), draw(REPEATS)
    return atom if atom in ("^", "$", r"\b", r"\B") else atom + repeat


EXPRESSIONS = st.recursive(
    st.lists(pieces(), min_size=1, max_size=4).map("".join),
    lambda inner: st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
    max_leaves=4,
)
LITERALS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


def patterns():
    flags = {"is_word": st.booleans(), "ignores_case": st.booleans()}
    regular = st.builds(LinePattern, EXPRESSIONS, is_fixed=st.just(False), **flags)
    return regular | st.builds(LinePattern, LITERALS, is_fixed=st.just(True), **flags)


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(pattern=patterns())
def test_random_patterns_find_the_lines_that_an_oracle_finds(made, pattern):
    for texts, searched in made:
        assert found_lines(searched, pattern) == expected_lines(texts, pattern)


def test_the_made_texts_are_indexed_as_they_are_meant(made):
    for texts, searched in made:
        everything = {path for path, _ in found_lines(searched, LinePattern("^"))}
        assert everything == {*texts} - {path for path, text in texts.items() if not text}


def test_a_line_that_ends_with_a_carriage_return_too_keeps_it_as_ripgrep_has_it(tmp_path):
    folder = built_once(tmp_path, {"dos.py": "a = load()\r\nb = load()\n", "mac.py": "a = load()\rb = load()\r"})
    searched = opened(folder / "home")

    assert found_lines(searched, LinePattern(r"load\(\)$")) == [("dos.py", 2), ("mac.py", 1), ("mac.py", 2)]
    assert found_lines(searched, LinePattern(r"load\(\)\r?$")) == [
        ("dos.py", 1), ("dos.py", 2), ("mac.py", 1), ("mac.py", 2),
    ]  # fmt: skip
