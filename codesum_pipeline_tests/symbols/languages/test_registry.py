"""A language is what stands in `languages`: to add one is to add a module, a table of names and a case."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import codesum_pipeline
from codesum_pipeline.ground.model.hashing import HashPolicy
from codesum_pipeline.ground.profiles.language_profiles import Trait, profiles
from codesum_pipeline.symbols import languages
from codesum_pipeline.symbols.languages.language_registry import declarations
from codesum_pipeline.symbols.parsing.parsers import LanguageParser

ROOT = Path(codesum_pipeline.__file__).parent
# Rooms that read languages. What names an ecosystem's files, packages or tools names no language.
ROOMS = ("evaluation", "indexes", "overlays", "overviews", "parsing", "retrieval", "source", "summaries", "tools")
OF_ECOSYSTEMS = ("overviews/manifests/", "overviews/frameworks/")
# `c` is a letter, `go` a word, and `tsx` an ending of files too.
NAMES = {declaration.spec.name for declaration in declarations()} - {"c"}
NEW_LANGUAGE = """
import tree_sitter_lua

from codesum_pipeline.symbols.languages.declaration import Declaration
from codesum_pipeline.symbols.languages.hooks import defines
from codesum_pipeline.symbols.languages.spec import LanguageSpec, words
from codesum_pipeline.ground.model.symbol import SymbolType

SPEC = LanguageSpec(
    name="moonlet",
    version=1,
    grammar=tree_sitter_lua.language,
    lines=frozenset(),
    blocks=words("chunk block"),
    rows=words("chunk block"),
    atoms=words("string"),
    branches=words("if_statement"),
    comments=words("comment"),
)
DECLARATION = Declaration(spec=SPEC, definitions={"function_declaration": defines(SymbolType.FUNCTION)})
"""


def test_a_module_with_a_declaration_is_a_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "moonlet.py").write_text(NEW_LANGUAGE)
    monkeypatch.setattr(languages, "__path__", [*languages.__path__, str(tmp_path)])
    declarations.cache_clear()
    try:
        (found,) = (one for one in declarations() if one.spec.name == "moonlet")
    finally:
        declarations.cache_clear()
        sys.modules.pop("codesum_pipeline.symbols.languages.moonlet", None)

    source = b"-- Adds.\nfunction add(a, b)\n  if a then return b end\nend\n"
    (symbol,) = LanguageParser(found).parse(source, "a.moon", hash_policy=HashPolicy.CANONICAL).symbols
    assert (symbol.id, symbol.language, symbol.docstring, symbol.complexity) == ("a.moon::add", "moonlet", "Adds.", 2)


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
