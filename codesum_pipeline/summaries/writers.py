"""Which writer a document gets, what it is shown, and its text.

A writer's name holds its version: a new version is a new writer, so every text
of the old one is written again (cause `settings`).
"""

from collections.abc import Sequence
from dataclasses import asdict, replace

from codesum_pipeline.model.documents import ChildPair, PurposeSource, WrittenBy
from codesum_pipeline.model.hashing import canonical_json, hash_of, sha1_hex, summary_hash
from codesum_pipeline.model.options import FilterOptions
from codesum_pipeline.parsing.symbols import PARSER_VERSION
from codesum_pipeline.summaries.decide import Wanted
from codesum_pipeline.summaries.extractive import (
    EXTRACTIVE_VERSION,
    Written,
    write_class,
    write_file,
    write_function,
    write_module,
    write_text_file,
)
from codesum_pipeline.summaries.inputs import (
    ChildText,
    ClassInput,
    FileInput,
    FunctionInput,
    ModuleInput,
    TextFileInput,
)
from codesum_pipeline.summaries.placeholder import (
    PLACEHOLDER_VERSION,
    AnyInput,
    UpperInput,
    is_empty,
    is_trivial,
    placeholder_text,
)

# What a function's writer states are facts that the parser read off its canonical source.
EXTRACTIVE = f"extractive/{EXTRACTIVE_VERSION}.{sha1_hex(PARSER_VERSION)[:8]}"
PLACEHOLDER = f"placeholder/{PLACEHOLDER_VERSION}"


def written_by(writer: str) -> WrittenBy:
    """Whether a writer's name is that of the placeholder or of the extractive writer."""
    return WrittenBy(writer.partition("/")[0])


def want_function(shown: FunctionInput, options: FilterOptions) -> Wanted:
    """The hashes of a function: its writer is shown the canonical source, and the id is its key.

    Where the source does not parse, what was read off it counts too: `a * * b`
    and `a ** b` then have the same canonical source and may give other facts.
    """
    writer = PLACEHOLDER if is_trivial(shown, options) else EXTRACTIVE
    source = shown.canonical_source
    if shown.has_syntax_errors:
        source = canonical_json([source, asdict(replace(shown, id="", canonical_source=""))])
    return Wanted(shown.id, writer, sha1_hex(source), (), summary_hash(writer, source))


def want_upper(shown: UpperInput) -> Wanted:
    """The hashes of a class, file or module: shown metadata, and each child's name and text."""
    writer = PLACEHOLDER if is_empty(shown) else EXTRACTIVE
    metadata = shown.metadata()
    children = children_of(shown)
    pairs = tuple(ChildPair(child.id, child.name, child.text.text_hash) for child in children)
    shown_pairs = [[child.name, child.level, child.text.text_hash, child.is_placeholder] for child in children]
    return Wanted(
        id=shown.id,
        writer=writer,
        own_hash=hash_of(metadata),
        children=pairs,
        summary_hash=summary_hash(writer, canonical_json([shown_pairs, metadata])),
    )


def children_of(shown: AnyInput) -> Sequence[ChildText]:
    """The children that a writer is shown."""
    return () if isinstance(shown, FunctionInput | TextFileInput) else shown.children


def write(shown: AnyInput, writer: str) -> Written:
    """The text that `writer` gives for what it is shown."""
    if written_by(writer) is WrittenBy.PLACEHOLDER:
        return Written(placeholder_text(shown), PurposeSource.TEMPLATE)
    match shown:
        case FunctionInput():
            return write_function(shown)
        case ClassInput():
            return write_class(shown)
        case FileInput():
            return write_file(shown)
        case TextFileInput():
            return write_text_file(shown)
        case ModuleInput():
            return write_module(shown)
