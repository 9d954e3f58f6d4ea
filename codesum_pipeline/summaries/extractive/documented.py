"""What an author wrote of what something is for: an extractive text would open with those words."""

from codesum_pipeline.summaries.extractive.doc_comments import docstring_of, read_documentation
from codesum_pipeline.summaries.extractive.docstrings import Docstring
from codesum_pipeline.summaries.extractive.files import file_docstring
from codesum_pipeline.summaries.extractive.plain import clip, join_sentences, sentence
from codesum_pipeline.summaries.extractive.prose import read_prose
from codesum_pipeline.summaries.extractive.purpose import purpose_from_docstring
from codesum_pipeline.summaries.extractive.text_files import is_prose
from codesum_pipeline.summaries.inputs import ClassInput, FileInput, ModuleInput, TextFileInput

_MAX_CHARS = 400


def author_opening(given: ClassInput | FileInput | TextFileInput | ModuleInput) -> str:
    """A class's or file's docstring, a folder's README, or a text for readers: the first two sentences; "" for none."""
    match given:
        case ClassInput():
            return _opening(docstring_of(given))
        case FileInput():
            return _opening(file_docstring(given))
        case TextFileInput():
            return _of_prose(given.text) if is_prose(given) else ""
        case ModuleInput():
            return _of_prose(given.readme or "")


def author_opening_of_function(docstring: str | None, language: str, name: str) -> str:
    """The first two sentences of what documents a function; "" where that says nothing."""
    return _opening(read_documentation(docstring, language, name)) if docstring else ""


def _opening(doc: Docstring) -> str:
    told = purpose_from_docstring(doc)
    return _joined(told[0], *doc.sentences[told[1] : 2]) if told else ""


def _of_prose(text: str) -> str:
    prose = read_prose(text)
    return _joined(*([prose.title] if prose.title else []), *prose.sentences[:2])


def _joined(*sentences: str) -> str:
    return join_sentences([clip(sentence(one), _MAX_CHARS) for one in sentences], _MAX_CHARS)
