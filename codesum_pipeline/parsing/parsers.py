"""Which parser reads a file, and the one pure function that a worker process needs."""

from collections.abc import Mapping
from dataclasses import replace

from codesum_pipeline.languages.registry import declarations
from codesum_pipeline.model.hashing import HashPolicy
from codesum_pipeline.parsing.bounded import ParserGaveUp
from codesum_pipeline.parsing.lost import with_lost_definitions
from codesum_pipeline.parsing.reader import DeclaredParser
from codesum_pipeline.parsing.text import ParsedFile, parse_text, text_parser
from codesum_pipeline.source.decoding import decode_text
from codesum_pipeline.source.origins import stated_origin

PARSERS: Mapping[str, DeclaredParser] = {
    declaration.spec.name: DeclaredParser(declaration) for declaration in declarations()
}


def parser_version(language: str, hash_policy: HashPolicy) -> str:
    """What `FileFacts.parser` is of a file of this language that is parsed now."""
    parser = PARSERS.get(language)
    return parser.version(hash_policy) if parser else text_parser(hash_policy)


def parse_file(path: str, language: str, data: bytes, *, blob: str, hash_policy: HashPolicy) -> ParsedFile:
    """What is in one file of the snapshot; raises `SkippedFile` where its bytes are no text.

    A file that no parser comes to an end with is read as text, and counted as one with an error.
    """
    text = decode_text(data, language)
    source = text.encode()
    parser = PARSERS.get(language)
    if parser is None:
        return parse_text(source, path, language=language, blob=blob, hash_policy=hash_policy)
    try:
        read = parser.parse(source, path, blob=blob, hash_policy=hash_policy)
    except ParserGaveUp:
        as_text = parse_text(source, path, language=language, blob=blob, hash_policy=hash_policy)
        facts = replace(as_text.facts, parser=parser.version(hash_policy), syntax_errors=1)
        read = with_lost_definitions(replace(as_text, facts=facts), parser.declaration, source, None)
    origin = stated_origin(text)
    return replace(read, facts=replace(read.facts, origin=origin)) if origin else read
