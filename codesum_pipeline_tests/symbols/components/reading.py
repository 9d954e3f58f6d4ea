"""One component read alone."""

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.symbols.parsing.parsers import parse_file
from codesum_pipeline.symbols.parsing.text import ParsedFile


def read_component(path: str, source: str | bytes) -> ParsedFile:
    data = source.encode() if isinstance(source, str) else source
    return parse_file(path, path.rpartition(".")[2], data, blob="", hash_policy=HashPolicy.CANONICAL)


def names_of(parsed: ParsedFile) -> list[tuple[str, int, int]]:
    """The qualified name and the lines of each symbol."""
    return [(one.qualified_name, one.start_line, one.end_line) for one in parsed.symbols]


def fields_of(parsed: ParsedFile) -> list[str]:
    """The fields of the component."""
    return [field.text for field in parsed.symbols[0].facts.fields]
