"""The source files of documents, read from the repositories' mirrors at the published commits.

For a home in a bucket, each machine has mirrors of its own, made when a reader needs sources.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from codesum_pipeline.model.cancellation import checkpoint
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import CodesumError, RepositoryUnavailable, SkippedFile
from codesum_pipeline.retrieval.hits import Excerpt, Hit, best_lines
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.source.file_text import read_file, read_files
from codesum_pipeline.source.git import try_git
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.locks import exclusive
from codesum_pipeline.store.opened_copies import reading_copy
from codesum_pipeline.tools.catalogue import IndexCatalogue, Tell

# Commits that this process looked for, found or not, so that it waits for a host only once.
_looked_for: set[tuple[Path, str]] = set()


def bring_mirror(catalogue: IndexCatalogue, index: PublishedIndex, *, tell: Tell) -> None:
    """Bring the commit of a published index into this machine's mirror, or note why it cannot be fetched.

    In a home that is a folder, builds do that.
    """
    layout, commit = catalogue.layout, index.commit
    git_dir = layout.mirror(index.repo)
    if reading_copy(layout.home) is None or index.home is not None or (git_dir, commit) in _looked_for:
        return
    # What builds fetch with.
    from codesum_pipeline.source.mirror import Mirror

    _looked_for.add((git_dir, commit))
    timeout_s = catalogue.settings.git_timeout_s
    with exclusive(git_dir.with_name(f".{index.repo}.lock")):
        if git_dir.is_dir() and _has(git_dir, commit, timeout_s=timeout_s):
            return
        try:
            entry = catalogue.registry.get(index.repo)
            Mirror(git_dir, timeout_s).update(entry, offline=catalogue.settings.offline)
        except (CodesumError, OSError) as error:
            tell(f"the sources of {index.repo} are not on this machine, and cannot be fetched: {error}")


def _has(git_dir: Path, commit: str, *, timeout_s: float) -> bool:
    return try_git(["cat-file", "-e", f"{commit}^{{commit}}"], git_dir=git_dir, timeout_s=timeout_s).status == 0


class SourceReader(Struct, frozen=True):
    """Reads each file once, with a note where it cannot be read."""

    layout: HomeLayout
    timeout_s: float
    indexes: Sequence[PublishedIndex]
    tell: Tell
    bring: Callable[[PublishedIndex], None] = lambda _: None
    _texts: dict[tuple[str, str], str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, catalogue: IndexCatalogue, indexes: Sequence[PublishedIndex], *, tell: Tell) -> "SourceReader":
        """The sources of some indexes."""
        timeout_s = catalogue.settings.git_timeout_s
        return cls(catalogue.layout, timeout_s, indexes, tell, lambda index: bring_mirror(catalogue, index, tell=tell))

    def excerpt(self, hit: Hit, query: str, *, size: int) -> Excerpt | None:
        """The lines of a hit that fit best; None for a folder, and for a file that the mirror lacks."""
        if hit.type == Level.MODULE:
            return None
        text = self.text(hit.repo, hit.file_path)
        if text is None:
            return None
        return best_lines(text, query, size=size, start_line=hit.start_line, end_line=hit.end_line)

    def read(self, index: PublishedIndex, paths: Sequence[str]) -> Mapping[str, str]:
        """The texts of those files of an index that its mirror has."""
        checkpoint()
        mirror = self._mirror(index)
        if not mirror.exists():
            return {}
        try:
            texts = read_files(mirror, paths, commit=index.commit, timeout_s=self.timeout_s)
        except RepositoryUnavailable as error:
            self.tell(f"the words of the query were not looked up in the sources of {index.repo}: {error}")
            return {}
        self._texts.update(((index.repo, path), text) for path, text in texts.items())
        return texts

    def read_of(self, indexes: Sequence[PublishedIndex], hits: Sequence[Hit]) -> None:
        """Read the files of some hits together: one process of git for each repository instead of one for each file."""
        for index in indexes:
            paths = {hit.file_path for hit in hits if hit.repo == index.repo and hit.type != Level.MODULE}
            # A work tree has two indexes, each with files of its own.
            missing = sorted(
                path for path in paths if (index.repo, path) not in self._texts and index.row(path) is not None
            )
            if missing:
                self.bring(index)
                self.read(index, missing)

    def text(self, repo: str, path: str) -> str | None:
        """The text of a file; None where the mirror lacks it."""
        if (repo, path) not in self._texts:
            checkpoint()
            text: str | None = None
            index = self._having(repo, path)
            self.bring(index)
            try:
                text = read_file(self._mirror(index), commit=index.commit, path=path, timeout_s=self.timeout_s)
            except (RepositoryUnavailable, SkippedFile) as error:
                self.tell(f"no excerpt of {path} in {repo}: {error}; `codesum index {repo} --force` fetches it anew")
            self._texts[repo, path] = text
        return self._texts[repo, path]

    def _mirror(self, index: PublishedIndex) -> Path:
        layout = self.layout if index.home is None else HomeLayout(index.home)
        return layout.mirror(index.repo)

    def _having(self, repo: str, path: str) -> PublishedIndex:
        """The index of a repository that has a file: the overlay for a file that its work tree changed."""
        ours = [index for index in self.indexes if index.repo == repo]
        return next((index for index in ours if index.row(path) is not None), ours[0])
