"""Which homes are the user's own: those that codesum made, or the user allowed, where they are now.

A home that is found by looking upward may have come with a clone or an unpacked
archive. One of the user's own holds a random token, and the user's record,
outside of all homes, holds a file that is named by the token and says where the
home is. What is unpacked elsewhere, or over a home that was deleted, cannot
know a token of the record. One file for each home: two processes that record
at one time do not meet.
"""

import hashlib
import os
import pwd
import re
import secrets
import shlex
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.settings.models import Settings
from codesum_pipeline.source.brought_along import check_is_not_tracked
from codesum_pipeline.store.layout import HomeLayout

_TOKEN_BYTES = 32
_PRIVATE_FOLDER = 0o700
_PRIVATE_FILE = 0o600


def check_is_own(home: Path) -> None:
    """Raises `ConfigurationError`, with the command that allows it, for a home that counts only where it is named."""
    check_may_be_own(home)
    if not _is_recorded(home):
        raise ConfigurationError(
            f"{home} was not made here by codesum, or by a version that kept no record of it; it may have come with a "
            f"download, so nothing in it is used. If it is yours: `codesum --home {shlex.quote(str(home))} doctor "
            "--trust`"
        )


def check_may_be_own(home: Path) -> None:
    """As `check_is_own`, without asking the record; nothing in the home is read."""
    for status in (home.lstat(), home.stat()):
        if status.st_uid != os.geteuid():
            raise ConfigurationError(
                f"{home} belongs to another user ({_user(status.st_uid)}), so nothing in it is used by itself; "
                f"{_named(home)}"
            )
    check_is_not_tracked(home)


def record_home(home: Path, *, at: Path | None = None) -> Path:
    """Give a home a new token and record that it is the user's own; returns the record's file.

    `at` is where the home will be, if it is not there yet. Raises `ConfigurationError` where the record or the home
    cannot be written.
    """
    token = secrets.token_hex(_TOKEN_BYTES)
    folder = _record_folder()
    at = at or home
    try:
        folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
        _write(folder / token, os.fsencode(at.resolve()))
        _write(HomeLayout(home).token, token.encode())
    except OSError as error:
        raise ConfigurationError(
            f"that {at} is yours cannot be recorded: {error.filename}: {error.strerror}; {_named(at)}"
        ) from error
    return folder / token


def _is_recorded(home: Path) -> bool:
    token = _token_in(home)
    if not token:
        return False
    try:
        return (_record_folder() / token).read_bytes() == os.fsencode(home.resolve())
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ConfigurationError(
            f"whether codesum made {home} is not known: {error.filename}: {error.strerror}; {_named(home)}"
        ) from error


def _token_in(home: Path) -> str:
    """The token that a home holds; empty where it holds none. A link or a pipe in its place is not followed."""
    try:
        handle = os.open(HomeLayout(home).token, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            found = file.read(2 * _TOKEN_BYTES + 1)
    except OSError:
        return ""
    return found.decode() if re.fullmatch(rb"[0-9a-f]{%d}" % (2 * _TOKEN_BYTES), found) else ""


def _named(home: Path) -> str:
    return f"name the home: `export CODESUM_HOME={shlex.quote(str(home))}`"


def _record_folder() -> Path:
    return state_folder() / "homes"


def state_folder() -> Path:
    """For what programs note between their runs; raises `ConfigurationError` where the user has no folder for it."""
    return user_folder("XDG_STATE_HOME", ".local/state", "what codesum notes about you")


def user_home() -> Path:
    """The home of checkouts that no other home is found for, in the user's data folder; raises `ConfigurationError`."""
    return user_folder("XDG_DATA_HOME", ".local/share", "the indexes of your checkouts")


def user_folder(variable: str, usual: str, holds: str, environ: Mapping[str, str] = os.environ) -> Path:
    """A folder of the user for what `holds` says; raises `ConfigurationError` where there is none."""
    chosen = Path(environ.get(variable, ""))
    if chosen.is_absolute():
        return chosen / "codesum"
    try:
        return Path.home() / usual / "codesum"
    except RuntimeError as error:
        raise ConfigurationError(
            f"there is no folder for {holds}: set HOME or {variable}; a home can also be named with --home or "
            "CODESUM_HOME"
        ) from error


def _write(file: Path, content: bytes) -> None:
    """Whole or not at all, and for nobody else to read."""
    aside = file.with_name(f".{file.name[:8]}.{secrets.token_hex(8)}.tmp")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE_FILE)
    with os.fdopen(handle, "wb") as opened:
        opened.write(content)
    os.replace(aside, file)


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


_HASH_CHARS = 16
_PRIVATE = 0o700
_WRITABLE_BY_OTHERS = 0o022
# A process that asks again and again looks at the bucket's own files no oftener.
_FRESH_S = 3.0
# The copy of what is published, in that of the home, and what it has in common with it.
_READING = "reading"
_OF_BOTH = (
    "repos.yaml", "codesum.toml", "intents.yaml", "prompts", "cache", "dagster", "ask.sqlite",
    "digests.sqlite",
)  # fmt: skip


def bucket_of(address: str) -> str | None:
    """The URL of the bucket that a home's address names, without a slash at its end; None for a path."""
    return address.rstrip("/") if "://" in address else None


def cache_folder(bucket: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Where this worker keeps what it uses of a bucket: `codesum/homes/<hash of the URL>` in the user's cache folder.

    Raises `ConfigurationError` where the user has no folder for it.
    """
    name = hashlib.sha256(bucket.encode()).hexdigest()[:_HASH_CHARS]
    return user_folder("XDG_CACHE_HOME", ".cache", f"this worker's copy of {bucket}", environ) / "homes" / name


def open_copy(url: str, environ: Mapping[str, str] = os.environ, *, is_offline: bool = False) -> Path:
    """The local copy, with the registry, the settings, the standing questions and the prompts as the bucket has them.

    Offline it is as it was when the bucket was looked at last. Raises `ConfigurationError` for a folder that others
    can write, or where there is no copy yet, and `BucketUnavailable`.
    """
    from codesum_pipeline.store.home_files import open_home_files

    folder = cache_folder(url, environ)
    _make_private(folder)
    files = open_home_files(url, folder)
    if is_offline and not files.is_copied:
        raise ConfigurationError(f"{url}: nothing was copied from this bucket yet: call once without --offline")
    if not is_offline:
        files.refresh(max_age_s=_FRESH_S)
    return folder


def for_reading(settings: Settings) -> Settings:
    """The same settings, with the copy of what is published as their home, for whoever builds nothing.

    What a worker builds lies beside it, unpublished as long as the bucket does not say otherwise. A home that is a
    folder is its own.
    """
    if settings.bucket is None:
        return settings
    from codesum_pipeline.store.home_files import open_home_files
    from codesum_pipeline.store.reading_copy import open_reading_copy

    folder = settings.home / _READING
    _make_private(folder)
    for name in _OF_BOTH:
        if not os.path.lexists(folder / name):
            # Another process may be as far.
            with suppress(FileExistsError):
                (folder / name).symlink_to(Path("..") / name)
    files = open_home_files(settings.bucket, settings.home)
    copy = open_reading_copy(files, folder, settings.reading, is_offline=settings.offline)
    copy.look()
    return settings.model_copy(update={"home": folder})


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"no copy of a home in a bucket can be kept in {folder}: {error.strerror}; set XDG_CACHE_HOME to a folder "
            "that you can write"
        ) from error
    check_may_be_own(folder)
    if folder.is_symlink() or stat.S_IMODE(folder.stat().st_mode) & _WRITABLE_BY_OTHERS:
        raise ConfigurationError(f"{folder} can be written by others, so nothing in it is used: `chmod 700 {folder}`")
