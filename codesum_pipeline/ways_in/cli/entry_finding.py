"""How a key, a path or a URL that a person types becomes an entry of the registry."""

import os
import re
import shlex
from collections.abc import Collection, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, UnknownRepository
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.files.work_trees import covering_entry, has_tracked_files
from codesum_pipeline.source.git.git_addresses import named_location, shown_location, take_apart
from codesum_pipeline.source.git.locations import (
    find_root,
    full_place,
    is_url,
    may_use_http,
    parse_location,
    way_over_http,
)
from codesum_pipeline.source.repositories.checkouts import clones_below
from codesum_pipeline.source.repositories.registry import REGISTER_IT, Registry
from codesum_pipeline.ways_in.cli.render import write_note


class EntryOptions(Struct, frozen=True):
    """The options of `add`, as far as they were given; raises `ConfigurationError` for one that is empty."""

    key: str | None = None
    ref: str | None = None
    subdir: str | None = None
    include: Sequence[str] | None = None
    exclude: Sequence[str] | None = None
    worktree: bool | None = None
    submodules: bool | None = None
    scip: Sequence[str] | None = None
    scip_command: str | None = None

    def __post_init__(self) -> None:
        for name in ("key", "ref", "include", "exclude", "scip", "scip_command"):
            given = getattr(self, name)
            if any(not value.strip() for value in ([given] if isinstance(given, str) else given or ())):
                option = name.replace("_", "-")
                raise ConfigurationError(f"--{option} '': it is empty: give it a value, or leave it out")

    def check_fits(self, locations: int) -> None:
        """Raises `ConfigurationError` for an option of one repository where several locations are given."""
        for option, value in (("--key", self.key), ("--scip", next(iter(self.scip or ()), None))):
            if locations > 1 and value:
                raise ConfigurationError(
                    f"{option} {value} is of one repository, but {locations} are given: add them one by one"
                )

    def applied_to(self, entry: RepositoryEntry) -> RepositoryEntry:
        """The entry with the given options in place of its own."""
        lists = {name: tuple(values) for name in ("include", "exclude") if (values := getattr(self, name))}
        if self.scip:
            lists["scip"] = tuple(full_place(item, base=Path.cwd()) for item in self.scip)
        names = ("ref", "worktree", "submodules", "scip_command")
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        return replace(entry, **lists, **given)


_NO_OPTIONS = EntryOptions()


def find_entry(
    registry: Registry, text: str, options: EntryOptions = _NO_OPTIONS, *, pending: Sequence[RepositoryEntry] = ()
) -> tuple[RepositoryEntry, bool]:
    """The entry that `text` and the options describe, and whether it is registered in this form.

    `text` is a key, a path (also of a folder inside a git work tree) or a URL. Without options, a folder that the index
    of a registered repository holds is that repository, and a message says so. `pending` entries are to be registered
    with it.
    """
    known = next((entry for entry in pending if entry.key == text), None) or _by_key(registry, text)
    if known is not None and (options.key not in (None, known.key) or options.subdir is not None):
        raise ConfigurationError(
            f"{text!r} is the key of a registered repository: --key and --subdir need a path or URL"
        )
    if known is None:
        check_address(text, over_http=registry.over_http)
        location, subdir = _located(registry, text, options)
        entries = (*registry.entries(), *pending)
        # A place may be registered under several keys.
        known = next(
            (
                entry
                for entry in entries
                if (entry.location, entry.subdir) == (location, subdir) and options.key in (None, entry.key)
            ),
            None,
        )
        if known is None:
            check_path(text)
            if not is_url(location):
                _check_is_no_folder_of_clones(Path(location) / subdir, Path(location))
            key = options.key or registry.default_key(location, subdir=subdir, taken=[entry.key for entry in pending])
            covering = None
            if options == _NO_OPTIONS and not is_url(location):
                covering = covering_entry(entries, Path(location), subdir)
            if covering:
                write_note(
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
    except UnknownRepository as error:
        if not os.path.exists(text) and ":" not in text:  # noqa: PTH110 - a name that is too long does not exist
            raise UnknownRepository(
                f"{str(error).removesuffix(REGISTER_IT)}; and no folder here is called {text!r}: give the path of a "
                "repository, a URL such as https://HOST/OWNER/NAME, or a key that is registered"
            ) from None
        return None


def _located(registry: Registry, text: str, options: EntryOptions) -> tuple[str, str]:
    """Location and subdir; a folder inside a git work tree is that repository with the folder as subdir."""
    location, folder = parse_location(text, base=Path.cwd(), over_http=registry.over_http), options.subdir
    if not is_url(location):
        root, inner = find_root(Path(location))
        if folder is None:
            return str(root), inner
        if inner:
            location, folder = str(root), f"{inner}/{folder}"
    return location, "/".join(part for part in (folder or "").split("/") if part not in ("", "."))


# What a person most likely meant by a location at which there is no repository.
_ARCHIVE = re.compile(r"\.(?:zip|whl|jar|7z|rar|tgz|tar|tar\.(?:gz|bz2|xz|zst))$", re.IGNORECASE)
_OWNER_AND_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
_HOST_AND_PATH = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|dev)/[\w.~/-]+")
_PAGE = re.compile(
    r"(?P<repository>https://(?:github|gitlab)\.com/[^/]+/[^/]+)/(?:-/)?(?P<kind>tree|blob)/(?P<ref>[^/]+)"
    r"(?:/(?P<folder>.*))?"
)


def check_address(text: str, *, over_http: Collection[str] = ()) -> None:
    """Raise `ConfigurationError`, with the command that is meant, for an address that git must not or cannot read."""
    address, hint = take_apart(text), ""
    if os.path.exists(text):  # noqa: PTH110 - a name that is too long does not exist
        return
    if page := _PAGE.fullmatch(str(address)):
        folder = page["folder"] if page["kind"] == "tree" else ""
        subdir = f" --subdir {shlex.quote(folder.rstrip('/'))}" if folder else ""
        command = f"codesum index {page['repository']} --ref {shlex.quote(page['ref'])}{subdir}"
        hint = f"this is a page about a part of a repository: `{command}`"
    elif address and address.scheme in ("http", "git") and not address.more and address.user is None:
        secure = f"`codesum index {replace(address, scheme='https')}`"
        if address.scheme == "git":
            hint = f"only https, ssh and file URLs are read: {secure}"
        elif not may_use_http(address, over_http):
            hint = f"http is not encrypted: {secure}, or set {way_over_http(address)}"
    if hint:
        raise ConfigurationError(f"{named_location(text)}: {hint}")


def check_path(text: str) -> None:
    """Raise `ConfigurationError`, with the command that may be meant, for a path at which there is no folder.

    `parse_location` has taken it.
    """
    path = Path(text).expanduser()
    if path.is_file():
        if _ARCHIVE.search(path.name):
            raise ConfigurationError(f"{path} is an archive: unpack it, then `codesum index` the folder that it gives")
        folder = shlex.quote(str(path.parent))
        raise ConfigurationError(f"{path} is a file: name the folder of its repository, as in `codesum index {folder}`")
    if path.is_dir() or ":" in text:
        return
    hint = f"there is no folder {path.absolute()}"
    if _HOST_AND_PATH.fullmatch(text):
        hint = f"there is no such folder; for the address of a server: `codesum index https://{text}`"
    elif _OWNER_AND_NAME.fullmatch(text):
        hint = f"there is no such folder; for the repository on GitHub: `codesum index https://github.com/{text}`"
    raise ConfigurationError(f"{named_location(text)}: {hint}")


# So many clones are named in a message.
_CLONES_NAMED = 10


def _check_is_no_folder_of_clones(folder: Path, root: Path) -> None:
    """Raise `ConfigurationError`, with the command that is meant, for a folder of which nothing but clones would be
    left out."""
    if has_tracked_files(root, folder):
        return
    found = clones_below(folder)
    if found.clones and not found.has_code:
        named = " ".join(shlex.quote(str(clone)) for clone in found.clones[:_CLONES_NAMED])
        more = f", and {len(found.clones) - _CLONES_NAMED:,} more" if found.clones[_CLONES_NAMED:] else ""
        raise ConfigurationError(
            f"{folder} holds {count_noun(len(found.clones), 'clone')} and no code of its own, and a clone is a "
            f"repository by itself: `codesum add {named}`{more}"
        )


def place_of(entry: RepositoryEntry) -> str:
    """Where a repository lies, and which folder of it is indexed."""
    return f"{shown_location(entry.location)}{f' ({entry.subdir})' if entry.subdir else ''}"


NO_REPOSITORY = "no repository is registered: `codesum index PATH|URL` registers and indexes one"
