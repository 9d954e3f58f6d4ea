"""What a full and a closed disk do: `unshare -Urm python -m … FOLDER`, in user and mount namespaces of its own.

A file system of 8 MB is mounted below FOLDER, for this process alone. Prints as JSON how each command ended.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from codesum_pipeline.ways_in.cli.cli_app import app
from codesum_pipeline_tests.builds.hostile.building import SOUND, built, complaints, many_functions
from codesum_pipeline_tests.support.repositories import GitRepo


def read_answers(home: Path, *arguments: str) -> list[object]:
    """How a command ended, and what it complained of."""
    done = CliRunner().invoke(app, ["--home", str(home), *arguments], prog_name="codesum")
    return [done.exit_code, complaints(done.stderr)]


def fill(disk: Path, *, left: int) -> Path:
    """Leave so many bytes free; the file to delete for more."""
    free = os.statvfs(disk)
    filler = disk / "filler"
    filler.write_bytes(bytes(free.f_bavail * free.f_frsize - left))
    return filler


def mount(disk: Path, options: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)], check=True)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    disk, home = folder / "disk", folder / "disk" / "home"
    disk.mkdir()
    mount(disk, "size=8m")
    repo = GitRepo.create(folder / "project", {"a.py": SOUND})
    made = built(repo.path, home)
    published = made.home.layout.published("project")
    before = published.readlink()
    repo.commit(many_functions(320))
    filler = fill(disk, left=200_000)

    ended = {"full": read_answers(home, "index", "project"), "search": read_answers(home, "search", "sum of prices")}
    mount(disk, "remount,ro")
    ended["closed"] = read_answers(home, "index", "project")
    ended["kept"] = [published.readlink() == before, [str(finding) for finding in made.findings()]]
    mount(disk, "remount,rw")
    filler.unlink()
    ended["again"] = read_answers(home, "index", "project")
    sys.stdout.write(json.dumps(ended))
