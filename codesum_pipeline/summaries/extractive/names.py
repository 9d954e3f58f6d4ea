"""The names that a text may say: the document's own. Every other name of code becomes words.

A text must stay right when a caller or callee is renamed. Only the graph knows which names are neighbours, and a
text must not depend on the graph; so every name that is not the document's own is written as words.
"""

import re
from collections.abc import Collection, Iterable

from codesum_pipeline.llm.leaks import code_names, is_foreign_name, looks_like_code, may_have_code_names, names_in
from codesum_pipeline.summaries.extractive.words import name_words, spoken
from codesum_pipeline.summaries.inputs import ClassInput, FileInput, FunctionInput, ModuleInput

RECEIVERS = ("self", "cls", "this")


def function_names(
    *, qualified_name: str, signature: str, parameters: Iterable[str], attributes: Iterable[str]
) -> frozenset[str]:
    """The own names of a function; `attributes` are those of its object that it uses and does not call."""
    return with_words(names_in(qualified_name, signature, *parameters, *attributes), qualified_name)


def own_names(given: FunctionInput | ClassInput | FileInput | ModuleInput) -> frozenset[str]:
    """The own names of a document. Words of its docstring or README are none of them."""
    match given:
        case FunctionInput():
            return function_names(
                qualified_name=given.qualified_name,
                signature=given.signature,
                parameters=[one.name for one in given.facts.parameters],
                attributes=given.facts.attributes,
            )
        case ClassInput():
            said = (given.qualified_name, given.signature, *given.bases, *given.fields)
        case FileInput():
            shown = (*(given.exports or ()), *(one.name for one in given.reexports))
            parts = [*_parts(given)]
            found = file_names(given.id, given.imports, given.globals, shown) | names_in(*parts)
            return with_words(found, given.id, *given.imports, *given.globals, *parts)
        case ModuleInput():
            said = (given.id, given.name)
    told = [*said, *_parts(given)]
    return with_words(names_in(*told), *told)


def with_words(names: frozenset[str], *own: str) -> frozenset[str]:
    """The names, and of these own ones the words with a number: `i128` of `test_i128`."""
    return names.union(word for name in own for word in name_words(name) if not word.isalpha())


def file_names(path: str, imports: Iterable[str], constants: Iterable[str], exports: Iterable[str]) -> frozenset[str]:
    """Of a parsed file, its definitions apart. Of dotted imports the packages count, and all that an entry of a
    package passes on."""
    found = [name.lstrip(".") for name in imports]
    passed_on = found if path.rpartition("/")[2] == "__init__.py" else [name.partition(".")[0] for name in found]
    return names_in(path, *passed_on, *constants, *exports)


def _parts(given: ClassInput | FileInput | ModuleInput) -> Iterable[str]:
    return (child.name for child in given.children)


_SEPARATOR = re.compile(r"\.|::")
_BESIDE_DIGITS = re.compile(r"(?<=[^\W\d])(?=\d)|(?<=\d)(?=[^\W\d])")


def in_words(text: str, own: Collection[str]) -> str:
    """The text without code names but those in `own` (lower case): `Context.make_path()` as "Context make path"."""
    if not may_have_code_names(text):
        return text
    parts: list[str] = []
    done = 0
    for match in code_names(text):
        if not is_foreign_name(match[0], own):
            continue
        before = text[done : match.start()]
        # The next link of a chain: `entry.file_type().is_dir()`.
        before = " " if before == "." else before
        words = " ".join(filter(None, (_said(part, own) for part in _SEPARATOR.split(match[0].removesuffix("()")))))
        opens = not (text[: match.start()].rstrip(" `'\"“(")) or before.rstrip(" `'\"“(").endswith((".", "!", "?"))
        parts += [before, f"{words[:1].upper()}{words[1:]}" if opens else words]
        done = match.end()
    return "".join([*parts, text[done:]])


def _said(part: str, own: Collection[str]) -> str:
    if not looks_like_code(part) or part.lower() in own:
        return part
    words = spoken(part)
    return " ".join(_BESIDE_DIGITS.sub(" ", word) if looks_like_code(word) else word for word in words.split(" "))
