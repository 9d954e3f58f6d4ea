"""The declarations of all languages, found by looking through this package."""

from functools import cache
from importlib import import_module
from pkgutil import walk_packages

from codesum_pipeline import languages
from codesum_pipeline.languages.declaration import Declaration


@cache
def declarations() -> tuple[Declaration, ...]:
    """The `DECLARATION` of each module that has one, by name; first those whose facts a resolver of their own reads."""
    modules = (import_module(found.name) for found in walk_packages(languages.__path__, f"{languages.__name__}."))
    found: list[Declaration] = [module.DECLARATION for module in modules if hasattr(module, "DECLARATION")]
    return tuple(sorted(found, key=lambda declaration: (declaration.references is None, declaration.spec.name)))


def declaration_of(language: str) -> Declaration:
    """That of one language."""
    return next(declaration for declaration in declarations() if declaration.spec.name == language)
