"""What is read from Haskell."""

import pytest

from codesum_pipeline.foundation.data_model.symbol import Import, Parameter
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.haskell_case import SOURCE


def test_types_classes_functions_operators_and_local_functions_are_found() -> None:
    found = symbols_by_name("haskell", SOURCE)

    assert {name: (symbol.type.value, symbol.parent_id) for name, symbol in found.items()} == {
        "Circle": ("class", None),
        "Name": ("class", None),
        "Elem": ("class", None),
        "Shape": ("class", None),
        "Shape::area": ("function", "file::Shape"),
        "Circle::area": ("function", "file::Circle"),
        "Term": ("class", None),
        "find": ("function", None),
        "find::look": ("function", "file::find"),
        "find::go": ("function", "file::find"),
        "<+>": ("function", None),
        "plus": ("function", None),
        "low": ("function", None),
        "high": ("function", None),
        "main": ("function", None),
        "main::twice": ("function", "file::main"),
        "c_sin": ("function", None),
    }


def test_a_signature_and_its_equations_are_one_function() -> None:
    found = symbols_by_name("haskell", SOURCE)
    find = found["find"]

    assert find.signature == "find :: forall a. (Eq a, Show a) => a -> [a] -> Maybe a"
    assert find.docstring == "The first one that is\nthe same."
    assert find.facts.parameters == (
        Parameter("_", "a", None, "positional"),
        Parameter("[]", "[a]", None, "positional"),
    )
    assert find.facts.return_type == "Maybe a"
    assert [fact.text for fact in find.facts.raises] == ['error "none"']
    # Two equations, two guards besides `otherwise`, and one more equation of a local function.
    assert find.complexity == 4
    assert found["find::look"].complexity == 2
    assert found["find::look"].signature == "look :: a -> Maybe a"
    assert found["main"].docstring is None
    assert found["c_sin"].signature == 'foreign import ccall "sin" c_sin :: Double -> Double'


def test_statements_alternatives_and_guards_start_a_line() -> None:
    found = symbols_by_name("haskell", SOURCE)

    assert found["Circle::area"].canonical_source == (
        "area (Circle r _ _) = pi * r ^ 2\n"
        "area (Box n _)\n"
        "    | n > 1 = fromIntegral n\n"
        "    | otherwise = small\n"
        "    where\n"
        "    small = 1"
    )
    assert found["main"].canonical_source == (
        "main :: IO ()\n"
        "main = do\n"
        "    line <- getLine\n"
        "    let\n"
        "        size = length line\n"
        "        twice w = w * 2\n"
        "    if size > 1 then return () else do\n"
        '        putStrLn "short"\n'
        "    case line of\n"
        '        "a" -> print 1\n'
        "        _\n"
        "            | size > 3 -> print [x | x <- [1 .. 10], odd x]\n"
        "            | otherwise -> forM_ line $ \\c -> do\n"
        "                print c\n"
        "    M.foldr (\\v rest -> v >> rest) (pure ()) M.empty"
    )


def test_fields_bases_exports_and_the_module() -> None:
    found, facts = symbols_by_name("haskell", SOURCE), parse("haskell", SOURCE).facts

    assert found["Circle"].docstring == "A circle, or a box."
    assert found["Circle"].bases == ("Show", "Eq")
    assert [fact.text for fact in found["Circle"].facts.fields] == [
        "Circle",
        "radius :: !Double",
        "left :: a",
        "top :: a",
        "Box",
    ]
    assert facts.docstring == "Shapes, and what can be asked about them."
    assert facts.exports == ("Shape", "Circle", "find", "<+>")
    assert facts.imports == (
        Import("Data.Map.Strict", 0, None, "M", None, 10),
        Import("Data.List", 0, "sort", None, None, 11),
        Import("Data.List", 0, "Ord", None, None, 11),
        Import("Data.List", 0, "\\\\", None, None, 11),
        Import("Data.Set", 0, "*", None, None, 12),
        Import("Control.Monad", 0, "*", None, None, 13),
        Import("Debug.Trace", 0, "*", None, None, 16),
    )


def test_a_layout_in_braces_stays_on_its_line() -> None:
    source = "f x = do { y <- x; return y}"

    assert parse("haskell", source).facts.source == source


def test_a_function_that_does_not_parse_leaves_the_others() -> None:
    parsed = parse("haskell", "good x = 1\n\nbad = = (\n\n-- | Fine.\nfine y = good y\n")

    assert parsed.facts.syntax_errors > 0
    assert "file::good" in {symbol.id for symbol in parsed.symbols}


def test_an_export_list_says_what_is_public() -> None:
    body = (
        "data S = A | B\nclass T a where\n  t :: a\nclass U a where\n  u :: a\n  v :: a\n"
        "instance T S where\n  t = A\nf = g\ng = 1\n"
    )
    private = {
        "module M where\n": set(),
        "module M (module M) where\n": set(),
        "module M (f, S(..), T(..), U(u), module X) where\n": {"g", "U::v"},
        "module M () where\n": {"S", "T", "U", "T::t", "U::u", "U::v", "S::t", "f", "g"},
    }

    for head, expected in private.items():
        found = symbols_by_name("haskell", head + body)
        assert {name for name, symbol in found.items() if not symbol.is_public} == expected


@pytest.mark.parametrize(
    ("source", "names"),
    [
        pytest.param("Prose.\n\n> f :: Int\n> f = 1\n\nMore > of it.\n\n> data T = A\n", ["f", "T"], id="marked lines"),
        pytest.param(
            "Prose:\n\n> module A where\n> import B\n> f = 1\n\nmodule systems\n", ["f"], id="a module in marked lines"
        ),
        pytest.param(
            "\\section{A}\n\\begin{code}\nf :: Int\nf = 1\n\\end{code}\nText.\n\\begin{code}\ng = 2\n\\end{code}\n",
            ["f", "g"],
            id="blocks of LaTeX",
        ),
        pytest.param(
            "module A where\n#let a t = 1\nf :: Int\nf = #{size struct a}\ng = (#const B)\nh p = #{peek c, d} p\n",
            ["f", "g", "h"],
            id="what C is asked for",
        ),
        pytest.param("{-\n> f = 1\n-}\nmodule A where\ng = 2\n", ["g"], id="no prose"),
    ],
)
def test_code_amid_prose_and_for_c_is_read(source: str, names: list[str]) -> None:
    parsed = parse("haskell", source)

    assert [symbol.name for symbol in parsed.symbols] == names
    assert parsed.facts.syntax_errors == 0
