"""What part a function plays, read off its name, decorators and parameters."""

import re
from enum import StrEnum

from codesum_pipeline.model.symbols import SymbolFacts
from codesum_pipeline.summaries.extractive.foreign_roles import is_constructor, is_test
from codesum_pipeline.summaries.extractive.foreign_types import NOTHING
from codesum_pipeline.summaries.extractive.scanning import RECEIVERS
from codesum_pipeline.summaries.extractive.word_lists import word_set
from codesum_pipeline.summaries.extractive.words import spoken
from codesum_pipeline.summaries.inputs import FunctionInput


class Role(StrEnum):
    CONSTRUCTOR = "constructor"
    SPECIAL = "special method"
    PROPERTY = "property"
    SETTER = "property setter"
    TEST = "test"
    FIXTURE = "test fixture"
    COMMAND = "command"
    ROUTE = "request handler"
    CONTEXT_MANAGER = "context manager"
    DECORATOR = "decorator"
    OVERLOAD = "overload"
    METHOD = "method"
    CLASS_METHOD = "class method"
    FUNCTION = "function"
    INNER = "inner function"


_PROPERTIES = word_set(
    "property cached_property cachedproperty lazyproperty abstractproperty lazy_property hybrid_property classproperty"
)
_ROUTES = word_set("route get post put delete patch head websocket endpoint api_route")
_COMMANDS = word_set("command group callback subcommand")
_RETURN_NAME = re.compile(r"[^\W\d]\w*")


_DECORATOR_LINE = re.compile(r"@([\w.]+)")


class Profile:
    """A function's surroundings, worked out once.

    `decorators` are dotted names without arguments, and the other modifiers;
    `outer` the name of the enclosing class or function, `owner` the class in
    words, for a method; `parameters` the spoken names of what is passed in,
    without the receiver and catch-alls.
    """

    def __init__(self, given: FunctionInput) -> None:
        self.given = given
        self.is_python = given.language == "python"
        self.decorators = _decorators(given)
        self.outer = given.qualified_name.rpartition(".")[0].rpartition(".")[2] or None
        self.is_method = self._is_method()
        self.owner = spoken(self.outer.strip("_")) or self.outer if self.is_method and self.outer else None
        self.parameters = _spoken_parameters(given)
        self.gives_value = _gives_value(given.facts) and (self.is_python or given.facts.return_type not in NOTHING)
        self.role = self._role({decorator.rpartition(".")[2] for decorator in self.decorators})

    def _is_method(self) -> bool:
        if any(parameter.kind == "receiver" for parameter in self.given.facts.parameters):
            return True
        if self.outer is None:
            return False
        is_marked = "staticmethod" in self.decorators or "classmethod" in self.decorators
        return is_marked or self.outer.lstrip("_")[:1].isupper()

    def _role(self, last: set[str]) -> Role:
        name = self.given.name
        if "overload" in last:
            return Role.OVERLOAD
        if name in ("__init__", "__new__", "__post_init__", "constructor"):
            return Role.CONSTRUCTOR
        if not self.is_python and is_constructor(self.given, self.outer):
            return Role.CONSTRUCTOR
        if last & _PROPERTIES or "getter" in last:
            return Role.PROPERTY
        if last & {"setter", "deleter"} and self.is_method:
            return Role.SETTER
        if name.startswith("__") and name.endswith("__") and len(name) > 4:
            return Role.SPECIAL
        if "fixture" in last:
            return Role.FIXTURE
        return Role.TEST if self._is_test() else self._by_use(last)

    def _is_test(self) -> bool:
        if not self.is_python and is_test(self.given):
            return True
        after = self.given.name[4:5]
        begins_word = after in ("_", "") or after.isupper() or after.isdigit()
        return self.given.name.startswith("test") and begins_word and not self.gives_value

    def _by_use(self, last: set[str]) -> Role:
        if last & _COMMANDS and any("." in decorator or decorator == "command" for decorator in self.decorators):
            return Role.COMMAND
        if last & _ROUTES and any("." in decorator for decorator in self.decorators):
            return Role.ROUTE
        if last & {"contextmanager", "asynccontextmanager"}:
            return Role.CONTEXT_MANAGER
        if _returns_nested(self.given):
            return Role.DECORATOR
        if self.is_method:
            return Role.CLASS_METHOD if "classmethod" in last else Role.METHOD
        return Role.INNER if self.outer else Role.FUNCTION


def _decorators(given: FunctionInput) -> tuple[str, ...]:
    found = [modifier.lstrip("@").partition("(")[0].strip() for modifier in given.modifiers]
    if given.canonical_source.startswith("@"):
        for line in given.canonical_source.split("\n"):
            if not (match := _DECORATOR_LINE.match(line)):
                break
            found.append(match[1])
    return tuple(dict.fromkeys(found))


def _spoken_parameters(given: FunctionInput) -> tuple[str, ...]:
    names = [p.name for p in given.facts.parameters if p.kind in ("positional", "keyword") and p.name not in RECEIVERS]
    said = [spoken(name.strip("_*")) for name in names]
    return tuple([words for words in said if len(words) > 1])


def _gives_value(facts: SymbolFacts) -> bool:
    if facts.is_generator or facts.return_type not in (None, "None", "NoReturn", "Never"):
        return True
    return any(fact.text not in ("", "None") for fact in facts.returned)


def _returns_nested(given: FunctionInput) -> bool:
    """Whether a nested definition is what comes back, as from a decorator."""
    source = given.canonical_source
    if "    def " not in source and "    async def " not in source:
        return False
    returned = [fact.text for fact in given.facts.returned if _RETURN_NAME.fullmatch(fact.text)]
    return any(f"    def {name}(" in source or f"    async def {name}(" in source for name in returned)
