"""`codesum add`, `remove` and `repos`; and how a key, a path or a URL that a person types becomes an entry of the
registry.
"""

import os
import re
import shlex
import weakref
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from codesum_pipeline.ground.model.errors import CannotWrite, ConfigurationError, LeaseHeld, UnknownRepository
from codesum_pipeline.ground.model.moments import age_in_words, moment_at
from codesum_pipeline.ground.model.repository import RepositoryEntry
from codesum_pipeline.ground.store.lease import hold_repository
from codesum_pipeline.ground.store.locks import is_free, take_own
from codesum_pipeline.indexes.formats.version_folder import read_published
from codesum_pipeline.source.files.work_trees import covering_entry
from codesum_pipeline.source.git.git_addresses import named_location, shown_location, take_apart, with_shown_locations
from codesum_pipeline.source.git.locations import find_root, full_place, is_url, parse_location
from codesum_pipeline.source.repositories.registry import Registry
from codesum_pipeline.ways_in.cli.invocation import Invocation, invocation, make_home
from codesum_pipeline.ways_in.cli.options import (
    ExcludeOption,
    IncludeOption,
    JsonOfRepositories,
    KeyOption,
    RefOption,
    ScipCommandOption,
    ScipOption,
    SubdirOption,
    WorktreeOption,
    argument,
    complete_keys,
    key_argument,
    switch,
    whole_key,
)
from codesum_pipeline.ways_in.cli.render import SHORT_COMMIT, note, present, show, table

if TYPE_CHECKING:
    from codesum_pipeline.build.home.wiring import Home


class EntryOptions(Struct, frozen=True):
    """The options of `add`, as far as they were given."""

    key: str | None = None
    ref: str | None = None
    subdir: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    worktree: bool | None = None
    scip: tuple[str, ...] = ()
    scip_command: str | None = None

    @classmethod
    def of(
        cls,
        key: str | None,
        ref: str | None,
        subdir: str | None,
        include: Iterable[str] | None,
        exclude: Iterable[str] | None,
        worktree: bool | None,
        scip: Iterable[str] | None = None,
        scip_command: str | None = None,
    ) -> "EntryOptions":
        """As typer gives them; raises `ConfigurationError` for one that is empty."""
        given = {"--key": key, "--ref": ref, "--include": include, "--exclude": exclude, "--scip": scip}
        for name, values in (given | {"--scip-command": scip_command}).items():
            if any(not value.strip() for value in ([values] if isinstance(values, str) else values or ())):
                raise ConfigurationError(f"{name} '': it is empty: give it a value, or leave it out")
        places = tuple(full_place(item, base=Path.cwd()) for item in scip or ())
        return cls(key, ref, subdir, tuple(include or ()), tuple(exclude or ()), worktree, places, scip_command)

    @property
    def any_given(self) -> bool:
        return self != EntryOptions()

    def applied_to(self, entry: RepositoryEntry) -> RepositoryEntry:
        """The entry with the given options in place of its own."""
        names = ("ref", "include", "exclude", "worktree", "scip", "scip_command")
        return replace(entry, **{name: value for name in names if (value := getattr(self, name)) not in (None, "", ())})


_NO_OPTIONS = EntryOptions()


def find_entry(registry: Registry, text: str, options: EntryOptions = _NO_OPTIONS) -> tuple[RepositoryEntry, bool]:
    """The entry that `text` and the options describe, and whether it is registered in this form.

    `text` is a key, a path (also of a folder inside a git work tree) or a URL. Without options, a folder that the index
    of a registered repository holds is that repository, and a message says so.
    """
    known = _by_key(registry, text)
    if known is not None and (options.key not in (None, known.key) or options.subdir is not None):
        raise ConfigurationError(f"{text!r} is registered: --key and --subdir go with a path or URL")
    if known is None:
        check_address(text)
        location, subdir = _located(text, options)
        # A place may be registered under several keys.
        known = next(
            (
                entry
                for entry in registry.entries()
                if (entry.location, entry.subdir) == (location, subdir) and options.key in (None, entry.key)
            ),
            None,
        )
        if known is None:
            check_path(text)
            key = options.key or registry.default_key(location, subdir=subdir)
            covering = None
            if not options.any_given and not is_url(location):
                covering = covering_entry(registry.entries(), Path(location), subdir)
            if covering:
                note(
                    f"{Path(location) / subdir} is inside {covering.key}, which is registered: its index covers it "
                    f"(`--key {key}` indexes this folder on its own)"
                )
                return covering, True
            return options.applied_to(RepositoryEntry(key=key, location=location, subdir=subdir)), False
    wanted = options.applied_to(known)
    return wanted, wanted == known


def _by_key(registry: Registry, text: str) -> RepositoryEntry | None:
    """The entry with a key; None for a location, which is anything with a slash, and `.`: `./name` is never a key."""
    if "/" in text or text.startswith("~") or text in (".", "..") or not text.strip():
        return None
    try:
        return registry.get(text)
    except UnknownRepository:
        if not os.path.exists(text) and ":" not in text:  # noqa: PTH110 - a name that is too long does not exist
            raise
        return None


def _located(text: str, options: EntryOptions) -> tuple[str, str]:
    """Location and subdir; a folder inside a git work tree is that repository with the folder as subdir."""
    location, folder = parse_location(text, base=Path.cwd()), options.subdir
    if not is_url(location):
        root, inner = find_root(Path(location))
        if folder is None:
            return str(root), inner
        if inner:
            location, folder = str(root), f"{inner}/{folder}"
    return location, "/".join(part for part in (folder or "").split("/") if part not in ("", "."))


# What a person most likely meant by a location at which there is no repository.
_ARCHIVE = re.compile(r"\.(?:zip|whl|jar|7z|rar|tgz|tar|tar\.(?:gz|bz2|xz|zst))$", re.IGNORECASE)
_ZIP = (".zip", ".whl", ".jar")
_BY_TAR = re.compile(r"\.(?:tgz|tar|tar\.(?:gz|bz2|xz|zst))$", re.IGNORECASE)
_OF_WINDOWS = re.compile(r"(?P<drive>[A-Za-z]):[\\/](?P<path>.*)")
_OWNER_AND_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
_HOST_AND_PATH = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|dev)/[\w.~/-]+")
_PAGE = re.compile(
    r"(?P<repository>https://(?:github|gitlab)\.com/[^/]+/[^/]+)/(?:-/)?(?P<kind>tree|blob)/(?P<ref>[^/]+)"
    r"(?:/(?P<folder>.*))?"
)


def check_address(text: str) -> None:
    """Raise `ConfigurationError`, with the command that is meant, for an address that git must not or cannot read."""
    meant = ""
    if os.path.exists(text):  # noqa: PTH110 - a name that is too long does not exist
        return
    address = take_apart(text)
    if windows := _OF_WINDOWS.fullmatch(text):
        path = shown_location("/" + windows["path"].replace("\\", "/"))
        inside = f"; inside WSL it is /mnt/{windows['drive'].lower()}{path}" if path.startswith("/") else ""
        meant = f"this is a path of Windows{inside}"
    elif page := _PAGE.fullmatch(str(address)):
        folder = page["folder"] if page["kind"] == "tree" else ""
        subdir = f" --subdir {shlex.quote(folder.rstrip('/'))}" if folder else ""
        command = f"codesum index {page['repository']} --ref {shlex.quote(page['ref'])}{subdir}"
        meant = f"this is a page about a part of a repository: `{command}`"
    elif address and address.scheme in ("http", "git") and not address.more and address.user is None:
        meant = f"only https, ssh and file URLs are read: `codesum index {replace(address, scheme='https')}`"
    if meant:
        raise ConfigurationError(f"{named_location(text)}: {meant}")


def check_path(text: str) -> None:
    """Raise `ConfigurationError`, with the command that may be meant, for a path at which there is no folder.

    `parse_location` has taken it.
    """
    path = Path(text).expanduser()
    if path.is_file():
        raise ConfigurationError(_about_file(path))
    if path.is_dir() or ":" in text:
        return
    meant = f"there is no folder {path.absolute()}"
    if _HOST_AND_PATH.fullmatch(text):
        meant = f"there is no such folder; for the address of a server: `codesum index https://{text}`"
    elif _OWNER_AND_NAME.fullmatch(text):
        meant = f"there is no such folder; for the repository on GitHub: `codesum index https://github.com/{text}`"
    raise ConfigurationError(f"{named_location(text)}: {meant}")


def _about_file(path: Path) -> str:
    if not _ARCHIVE.search(path.name):
        folder = shlex.quote(str(path.parent))
        return f"{path} is a file: name the folder of its repository, as in `codesum index {folder}`"
    folder = shlex.quote(_ARCHIVE.sub("", path.name) or "unpacked")
    archive = shlex.quote(str(path))
    if path.suffix.lower() in _ZIP:
        unpack = f"`unzip {archive} -d {folder}`"
    elif _BY_TAR.search(path.name):
        unpack = f"`mkdir {folder}`, `tar -xf {archive} -C {folder}`"
    else:
        return f"{path} is an archive and no repository: unpack it, then index the folder that it gives"
    return f"{path} is an archive and no repository: unpack it with {unpack}, then `codesum index ./{folder}`"


class NewEntries(Struct, frozen=True, weakref=True):
    """The entries that one command registered or changed, with what they were before it.

    A command that was killed takes nothing back. While it runs it holds a file locked for each new entry: the next
    command that finds such a file free does it instead.
    """

    called: Invocation
    _before: dict[str, RepositoryEntry | None] = field(default_factory=dict)

    def register(self, entry: RepositoryEntry) -> None:
        """Write an entry, and say so."""
        registry = self.called.registry
        before = next((known for known in registry.entries() if known.key == entry.key), None)
        make_home(self.called.settings)
        if before is None:
            mark = self.called.layout.first_fetches / entry.key
            mark.parent.mkdir(parents=True, exist_ok=True)
            # There already: another command registers the same repository at this moment.
            with suppress(FileExistsError):
                if (handle := take_own(mark)) is not None:
                    weakref.finalize(self, _unmark, mark, handle)
        registry.add(entry)
        self._before.setdefault(entry.key, before)
        note(f"{entry.key}: {'registered' if before is None else 'registered anew'}, {place_of(entry)}")

    def take_back(self, keys: Iterable[str] | None = None) -> None:
        """Restore these entries (default: all) as they were before. A new one that was fetched at any time stays."""
        for key in list(self._before) if keys is None else [key for key in keys if key in self._before]:
            before = self._before.pop(key)
            if before is not None:
                self.called.registry.add(before)
                note(f"{key}: registered as it was before")
            elif not was_fetched(self.called.home, key):
                _forget_quietly(self.called.home, key)

    def take_back_new(self) -> None:
        """Take back those that nobody had registered before."""
        self.take_back([key for key, before in self._before.items() if before is None])


def _unmark(mark: Path, handle: int) -> None:
    mark.unlink(missing_ok=True)
    os.close(handle)


def take_back_of_killed(home: "Home") -> None:
    """Take back what commands registered that were killed in their first fetch.

    Nothing happens where this process may only read the home, or another one does the same at this moment.
    """
    with suppress(CannotWrite, PermissionError, UnknownRepository):
        for mark in sorted(home.layout.first_fetches.iterdir()):
            if is_free(mark):
                known = {entry.key for entry in home.registry.survey().entries}
                if mark.name in known and not was_fetched(home, mark.name):
                    _forget_quietly(home, mark.name)
                mark.unlink(missing_ok=True)


def was_fetched(home: "Home", key: str) -> bool:
    """Whether a build ever got hold of a repository."""
    return home.tables.readable_path("snapshot", key) is not None


def _forget_quietly(home: "Home", key: str) -> None:
    """Remove a registration, unless another process builds the repository."""
    with suppress(LeaseHeld):
        forget(home, key, is_registered=True)
        note(f"{key}: not registered any more: nothing could be fetched")


def forget(home: "Home", key: str, *, is_registered: bool) -> None:
    """Delete what is kept of a repository while no build of it runs. The registration goes last: what was
    interrupted can be repeated. Raises `LeaseHeld`."""
    state = home.layout.state(key)
    with hold_repository(home.layout, key, run_id="purge"):
        home.purge(key)
        if home.layout.dagster_home.exists():
            from codesum_pipeline.build.dagster.control import forget_partition

            forget_partition(home, key)
        if is_registered:
            home.registry.purge(key)
    for path in state.parent.glob(f"{state.name}*"):
        path.unlink(missing_ok=True)


def place_of(entry: RepositoryEntry) -> str:
    """Where a repository lies, and which folder of it is indexed."""
    return f"{shown_location(entry.location)}{f' ({entry.subdir})' if entry.subdir else ''}"


NO_REPOSITORY = "no repository is registered: `codesum index PATH|URL` registers and indexes one"


def add(
    ctx: typer.Context,
    location: Annotated[
        str,
        argument("LOCATION", "A path or git URL; a key that was removed is put back.", autocompletion=complete_keys),
    ],
    key: KeyOption = None,
    ref: RefOption = None,
    subdir: SubdirOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    worktree: WorktreeOption = None,
    scip: ScipOption = None,
    scip_command: ScipCommandOption = None,
) -> None:
    """Register a repository, or one folder of it.

    Nothing is fetched or indexed yet: [bold]codesum index[/] and the nightly schedule do that. The options given here
    replace those of a repository that is registered already.
    """
    from codesum_pipeline.build.dagster.control import register_partitions

    called = invocation(ctx)
    options = EntryOptions.of(key, ref, subdir, include, exclude, worktree, scip, scip_command)
    entry, _ = find_entry(called.registry, location, options)
    make_home(called.settings)
    written = called.registry.add(replace(entry, enabled=True))
    register_partitions(called.home, [written.key])
    show(f"{written.key}: registered, {place_of(written)}", f"next: codesum index {written.key}")


def remove(
    ctx: typer.Context,
    key: Annotated[str, key_argument("The repository, as [bold]codesum repos[/] lists it.")],
    purge: Annotated[bool, switch("--purge", "Delete its index, tables, mirror and registration as well.")] = False,
) -> None:
    """Stop indexing a repository; with --purge, delete all that is kept of it.

    Without --purge, its index stays and can be searched with --repo, and [bold]codesum add KEY[/] puts it back. With
    --purge, KEY may also be a repository that was taken out of repos.yaml by hand, and end in `*` where one key alone
    begins so. The repository itself is never touched.
    """
    called = invocation(ctx)
    if purge:
        found, is_registered = whole_key(called.home, key)
        forget(called.home, found, is_registered=is_registered)
        show(f"{key}: deleted")
        return
    key = called.registry.get(key).key
    called.registry.remove(key)
    show(f"{key}: no longer indexed; `codesum add {key}` puts it back")


def repos(ctx: typer.Context, as_json: JsonOfRepositories = False) -> None:
    """List the registered repositories.

    They are kept in repos.yaml in the home, which can also be edited by hand.
    """
    called = invocation(ctx)
    rows, values, indexes = [], [], []
    for entry in called.entries():
        out = read_published(called.layout, entry.key)
        ref = "work tree" if entry.worktree else entry.ref or "HEAD"
        state = "retired" if entry.retired else entry.enabled
        built = (out.commit, out.count("documents"), moment_at(out.published_at)) if out else None
        commit, documents, published_at = built or (None, None, None)
        ago = f"{age_in_words(out.published_at)} ago" if out else None
        rows.append((entry.key, place_of(entry), ref, state, commit and commit[:SHORT_COMMIT], documents, ago))
        published = built and {"commit": commit, "documents": documents, "published_at": published_at}
        shown = {"location": shown_location(entry.location), "scip_command": with_shown_locations(entry.scip_command)}
        values.append(to_builtins(entry) | shown | {"published": published})
        indexes += [f"{entry.key}: compiler's index {place}" for place in entry.scip]
        if entry.scip_command:
            indexes.append(f"{entry.key}: compiler's index made by {with_shown_locations(entry.scip_command)}")
    columns = ("key", "location", "ref", "enabled", "commit", "documents", "published")
    present(values, lambda: table(columns, rows, right=("documents",)), as_json=as_json, otherwise=NO_REPOSITORY)
    if not as_json:
        show(*indexes)
