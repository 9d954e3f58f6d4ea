"""Inputs of every level, made from small sources or from a few words."""

import re

from codesum_pipeline.evidence.extractive.extractive_functions import write_function
from codesum_pipeline.evidence.inputs import ChildText, ClassInput, FileInput, FunctionInput, ModuleInput
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.symbol import Reexport, Symbol, SymbolType
from codesum_pipeline.foundation.store.rows import from_table, to_table
from codesum_pipeline.symbols.parsing.parsers import PARSERS


def symbols_in(source: str, path: str = "src/auth/login.py") -> dict[str, Symbol]:
    """Every definition of a Python source, by its qualified name."""
    return {symbol.qualified_name: symbol for symbol in PARSERS["python"].parse(source.encode(), path).symbols}


def function_of(symbol: Symbol) -> FunctionInput:
    """A function as its writer is shown it."""
    (shown,) = from_table(to_table([symbol], Symbol), FunctionInput)
    return shown


def function_in(source: str, qualified_name: str = "", path: str = "src/auth/login.py") -> FunctionInput:
    """One function of a Python source; the first without a name."""
    found = {name: one for name, one in symbols_in(source, path).items() if one.type is SymbolType.FUNCTION}
    return function_of(found[qualified_name or next(iter(found))])


def summary_of(source: str, qualified_name: str = "", path: str = "src/auth/login.py") -> str:
    return write_function(function_in(source, qualified_name, path)).text.summary


def says(text: str, *facts: str) -> bool:
    """Whether a text names every fact: as code (`AuthError`) or in words (an auth error)."""
    return all(_letters(fact) in _letters(text) for fact in facts)


def _letters(text: str) -> str:
    return re.sub(r"[^\w]|_", "", text).casefold()


def child(
    name: str, summary: str, *, level: Level = Level.FUNCTION, keywords: str = "", placeholder: bool = False
) -> ChildText:
    return ChildText(f"src/x.py::{name}", name, level, "", placeholder, summary, tuple(keywords.split()))


def class_input(
    name: str = "LoginHandler",
    *,
    docstring: str | None = None,
    bases: tuple[str, ...] = (),
    modifiers: tuple[str, ...] = (),
    fields: tuple[str, ...] = (),
    children: tuple[ChildText, ...] = (),
) -> ClassInput:
    return ClassInput(
        f"src/auth/login.py::{name}",
        name,
        name,
        "python",
        f"class {name}",
        docstring,
        bases,
        modifiers,
        fields,
        children,
    )


def file_input(
    path: str = "src/auth/login.py",
    *,
    docstring: str | None = None,
    imports: tuple[str, ...] = (),
    constants: tuple[str, ...] = (),
    exports: tuple[str, ...] | None = None,
    children: tuple[ChildText, ...] = (),
    reexports: tuple[Reexport, ...] = (),
) -> FileInput:
    name = path.rpartition("/")[2]
    return FileInput(path, name, "python", docstring, imports, constants, exports, children, reexports)


def module_input(
    path: str = "src/auth", *, readme: str | None = None, children: tuple[ChildText, ...] = ()
) -> ModuleInput:
    return ModuleInput(path, path.rpartition("/")[2], readme, children)
