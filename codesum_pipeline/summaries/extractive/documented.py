"""What an author wrote of what something is for: an extractive text would open with those words."""

from codesum_pipeline.summaries.documentation.doc_comments import docstring_of, read_documentation
from codesum_pipeline.summaries.documentation.opening import joined, opening_of
from codesum_pipeline.summaries.documentation.prose import read_prose
from codesum_pipeline.summaries.extractive.text_files import is_prose
from codesum_pipeline.summaries.inputs import ClassInput, FileInput, ModuleInput, TextFileInput

_MAX_CHARS = 400
_MAX_SENTENCES = 2


def author_opening(given: ClassInput | FileInput | TextFileInput | ModuleInput) -> str:
    """A class's or file's docstring, a folder's README, or a text for readers: the first sentences; "" for none."""
    match given:
        case ClassInput() | FileInput():
            return opening_of(docstring_of(given), most=_MAX_SENTENCES)[0]
        case TextFileInput():
            return _of_prose(given.text) if is_prose(given) else ""
        case ModuleInput():
            return _of_prose(given.readme or "")


def author_opening_of_function(docstring: str | None, language: str, name: str) -> str:
    """The first sentences of what documents a function; "" where that says nothing."""
    if not docstring:
        return ""
    return opening_of(read_documentation(docstring, language, name), most=_MAX_SENTENCES)[0]


def _of_prose(text: str) -> str:
    return joined(*read_prose(text).opening, limit=_MAX_CHARS)
