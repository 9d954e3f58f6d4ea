"""Any file of no parsed language: its text, and nothing that needs a grammar."""

from codesum_pipeline.model.hashing import HashPolicy
from codesum_pipeline.model.symbols import FileFacts
from codesum_pipeline.parsing.parsed import NO_REFERENCES, ParsedFile, content_hash, count_lines
from codesum_pipeline.parsing.project_files import is_project_file, project_references
from codesum_pipeline.source.languages import TEXT

TEXT_VERSION = "text/3"


def text_parser(hash_policy: HashPolicy) -> str:
    """Everything besides its bytes that decides what is read from a text file."""
    return f"{TEXT_VERSION} {hash_policy}"


def parse_text(source: bytes, file_path: str, *, language: str, blob: str, hash_policy: HashPolicy) -> ParsedFile:
    r"""A file document's facts; `source` is UTF-8 with `\n` line ends."""
    text = source.decode()
    references = project_references(text) if is_project_file(file_path) else NO_REFERENCES
    return _file(source, file_path, language, blob, text_parser(hash_policy), hash_policy, references)


def text_of_failed(source: bytes, file_path: str, *, blob: str, hash_policy: HashPolicy) -> ParsedFile:
    """A file that its parser failed on, as a text that says nothing to the graph.

    It has a parser that no file is to be read with, so that the next build does not carry its rows over.
    """
    return _file(source, file_path, TEXT, blob, f"{text_parser(hash_policy)} failed", hash_policy, NO_REFERENCES)


def _file(
    source: bytes, file_path: str, language: str, blob: str, parser: str, hash_policy: HashPolicy, references: str
) -> ParsedFile:
    text = source.decode()
    facts = FileFacts(
        file_path=file_path,
        blob=blob,
        language=language,
        parser=parser,
        content_hash=content_hash(hash_policy, text, source),
        source=text,
        lines=count_lines(source),
        docstring=None,
        imports=(),
        globals=(),
        exports=None,
        references=references,
        syntax_errors=0,
    )
    return ParsedFile(facts, ())
