"""Where homes are: which folders are the user's own, and the local copy of a home in a bucket.

A home that is found by looking upward may have come with a clone or an unpacked archive. One of the user's own holds a
random token, and the user's record, outside of all homes, holds a file that is named by the token and says where the
home is. What is unpacked elsewhere, or over a home that was deleted, cannot know a token of the record. One file for
each home: two processes that record at one time do not meet.

The copy of a bucket is below the user's cache folder, by the hash of the URL. The bucket holds the record, so a copy
may be deleted whenever no program uses it.
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

from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, RepositoryUnavailable
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.store.layout import WHOLE_FOLDER, BucketPlace, HomeLayout
from codesum_pipeline.source.git.git import try_git

_TOKEN_BYTES = 32
_PRIVATE_FOLDER = 0o700
_PRIVATE_FILE = 0o600
_WRITABLE_BY_OTHERS = 0o022
_GIT_TIMEOUT_S = 20.0
_HASH_CHARS = 16
# A process that asks again and again looks at the bucket's own files no oftener.
_FRESH_S = 3.0
# The copy of what is published, in that of the home, and what it has in common with it.
_READING = "reading"
_OF_BOTH = (
    "repos.yaml", "codesum.toml", "intents.yaml", "prompts", "cache", "dagster", "ask.sqlite",
    "digests.sqlite",
)  # fmt: skip


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
    """As `check_is_own`, without asking the record; nothing in the home is read, only the indexes of work trees."""
    for status in (home.lstat(), home.stat()):
        if status.st_uid != os.geteuid():
            try:
                user = pwd.getpwuid(status.st_uid).pw_name
            except KeyError:
                user = str(status.st_uid)
            raise ConfigurationError(
                f"{home} belongs to another user ({user}), so it is not used unless you name it; {_named(home)}"
            )
    # A link counts both where it is and where it leads.
    for place in dict.fromkeys((home, home.resolve())):
        for folder in (place, *place.parents):
            git = folder / ".git"
            # In a linked work tree or a submodule it is a file; git does not accept a folder without HEAD.
            if git.is_file() or (git / "HEAD").is_file():
                _check_is_not_tracked(folder, place)


def _check_is_not_tracked(root: Path, home: Path) -> None:
    """Raises `ConfigurationError` if a work tree around a home tracks files of it, or cannot say: the settings would
    be those of whoever wrote the repository."""
    # Where names differ in case alone, `.Codesum` in the index is `.codesum` on some disks.
    pathspec = f":(top,literal,icase){home.relative_to(root)}" if home != root else ":(top)"
    instead = f"name a home with --home or CODESUM_HOME, as in `codesum --home {shlex.quote(str(home))} …`"
    unknown = f"whether {home} is part of the repository {root} is not known"
    try:
        tracked = try_git(["ls-files", "-z", "--", pathspec], work_tree=root, timeout_s=_GIT_TIMEOUT_S)
    except RepositoryUnavailable as error:
        raise ConfigurationError(f"{unknown}: {error}") from error
    if tracked.status != 0:
        raise ConfigurationError(f"{unknown}: {tracked.complaint}; {instead}")
    if tracked.output:
        untrack = f"git -C {shlex.quote(str(root))} rm -r --cached {shlex.quote(str(home.relative_to(root)))}"
        raise ConfigurationError(
            f"{home} is part of the repository {root}: settings that come with a repository are not used; "
            f"{instead}, or remove it with `{untrack}`"
        )


def record_home(home: Path, *, at: Path | None = None) -> Path:
    """Give a home a new token and record that it is the user's own; returns the record's file.

    `at` is where the home will be, if it is not there yet. Raises `ConfigurationError` if the record or the home
    cannot be written.
    """
    token, folder, at = secrets.token_hex(_TOKEN_BYTES), state_folder() / "homes", at or home
    try:
        folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
        for file, content in ((folder / token, os.fsencode(at.resolve())), (HomeLayout(home).token, token.encode())):
            # Written whole or not at all, and readable only by the owner.
            aside = file.with_name(f".{file.name[:8]}.{secrets.token_hex(8)}.tmp")
            handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE_FILE)
            with os.fdopen(handle, "wb") as opened:
                opened.write(content)
            os.replace(aside, file)
    except OSError as error:
        raise ConfigurationError(
            f"that {at} is yours cannot be recorded: {error.filename}: {error.strerror}; {_named(at)}"
        ) from error
    return folder / token


def _is_recorded(home: Path) -> bool:
    """Whether the record has the token that a home holds; a link or a pipe in the token's place is not followed."""
    try:
        handle = os.open(HomeLayout(home).token, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            token = file.read(2 * _TOKEN_BYTES + 1)
    except OSError:
        return False
    if not re.fullmatch(rb"[0-9a-f]{%d}" % (2 * _TOKEN_BYTES), token):
        return False
    try:
        return (state_folder() / "homes" / token.decode()).read_bytes() == os.fsencode(home.resolve())
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ConfigurationError(
            f"whether codesum made {home} is not known: {error.filename}: {error.strerror}; {_named(home)}"
        ) from error


def _named(home: Path) -> str:
    return f"name the home: `export CODESUM_HOME={shlex.quote(str(home))}`"


def state_folder() -> Path:
    """For what programs note between their runs; raises `ConfigurationError` if the user has no folder for it."""
    return _user_folder("XDG_STATE_HOME", ".local/state", "what codesum notes about you")


def user_home() -> Path:
    """The home of checkouts that no other home is found for, in the user's data folder; raises `ConfigurationError`."""
    return _user_folder("XDG_DATA_HOME", ".local/share", "the indexes of your checkouts")


def _user_folder(variable: str, usual: str, holds: str, environ: Mapping[str, str] = os.environ) -> Path:
    """A folder of the user for what `holds` says; raises `ConfigurationError` if there is none."""
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


def bucket_of(address: str) -> str | None:
    """The URL of the bucket that a home's address names, without a slash at its end; None for a path."""
    return address.rstrip("/") if "://" in address else None


def cache_folder(bucket: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Where this worker keeps what it uses of a bucket: `codesum/homes/<hash of the URL>` in the user's cache folder.

    Raises `ConfigurationError` if the user has no folder for it.
    """
    name = hashlib.sha256(bucket.encode()).hexdigest()[:_HASH_CHARS]
    return _user_folder("XDG_CACHE_HOME", ".cache", f"this worker's copy of {bucket}", environ) / "homes" / name


def open_copy(url: str, environ: Mapping[str, str] = os.environ, *, is_offline: bool = False) -> Path:
    """The local copy, with the registry, the settings, the standing questions and the prompts as the bucket has them.

    Offline it is as it was when the bucket was looked at last. Raises `ConfigurationError` for a folder that others
    can write, or where there is no copy yet, and `BucketUnavailable`.
    """
    # It imports the code of buckets, which a home in a folder does without.
    from codesum_pipeline.foundation.store.object_storage.opened_homes import OPENED_HOMES

    folder = cache_folder(url, environ)
    _make_private(folder)
    files = OPENED_HOMES.home_files(url, folder)
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
    from codesum_pipeline.foundation.store.object_storage.opened_homes import OPENED_HOMES

    folder = settings.home / _READING
    _make_private(folder)
    for name in _OF_BOTH:
        if not os.path.lexists(folder / name):
            # Another process may be as far.
            with suppress(FileExistsError):
                (folder / name).symlink_to(Path("..") / name)
    files = OPENED_HOMES.home_files(settings.bucket, settings.home)
    OPENED_HOMES.reading_copy(files, folder, settings.reading, is_offline=settings.offline).look()
    return settings.model_copy(update={"home": folder})


def layout_of(settings: Settings) -> HomeLayout:
    """The paths of the home that these settings are of, with its files as this process has opened them."""
    if settings.bucket is None:
        return HomeLayout(settings.home)
    from codesum_pipeline.foundation.store.object_storage.opened_homes import OPENED_HOMES

    place = BucketPlace(settings.bucket, settings.storage)
    return HomeLayout(settings.home, place, OPENED_HOMES.local_files(settings.bucket, settings.home))


def layout_of_builds(layout: HomeLayout) -> HomeLayout:
    """The folder in which this machine builds, of a home in a bucket that is opened for whichever use."""
    return replace(layout, home=layout.home.parent, files=WHOLE_FOLDER) if layout.files.is_copy else layout


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"no copy of a home in a bucket can be kept in {folder}: {error.strerror}; set XDG_CACHE_HOME to a folder "
            "that you can write"
        ) from error
    check_may_be_own(folder)
    if folder.is_symlink() or stat.S_IMODE(folder.stat().st_mode) & _WRITABLE_BY_OTHERS:
        raise ConfigurationError(f"{folder} can be written by others, so nothing in it is used: `chmod 700 {folder}`")
