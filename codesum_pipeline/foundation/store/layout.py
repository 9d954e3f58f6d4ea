"""Where a home is: every path below `$CODESUM_HOME`, its bucket, and how files that lie in the bucket come here.

Nothing here imports the code of buckets, which takes longer to import than a search takes: a home in a folder needs
none of it.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from codesum_pipeline.foundation.settings.operation_settings import StorageSettings

BASE_STRATEGY = "function_level"
T = TypeVar("T")
# The file of a published version that is written last.
MANIFEST_NAME = "manifest.json"
# What a copy of a bucket can be asked for, besides the tables of a repository by their names: its published version,
# the manifest of that version, and all that is kept of it.
INDEX, INDEX_MANIFEST, STATE = "index", "manifest of the index", "state"


class BucketPlace(Struct, frozen=True):
    """The bucket that holds the record of a home, by its URL, and how this worker uses it."""

    url: str
    storage: StorageSettings


class PublishedPointer(Struct, frozen=True):
    """The published version, as far as readers and the planner want to know without another request.

    `algorithms` identifies the versions of the algorithms that made it; it is empty if an earlier version of codesum
    published it, which did not write it down.
    """

    commit: str
    content_digest: str
    fingerprint: str
    digest: str = ""
    algorithms: str = ""


class LocalFiles:
    """The files of a home on this machine, for those who read them and for those who edit the home's own.

    Of a home that is a folder all are here. Those of a home in a bucket are fetched when somebody asks for them: each
    of these methods then raises `BucketUnavailable` or `BrokenStore`.
    """

    # Whether these are a copy for readers, in which only what was asked for is there.
    is_copy = False

    def look(self) -> None:
        """Learn what was published since the last look."""

    def pointer(self, key: str) -> PublishedPointer | None:
        """The published version, where the home says more of it than its files; it is as new as the last `look`."""
        return None

    def bring(self, key: str, wanted: str) -> None:
        """Have a table of a repository here, or its `INDEX`, `INDEX_MANIFEST` or `STATE`."""

    def bring_indexes(self, keys: Iterable[str]) -> None:
        """Have the published indexes of some repositories here."""

    def bring_tables_of_all(self, tables: Iterable[str]) -> None:
        """Have some tables of all repositories here."""

    def keep_index(self, key: str) -> AbstractContextManager[None]:
        """Within the block, the files of a published index are here."""
        return nullcontext()

    def edit(self, path: Path, edit: Callable[[], T]) -> T:
        """Do an edit that reads and replaces `path`, or files below it.

        Where `path` is the copy of what a bucket holds, the newest text is edited and sent, and edited again where
        somebody else was quicker. Where the bucket cannot be reached, neither has changed.
        """
        return edit()


WHOLE_FOLDER = LocalFiles()


class _HomePath:
    """A path below the home."""

    def __init__(self, below: str) -> None:
        self._below = below

    def __get__(self, layout: "HomeLayout", _: Any) -> Path:
        return layout.home / self._below


class _RepositoryPath(_HomePath):
    """A path below the home for each repository, with `{}` for its key."""

    def __get__(self, layout: "HomeLayout", _: Any) -> Callable[[str], Path]:  # type: ignore[override]
        return lambda key: layout.home / self._below.format(key)


class HomeLayout(Struct, frozen=True):
    """The folders and files of one home; nothing is created by asking for a path.

    Of a home in a bucket, `home` is the folder in which this worker keeps its copy, and `files` fetch what is not
    there.
    """

    home: Path
    bucket: BucketPlace | None = None
    files: LocalFiles = WHOLE_FOLDER

    repos_file = _HomePath("repos.yaml")
    # Distinguishes this home from a copy of its files that somebody else made.
    token = _HomePath(".token")
    # SQLite: which changes concern which standing question, and every digest.
    digests = _HomePath("digests.sqlite")
    # SQLite: when each repository was looked at last, and which are to be looked at now.
    polls = _HomePath("polls.sqlite")
    # What the planner last knew of each repository, for whoever asks.
    planned = _HomePath("planned.json")
    # Who asked what with a token.
    audit = _HomePath("audit")
    warehouse = _HomePath("warehouse")
    mirrors = _HomePath("mirrors")
    # A file for each repository that a command has registered and not fetched yet, locked while it runs.
    # What is said of checkouts that are being indexed because somebody asked about them.
    first_uses = _HomePath("state/first uses")
    index_root = _HomePath("index_root")
    summary_index = _HomePath(f"index_root/summary_index_{BASE_STRATEGY}")
    duckdb_file = _HomePath("codesum.duckdb")
    dagster_home = _HomePath("dagster")
    # There once a person has put a run into the queue, which may wait for a daemon that has never run.
    queued = _HomePath("dagster/queued")

    mirror = _RepositoryPath("mirrors/{}.git")
    # SQLite: the in-flight state.
    state = _RepositoryPath("state/{}.sqlite")
    # Which parts of a bucket this worker's files of the repository are.
    part_notes = _RepositoryPath("state/{}.parts.json")
    # What the file of in-flight state holds besides the lease, as it is kept in a bucket.
    kept_ledger = _RepositoryPath("state/{}.ledger.json")
    # What each step of the builds was made from.
    memos = _RepositoryPath("state/{}.steps")
    # There while files are parsed, and after a process that did not live through it.
    parsing = _RepositoryPath("state/{}.steps/symbols.parsing")
    # SQLite: the vectors of a build that was interrupted.
    finished_vectors = _RepositoryPath("state/{}.vectors")
    # Why the last candidate was not published; nothing if it was.
    hold = _RepositoryPath("state/{}.hold.json")
    # Levels for which a model returned none of the requested texts.
    outages = _RepositoryPath("state/{}.outages.json")
    # The answers about work trees that clients asking for changes were given.
    tree_views = _RepositoryPath("state/{}.views")
    # The documents that were last compared for standing questions.
    compared = _RepositoryPath("state/{}.compared")
    # The compilers' indexes that the last build took in, each named by its sha256.
    scip = _RepositoryPath("state/{}.scip")
    # The name that readers resolve: a relative link to one version folder.
    published = _RepositoryPath(f"index_root/summary_index_{BASE_STRATEGY}/{{}}")
    versions = _RepositoryPath(f"index_root/summary_index_{BASE_STRATEGY}/.versions/{{}}")
    graph_index = _RepositoryPath("index_root/graph_index/{}")
    # The names of commands, routes and programs, by the document that they start: for tools, which read no tables.
    start_names = _RepositoryPath("index_root/graph_index/{}/start_names.json")
    # Indexes of what differs from the published one in some work trees, by what differs.
    overlays = _RepositoryPath("overlays/{}")
    # The texts of published versions as the repository has them, by version: what `grep` searches.
    texts = _RepositoryPath("texts/{}")
    # What Dagster has recorded, beside its records: where they are deleted, so is this.
    recorded = _RepositoryPath("dagster/codesum/{}.txt")

    def indexes_beside_mirror(self, key: str) -> tuple[Path, Path]:
        """Where a person may put a compiler's index, as it is or compressed by gzip."""
        return self.mirrors / f"{key}.scip", self.mirrors / f"{key}.scip.gz"
