"""Digests of a month, as they were told."""

from codesum_pipeline.foundation.data_model.digest_record import DigestCitation, SummaryResult
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.standing_question import DocumentChange, DocumentState
from codesum_pipeline.notifications.digests.digest_rows import DigestRow
from codesum_pipeline_tests.support.digest_making import COMMITS, INTENT, digest

OLD, NEW, _ = COMMITS


def cited(document_id: str, *, line: int = 1, commit: str = NEW, repository: str = "shop") -> DigestCitation:
    path, _, name = document_id.partition("::")
    return DigestCitation(
        document_id, name or path, f"{path}#L{line}@{commit}", repository, "2026-10-01T00:00:00Z", repository, 0.8
    )


def row(id_: str, day: str, text: str, *citations: DigestCitation, at: str = "07:00:00.000Z") -> DigestRow:
    moment = f"{day}T{at}"
    return digest(
        id_,
        created_at=moment,
        from_at=moment,
        to_at=moment,
        repositories=tuple(sorted({each.repository for each in citations})) or ("shop",),
        result=SummaryResult(INTENT, text, citations),
        links=(None,) * len(citations),
    )


def state(document_id: str, text: str, *, commit: str = NEW) -> DocumentState:
    path, _, name = document_id.partition("::")
    return DocumentState(name or path, path, commit, content_hash=text, summary=text, start_line=3, end_line=9)


def change(document_id: str, before: str | None, after: str | None, *, repository: str = "shop") -> DocumentChange:
    return DocumentChange(
        repository=repository,
        document_id=document_id,
        level=Level.FUNCTION,
        language="python",
        before=None if before is None else state(document_id, before, commit=OLD),
        after=None if after is None else state(document_id, after),
        date="2026-10-01T00:00:00Z",
    )
