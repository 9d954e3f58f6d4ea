"""Which parser reads a file, and the one pure function that a worker process needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from codesum_pipeline.model.options import HashPolicy
from codesum_pipeline.parsing.declarations import go, rust
from codesum_pipeline.parsing.declared.declaration import Declaration
from codesum_pipeline.parsing.declared.reader import DeclaredParser
from codesum_pipeline.parsing.parsed import ParsedFile
from codesum_pipeline.parsing.python import parse_python, python_parser
from codesum_pipeline.parsing.text import parse_text, text_parser
from codesum_pipeline.source.decoding import decode_text


class ParseSource(Protocol):
    """Reads one file; a pure function of what it is given."""

    def __call__(self, source: bytes, file_path: str, *, blob: str, hash_policy: HashPolicy) -> ParsedFile: ...


@dataclass(frozen=True, slots=True)
class LanguageParser:
    """How one language is read; `version` is everything besides a file's bytes that decides the result."""

    parse: ParseSource
    version: Callable[[HashPolicy], str]


def _parser(declaration: Declaration) -> LanguageParser:
    parser = DeclaredParser(declaration)
    return LanguageParser(parser.parse, parser.version)


DECLARATIONS: tuple[Declaration, ...] = (go.DECLARATION, rust.DECLARATION)
PARSERS: Mapping[str, LanguageParser] = {
    "python": LanguageParser(parse_python, python_parser),
    **{declaration.spec.name: _parser(declaration) for declaration in DECLARATIONS},
}


def parser_version(language: str, hash_policy: HashPolicy) -> str:
    """What `FileFacts.parser` is of a file of this language that is parsed now."""
    parser = PARSERS.get(language)
    return parser.version(hash_policy) if parser else text_parser(hash_policy)


def parse_file(path: str, language: str, data: bytes, *, blob: str, hash_policy: HashPolicy) -> ParsedFile:
    """What is in one file of the snapshot; raises `SkippedFile` where its bytes are no text."""
    source = decode_text(data, language).encode()
    if parser := PARSERS.get(language):
        return parser.parse(source, path, blob=blob, hash_policy=hash_policy)
    return parse_text(source, path, language=language, blob=blob, hash_policy=hash_policy)
