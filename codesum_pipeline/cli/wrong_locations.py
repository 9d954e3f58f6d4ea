"""What a person most likely meant by a location at which there is no repository."""

import os
import re
import shlex
from pathlib import Path

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.source.locations import redact

_ARCHIVE = re.compile(r"\.(?:zip|whl|jar|7z|rar|tgz|tar|tar\.(?:gz|bz2|xz|zst))$", re.IGNORECASE)
_ZIP = (".zip", ".whl", ".jar")
_BY_TAR = re.compile(r"\.(?:tgz|tar|tar\.(?:gz|bz2|xz|zst))$", re.IGNORECASE)
_OF_WINDOWS = re.compile(r"(?P<drive>[A-Za-z]):[\\/](?P<path>.*)")
_OWNER_AND_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
_HOST_AND_PATH = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|dev)/[\w.~/-]+")
_INSECURE = re.compile(r"(?:http|git)://(?P<rest>[^@\s]+)")
_PAGE = re.compile(
    r"(?P<repository>https://(?:github|gitlab)\.com/[^/]+/[^/]+)/(?:-/)?(?P<kind>tree|blob)/(?P<ref>[^/?#]+)"
    r"(?:/(?P<folder>[^?#]*))?.*"
)


def check_address(text: str) -> None:
    """Raise `ConfigurationError`, with the command that is meant, for an address that git must not or cannot read."""
    if not os.path.exists(text) and (meant := _address_meant(text)):  # noqa: PTH110 - too long a name does not exist
        raise ConfigurationError(f"location {_shown(text)}: {meant}")


def check_path(text: str) -> None:
    """Raise `ConfigurationError`, with the command that may be meant, for a path at which there is no folder.

    `parse_location` has taken it.
    """
    path = Path(text).expanduser()
    if path.is_dir():
        return
    if path.is_file():
        raise ConfigurationError(_about_file(path))
    if ":" not in text:
        meant = _repository_meant(text) or f"there is no folder {path.absolute()}"
        raise ConfigurationError(f"location {_shown(text)}: {meant}")


def _about_file(path: Path) -> str:
    """An archive, or some other file."""
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


def _address_meant(text: str) -> str | None:
    """What to type instead, where the text looks like an address."""
    if windows := _OF_WINDOWS.fullmatch(text):
        path = windows["path"].replace("\\", "/")
        return f"this is a path of Windows; inside WSL it is /mnt/{windows['drive'].lower()}/{path}"
    if page := _PAGE.fullmatch(text):
        folder = page["folder"] if page["kind"] == "tree" else ""
        subdir = f" --subdir {shlex.quote(folder.rstrip('/'))}" if folder else ""
        command = f"codesum index {page['repository']} --ref {shlex.quote(page['ref'])}{subdir}"
        return f"this is a page about a part of a repository: `{command}`"
    if insecure := _INSECURE.fullmatch(text):
        return f"only https, ssh and file URLs are read: `codesum index https://{insecure['rest']}`"
    return None


def _repository_meant(text: str) -> str | None:
    """What to type instead, where the text looks like a repository's name."""
    if _HOST_AND_PATH.fullmatch(text):
        return f"there is no such folder; for the address of a server: `codesum index https://{text}`"
    if _OWNER_AND_NAME.fullmatch(text):
        return f"there is no such folder; for the repository on GitHub: `codesum index https://github.com/{text}`"
    return None


def _shown(text: str) -> str:
    shown = redact(text)
    return repr(shown if len(shown) <= 200 else f"{shown[:199]}…")
