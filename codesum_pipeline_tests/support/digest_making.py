"""Changes, matches and digests that tests are about."""

from typing import Any

from codesum_pipeline.foundation.data_model.digest_record import DigestCitation, SummaryResult
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.standing_question import DocumentChange, DocumentState, IntentMatch
from codesum_pipeline.notifications.digests.digest_rows import DigestKind, DigestRow, DigestState, DigestWriter

INTENT = "how we authenticate"
COMMITS = ("a" * 40, "b" * 40, "c" * 40)


def state(summary: str, *, commit: str = COMMITS[0], **other: Any) -> DocumentState:
    """A function whose text is `summary`."""
    return DocumentState(
        **{
            "name": "sign",
            "file_path": "src/auth.py",
            "commit": commit,
            "content_hash": f"content of {summary}",
            "summary": summary,
            "start_line": 3,
            "end_line": 9,
            **other,
        }
    )


def change(
    before: str | None,
    after: str | None,
    *,
    document: str = "src/auth.py::sign",
    repository: str = "shop",
    **other: Any,
) -> DocumentChange:
    """A function's text before and after."""
    return DocumentChange(
        **{
            "repository": repository,
            "document_id": document,
            "level": Level.FUNCTION,
            "language": "python",
            "before": state(before) if before is not None else None,
            "after": state(after, commit=COMMITS[1]) if after is not None else None,
            "date": "2026-11-20T09:00:00Z",
            **other,
        }
    )


def match(
    before: str | None, after: str | None, *, intent: str = INTENT, score: float | None = 0.5, **of: Any
) -> IntentMatch:
    """A change that concerns an intent."""
    return IntentMatch(intent, change(before, after, **of), score)


def digest(id_: str = "d1", *, intent: str = INTENT, **other: Any) -> DigestRow:
    """A digest of one citation."""
    cited = DigestCitation("src/auth.py::sign", "sign", f"src/auth.py#L3-9@{COMMITS[1]}", "shop", None, "shop", 0.5)
    return DigestRow(
        **{
            "id": id_,
            "kind": DigestKind.DIGEST,
            "intent_name": intent,
            "repositories": ("shop",),
            "created_at": "2026-11-23T12:00:00.000Z",
            "from_at": "2026-11-22T12:00:00.000Z",
            "to_at": "2026-11-23T12:00:00.000Z",
            "language": "English",
            "result": SummaryResult(intent, "Signing changed [1].", (cited,)),
            "written_by": DigestWriter.PLAIN,
            "state": DigestState.WRITTEN,
            "channels": ("team",),
            "links": (None,),
            "matches": 1,
            "items": 1,
            **other,
        }
    )
