"""A language is what stands in `languages`: to add one is to add a module, a table of names and a case."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
import tree_sitter_lua

import codesum_pipeline
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.language_facts.language_profiles import Trait, profiles
from codesum_pipeline.languages import declarations as languages
from codesum_pipeline.languages.declarations.declaration import syntax_beside
from codesum_pipeline.languages.declarations.language_registry import declarations
from codesum_pipeline.symbols.parsing.parsers import LanguageParser

ROOT = Path(codesum_pipeline.__file__).parent
# Rooms that read languages. What names an ecosystem's files, packages or tools names no language.
ROOMS = ("evaluation", "indexes", "overlays", "overviews", "parsing", "retrieval", "source", "summaries", "tools")
OF_ECOSYSTEMS = ("overviews/manifests/", "overviews/frameworks/")
# `c` is a letter, `go` a word, and `tsx` an ending of files too.
NAMES = {declaration.spec.name for declaration in declarations()} - {"c"}
FIRST_LINE = re.compile(r"^    # (moonlet[\w.]*)\n", re.MULTILINE)


def example_of_the_page() -> dict[str, str]:
    """The files of the language that the package's docstring shows, by name."""
    _, *parts = FIRST_LINE.split(languages.__doc__ or "")
    return {name: dedent(content) for name, content in zip(parts[::2], parts[1::2], strict=True)}


def test_a_module_with_a_declaration_is_a_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in example_of_the_page().items():
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(languages, "__path__", [*languages.__path__, str(tmp_path)])
    declarations.cache_clear()
    try:
        (found,) = (one for one in declarations() if one.spec.name == "moonlet")
    finally:
        declarations.cache_clear()
        sys.modules.pop("codesum_pipeline.languages.declarations.moonlet", None)

    source = b"-- Adds.\nfunction add(a, b)\n  if a then return log.info('b', b); end\nend\n"
    (symbol,) = LanguageParser(found).parse(source, "a.moon", hash_policy=HashPolicy.CANONICAL).symbols
    assert (symbol.id, symbol.language, symbol.docstring, symbol.complexity) == ("a.moon::add", "moonlet", "Adds.", 2)
    assert [call.text for call in symbol.facts.calls] == ["log.info"]
    assert symbol.canonical_source.split("\n") == [
        "-- Adds.",
        "function add(a, b)",
        "    if a then",
        '        return log.info("b", b)',
        "    end",
        "end",
    ]


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ('[spec]\nname = "a"\nversion = 1\nlnes = "b"', "Unexpected keyword argument 'lnes'"),
        ('[spec]\nname = "a"', "Missing required argument 'version'"),
        ('[specs]\nname = "a"', "there is no table [specs]; there are spec, declaration, tests"),
        ('[spec]\nname = "a"\nversion = 1\n[declaration]\nreturn = "b"', "[declaration] has no key 'return'"),
    ],
    ids=["an unknown key", "a missing key", "an unknown table", "an unknown key of the declaration"],
)
def test_a_wrong_table_says_which_file_and_key_it_is(table: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "moonlet.syntax.toml"
    file.write_text(table)

    with pytest.raises(ValueError, match=re.escape(f"{file}: {problem}")):
        syntax_beside(str(tmp_path / "moonlet.py"), tree_sitter_lua.language)


def test_every_language_with_a_grammar_has_a_table_of_its_names() -> None:
    assert {declaration.spec.name for declaration in declarations()} <= profiles().keys()
    assert all(profiles()[declaration.spec.name].extensions for declaration in declarations())


def test_every_trait_is_one_of_some_language() -> None:
    assert {trait for profile in profiles().values() for trait in profile.traits} == {*Trait}


def test_no_other_room_names_a_language() -> None:
    assert [*_named(ROOMS)] == []


def _named(rooms: tuple[str, ...]) -> Iterator[str]:
    for path in sorted(file for room in rooms for file in (ROOT / room).rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        for node in (
            ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if not place.startswith(OF_ECOSYSTEMS) else ()
        ):
            if isinstance(node, ast.Constant) and node.value in NAMES:
                yield f"{place}:{node.lineno} {node.value}"
