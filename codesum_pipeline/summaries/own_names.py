"""The names that a document's text may say, since they are its own: its name, parameters, attributes, parts."""

from collections.abc import Iterable

from codesum_pipeline.llm.leaks import names_in
from codesum_pipeline.summaries.extractive.words import name_words
from codesum_pipeline.summaries.inputs import ClassInput, FileInput, FunctionInput, ModuleInput

RECEIVERS = ("self", "cls", "this")


def function_names(
    *, qualified_name: str, signature: str, parameters: Iterable[str], attributes: Iterable[str]
) -> frozenset[str]:
    """Of a function; attributes are those of its own object that it uses and does not call."""
    return with_words(names_in(qualified_name, signature, *parameters, *attributes), qualified_name)


def own_names(given: FunctionInput | ClassInput | FileInput | ModuleInput) -> frozenset[str]:
    """The same of what a writer is shown. Words of a docstring or a README are nobody's own names."""
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
