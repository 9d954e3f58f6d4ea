"""Changes of one document, one after the other, are one change: from its first text to its last."""

from dataclasses import replace

from codesum_pipeline.model.intents import DocumentChange, DocumentState


def joined(earlier: DocumentChange, later: DocumentChange) -> DocumentChange:
    """Two changes of one document as one."""
    was = earlier.renamed_from or later.renamed_from
    return replace(later, before=earlier.before, renamed_from=was if was != later.document_id else None)


def is_undone(change: DocumentChange) -> bool:
    """Whether nothing that a digest could tell is other than before; where it stands and at which commit is no news."""
    return _told(change.before) == _told(change.after)


def _told(state: DocumentState | None) -> DocumentState | None:
    return state and replace(state, commit="", blob=None, start_line=None, end_line=None)
