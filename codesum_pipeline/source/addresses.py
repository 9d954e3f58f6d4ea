"""Whether two addresses are one repository: https, ssh or scp-like, with or without `.git`, in any case."""

import re
from urllib.parse import unquote, urlsplit

_WITH_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://")
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
