"""The one door to the package of grammars for the languages that are read by table, and for text files.

The package keeps them in one archive and unpacks the library of a grammar into a folder of the user's cache when it is
first asked for. Nothing is loaded before a file needs it.
"""

from functools import cache
from importlib.metadata import PackageNotFoundError, version

from tree_sitter import Language

from codesum_pipeline.foundation.data_model.errors import NotParsed

PACKAGE = "semble-grammars"


class MissingGrammar(NotParsed):
    """A grammar cannot be loaded; says which, why, and what helps."""


@cache
def grammars_version() -> str:
    """The package with its version, which decides what its grammars read."""
    try:
        return f"{PACKAGE}/{version(PACKAGE)}"
    except PackageNotFoundError:
        return f"{PACKAGE}/missing"


@cache
def load_grammar(name: str) -> Language:
    """The grammar of this name in the package; raises `MissingGrammar`."""
    try:
        from semble_grammars import get_language
        from semble_grammars.exceptions import GrammarLoadError, LanguageNotFoundError, UnsupportedPlatformError
    except ImportError as error:
        raise MissingGrammar(
            f"the grammar {name!r} cannot be loaded: the package {PACKAGE} is not installed; pip install {PACKAGE}"
        ) from error
    try:
        grammar: Language = get_language(name)
    except (LanguageNotFoundError, UnsupportedPlatformError) as error:
        raise MissingGrammar(f"the package {PACKAGE} has no grammar {name!r} for this machine: {error}") from error
    except GrammarLoadError as error:
        raise MissingGrammar(
            f"the grammar {name!r} cannot be unpacked or loaded: {error.__cause__ or error}; set "
            "SEMBLE_GRAMMARS_CACHE_DIR to a folder that can be written"
        ) from error
    return grammar
