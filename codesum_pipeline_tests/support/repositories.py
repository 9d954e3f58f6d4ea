"""Real git repositories for tests, made in a temporary folder."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_IDENTITY = {
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.org",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.org",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass(frozen=True, slots=True)
class GitRepo:
    """A work tree whose commits are made by the real git."""

    path: Path

    @classmethod
    def create(cls, path: Path, files: Mapping[str, str | bytes] | None = None) -> "GitRepo":
        """An initialised repository with one commit of `files`."""
        path.mkdir(parents=True)
        repo = cls(path)
        repo.git("init", "-q", "-b", "main")
        repo.git("commit", "-q", "--allow-empty", "-m", "start")
        if files is not None:
            repo.commit(files)
        return repo

    def git(self, *arguments: str) -> str:
        """Run git in the work tree; its standard output."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env={**os.environ, **_IDENTITY},
            check=True,
            capture_output=True,
        )
        return done.stdout.decode("utf-8", "replace")

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Write files below the work tree."""
        for name, content in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, files: Mapping[str, str | bytes], message: str = "change") -> str:
        """Write files, commit everything; the commit's id."""
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD").strip()

    def commit_exactly(self, files: Mapping[str, str | bytes], message: str = "change") -> str:
        """Commit a tree that holds `files` and nothing else; the commit's id."""
        self.write_exactly(files)
        return self.commit({}, message)

    def write_exactly(self, files: Mapping[str, str | bytes]) -> None:
        """Make a work tree that holds `files` and nothing else."""
        for entry in self.path.iterdir():
            if entry.name == ".git":
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        self.write(files)
