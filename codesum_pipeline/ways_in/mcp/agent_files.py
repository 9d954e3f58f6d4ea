"""The configuration files of agents, as they are read and written.

A clone may bring a link in the place of a project's file or of a folder above it, and whoever writes through the link
changes a file elsewhere. So below a project's folder no link is followed: each folder is opened relative to the one
above it, and a link that comes while we write is replaced, not followed. In the user's own folder a link is the user's
own, as those who keep their settings in a repository make them: it stays and is followed.
"""

import errno
import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.store.atomic import explain_refused_writes

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
# A pipe would be waited for.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_MOST_BYTES = 16 << 20
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class AgentFile(Struct, frozen=True):
    """The file `below` a folder. Raises `ConfigurationError` where it, or a folder on the way, is a link or no file."""

    root: Path
    below: str

    @classmethod
    def of_user(cls, home: Path, below: str) -> "AgentFile":
        """A file of the user, behind links."""
        real = (home / below).resolve()
        return cls(real.parent, real.name)

    @property
    def path(self) -> Path:
        return self.root / self.below

    def read(self) -> str | None:
        """The text; None if there is no file."""
        try:
            with self._folder() as folder, os.fdopen(self._open(folder), "rb") as opened:
                data = opened.read(_MOST_BYTES + 1)
            if len(data) > _MOST_BYTES:
                raise ConfigurationError(
                    f"{self.path}: it has more than {_MOST_BYTES >> 20} MB: it is no settings file"
                )
            return data.decode("utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError as error:
            raise ConfigurationError(
                f"{self.path}: it is no UTF-8 ({error}): save it as UTF-8, or add the entry by hand"
            ) from error
        except OSError as error:
            raise ConfigurationError(f"{self.path}: {error}") from error

    def write(self, text: str) -> None:
        """Replace the file, durably; the folders on the way are made."""
        aside = f".{self._name}.{uuid.uuid4().hex}.tmp"
        with explain_refused_writes(self.root, called=str(self.path)), self._folder(make=True) as folder:
            try:
                handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=folder)
                with os.fdopen(handle, "wb") as opened:
                    with suppress(FileNotFoundError):
                        found = os.stat(self._name, dir_fd=folder, follow_symlinks=False)
                        if stat.S_ISREG(found.st_mode):
                            if not found.st_mode & _WRITABLE:
                                raise ConfigurationError(f"{self.path}: it is read-only: run `chmod u+w {self.path}`")
                            os.fchmod(opened.fileno(), stat.S_IMODE(found.st_mode))
                    opened.write(text.encode("utf-8"))
                    opened.flush()
                    os.fsync(opened.fileno())
                os.replace(aside, self._name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(aside, dir_fd=folder)
                raise

    def missing_folders(self) -> list[Path]:
        """The folders that `write` would make, the innermost first."""
        folder = self.path.parent
        return [each for each in (folder, *folder.parents) if not each.exists()]

    def remove(self) -> None:
        with self._folder() as folder:
            os.unlink(self._name, dir_fd=folder)

    @property
    def _name(self) -> str:
        return PurePosixPath(self.below).name

    @contextmanager
    def _folder(self, *, make: bool = False) -> Iterator[int]:
        """The folder of the file, opened."""
        if make:
            self.root.mkdir(parents=True, exist_ok=True)
        opened, place = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY), self.root
        try:
            for name in PurePosixPath(self.below).parts[:-1]:
                place /= name
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=opened)
                above = opened
                try:
                    opened = os.open(name, _FOLDER, dir_fd=above)
                except OSError as error:
                    raise self._refused(error, place, "folder") from error
                os.close(above)
            yield opened
        finally:
            os.close(opened)

    def _open(self, folder: int) -> int:
        try:
            handle = os.open(self._name, _FILE, dir_fd=folder)
        except OSError as error:
            raise self._refused(error, self.path, "file") from error
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise ConfigurationError(f"{self.path}: it is no file: remove it, or write the entry elsewhere by hand")
        return handle

    def _refused(self, error: OSError, place: Path, kind: str) -> Exception:
        """The error for what is in the place of a file or folder of a project."""
        if error.errno not in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.EMLINK):
            return error
        if place.is_symlink():
            what = f"it is a link to {place.readlink()}, and may have come with a clone: links are not followed here"
        else:
            what = f"it is no {kind}"
        return ConfigurationError(f"{place}: {what}: replace it by a {kind}, or add the entry by hand")
