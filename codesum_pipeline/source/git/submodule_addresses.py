"""Where a submodule may be fetched from. Its address was written by a stranger, who must not make this machine read its
own disk, or show what its user may read elsewhere.

So an address leads to a server, and is asked over https without any user, password, `.netrc` or key. The one exception
is an address that the user names, too: a registered repository's is asked as that one is.
"""

from collections.abc import Mapping

from msgspec import Struct

from codesum_pipeline.source.git.git_addresses import GitAddress, take_apart
from codesum_pipeline.source.git.locations import address_of

_OF_SERVERS = frozenset({"https", "http", "ssh", "git", "git+https", "git+ssh", "ssh+git", ""})
_PARENT, _HERE = "../", "./"


class RefusedAddress(Exception):
    """An address that is not asked, and why."""


class SubmoduleAddress(Struct, frozen=True):
    """What git is given, and what may be shown of it; `base` is what relative addresses inside begin at."""

    location: str
    shown: str
    base: GitAddress


def submodule_address(text: str, *, base: GitAddress | None, named: Mapping[str, str]) -> SubmoduleAddress:
    """The address of a submodule. `base` is that of the repository around it, None for one without a server; `named`
    are the locations of registered repositories by `host/path`. Raises `RefusedAddress`."""
    if not text:
        raise RefusedAddress("the repository's .gitmodules gives it no address")
    if text.startswith((_PARENT, _HERE)):
        address = _relative(text, base)
    else:
        found = take_apart(text)
        if found is None:
            raise RefusedAddress(
                "its address is a local path, which a repository may not name"
                if _is_path(text)
                else "its address cannot be read as one of a server"
            )
        address = found
    if address.scheme not in _OF_SERVERS:
        raise RefusedAddress(f"its address begins with {address.scheme}://: only https and ssh lead to a server")
    if address.more or not address.host or ".." in address.path.split("/") or not address.path.strip("/"):
        raise RefusedAddress("its address is none of a git repository on a server")
    path = f"/{address.path.lstrip('/')}"
    port = address.port if address.scheme == "https" else ""
    anonymous = GitAddress(scheme="https", user=None, password=None, host=address.host, port=port, path=path)
    if take_apart(anonymous.for_git) != anonymous:
        # What is relative was not taken apart, and git would be given all of it without saying who asks.
        raise RefusedAddress("its address cannot be read as one of a server")
    # The empty user is the one that nobody is: git then asks neither a file nor a person.
    own = named.get(address_of(anonymous.for_git) or "")
    location = own or anonymous.for_git.replace("https://", "https://@", 1)
    return SubmoduleAddress(location, anonymous.for_git, anonymous)


def _is_path(text: str) -> bool:
    """Whether an address is one of this machine's own disk."""
    return text.startswith(("/", "~", ".", "file:")) or ":" not in text


def _relative(text: str, base: GitAddress | None) -> GitAddress:
    if base is None:
        raise RefusedAddress("its address is relative to a repository that is on no server, so it is a local path")
    kept = base.path.rstrip("/").split("/")
    rest = text
    while rest.startswith((_PARENT, _HERE)):
        if rest.startswith(_PARENT):
            if not any(kept):
                raise RefusedAddress("its address leads out of the server")
            kept.pop()
            rest = rest.removeprefix(_PARENT)
        else:
            rest = rest.removeprefix(_HERE)
    return GitAddress(base.scheme, None, None, base.host, base.port, "/".join([*kept, rest]))
