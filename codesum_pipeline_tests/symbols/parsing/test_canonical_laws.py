"""The laws of canonical source, over real packages and over generated programs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codesum_pipeline.symbols.parsing.parsers import PARSERS
from codesum_pipeline_tests.symbols.parsing.programs import programs
from codesum_pipeline_tests.symbols.parsing.rewriting import KINDS, edited, edits, parses
from codesum_pipeline_tests.symbols.parsing.sources import has_formatted_strings, laid_out_anew, meaning, package_files

# Every n-th file of each, at first and where there is time; the whole of them finds nothing more.
PACKAGES = {"rich": (12, 4), "typer": (4, 1), "networkx": (120, 40), "codesum_pipeline": (16, 4)}
# Whatever can stand in a file, with what opens and never closes.
WORDS = (
    "def f class lambda async await yield if elif else for while try except with as match case import from return "
    "raise print exec global not in is _ x 1 1. 0x e5"
)
SIGNS = '( ) : [ ] { } , . = == := -> * ** @ - ~ ... " \' """ \'\'\' f" b\' r" {x} ` $ ? !'
OTHERS = ("\n", "\n    ", "\n  ", "\t", "\f", "é", "\u2028", "\x85", "\xa0", "\ufeff", "\u200b", "\0")
SCRAPS = (*WORDS.split(), *SIGNS.split(), *OTHERS)
# What a program that parses may be spelled with or without: quotes, brackets, commas, zeros, marks before a text.
SPELLING = "'\"(),;\\_0.ru"
BLANKS = " \t\n\f\ufeff\u200b\u2060"


def canonical(source: str) -> str:
    return PARSERS["python"].parse(source.encode(), "a.py").facts.source


def definitions(source: str) -> list[tuple[object, ...]]:
    """All of a file's symbols, but for their place in it."""
    return [
        (s.id, s.canonical_source, s.content_hash, s.signature, s.docstring, s.modifiers, s.complexity, s.facts)
        for s in PARSERS["python"].parse(source.encode(), "a.py").symbols
    ]


SAMPLES = [
    *(pytest.param((package, few), id=package) for package, (few, _) in PACKAGES.items()),
    *(
        pytest.param((package, many), id=f"{package} with more files", marks=pytest.mark.slow)
        for package, (_, many) in PACKAGES.items()
    ),
]


@pytest.fixture(scope="module", params=SAMPLES)
def sources(request: pytest.FixtureRequest) -> list[str]:
    package, step = request.param
    return [path.read_text("utf-8") for path in package_files(package, step=step)]


def test_canonical_source_means_the_same_program(sources: list[str]) -> None:
    for source in sources:
        assert meaning(canonical(source)) == meaning(source)


@pytest.mark.slow
def test_canonical_source_is_its_own_canonical_source(sources: list[str]) -> None:
    for source in sources:
        assert canonical(canonical(source)) == canonical(source)
        assert definitions(canonical(source)) == definitions(source)


@pytest.mark.slow
def test_comments_blank_lines_wrapping_and_indents_change_nothing(sources: list[str]) -> None:
    for number, source in enumerate(sources):
        if not has_formatted_strings(source):
            anew = laid_out_anew(source, seed=number)
            assert canonical(anew) == canonical(source)
            assert definitions(anew) == definitions(source)


@given(programs())
def test_any_program_keeps_its_meaning(source: str) -> None:
    once = canonical(source)

    assert meaning(once) == meaning(source)
    assert canonical(once) == once


@given(programs(), st.integers(0, 1000))
def test_any_layout_of_a_program_is_the_same_canonical_source(source: str, seed: int) -> None:
    if not has_formatted_strings(source):
        assert canonical(laid_out_anew(source, seed)) == canonical(source)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@given(programs(), st.integers(0, 10_000))
def test_a_changed_spelling_is_the_same_canonical_source_if_and_only_if_it_is_the_same_program(
    kind: str, source: str, seed: int
) -> None:
    for edit in edits(kind, source, seed)[:2]:
        changed = edited(source, edit)
        if parses(changed):
            assert (canonical(changed) == canonical(source)) == (meaning(changed) == meaning(source)), changed


def test_a_changed_spelling_in_real_files_is_the_same_canonical_source_if_and_only_if_it_is_the_same_program(
    sources: list[str],
) -> None:
    for number, source in enumerate(sources[::4]):
        for kind in KINDS:
            for edit in edits(kind, source, number)[:1]:
                changed = edited(source, edit)
                if parses(changed):
                    assert (canonical(changed) == canonical(source)) == (meaning(changed) == meaning(source)), edit


@settings(max_examples=300)
@given(st.lists(st.sampled_from(SCRAPS), max_size=40), st.sampled_from(("", " ")))
def test_nothing_that_is_written_is_ever_lost_however_broken_the_file(scraps: list[str], between: str) -> None:
    source = between.join(scraps)

    parsed = PARSERS["python"].parse(source.encode(), "a.py").facts

    left_out = BLANKS if parsed.syntax_errors else BLANKS + SPELLING
    assert _without(left_out, parsed.source) == _without(left_out, source)


def _without(characters: str, text: str) -> str:
    shown = text if SPELLING not in characters else text.lower()
    return "".join(shown.translate(dict.fromkeys(map(ord, characters))).split())


@given(st.text(max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    parsed = PARSERS["python"].parse(text.encode("utf-8", "replace"), "a.py")

    assert parsed.facts.file_path == "a.py"
