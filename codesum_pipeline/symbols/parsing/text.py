"""What a parser gives for one file, and that for a file of no parsed language: its text.

Configuration files that say how imports are resolved pass their text on to the graph.
"""

import json

from msgspec import Struct

from codesum_pipeline.foundation.data_model.hashing import HashPolicy, sha1_hex, sha256_hex
from codesum_pipeline.foundation.data_model.symbol import FileFacts, Symbol
from codesum_pipeline.foundation.language_facts.file_languages import TEXT
from codesum_pipeline.foundation.language_facts.language_profiles import is_project_file
from codesum_pipeline.source.files.notebooks import NOTEBOOKS_VERSION
from codesum_pipeline.source.masking.secrets import SECRETS_VERSION

# What a file without anything to resolve says to the graph.
NO_REFERENCES = "{}"
TEXT_VERSION = "text/4"
# Raise it where the parsers read something else from the same file: all files of the languages that they know are read
# again. What one language alone reads is in the `version` of its layout.
READING_VERSION = "reading/2"


class ParsedFile(Struct, frozen=True):
    """A file's facts and its symbols in source order."""

    facts: FileFacts
    symbols: tuple[Symbol, ...]


def content_hash(policy: HashPolicy, canonical_source: str, raw: bytes) -> str:
    """The hash that decides whether a text is written again."""
    return sha256_hex(raw) if policy is HashPolicy.RAW else sha1_hex(canonical_source)


def count_lines(source: bytes) -> int:
    """Lines as an editor counts them: a last line need not be ended."""
    return source.count(b"\n") + (not source.endswith(b"\n") and source != b"")


def text_parser(hash_policy: HashPolicy) -> str:
    """Everything besides its bytes that decides what is read from a text file."""
    return f"{TEXT_VERSION} {NOTEBOOKS_VERSION} {SECRETS_VERSION} {hash_policy}"


def reading_version(hash_policy: HashPolicy, steps_per_byte: int) -> str:
    """What decides what is read from a file of any language that has a parser, besides its bytes."""
    return f"{READING_VERSION} {steps_per_byte} {NOTEBOOKS_VERSION} {SECRETS_VERSION} {hash_policy}"


def parse_text(
    source: bytes, file_path: str, *, language: str, blob: str, hash_policy: HashPolicy, parser: str = ""
) -> ParsedFile:
    r"""A file document's facts; `source` is UTF-8 with `\n` line ends. With a parser given, nothing is passed on to the
    graph."""
    text = source.decode()
    is_project = not parser and is_project_file(file_path)
    facts = FileFacts(
        file_path=file_path,
        blob=blob,
        language=language,
        parser=parser or text_parser(hash_policy),
        content_hash=content_hash(hash_policy, text, source),
        source=text,
        lines=count_lines(source),
        docstring=None,
        imports=(),
        globals=(),
        exports=None,
        references=project_references(text) if is_project else NO_REFERENCES,
        syntax_errors=0,
    )
    return ParsedFile(facts, ())


def text_of_failed(source: bytes, file_path: str, *, blob: str, hash_policy: HashPolicy) -> ParsedFile:
    """A file that its parser failed on, as a text that says nothing to the graph.

    It has a parser that no file is to be read with, so that the next build does not carry its rows over.
    """
    parser = f"{text_parser(hash_policy)} failed"
    return parse_text(source, file_path, language=TEXT, blob=blob, hash_policy=hash_policy, parser=parser)


def project_references(text: str) -> str:
    """What a project file says to the graph."""
    return json.dumps({"text": text}, ensure_ascii=False, separators=(",", ":"))


def project_text(references: str) -> str:
    """The text of a project file, from what it says to the graph."""
    return str(json.loads(references)["text"])
