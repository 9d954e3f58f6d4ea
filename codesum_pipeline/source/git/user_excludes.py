"""What the user's own excludes file names: git leaves it out of every work tree of that user, and so do we.

Of the user's global configuration this one value is read, conditional includes judged for the work tree as git judges
them; a clone's configuration never is. Git takes one such file, so the packaged patterns and the user's are joined: the
user's come last, and may take a packaged one back. What is committed is left out by neither.
"""

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.data_model.guard import Failure
from codesum_pipeline.source.git.git import PACKAGED_EXCLUDES, GitResult, last_line, try_git

# Several thousand times what people write.
LARGEST_BYTES = 1024 * 1024
_TIMEOUT_S = 20.0
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NOT_SET = 1


class UserExcludes(Struct, frozen=True):
    """The patterns of the user, and why they could not be read, if that is so."""

    patterns: bytes = b""
    problems: tuple[Failure, ...] = ()


def read_user_excludes(root: Path, git_dir: Path) -> UserExcludes:
    """The user's patterns for the work tree at `root`."""
    configured, problems = None, []
    for file in _global_configurations():
        found = try_git(
            ["config", "--file", file, "--includes", "--type=path", "-z", "--get", "core.excludesFile"],
            git_dir=git_dir,
            timeout_s=_TIMEOUT_S,
        )
        if found.status == 0:
            configured = os.fsdecode(found.output.removesuffix(b"\0"))
        elif found.status != _NOT_SET:
            why = f"cannot be read, so its core.excludesFile is not used: {last_line(found.complaints)}"
            problems.append(Failure(str(file), why, is_settled=True))
    if configured == "":
        return UserExcludes(problems=tuple(problems))
    path = root / configured if configured else _default_place()
    patterns, why = _read(path) if path else (b"", "")
    problems += [Failure(str(path), f"{why}: its patterns are not used", is_settled=True)] if why else []
    return UserExcludes(patterns, tuple(problems))


def run_in_tree(
    arguments: Sequence[str | Path],
    root: Path,
    *,
    timeout_s: float,
    git_dir: Path | None = None,
    data: bytes | None = None,
    environment: Mapping[str, str] | None = None,
) -> GitResult:
    """As `try_git` in the work tree at `root`, where git ignores what the user ignores, too."""
    git_dir = git_dir or root / ".git"
    with joined_excludes(read_user_excludes(root, git_dir).patterns) as excludes:
        return try_git(
            arguments,
            timeout_s=timeout_s,
            git_dir=git_dir,
            data=data,
            work_tree=root,
            environment=environment,
            excludes=excludes,
        )


@contextmanager
def joined_excludes(patterns: bytes, *, is_packaged: bool = True) -> Iterator[Path]:
    """A file of these patterns and, before them, the packaged ones, as long as the block runs."""
    if not patterns:
        yield PACKAGED_EXCLUDES if is_packaged else Path(os.devnull)
        return
    with tempfile.NamedTemporaryFile(prefix="codesum-") as joined:
        joined.write((PACKAGED_EXCLUDES.read_bytes() + b"\n" if is_packaged else b"") + patterns)
        joined.flush()
        yield Path(joined.name)


def _global_configurations() -> Sequence[Path]:
    """The files of the user's global configuration that are there, the stronger one last."""
    home, named = os.environ.get("HOME"), os.environ.get("GIT_CONFIG_GLOBAL")
    if named is not None:
        places = [Path(named)] if named else []
    else:
        folder = _configuration_folder()
        places = [*([folder / "config"] if folder else []), *([Path(home) / ".gitconfig"] if home else [])]
    return [place for place in places if place.is_file()]


def _configuration_folder() -> Path | None:
    home, folder = os.environ.get("HOME"), os.environ.get("XDG_CONFIG_HOME")
    if folder:
        return Path(folder) / "git"
    return Path(home) / ".config" / "git" if home else None


def _default_place() -> Path | None:
    folder = _configuration_folder()
    return folder / "ignore" if folder else None


def _read(path: Path) -> tuple[bytes, str]:
    """The patterns of a file, and what is wrong with it; neither where there is no file, which is as good for git."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return b"", "is no file"
            patterns = file.read(LARGEST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return b"", ""
    except (OSError, ValueError) as error:
        return b"", f"cannot be read ({getattr(error, 'strerror', None) or error})"
    if len(patterns) > LARGEST_BYTES:
        return b"", f"has more than {LARGEST_BYTES:,} bytes"
    if b"\0" in patterns:
        return b"", "is no text"
    return patterns.removeprefix(_BYTE_ORDER_MARK), ""
