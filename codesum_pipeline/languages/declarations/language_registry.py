"""The declarations of all languages and the rules of their families, found by looking through this package."""

from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from codesum_pipeline.languages import declarations as languages
from codesum_pipeline.languages.declarations.declaration import Declaration
from codesum_pipeline.languages.declarations.rules import Rules


def _modules() -> list[ModuleType]:
    return [import_module(found.name) for found in walk_packages(languages.__path__, f"{languages.__name__}.")]


@cache
def declarations() -> tuple[Declaration, ...]:
    """The `DECLARATION` of each module that has one, by name; first those whose facts a resolver of their own reads."""
    found: list[Declaration] = [module.DECLARATION for module in _modules() if hasattr(module, "DECLARATION")]
    return tuple(sorted(found, key=lambda declaration: (declaration.references is None, declaration.spec.name)))


def declaration_of(language: str) -> Declaration:
    """The declaration of one language."""
    return next(declaration for declaration in declarations() if declaration.spec.name == language)


@cache
def rules_of_families() -> tuple[type[Rules], ...]:
    """The rules of each family of languages but for Python's, which has a resolver of its own."""
    _modules()
    found = (rules for rules in Rules.__subclasses__() if rules.languages)
    return tuple(sorted(found, key=lambda rules: rules.__name__))
