"""Any file of no parsed language: its text, and nothing that needs a grammar."""

from codesum_pipeline.model.options import HashPolicy
from codesum_pipeline.model.symbols import FileFacts
from codesum_pipeline.parsing.parsed import NO_REFERENCES, ParsedFile, content_hash, count_lines
from codesum_pipeline.parsing.project_files import is_project_file, project_references

TEXT_VERSION = "text/3"


def text_parser(hash_policy: HashPolicy) -> str:
    """Everything besides its bytes that decides what is read from a text file."""
    return f"{TEXT_VERSION} {hash_policy}"


def parse_text(source: bytes, file_path: str, *, language: str, blob: str, hash_policy: HashPolicy) -> ParsedFile:
    r"""A file document's facts; `source` is UTF-8 with `\n` line ends."""
    text = source.decode()
    facts = FileFacts(
        file_path=file_path,
        blob=blob,
        language=language,
        parser=text_parser(hash_policy),
        content_hash=content_hash(hash_policy, text, source),
        source=text,
        lines=count_lines(source),
        docstring=None,
        imports=(),
        globals=(),
        exports=None,
        references=project_references(text) if is_project_file(file_path) else NO_REFERENCES,
        syntax_errors=0,
    )
    return ParsedFile(facts, ())
