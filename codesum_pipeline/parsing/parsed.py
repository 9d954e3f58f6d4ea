"""What a parser gives for one file."""

from dataclasses import dataclass

from codesum_pipeline.model.hashing import HashPolicy, sha1_hex, sha256_hex
from codesum_pipeline.model.symbols import FileFacts, Symbol

# What a file without anything to resolve says to the graph.
NO_REFERENCES = "{}"


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file's facts and its symbols in source order."""

    facts: FileFacts
    symbols: tuple[Symbol, ...]


def content_hash(policy: HashPolicy, canonical_source: str, raw: bytes) -> str:
    """The hash that decides whether a text is written again."""
    return sha256_hex(raw) if policy is HashPolicy.RAW else sha1_hex(canonical_source)


def count_lines(source: bytes) -> int:
    """Lines as an editor counts them: a last line need not be ended."""
    return source.count(b"\n") + (not source.endswith(b"\n") and source != b"")
