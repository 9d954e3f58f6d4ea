"""A git address taken apart: a URL, or the form of scp (`git@host:owner/name.git`).

What people read of a location is built from its scheme, host, port and path. User, password, query, parameters and
fragment may be secrets: they are not shown, and what cannot be taken apart without a doubt is not shown at all.
"""

import os
import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from urllib.parse import unquote

from msgspec import Struct

from codesum_pipeline.foundation.data_model.printable import shorten_text

UNREADABLE = "a location that cannot be read"
# The variables that `git.py` gives a user and a password by, for the one host that they are of.
GIT_HOST, GIT_USER, GIT_PASSWORD = "CODESUM_GIT_HOST", "CODESUM_GIT_USER", "CODESUM_GIT_PASSWORD"

_SCHEMES = frozenset({"https", "http", "ssh", "git", "file", "ftp", "ftps", "svn", "git+https", "git+ssh", "ssh+git"})
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,30})://(?:(?P<user>[^/?#]*)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^][/?#;&=@:]*)"
    r"(?::(?P<port>[0-9]{0,5}))?(?P<path>(?:/[^?#;&=]*)?)(?P<more>.*)"
)
_SCP_LIKE = re.compile(
    r"(?:(?P<user>[A-Za-z0-9._~][A-Za-z0-9._~-]*)@)?(?P<host>[A-Za-z0-9][A-Za-z0-9.-]*):"
    r"(?P<path>[^:?#;&=][^?#;&=]*)(?P<more>.*)"
)
_HOST = re.compile(r"\w(?:[\w.-]{0,251}[\w.])?")
# None of these is part of a path, written out or in hexadecimal: an `@` may be the end of a password with a slash.
_NOT_IN_A_PATH = re.compile(r"[?#;&=@\\]")
_LONGEST = 2_000
_LARGEST_PORT = 65_535
# The user of every server that has one for all: no secret, and part of what a person copies.
_SHARED_USER = "git"

# A path that is nowhere and looks like this may be an address that lacks its beginning.
_LIKE_AN_ADDRESS = re.compile(r"[?#;&=]|://|^//|^[^/]+@|^[A-Za-z0-9+.-]+::")
# For a text that cannot be a location.
_LONGEST_SHOWN = 100

# A server that asks for Kerberos would get a ticket of whoever runs git, also from the user who is nobody.
_WITHOUT_TICKETS = {
    "KRB5CCNAME": f"FILE:{os.devnull}",
    "KRB5_CLIENT_KTNAME": f"FILE:{os.devnull}",
    "GSS_USE_PROXY": "no",
}


class GitAddress(Struct, frozen=True):
    """The parts of an address; `scheme` is empty for the form of scp. `host` is as it was written.

    `more` is what follows the path, with the character that divides it: a query, parameters or a fragment.
    """

    scheme: str
    user: str | None
    password: str | None
    host: str
    port: str
    path: str
    more: str = ""

    def __str__(self) -> str:
        """What may be shown of it."""
        return self._built(self.user if self.user == _SHARED_USER and not self.password else None)

    @property
    def for_git(self) -> str:
        """The address that git is given: ssh needs the user's name; for https `environment` has it."""
        return self._built(self.user if self.scheme in ("", "ssh") else None)

    @property
    def place(self) -> str:
        """The host, with its port if there is one, in small letters."""
        return f"{self.host}:{self.port}".lower() if self.port else self.host.lower()

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables that give git the user and password of an https address, which no list of processes shows.

        Without a home git reads no `.netrc`: the address itself says who asks. By http nobody does.
        """
        if self.scheme == "http":
            return {"GIT_ALLOW_PROTOCOL": "http:https", "HOME": os.devnull, **_WITHOUT_TICKETS}
        if self.scheme != "https" or self.user is None:
            return {}
        nobody = {} if self.user else _WITHOUT_TICKETS
        return {
            GIT_HOST: f"{self.host}:{self.port}" if self.port else self.host,
            GIT_USER: self.user,
            GIT_PASSWORD: self.password or "",
            "HOME": os.devnull,
            **nobody,
        }

    def _built(self, user: str | None) -> str:
        who = f"{user}@" if user else ""
        if not self.scheme:
            return f"{who}{self.host}:{self.path}"
        return f"{self.scheme}://{who}{self.host}{f':{self.port}' if self.port else ''}{self.path}"


def take_apart(text: str) -> GitAddress | None:
    """The parts of a git address; None if `text` is none, or if it is not certain which part is which."""
    if len(text) > _LONGEST or not text.isprintable() or re.search(r"\s|\\", text):
        return None
    is_url = "://" in text
    found = _URL.fullmatch(text) if is_url else _SCP_LIKE.fullmatch(text)
    if found is None:
        return None
    scheme = found["scheme"].lower() if is_url else ""
    user, divider, password = (found["user"] or "").partition(":")
    address = GitAddress(
        scheme=scheme,
        user=None if found["user"] is None else unquote(user),
        password=unquote(password) if divider else None,
        host=found["host"],
        port=found["port"] or "" if is_url else "",
        path=found["path"],
        more=found["more"],
    )
    return address if _is_certain(address) else None


def _is_certain(address: GitAddress) -> bool:
    """Whether no part can be one of another: in `https://user:12/34@host/x`, 12 is no port."""
    decoded = unquote(address.path)
    if "@" in address.more or _NOT_IN_A_PATH.search(decoded) or not decoded.isprintable():
        return False
    if not f"{address.user or ''}{address.password or ''}".isprintable() or (address.user or "").startswith("-"):
        return False
    if address.port and int(address.port) > _LARGEST_PORT:
        return False
    if not address.scheme:
        return address.host.lower() not in _SCHEMES
    is_host = _is_ipv6(address.host) if address.host.startswith("[") else _HOST.fullmatch(address.host)
    return address.scheme in _SCHEMES and bool(is_host or (address.scheme == "file" and not address.host))


def _is_ipv6(bracketed: str) -> bool:
    try:
        return ip_address(bracketed[1:-1]).version == 6
    except ValueError:
        return False


def shown_location(text: str) -> str:
    """What people read of a location: an address from its parts, a path as it is, `UNREADABLE` for anything else."""
    if address := take_apart(text):
        return str(address)
    is_odd = _LIKE_AN_ADDRESS.search(text) or ":" in text.rpartition("@")[0]
    if not text.isprintable() or (is_odd and not _is_there(text)):
        return UNREADABLE
    return shorten_text(text, _LONGEST if text.startswith("/") else _LONGEST_SHOWN)


def named_location(text: str) -> str:
    """How an error about a location begins."""
    shown = shown_location(text)
    return UNREADABLE if shown == UNREADABLE else f"location {shown!r}"


def _is_there(path: str) -> bool:
    """A name that is too long does not exist."""
    return os.path.exists(os.path.expanduser(path))  # noqa: PTH110, PTH111


# Between these an address stands in a message.
_BETWEEN_WORDS = re.compile(r"([\s'\"<>(),|`]+)")
_END_MARKS = (";", "&", "?")
_ONLY_HOST = re.compile(rf"{_SHARED_USER}@[A-Za-z0-9.-]+:?")


def with_shown_locations(text: str) -> str:
    """A text of another program, in which every address is replaced by what may be shown of it."""
    return "".join(_shown_words(text))


def _shown_words(text: str) -> Iterator[str]:
    for word in _BETWEEN_WORDS.split(text):
        if ("://" in word or "@" in word) and not _ONLY_HOST.fullmatch(word):
            address = take_apart(word)
            mark = address.more if address and address.more in _END_MARKS else ""
            yield f"{UNREADABLE if address is None else address}{mark}"
        elif "=" in word and (query := re.search(r"[?&#;]", word)):
            yield word[: query.start()]
        else:
            yield word
