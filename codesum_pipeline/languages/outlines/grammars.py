"""The one door to the package of grammars for the languages that are read by table, and for text files.

The package keeps them in one archive and unpacks the library of a grammar into a folder of the user's cache when it is
first asked for. A grammar whose name begins with `tree-sitter-` is in a package of that name instead. Nothing is loaded
before a file needs it.
"""

from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from warnings import catch_warnings, simplefilter

from tree_sitter import Language

from codesum_pipeline.foundation.data_model.errors import NotParsed

PACKAGE = "semble-grammars"
_OWN_PACKAGE = "tree-sitter-"


class MissingGrammar(NotParsed):
    """A grammar cannot be loaded; says which, why, and what helps."""


@cache
def grammar_version(name: str) -> str:
    """The package of a grammar with its version, which decides what is read."""
    package = _package_of(name)
    try:
        return f"{package}/{version(package)}"
    except PackageNotFoundError:
        return f"{package}/missing"


def _package_of(name: str) -> str:
    return name if name.startswith(_OWN_PACKAGE) else PACKAGE


@cache
def load_grammar(name: str) -> Language:
    """The grammar of this name; raises `MissingGrammar`."""
    try:
        return _from_own_package(name) if name.startswith(_OWN_PACKAGE) else _from_package_of_all(name)
    except ImportError as error:
        package = _package_of(name)
        raise MissingGrammar(
            f"the grammar {name!r} cannot be loaded: the package {package} is not installed; pip install {package}"
        ) from error


def _from_own_package(name: str) -> Language:
    with catch_warnings():
        # Some packages hand over a number, as all did once.
        simplefilter("ignore", DeprecationWarning)
        return Language(import_module(name.replace("-", "_")).language())


def _from_package_of_all(name: str) -> Language:
    from semble_grammars import get_language
    from semble_grammars.exceptions import GrammarLoadError, LanguageNotFoundError, UnsupportedPlatformError

    try:
        grammar: Language = get_language(name)
    except (LanguageNotFoundError, UnsupportedPlatformError, GrammarLoadError) as error:
        raise MissingGrammar(
            f"the package {PACKAGE} has no grammar {name!r} for this machine, or cannot load it: "
            f"{error.__cause__ or error}; set SEMBLE_GRAMMARS_CACHE_DIR to an empty folder that can be written"
        ) from error
    return grammar
