"""Repositories that no checkout would give, and what the real pipeline makes of them."""

import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.foundation.data_model.file import SourceFile
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.indexes.publishing.verify import verify_index
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

SOUND = b'''"""Adds up orders."""


def order_total(items):
    """Return the sum of the prices of all items."""
    total = 0
    for item in items:
        total += item.price
    return total
'''


@dataclass(frozen=True)
class Built:
    """A home with one repository, `project`, that was built from its snapshot to its published index."""

    home: Home
    location: Path
    reports: Mapping[str, Any] = field(repr=False)

    def reasons(self) -> dict[str, str | None]:
        """Of every file: why it was skipped, None for one that is indexed."""
        rows = self.home.tables.read_rows("files", "project", SourceFile)
        return {row.path: None if row.reason is None else str(row.reason) for row in rows}

    def documents(self) -> dict[str, dict[str, Any]]:
        """The documents by id."""
        return {row["id"]: row for row in self.home.tables.read("documents", "project").to_pylist()}

    def findings(self) -> list[Any]:
        """What `codesum doctor` would find."""
        return verify_index(self.home.layout, "project", tables=self.home.tables)

    def rebuilt(self, **options: Any) -> "Built":
        """The same, built once more."""
        return Built(self.home, self.location, build(self.home.workspace("project", run_id="again", **options)))


def built(location: Path, home: Path, *, settings: Mapping[str, Any] | None = None, **entry: Any) -> Built:
    """All steps over one location, the index checked as `codesum doctor` does."""
    opened = open_home(home, **(settings or {}))
    workspace = workspace_of(opened, RepositoryEntry(key="project", location=str(location), **entry))
    made = Built(opened, location, build(workspace))
    assert made.findings() == []
    return made


def many_functions(count: int) -> dict[str, str | bytes]:
    """Files of 40 functions, each unlike the others and long enough for a text of its own."""
    body = SOUND.partition(b"def ")[2]
    functions = [b"def at_%d_%b    return total + %d\n\n\n" % (k, body, k) for k in range(count)]
    return {f"m{k}.py": b"".join(functions[k : k + 40]) for k in range(0, count, 40)}


def complaints(stderr: str) -> list[str]:
    """What a command complains of, run ids apart."""
    lines = [line for line in stderr.splitlines() if line.startswith("codesum: ") or "rror" in line]
    return [line.partition(" (run ")[0] for line in lines]


def git_bytes(repo: Path, *arguments: str, data: bytes = b"") -> bytes:
    """Run git in a repository with bytes for its input."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *arguments], cwd=repo, input=data, env=environment, check=True, capture_output=True)
    return done.stdout.strip()


def fast_import(repo: GitRepo, files: Iterable[tuple[bytes, bytes]], *, message: bytes = b"import") -> None:
    """One commit on `main` of files whose names may be any bytes that git takes, without a work tree."""
    lines = [b"commit refs/heads/main\ncommitter Test <t@example.org> 1767225600 +0000\n"]
    lines.append(b"data %d\n%b\ndeleteall\n" % (len(message), message))
    for path, content in files:
        quoted = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
        lines.append(b'M 100644 inline "%b"\ndata %d\n%b\n' % (quoted, len(content), content))
    git_bytes(repo.path, "-c", "core.protectNTFS=false", "fast-import", "--quiet", "--force", data=b"".join(lines))


def store_blob(repo: GitRepo, content: bytes) -> bytes:
    """The id of a blob."""
    return git_bytes(repo.path, "hash-object", "-w", "--stdin", data=content)


def store_tree(repo: GitRepo, entries: Iterable[tuple[bytes, bytes, bytes]]) -> bytes:
    """The id of a tree of (mode, name, object id), in the order given and unchecked."""
    content = b"".join(b"%b %b\0%b" % (mode, name, bytes.fromhex(oid.decode())) for mode, name, oid in entries)
    return git_bytes(repo.path, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", data=content)


def store_commit(repo: GitRepo, tree: bytes, *, head: bytes = b"", message: bytes = b"raw") -> str:
    """Make `main` a commit of a tree; `head` replaces its author and committer lines."""
    who = b"Test <t@example.org> 1767225600 +0000"
    head = head or b"author %b\ncommitter %b\n" % (who, who)
    content = b"tree %b\n%b\n%b\n" % (tree, head, message)
    commit = git_bytes(repo.path, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", data=content)
    git_bytes(repo.path, "update-ref", "refs/heads/main", commit.decode())
    return commit.decode()
