"""Every path below `$CODESUM_HOME`, in one place."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from codesum_pipeline.settings.operation import StorageSettings

if TYPE_CHECKING:
    from codesum_pipeline.settings.models import Settings
    from codesum_pipeline.store.home_files import HomeFiles
    from codesum_pipeline.store.objects import Objects
    from codesum_pipeline.store.reading_copy import ReadingCopy

BASE_STRATEGY = "function_level"


class HomeLayout(Struct, frozen=True):
    """The folders and files of one home; nothing is created by asking for a path.

    Of a home in a bucket, `home` is the folder in which this worker keeps its copy.
    """

    home: Path
    bucket: "BucketPlace | None" = None

    def part_notes(self, key: str) -> Path:
        """Which parts of a bucket this worker's files of the repository are."""
        return self.home / "state" / f"{key}.parts.json"

    def kept_ledger(self, key: str) -> Path:
        """What stands in the file of in-flight state besides the lease, as it is kept in a bucket."""
        return self.home / "state" / f"{key}.ledger.json"

    @property
    def repos_file(self) -> Path:
        return self.home / "repos.yaml"

    @property
    def token(self) -> Path:
        """What tells this home from a copy of its files that somebody else made."""
        return self.home / ".token"

    @property
    def digests(self) -> Path:
        """Which changes concern which standing question, and every digest (SQLite)."""
        return self.home / "digests.sqlite"

    @property
    def polls(self) -> Path:
        """When each repository was looked at last, and which are to be looked at now (SQLite)."""
        return self.home / "polls.sqlite"

    @property
    def audit(self) -> Path:
        """Who asked what with a token."""
        return self.home / "audit"

    @property
    def warehouse(self) -> Path:
        return self.home / "warehouse"

    @property
    def mirrors(self) -> Path:
        return self.home / "mirrors"

    def mirror(self, key: str) -> Path:
        return self.mirrors / f"{key}.git"

    def indexes_beside_mirror(self, key: str) -> tuple[Path, Path]:
        """Where a person may put a compiler's index, as it is or compressed by gzip."""
        return self.mirrors / f"{key}.scip", self.mirrors / f"{key}.scip.gz"

    def state(self, key: str) -> Path:
        """The repository's in-flight state (SQLite)."""
        return self.home / "state" / f"{key}.sqlite"

    @property
    def first_fetches(self) -> Path:
        """A file for each repository that a command has registered and not fetched yet, locked while it runs."""
        return self.home / "state" / "first fetches"

    @property
    def first_uses(self) -> Path:
        """What is said of checkouts that are being indexed because somebody asked about them."""
        return self.home / "state" / "first uses"

    def memos(self, key: str) -> Path:
        """What each step of the repository's builds was made from."""
        return self.home / "state" / f"{key}.steps"

    def parsing(self, key: str) -> Path:
        """There while files are parsed, and after a process that did not live through it."""
        return self.memos(key) / "symbols.parsing"

    def finished_vectors(self, key: str) -> Path:
        """The vectors of a build that was interrupted (SQLite)."""
        return self.home / "state" / f"{key}.vectors"

    def hold(self, key: str) -> Path:
        """Why the repository's last candidate was not published; nothing where it was."""
        return self.home / "state" / f"{key}.hold.json"

    def outages(self, key: str) -> Path:
        """Levels of which a model gave none of the texts that it was asked for."""
        return self.home / "state" / f"{key}.outages.json"

    def tree_views(self, key: str) -> Path:
        """What those who ask for changes were told of work trees."""
        return self.home / "state" / f"{key}.views"

    def compared(self, key: str) -> Path:
        """The documents that were last compared for standing questions."""
        return self.home / "state" / f"{key}.compared"

    @property
    def index_root(self) -> Path:
        return self.home / "index_root"

    @property
    def summary_index(self) -> Path:
        return self.index_root / f"summary_index_{BASE_STRATEGY}"

    def published(self, key: str) -> Path:
        """The name that readers resolve: a relative link to one version folder."""
        return self.summary_index / key

    def versions(self, key: str) -> Path:
        return self.summary_index / ".versions" / key

    def overlays(self, key: str) -> Path:
        """Indexes of what differs from the published one in some work trees, by what differs."""
        return self.home / "overlays" / key

    def graph_index(self, key: str) -> Path:
        return self.index_root / "graph_index" / key

    @property
    def duckdb_file(self) -> Path:
        return self.home / "codesum.duckdb"

    def recorded(self, key: str) -> Path:
        """What Dagster has recorded of the repository, beside its records: where they are deleted, so is this."""
        return self.dagster_home / "codesum" / f"{key}.txt"

    @property
    def dagster_home(self) -> Path:
        return self.home / "dagster"

    def scip(self, key: str) -> Path:
        """The compilers' indexes that the last build took in, each named by its sha256."""
        return self.home / "state" / f"{key}.scip"


def layout_of(settings: "Settings") -> HomeLayout:
    """The paths of a home with these settings."""

    return HomeLayout(settings.home, BucketPlace(settings.bucket, settings.storage) if settings.bucket else None)


_opened: dict[tuple[str, float], "Objects"] = {}


class BucketPlace(Struct, frozen=True):
    """A bucket by its URL, and how it is used."""

    url: str
    storage: StorageSettings

    def objects(self, *, most_retry_s: float = math.inf) -> "Objects":
        """The objects of the bucket, opened once a process; a request is tried again for `most_retry_s` at most."""
        from codesum_pipeline.store.objects import open_objects

        known_by = (self.url, min(self.storage.retry_s, most_retry_s))
        if known_by not in _opened:
            _opened[known_by] = open_objects(self.url, retry_s=known_by[1])
        return _opened[known_by]


T = TypeVar("T")
home_files: dict[Path, "HomeFiles"] = {}
reading_copies: dict[Path, "ReadingCopy"] = {}


def reading_copy(home: Path) -> "ReadingCopy | None":
    """What a folder is the copy of; None for a home that is a folder."""
    return reading_copies.get(home) if reading_copies else None


def edited(path: Path, edit: Callable[[], T]) -> T:
    """Do an edit that reads and replaces `path`, or files below it.

    Where it is the copy of what a bucket holds, the newest text is edited and sent, and edited again where somebody
    else was quicker. Where the bucket cannot be reached, neither has changed; raises `BucketUnavailable`.
    """
    files = next((home_files[folder] for folder in path.parents if folder in home_files), None)
    return edit() if files is None else files.edit(path, edit)
