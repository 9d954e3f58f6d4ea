"""Changes of real files: two commits of a repository, and documents that stand for lines of these."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.standing_question import DocumentChange, DocumentState, Intent, IntentMatch
from codesum_pipeline.notifications.digests.change_sources import RepositorySource
from codesum_pipeline_tests.support.repositories import GitRepo

INTENT = Intent("sessions", "how sessions are signed", threshold=0.3)


@dataclass
class History:
    """A repository whose documents are made by hand, and what is in them by git."""

    repo: GitRepo
    key: str = "shop"

    @classmethod
    def create(cls, folder: Path, key: str = "shop") -> "History":
        return cls(GitRepo.create(folder / key), key)

    @property
    def sources(self) -> dict[str, RepositorySource]:
        return {self.key: RepositorySource(f"acme/{self.key}", self.repo.path / ".git")}

    def commit(self, files: dict[str, str | bytes], message: str = "change") -> str:
        return self.repo.commit_exactly(files, message)

    def state(
        self, commit: str, path: str, name: str = "", lines: tuple[int, int] | None = None, **more: Any
    ) -> DocumentState:
        """A document as it is at a commit: some lines of a file, or all of it."""
        blob = self.repo.git("rev-parse", f"{commit}:{path}").strip()
        text = self.repo.git("cat-file", "blob", blob)
        first, last = lines or (None, None)
        own = "\n".join(text.split("\n")[first - 1 : last]) if first else text
        more = {"summary": "Signs a session.", "start_line": first, "end_line": last, "blob": blob, **more}
        return DocumentState(name or path, path, commit, hash_of([own]), **more)

    def match(
        self, before: DocumentState | None, after: DocumentState | None, *, score: float | None = 0.8, **more: Any
    ) -> IntentMatch:
        state = after or before
        assert state is not None
        is_file = state.name == state.file_path
        id_ = state.file_path if is_file else f"{state.file_path}::{state.name.replace('.', '::')}"
        more = {"level": Level.FILE if is_file else Level.FUNCTION, "language": "python", **more}
        change = DocumentChange(self.key, id_, before=before, after=after, date="2026-11-20T09:00:00Z", **more)
        return IntentMatch(INTENT.name, change, score)
