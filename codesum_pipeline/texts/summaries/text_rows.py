"""A written text as a row of its level's table: the stamp says when and in which run, and changes only where the text
does."""

from collections.abc import Sequence

import pyarrow as pa
from msgspec import Struct

from codesum_pipeline.evidence.author_texts.plain_sentences import clip_text, make_printable
from codesum_pipeline.evidence.extractive.composing import ExtractiveText
from codesum_pipeline.foundation.data_model.document import Level, PurposeSource, TextRow, WrittenBy, WrittenText
from codesum_pipeline.foundation.data_model.file import Snapshot
from codesum_pipeline.foundation.data_model.guard import FailureGuard, work_in_halves
from codesum_pipeline.foundation.store.rows import to_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.summaries.decide import RequiredDocument, Rewrite, kind_of_writer
from codesum_pipeline.texts.summaries.wanted_texts import want_failed

_LONGEST_NAME = 100


def failed_text(id_: str) -> ExtractiveText:
    """The text of a document that cannot be written. It leaves out the reason, which may differ from run to run."""
    name = clip_text(make_printable(id_.rpartition("/")[2]), _LONGEST_NAME) or "unnamed"
    keywords = tuple(dict.fromkeys((name.lower(), "missing", "text", "failed")))
    text = WrittenText(f"No text could be written for {name}.", "Stands in for a text that failed.", keywords)
    return ExtractiveText(text, PurposeSource.TEMPLATE)


class Stamp(Struct, frozen=True):
    """The provenance of what one run writes at one level."""

    level: Level
    run_id: str
    commit: str
    written_at: str

    @classmethod
    def of(cls, workspace: Workspace, level: Level) -> "Stamp":
        (snapshot,) = workspace.tables.read_rows("snapshot", workspace.key, Snapshot)
        return cls(level, workspace.run_id, snapshot.commit, workspace.timestamp())

    def make_row(
        self,
        written: ExtractiveText,
        wanted: RequiredDocument,
        rewrite: Rewrite,
        before: TextRow | None,
        *,
        cost_usd: float = 0.0,
    ) -> TextRow:
        """A written text as a row: provenance changes only where the text does."""
        text_hash = written.text.text_hash
        same = before if before is not None and before.text_hash == text_hash else None
        return TextRow(
            id=wanted.id,
            level=self.level,
            writer=wanted.writer,
            written_by=kind_of_writer(wanted.writer),
            model=None,
            prompt_version=None,
            parameters=None,
            written_with=None,
            gate=None,
            failure=None,
            own_hash=wanted.own_hash,
            children=wanted.children,
            summary_hash=wanted.summary_hash,
            text=written.text,
            text_hash=text_hash,
            purpose_source=written.purpose_source,
            cause=same.cause if same else rewrite.cause,
            cause_ids=same.cause_ids if same else rewrite.cause_ids,
            run_id=same.run_id if same else self.run_id,
            commit=same.commit if same else self.commit,
            written_at=same.written_at if same else self.written_at,
            cost_usd=same.cost_usd if same else cost_usd,
            shown_hash=written.text.shown_hash if kind_of_writer(wanted.writer) is WrittenBy.EXTRACTIVE else None,
        )

    def make_row_or_failed(
        self,
        text: ExtractiveText | None,
        wanted: RequiredDocument,
        rewrite: Rewrite,
        before: TextRow | None,
        guard: FailureGuard,
    ) -> TextRow:
        """The row of a text; that of a failed one where there is none."""
        if text:
            with guard.item(wanted.id):
                return self.make_row(text, wanted, rewrite, before)
        return self._failed(rewrite, before)

    def make_table(self, rows: Sequence[TextRow], guard: FailureGuard) -> tuple[Sequence[TextRow], pa.Table]:
        """The rows and their table; a row that no table can hold is replaced by that of a failed text."""
        parts = list(work_in_halves(rows, _table, guard=guard, name=lambda row: row.id))
        stored = {row.id for some, _ in parts for row in some}
        if len(parts) == 1 and len(stored) == len(rows):
            return rows, parts[0][1]
        whys = (Rewrite(row.id, row.cause, row.cause_ids) for row in rows)
        rows = [row if row.id in stored else self._failed(why, None) for row, why in zip(rows, whys, strict=True)]
        return rows, _table(rows)

    def _failed(self, rewrite: Rewrite, before: TextRow | None) -> TextRow:
        return self.make_row(failed_text(rewrite.id), want_failed(rewrite.id), rewrite, before)


def _table(rows: Sequence[TextRow]) -> pa.Table:
    return to_table(rows, TextRow)
