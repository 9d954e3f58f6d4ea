"""One entry of the registry: where a repository is and which part of it is indexed."""

from msgspec import Struct


class Retirement(Struct, frozen=True):
    """When and why an organisation's repository was taken out of what is indexed; what was built of it is kept."""

    at: str
    why: str


class RepositoryEntry(Struct, frozen=True):
    """One repository, or one `subdir` of a monorepo.

    `location` is an absolute path or a git URL; `ref` a branch, tag or commit (None: the remote's HEAD). With
    `worktree`, files are read from the folder as they are, committed or not; a plain folder without git always is.
    `include` and `exclude` are gitignore-style patterns relative to the git root. One that came with an organisation
    names it, and has the host's own id of the repository, `SERVER/ID`, which outlives a new name. `retired` goes with
    it alone. `scip` are the places of compilers' indexes (`source/locations.py`), `scip_command` the line that makes
    one.
    """

    key: str
    location: str
    ref: str | None = None
    subdir: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    worktree: bool = False
    enabled: bool = True
    organisation: str | None = None
    host_id: str | None = None
    retired: Retirement | None = None
    scip: tuple[str, ...] = ()
    scip_command: str = ""

    @property
    def root_module(self) -> str:
        """The folder that the index covers; `.` for the whole repository."""
        return self.subdir or "."
