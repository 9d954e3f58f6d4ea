"""Which writer a document gets, what it is shown, and its text.

A writer's name holds its version: a new version is a new writer, so every text
of the old one is written again (cause `settings`).
"""

from collections.abc import Sequence
from dataclasses import asdict, replace

from codesum_pipeline.model.documents import ChildPair, PurposeSource, WrittenBy, WrittenText
from codesum_pipeline.model.guard import FailureGuard
from codesum_pipeline.model.hashing import canonical_json, sha1_hex, summary_hash
from codesum_pipeline.parsing.symbols import PARSER_VERSION
from codesum_pipeline.summaries.decide import RequiredDocument
from codesum_pipeline.summaries.documentation.plain import clip, printable
from codesum_pipeline.summaries.extractive.composing import EXTRACTIVE_VERSION, ExtractiveText
from codesum_pipeline.summaries.extractive.functions import write_function
from codesum_pipeline.summaries.extractive.text_files import write_text_file
from codesum_pipeline.summaries.extractive.upper import write_class, write_file, write_module
from codesum_pipeline.summaries.inputs import (
    ChildHead,
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
    placeholder_text,
)

# What a function's writer states are facts that the parser read off its canonical source.
EXTRACTIVE = f"extractive/{EXTRACTIVE_VERSION}.{sha1_hex(PARSER_VERSION)[:8]}"
PLACEHOLDER = f"placeholder/{PLACEHOLDER_VERSION}"
# Of a document whose writer failed: nobody is ever meant to write so, hence the next build tries again.
FAILED = f"{PLACEHOLDER} failed"
_LONGEST_NAME = 100


def written_by(writer: str) -> WrittenBy:
    """Whether a writer's name is that of the placeholder or of the extractive writer."""
    return WrittenBy(writer.partition("/")[0])


def want_function(id_: str, writer: str, source: str) -> RequiredDocument:
    """The hashes of a function: its writer is shown this source, and the id is its key."""
    return RequiredDocument(id_, writer, sha1_hex(source), (), summary_hash(writer, source))


def shown_source(shown: FunctionInput) -> str:
    """What a function's text is made from: its canonical source.

    Where that does not parse, what was read off it counts too: `a * * b` and
    `a ** b` then have the same canonical source and may give other facts.
    """
    if not shown.has_syntax_errors:
        return shown.canonical_source
    return canonical_json([shown.canonical_source, asdict(replace(shown, id="", canonical_source=""))])


def want_upper(head: UpperInput, children: Sequence[ChildHead]) -> RequiredDocument:
    """The hashes of a class, file or module: shown metadata, and each child's name and text."""
    writer = PLACEHOLDER if is_empty(head, children) else EXTRACTIVE
    metadata = canonical_json(head.metadata())
    shown_pairs = [[child.name, child.level, child.text_hash, child.is_placeholder] for child in children]
    return RequiredDocument(
        id=head.id,
        writer=writer,
        own_hash=sha1_hex(metadata),
        children=tuple(ChildPair(child.id, child.name, child.text_hash) for child in children),
        summary_hash=summary_hash(writer, f"[{canonical_json(shown_pairs)},{metadata}]"),
    )


def want_unless_it_fails(head: UpperInput, children: Sequence[ChildHead], guard: FailureGuard) -> RequiredDocument:
    """As `want_upper`; of a document that it fails on, what is wanted of one that cannot be written."""
    with guard.item(head.id):
        return want_upper(head, children)
    return want_failed(head.id)


def want_failed(id_: str) -> RequiredDocument:
    """The hashes of a document that cannot be written: they are those of its name."""
    return RequiredDocument(id_, FAILED, "", (), summary_hash(FAILED, ""))


def failed_text(id_: str) -> ExtractiveText:
    """What stands in place of a text that cannot be written. Why is no part of it: that may differ from run to run."""
    name = clip(printable(id_.rpartition("/")[2]), _LONGEST_NAME) or "unnamed"
    keywords = tuple(dict.fromkeys((name.lower(), "missing", "text", "failed")))
    text = WrittenText(f"No text could be written for {name}.", "Stands in for a text that failed.", keywords)
    return ExtractiveText(text, PurposeSource.TEMPLATE)


def write(shown: AnyInput, writer: str) -> ExtractiveText:
    """The text that `writer` gives for what it is shown."""
    if written_by(writer) is WrittenBy.PLACEHOLDER:
        return ExtractiveText(placeholder_text(shown), PurposeSource.TEMPLATE)
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
