"""Where a home is: every path below `$CODESUM_HOME`, its bucket, and the copies of buckets that this process opened.

Nothing here imports the code of buckets, which takes longer to import than a search takes: a home in a folder needs
none of it.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from codesum_pipeline.ground.settings.home_settings import Settings
    from codesum_pipeline.ground.settings.operation_settings import StorageSettings
    from codesum_pipeline.ground.store.buckets.home_files import HomeFiles
    from codesum_pipeline.ground.store.buckets.objects import Objects
    from codesum_pipeline.ground.store.buckets.reading_copy import ReadingCopy

BASE_STRATEGY = "function_level"
T = TypeVar("T")
_opened: dict[tuple[str, float], "Objects"] = {}
# The file of a published version that is written last.
MANIFEST_NAME = "manifest.json"
# What a copy of a bucket can be asked for, besides the tables of a repository by their names: its published version,
# the manifest of that version, and all that is kept of it.
INDEX, INDEX_MANIFEST, STATE = "index", "manifest of the index", "state"
# The copies that this process has opened, by folder.
home_files: dict[Path, "HomeFiles"] = {}
reading_copies: dict[Path, "ReadingCopy"] = {}


class BucketPlace(Struct, frozen=True):
    """The bucket that holds the record of a home, by its URL, and how this worker uses it."""

    url: str
    storage: "StorageSettings"

    def objects(self, *, most_retry_s: float = math.inf) -> "Objects":
        """The objects of the bucket, opened once a process; a request is tried again for `most_retry_s` at most."""
        from codesum_pipeline.ground.store.buckets.objects import open_objects

        known_by = (self.url, min(self.storage.retry_s, most_retry_s))
        if known_by not in _opened:
            _opened[known_by] = open_objects(self.url, retry_s=known_by[1])
        return _opened[known_by]


class _HomePath:
    """A path below the home."""

    def __init__(self, below: str) -> None:
        self._below = below

    def __get__(self, layout: "HomeLayout", _: Any) -> Path:
        return layout.home / self._below


class _RepositoryPath:
    """A path below the home for each repository, with `{}` for its key."""

    def __init__(self, below: str) -> None:
        self._below = below

    def __get__(self, layout: "HomeLayout", _: Any) -> Callable[[str], Path]:
        return lambda key: layout.home / self._below.format(key)


class HomeLayout(Struct, frozen=True):
    """The folders and files of one home; nothing is created by asking for a path.

    Of a home in a bucket, `home` is the folder in which this worker keeps its copy.
    """

    home: Path
    bucket: BucketPlace | None = None

    repos_file = _HomePath("repos.yaml")
    # Distinguishes this home from a copy of its files that somebody else made.
    token = _HomePath(".token")
    # SQLite: which changes concern which standing question, and every digest.
    digests = _HomePath("digests.sqlite")
    # SQLite: when each repository was looked at last, and which are to be looked at now.
    polls = _HomePath("polls.sqlite")
    # Who asked what with a token.
    audit = _HomePath("audit")
    warehouse = _HomePath("warehouse")
    mirrors = _HomePath("mirrors")
    # A file for each repository that a command has registered and not fetched yet, locked while it runs.
    first_fetches = _HomePath("state/first fetches")
    # What is said of checkouts that are being indexed because somebody asked about them.
    first_uses = _HomePath("state/first uses")
    index_root = _HomePath("index_root")
    summary_index = _HomePath(f"index_root/summary_index_{BASE_STRATEGY}")
    duckdb_file = _HomePath("codesum.duckdb")
    dagster_home = _HomePath("dagster")

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
    # Indexes of what differs from the published one in some work trees, by what differs.
    overlays = _RepositoryPath("overlays/{}")
    # What Dagster has recorded, beside its records: where they are deleted, so is this.
    recorded = _RepositoryPath("dagster/codesum/{}.txt")

    def indexes_beside_mirror(self, key: str) -> tuple[Path, Path]:
        """Where a person may put a compiler's index, as it is or compressed by gzip."""
        return self.mirrors / f"{key}.scip", self.mirrors / f"{key}.scip.gz"


def layout_of(settings: "Settings") -> HomeLayout:
    """The paths of a home with these settings."""
    return HomeLayout(settings.home, BucketPlace(settings.bucket, settings.storage) if settings.bucket else None)


def reading_copy(home: Path) -> "ReadingCopy | None":
    """The opened copy of a bucket that lies in this folder; None for a home that is a folder."""
    return reading_copies.get(home)


def edited(path: Path, edit: Callable[[], T]) -> T:
    """Do an edit that reads and replaces `path`, or files below it.

    Where it is the copy of what a bucket holds, the newest text is edited and sent, and edited again where somebody
    else was quicker. Where the bucket cannot be reached, neither has changed; raises `BucketUnavailable`.
    """
    files = next((home_files[folder] for folder in path.parents if folder in home_files), None)
    return edit() if files is None else files.edit(path, edit)
