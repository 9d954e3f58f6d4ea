"""The sources of documents at the published commits.

They are read from the repositories' mirrors. For a home in a bucket, each machine has mirrors of its own, made when a
reader needs sources.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue, Tell
from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import CodesumError, RepositoryUnavailable, SkippedFile
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.locks import lock_exclusively
from codesum_pipeline.search.retrieval.hits import Excerpt, Hit, best_lines
from codesum_pipeline.search.retrieval.passages import NO_LINES, Passage, TellingLines, find_passage, find_telling
from codesum_pipeline.search.retrieval.published_index import IndexedDocument, PublishedIndex
from codesum_pipeline.search.source_lines.packed_texts import KeptTexts, PackedTexts
from codesum_pipeline.source.files.content import read_file, read_files
from codesum_pipeline.source.git.git import find_object_id
from codesum_pipeline.source.git.locations import named_locations
from codesum_pipeline.source.masking.secrets import mask_secrets

_GB = 1_000_000_000


def bring_mirror(catalogue: IndexCatalogue, index: PublishedIndex, *, tell: Tell) -> None:
    """Bring the commit of a published index into this machine's mirror, or note why it cannot be fetched. In a home
    that is a folder, builds do that."""
    layout, commit = catalogue.layout, index.commit
    git_dir = layout.mirror(index.repo)
    if not layout.files.is_copy or index.home is not None or (git_dir, commit) in catalogue.sought:
        return
    # Importing takes thirty milliseconds, for which answers of homes in folders do not wait.
    from codesum_pipeline.source.files.commit_fetching import bring_commit
    from codesum_pipeline.source.git.mirror import Mirror

    timeout_s = catalogue.settings.git_timeout_s
    with lock_exclusively(git_dir.with_name(f".{index.repo}.lock")):
        # Another thread may have looked for it meanwhile.
        if (git_dir, commit) in catalogue.sought:
            return
        try:
            if not find_object_id(commit, git_dir=git_dir, timeout_s=timeout_s):
                entry = catalogue.registry.get(index.repo)
                named = named_locations(each.location for each in catalogue.registry.entries())
                bring_commit(entry, Mirror(git_dir, timeout_s), catalogue.settings, named=named)
        except (CodesumError, OSError) as error:
            tell(f"the sources of {index.repo} are not on this machine, and cannot be fetched: {error}")
        finally:
            catalogue.sought.add((git_dir, commit))


def open_texts(catalogue: IndexCatalogue, index: PublishedIndex, *, tell: Tell) -> PackedTexts | None:
    """All texts of a published index as its repository has them; None, with a note, where they cannot be read."""
    key = (index.version.digest, index.home)
    if known := catalogue.texts.find(key):
        return known
    bring_mirror(catalogue, index, tell=tell)
    layout = catalogue.layout if index.home is None else HomeLayout(index.home)
    others = () if index.home is None else (catalogue.layout.texts(index.repo),)
    kept = KeptTexts(layout.texts(index.repo), int(catalogue.settings.reading.texts_gb * _GB), others)
    try:
        texts, problem = kept.open(index, layout.mirror(index.repo), timeout_s=catalogue.settings.git_timeout_s)
    except (RepositoryUnavailable, OSError) as error:
        tell(f"{index.repo} was not searched: {error}; `codesum index {index.repo} --force` fetches it anew")
        return None
    if problem:
        tell(f"the texts of {index.repo} cannot be kept and are read anew by each process: {problem}")
    catalogue.texts.keep(key, texts, most=catalogue.settings.reading.open_indexes)
    return texts


class SourceReader(Struct, eq=False):
    """Reads each file once and keeps its text as long as it lives, with a note where a file cannot be read. If it
    `is_masked`, without secrets: their lines stay, so that numbers of lines are the same."""

    catalogue: IndexCatalogue
    indexes: Sequence[PublishedIndex]
    tell: Tell
    is_masked: bool = False
    _texts: dict[tuple[str, str], str | None] = field(default_factory=dict)
    _lines: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def passage(self, hit: Hit, query: str) -> Passage | None:
        """The lines of a long hit that fit best; None for any other, and for a file that the mirror lacks."""
        text = self.text(hit.repo, hit.file_path) if hit.may_be_long else None
        if text is None:
            return None
        found = find_passage(text, query, start_line=hit.start_line, end_line=hit.end_line, line=hit.line)
        place = found and self._index_of(hit.repo, hit.file_path).cell_at(hit.file_path, found.start_line)
        return replace(found, **to_builtins(place)) if found and place else found

    def telling_lines(
        self, hit: Hit, query: str, *, most: int, within: Passage | None, by_words: bool = False
    ) -> TellingLines:
        """The lines of a hit that tell why it fits: of its passage, else of a definition without its first line, or of
        a file. What its summary says is left out. A folder has none, nor has a file that the mirror lacks."""
        text = None if hit.type == Level.MODULE else self.text(hit.repo, hit.file_path)
        if text is None:
            return NO_LINES
        lines = self.lines(hit.repo, hit.file_path)
        first, last = (hit.start_line or 0) + 1, hit.end_line or len(lines)
        if within is not None:
            first, last = within.start_line, within.end_line
        return find_telling(
            lines[first - 1 : last],
            query,
            most=most,
            start_line=first,
            line=hit.line,
            known=hit.summary,
            by_words=by_words,
        )

    def excerpt(self, hit: Hit, query: str, *, size: int, within: Passage | None = None) -> Excerpt | None:
        """The lines of a hit, or of its passage, that fit best; None for a folder, and for a file that the mirror
        lacks."""
        text = None if hit.type == Level.MODULE else self.text(hit.repo, hit.file_path)
        if text is None:
            return None
        first, last = hit.start_line, hit.end_line
        if within is not None:
            first, last = within.start_line, max(within.end_line, within.start_line + size - 1)
        return best_lines(text, query, size=size, start_line=first, end_line=last)

    def read(self, index: PublishedIndex, paths: Sequence[str]) -> Mapping[str, str]:
        """The texts of those files of an index that its mirror has."""
        stop_if_cancelled()
        mirror = self._mirror(index)
        if not mirror.exists():
            return {}
        try:
            texts = read_files(
                mirror,
                paths,
                commit=index.commit,
                timeout_s=self.catalogue.settings.git_timeout_s,
                encodings=index.version.encodings,
            )
        except RepositoryUnavailable as error:
            self.tell(f"the words of the query were not looked up in the sources of {index.repo}: {error}")
            return {}
        found = {path: self._shown(text) for path, text in texts.items()}
        self._texts.update(((index.repo, path), text) for path, text in found.items())
        return found

    def _shown(self, text: str) -> str:
        return mask_secrets(text).text if self.is_masked else text

    def texts(self, index: PublishedIndex, paths: Sequence[str]) -> Mapping[str, str]:
        """The texts of some files of an index, of which only those are read that were not before."""
        self.read_missing(index, paths)
        return {path: text for path in paths if (text := self._texts.get((index.repo, path))) is not None}

    def read_of(self, indexes: Sequence[PublishedIndex], hits: Sequence[Hit]) -> None:
        """Read the files of some hits together: one process of git for each repository instead of one for each file."""
        for index in indexes:
            paths = {hit.file_path for hit in hits if hit.repo == index.repo and hit.type != Level.MODULE}
            self.read_missing(index, paths)

    def read_missing(self, index: PublishedIndex, paths: Collection[str]) -> None:
        """Read those of some files that the index has and that are not read yet, by one process of git."""
        # A work tree has two indexes, each with files of its own.
        missing = sorted(
            path for path in paths if (index.repo, path) not in self._texts and index.row(path) is not None
        )
        if missing:
            bring_mirror(self.catalogue, index, tell=self.tell)
            self.read(index, missing)

    def text(self, repo: str, path: str) -> str | None:
        """The text of a file; None if the mirror lacks it."""
        if (repo, path) not in self._texts:
            stop_if_cancelled()
            text: str | None = None
            index = self._index_of(repo, path)
            bring_mirror(self.catalogue, index, tell=self.tell)
            try:
                text = self._shown(
                    read_file(
                        self._mirror(index),
                        commit=index.commit,
                        path=path,
                        timeout_s=self.catalogue.settings.git_timeout_s,
                        encoding=index.version.encodings.get(path),
                    )
                )
            except (RepositoryUnavailable, SkippedFile) as error:
                self.tell(f"no excerpt of {path} in {repo}: {error}; `codesum index {repo} --force` fetches it anew")
            self._texts[repo, path] = text
        return self._texts[repo, path]

    def _index_of(self, repo: str, path: str) -> PublishedIndex:
        """The index that has a file; a work tree has two of its repository."""
        ours = [index for index in self.indexes if index.repo == repo]
        return next((index for index in ours if index.row(path) is not None), ours[0])

    def lines(self, repo: str, path: str) -> list[str]:
        """The lines of a file, split once; none if the mirror lacks it."""
        if (repo, path) not in self._lines:
            text = self.text(repo, path)
            self._lines[repo, path] = [] if text is None else text.split("\n")
        return self._lines[repo, path]

    def lines_of(self, found: IndexedDocument) -> list[str]:
        """The lines of a document."""
        shown = found.shown()
        return self.lines(found.repo, found.path)[(shown["start_line"] or 1) - 1 : shown["end_line"]]

    def _mirror(self, index: PublishedIndex) -> Path:
        layout = self.catalogue.layout if index.home is None else HomeLayout(index.home)
        return layout.mirror(index.repo)


def repositories_of(indexes: Iterable[PublishedIndex]) -> list[str]:
    return list(dict.fromkeys(index.repo for index in indexes))
