"""Where a repository is: an absolute path, or a URL that git may be given.

Only https, ssh and file URLs and scp-like addresses (`git@host:owner/name.git`) pass; git's other transports can run
commands. What a person reads about a location goes through `redact` first.
"""

import re
import shlex
from collections.abc import Collection
from ipaddress import ip_address
from itertools import chain, count
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.printable import shortened

_WITH_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,30})://")
_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")
_SCP_LIKE = re.compile(r"(?:(?P<user>[A-Za-z0-9._~-]+)@)?(?P<host>[A-Za-z0-9][A-Za-z0-9.-]*):(?P<path>[^:].*)")
# Bounded, so that a megabyte of letters is passed over in time that grows with its length alone.
_URL_USER = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,30})://(?P<user>[^/\s]*)@")
_SECRET_PARAMETER = re.compile(
    r"(?P<name>[?&][^=&?\s]{0,60}(?:token|key|pass|secret|auth|sig)[^=&?\s]{0,60})=[^&\s'\"]+", re.IGNORECASE
)

# For a text that cannot be a location.
_LONGEST_SHOWN = 100
# Leaves room below the 100 characters of a key for the number that makes it unique.
_KEY_LENGTH = 90


def is_url(location: str) -> bool:
    """Whether git reaches `location` over the network; anything else is an absolute path."""
    return not location.startswith("/")


def parse_location(text: str, *, base: Path) -> str:
    """The absolute path (relative ones start at `base`) or URL that `text` names.

    Raises `ConfigurationError` for anything that git must not be given.
    """
    if not text.strip() or text.startswith("-") or not text.isprintable():
        raise ConfigurationError(f"location {redact(text)!r}: give a path or a git URL, not starting with '-'")
    if _HELPER.match(text):
        raise ConfigurationError(f"location {redact(text)!r}: remote helpers are not used; give a path or an https URL")
    if with_scheme := _WITH_SCHEME.match(text):
        return _checked_url(text, with_scheme["scheme"].lower())
    try:
        path = base / Path(text).expanduser()
        is_there = path.exists()
        if "/" not in text.partition(":")[0] and _SCP_LIKE.fullmatch(text) and not is_there:
            return text
        return str(path.resolve())
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "there is no user of this name"
        raise ConfigurationError(f"location {_shown(text)!r}: no folder can be called so: {reason}") from error


def redact(text: str) -> str:
    """`text` without the credentials of the URLs in it."""

    def without_password(match: re.Match[str]) -> str:
        is_plain_user = match["scheme"].lower() == "ssh" and ":" not in match["user"]
        return f"{match['scheme']}://{match['user'] if is_plain_user else '***'}@"

    return _SECRET_PARAMETER.sub(r"\g<name>=***", _URL_USER.sub(without_password, text))


def slug_of(location: str) -> str | None:
    """`owner/name` of a hosted repository; None for a path."""
    if not is_url(location):
        return None
    slug = _parts(location)[1].strip("/").removesuffix(".git")
    return slug if "/" in slug else None


def host_of(location: str) -> str:
    """The host of a URL or scp-like address, lowercase."""
    return _parts(location)[0].lower()


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by its name or address alone."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def key_base(location: str, *, subdir: str = "") -> str:
    """A valid repository key after the last part of `location`, and of `subdir` if there is one."""
    name = re.split(r"[/:]", unquote(location).rstrip("/"))[-1].removesuffix(".git")
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


def _checked_url(url: str, scheme: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError as error:
        raise ConfigurationError(f"location {redact(url)!r}: not a URL: {error}") from error
    if scheme == "file" and host in ("", "localhost") and parts.path.startswith("/"):
        return str(Path(unquote(parts.path)).resolve())
    if scheme not in ("https", "ssh"):
        raise ConfigurationError(f"location {redact(url)!r}: only https, ssh and file URLs and paths are read")
    if not host or host.startswith("-") or not parts.path.strip("/"):
        raise ConfigurationError(f"location {redact(url)!r}: a URL needs a host and a path")
    return url


# No host has longer ones; what is longer is not looked at.
_LONGEST = 2_000


def address_of(location: str) -> str | None:
    """`host/path` in small letters, without scheme, user, port and `.git`; None for a path and for what is no address.

    Ports are left out, since a server has others for ssh than for https.
    """
    if len(location) > _LONGEST or location.startswith("/"):
        return None
    try:
        host, path = _parts(location)
    except ValueError:
        return None
    path = unquote(path).strip("/")
    path = path[: -len(".git")] if path.lower().endswith(".git") else path
    return f"{host}/{path.rstrip('/')}".lower() if host and path else None


def host_id_of(url: str, number: int | str) -> str:
    """A repository's id at its host, with the name of the server that gave it: `github.com/1234`."""
    return f"{urlsplit(url).hostname or ''}/{number}".lower()


def _parts(location: str) -> tuple[str, str]:
    if _WITH_SCHEME.match(location):
        parts = urlsplit(location)
        return parts.hostname or "", parts.path
    before, _, path = location.partition(":")
    return before.rpartition("@")[2], path


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
    return shortened(redact(text), _LONGEST_SHOWN)
