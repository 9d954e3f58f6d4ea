"""Where this user's copy of a home in a bucket is: below the user's cache folder, by the hash of the URL.

The bucket holds the record, so a copy may be deleted whenever no program uses it.
"""

import hashlib
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from codesum_pipeline.homes.own import check_may_be_own, user_folder
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.settings.models import Settings

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
