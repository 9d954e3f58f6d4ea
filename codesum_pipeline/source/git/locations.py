"""Where a repository is: an absolute path, or a URL that git may be given.

Only https, ssh and file URLs and scp-like addresses (`git@host:owner/name.git`) pass, and http URLs of the hosts that a
setting names; git's other transports can run commands. What people read of a location is `shown_location` of it
(`git_addresses.py`).
"""

import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from itertools import chain, count
from pathlib import Path
from urllib.parse import unquote

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.printable import shorten_text
from codesum_pipeline.source.git.git_addresses import (
    UNREADABLE,
    GitAddress,
    named_location,
    take_apart,
    with_shown_locations,
)

_WITH_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://")
_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")

# For a text that cannot be a location.
_LONGEST_SHOWN = 100
# Leaves room below the 100 characters of a key for the number that makes it unique.
_KEY_LENGTH = 90
_WAY_TO_WRITE = "write it as https://HOST/PATH, ssh://git@HOST/PATH or git@HOST:PATH, with other characters as %XX"


def is_url(location: str) -> bool:
    """Whether git reaches `location` over the network; anything else is an absolute path."""
    return not location.startswith("/")


def parse_location(text: str, *, base: Path, over_http: Collection[str] = ()) -> str:
    """The absolute path (relative ones start at `base`) or URL that `text` names. Hosts in `over_http` may have http
    URLs.

    Raises `ConfigurationError` for anything that git must not be given.
    """
    named = named_location(text)
    if not text.strip() or text.startswith("-") or not text.isprintable():
        raise ConfigurationError(f"{named}: give a path or a git URL, not starting with '-'")
    if _HELPER.match(text):
        raise ConfigurationError(f"{named}: remote helpers are not used; give a path or an https URL")
    if _WITH_SCHEME.match(text):
        return _checked_url(text, over_http)
    try:
        path = base / Path(text).expanduser()
        is_there = path.exists()
        if is_there or (":" not in text.partition("/")[0] and named != UNREADABLE):
            return str(path.resolve())
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "there is no user of this name"
        raise ConfigurationError(f"{named}: no folder can be called so: {reason}") from None
    return _checked_scp_like(text)


def slug_of(location: str) -> str | None:
    """`owner/name` of a hosted repository; None for a path."""
    if not is_url(location):
        return None
    slug = _parts(location)[1].strip("/").removesuffix(".git")
    return slug if "/" in slug else None


def host_of(location: str) -> str:
    """The host of a URL or scp-like address, lowercase."""
    return _parts(location)[0].lower()


def key_base(location: str, *, subdir: str = "") -> str:
    """A valid repository key after the last part of `location`, and of `subdir` if there is one."""
    address = take_apart(location)
    path = unquote(address.path) if address else location
    name = re.split(r"[/:]", path.rstrip("/"))[-1].removesuffix(".git")
    if subdir:
        name = f"{name}-{subdir.rstrip('/').rpartition('/')[2]}"
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", name)
    name = re.sub(r"\.{2,}", ".", name).lstrip("._-")[:_KEY_LENGTH]
    while (shorter := re.sub(r"(\.git|\.lock|[._-])$", "", name, flags=re.IGNORECASE)) != name:
        name = shorter
    return name or "repository"


def free_key(base: str, taken: Collection[str]) -> str:
    """`base`, or else the first of `base-2`, `base-3`, … that is not taken; `taken` holds keys in small letters."""
    keys = chain((base,), (f"{base}-{number}" for number in count(2)))
    return next(key for key in keys if key.lower() not in taken)


def find_root(path: Path) -> tuple[Path, str]:
    """The git root at or above a folder and the folder's path in it; a folder outside git is its own root."""
    folder = path.resolve()
    for root in (folder, *folder.parents):
        if (root / ".git").exists():
            subdir = folder.relative_to(root).as_posix()
            return root, "" if subdir == "." else subdir
    return folder, ""


def may_use_http(address: GitAddress, over_http: Collection[str]) -> bool:
    """Whether the settings let an http address be."""
    return address.place in over_http


def way_over_http(address: GitAddress) -> str:
    """The setting that lets an http address be."""
    return f'hosts.over_http = ["{address.place}"]'


def _checked_url(text: str, over_http: Collection[str]) -> str:
    address, named = take_apart(text), named_location(text)
    if address is None:
        raise ConfigurationError(f"{named}: {_WAY_TO_WRITE}")
    _check_ends_with_path(address)
    if address.scheme == "file" and address.host in ("", "localhost") and address.user is None:
        return str(Path(unquote(address.path)).resolve())
    if address.scheme == "http":
        if not may_use_http(address, over_http):
            raise ConfigurationError(f"{named}: http is not encrypted: write https, or set {way_over_http(address)}")
        if address.user is not None:
            raise ConfigurationError(f"{named}: anybody on the way could read a user and a token: leave them out")
    elif address.scheme not in ("https", "ssh"):
        raise ConfigurationError(f"{named}: only https, ssh and file URLs and paths are read")
    if not address.path.strip("/"):
        raise ConfigurationError(f"{named}: a URL needs a host and a path")
    if address.scheme == "ssh" and address.password is not None:
        raise ConfigurationError(f"{named}: ssh takes no password from a URL: leave it out, and log in with a key")
    return text


def _checked_scp_like(text: str) -> str:
    address = take_apart(text)
    if address is None:
        raise ConfigurationError(f"{named_location(text)}: there is no such folder; for a server {_WAY_TO_WRITE}")
    _check_ends_with_path(address)
    return text


def _check_ends_with_path(address: GitAddress) -> None:
    if address.more:
        raise ConfigurationError(
            f"location {str(address)!r}: what follows its path, from {address.more[0]!r} on, is no part of a git "
            "location: leave it out; a user and a token for https belong into ~/.netrc"
        )


def address_of(location: str) -> str | None:
    """`host/path` in small letters, without scheme, user, port and `.git`; None for a path and for what is no address.

    Ports are left out, since a server has others for ssh than for https.
    """
    host, path = ("", "") if location.startswith("/") else _parts(location)
    path = unquote(path).strip("/")
    path = path[: -len(".git")] if path.lower().endswith(".git") else path
    return f"{host}/{path.rstrip('/')}".lower() if host and path else None


def named_locations(locations: Iterable[str]) -> Mapping[str, str]:
    """The locations on servers by `host/path`."""
    return {address: each for each in locations if (address := address_of(each))}


def host_id_of(url: str, number: int | str) -> str:
    """A repository's id at its host, with the name of the server that gave it: `github.com/1234`."""
    return f"{host_of(url)}/{number}".lower()


def _parts(location: str) -> tuple[str, str]:
    """Host and path, both empty for what is no address."""
    address = take_apart(location)
    return (address.host.strip("[]"), address.path) if address else ("", "")


# A path may hold an `@`, as folders of npm do: only after the ending of an index file does it divide.
_DIVIDED = re.compile(r"(?P<path>.*\.scip(?:\.gz)?)@(?P<folder>.*)")


class IndexPlace(Struct, frozen=True):
    """An index file, and the folder of the repository that its paths are relative to (empty: the root)."""

    path: Path
    folder: str

    @classmethod
    def of(cls, text: str) -> "IndexPlace":
        """`PATH` or `PATH@FOLDER`, where PATH ends in `.scip` or `.scip.gz`; raises `ConfigurationError`."""
        divided = _DIVIDED.fullmatch(text)
        path, folder = divided.group("path", "folder") if divided else (text, "")
        parts = [part for part in folder.split("/") if part not in ("", ".")]
        if not path.strip() or not text.isprintable():
            raise ConfigurationError(f"scip {_shown(text)!r}: give the path of a SCIP index")
        if ".." in parts or folder.startswith("/"):
            raise ConfigurationError(f"scip {_shown(text)!r}: {folder!r} is not a folder below the git root")
        return cls(Path(path), "/".join(parts))

    def __str__(self) -> str:
        return f"{self.path}@{self.folder}" if self.folder else str(self.path)


def full_place(text: str, *, base: Path) -> str:
    """`text` with an absolute path, where a relative one starts at `base`; raises `ConfigurationError`."""
    place = IndexPlace.of(text)
    try:
        path = base / place.path.expanduser()
    except RuntimeError as error:
        raise ConfigurationError(f"scip {_shown(text)!r}: there is no user of this name") from error
    return str(IndexPlace(path, place.folder))


def check_command(line: str) -> None:
    """Raises `ConfigurationError` for what is no command line; empty: there is no command."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ConfigurationError(f"scip_command {_shown(line)!r}: {error}: correct its quotes") from error
    if line and (not words or not words[0] or not line.isprintable()):
        raise ConfigurationError(f"scip_command {_shown(line)!r}: give one command line, or leave it out")


def _shown(text: str) -> str:
    return shorten_text(with_shown_locations(text), _LONGEST_SHOWN)
