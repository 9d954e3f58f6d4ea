"""Which text each document needs: the name of its writer, and the hashes of what that writer is shown.

A writer's name holds its version: a new version is a new writer, so every text of the old one is written again (cause
`settings`).
"""

from collections.abc import Sequence

from msgspec import to_builtins
from msgspec.structs import replace

from codesum_pipeline.evidence.extractive.composing import EXTRACTIVE_VERSION
from codesum_pipeline.evidence.extractive.data_statements import YAML_VERSION
from codesum_pipeline.evidence.inputs import ChildText, FunctionInput, Holder, UpperInput, metadata_of
from codesum_pipeline.foundation.data_model.document import ChildPair
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.foundation.data_model.hashing import canonical_json, sha1_hex, summary_hash
from codesum_pipeline.symbols.parsing.symbols_step import PARSER_VERSION
from codesum_pipeline.texts.summaries.decide import RequiredDocument
from codesum_pipeline.texts.summaries.placeholders import PLACEHOLDER_VERSION, is_empty

# What a writer states is what the parsers read: of a function's canonical source, or of a file of YAML.
EXTRACTIVE = f"extractive/{EXTRACTIVE_VERSION}.{sha1_hex(f'{PARSER_VERSION}; {YAML_VERSION}')[:8]}"
PLACEHOLDER = f"placeholder/{PLACEHOLDER_VERSION}"
# The writer of a text that failed. No document wants this writer, so the next build tries again.
FAILED = f"{PLACEHOLDER} failed"


# What a function's opening comment is called among what its writer is shown besides the source.
_COMMENT = "opening comment"


def want_function(
    id_: str, writer: str, source: str, *, comment: str | None = None, holder: Holder | None = None
) -> RequiredDocument:
    """The hashes of a function; the id is its key. Its free writer is shown this source, the comment that opens the
    body, and its holder's words."""
    pairs = []
    if writer == EXTRACTIVE and comment:
        pairs.append(ChildPair(id_, _COMMENT, sha1_hex(comment)))
    if writer == EXTRACTIVE and holder:
        pairs.append(ChildPair(holder.id, holder.name, sha1_hex(canonical_json([holder.name, holder.words]))))
    shown = "\n".join((*(pair.text_hash for pair in pairs), source))
    return RequiredDocument(id_, writer, sha1_hex(source), tuple(pairs), summary_hash(writer, shown))


def shown_source(function: FunctionInput) -> str:
    """What a function's text is made from: its canonical source.

    Where that does not parse, what was read off it counts too: `a * * b` and
    `a ** b` then have the same canonical source and may give other facts.
    """
    if not function.has_syntax_errors:
        return function.canonical_source
    shown = replace(function, id="", canonical_source="", opening_comment=None)
    return canonical_json([function.canonical_source, to_builtins(shown)])


def want_upper(head: UpperInput, children: Sequence[ChildText]) -> RequiredDocument:
    """The hashes of a class, file or module: shown metadata, and each child's name and text."""
    writer = PLACEHOLDER if is_empty(head, children) else EXTRACTIVE
    shown_metadata = canonical_json(metadata_of(head))
    shown_pairs = [[child.name, child.level, child.text_hash, child.is_placeholder] for child in children]
    return RequiredDocument(
        id=head.id,
        writer=writer,
        own_hash=sha1_hex(shown_metadata),
        children=tuple(ChildPair(child.id, child.name, child.text_hash) for child in children),
        summary_hash=summary_hash(writer, f"[{canonical_json(shown_pairs)},{shown_metadata}]"),
    )


def want_unless_it_fails(head: UpperInput, children: Sequence[ChildText], guard: FailureGuard) -> RequiredDocument:
    """As `want_upper`; of a document that it fails on, what is wanted of one that cannot be written."""
    with guard.item(head.id):
        return want_upper(head, children)
    return want_failed(head.id)


def want_failed(id_: str) -> RequiredDocument:
    """The hashes of a document that cannot be written."""
    return RequiredDocument(id_, FAILED, "", (), summary_hash(FAILED, ""))
