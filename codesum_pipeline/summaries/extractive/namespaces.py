"""Classes that only hold other classes: Ruby modules, namespaces, Python classes used as such.

Such a class says nothing of itself, so its text passes on what it holds, in a
form that the level above knows again: `Holds the class Runtime (sets a
header).` of `Rack` becomes `Rack::Runtime (sets a header)` there.
"""

import re
from collections.abc import Iterable

from codesum_pipeline.llm.leaks import names_in
from codesum_pipeline.model.documents import Level
from codesum_pipeline.summaries.extractive.children import bare_name, first_sentence, gist, ranked
from codesum_pipeline.summaries.extractive.plain import clip, enumerate_first, sentence
from codesum_pipeline.summaries.inputs import ChildText, ClassInput

_ONE = "Holds the class "
_MANY = "Holds the classes "
_MAX_HELD = 4
_ONE_CHARS = 260
_EACH_CHARS = 70
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_KINDS = frozenset(("class", "module", "namespace", "object", "extension", "struct", "type"))
_JOINTS = {"ruby": "::", "cpp": "::", "c": "::", "rust": "::", "php": "\\"}


def is_namespace(given: ClassInput, *, kind: str) -> bool:
    """Whether a class without a docstring has nothing of its own but nested classes."""
    if not given.children or given.fields or given.bases or kind not in _KINDS:
        return False
    return all(child.level is Level.CLASS for child in given.children)


def what_it_holds(given: ClassInput) -> str:
    """A sentence that names the nested classes and what each is for."""
    children = ranked(given.children)
    limit = _ONE_CHARS if len(children) == 1 else _EACH_CHARS
    names = [named(child, given.language, limit=0 if child.is_placeholder else limit) for child in children]
    return sentence(f"{_ONE if len(children) == 1 else _MANY}{enumerate_first(names, _MAX_HELD)}")


def held_names(children: Iterable[ChildText]) -> frozenset[str]:
    """The names of the classes that those of the children hold that hold nothing else, in lower case."""
    told = (first_sentence(child) for child in children if child.level is Level.CLASS)
    return names_in(*(_IN_BRACKETS.sub("", one) for one in told if one.startswith((_ONE, _MANY))))


def named(child: ChildText, language: str, *, limit: int) -> str:
    """A class by its name and, in brackets of at most `limit` characters, what it is for; without them where 0.

    Of one that only holds another class, that class: `Rack::Runtime`.
    """
    name, text = bare_name(child), first_sentence(child)
    if text.startswith(_ONE):
        held, _, purpose = text.removeprefix(_ONE).rstrip(".").partition(" (")
        name = f"{name}{_JOINTS.get(language, '.')}{held}"
        return f"{name} ({clip(purpose.removesuffix(')'), limit)})" if limit and purpose else name
    if limit == 0:
        return name
    if text.startswith(_MANY):
        return f"{name}, which {text[0].lower()}{text[1:].rstrip('.')}"
    return f"{name} ({gist(child, limit)})"
