"""The configuration files of agents, as they are read and written.

A clone may bring a link in the place of a project's file or of a folder above it, and whoever writes through the link
changes a file elsewhere. So below a project's folder no link is followed, and a link that comes while we write is
replaced. In the user's own folder a link is the user's own, as those who keep their settings in a repository make them:
it stays and is followed.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.store.atomic import write_bytes_atomically

_MOST_BYTES = 16 << 20


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
        self._check_folders()
        _check(self.path, "file")
        try:
            with self.path.open("rb") as opened:
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
        self._check_folders()
        if self.path.is_file() and not self.path.is_symlink() and not self.path.stat().st_mode & 0o222:
            raise ConfigurationError(f"{self.path}: it is read-only: run `chmod u+w {self.path}`")
        write_bytes_atomically(self.path, text.encode("utf-8"))

    def missing_folders(self) -> list[Path]:
        """The folders that `write` would make, the innermost first."""
        folder = self.path.parent
        return [each for each in (folder, *folder.parents) if not each.exists()]

    def remove(self) -> None:
        self._check_folders()
        self.path.unlink()

    def _check_folders(self) -> None:
        for folder in self._folders():
            _check(folder, "folder")

    def _folders(self) -> Iterator[Path]:
        place = self.root
        for name in PurePosixPath(self.below).parts[:-1]:
            place /= name
            yield place


def _check(place: Path, kind: str) -> None:
    """Raise the error for what is in the place of a file or folder of a project."""
    if place.is_symlink():
        what = f"it is a link to {place.readlink()}, and may have come with a clone: links are not followed here"
    elif place.exists() and not (place.is_dir() if kind == "folder" else place.is_file()):
        what = f"it is no {kind}"
    else:
        return
    raise ConfigurationError(f"{place}: {what}: replace it by a {kind}, or add the entry by hand")
