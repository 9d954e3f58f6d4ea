"""Repositories for a fleet to build: copies of clones, packages of this environment, or small ones that are made."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop_home import FILES

# Of a package that counts as a small repository.
MODULES = range(5, 41)
BYTES = range(20_000, 400_000)


def copy_clones(clones: Sequence[Path], folder: Path) -> list[GitRepo]:
    """Each clone, cloned."""
    for clone in clones:
        subprocess.run(["git", "clone", "-q", str(clone), str(folder / clone.name)], check=True)
    return [GitRepo(folder / clone.name) for clone in clones]


def make_small_repositories(count: int, folder: Path) -> list[GitRepo]:
    """Small ones, no two alike."""
    own = [{"shop/own.py": f'def own{n}(x):\n    """Add {n}."""\n    return x + {n}\n'} for n in range(count)]
    return [GitRepo.create(folder / f"made{n:03}", {**FILES, **files}) for n, files in enumerate(own)]


def copy_packages(count: int, folder: Path) -> list[GitRepo]:
    """Installed packages of 5 to 40 modules and 20 to 400 KB, in the order of their names; a repository of each."""
    found = sorted(dict(_installed_packages()).items())
    if len(found) < count:
        raise SystemExit(f"this environment has {len(found)} packages of that size, not {count}")
    repositories = []
    for name, place in found[:count]:
        repo = GitRepo.create(folder / name)
        shutil.copytree(place, repo.path / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        repo.commit({})
        repositories.append(repo)
    return repositories


def _installed_packages() -> Iterator[tuple[str, Path]]:
    for distribution in metadata.distributions():
        modules: dict[str, list[Path]] = {}
        for file in distribution.files or ():
            if file.suffix == ".py" and len(file.parts) > 1 and ".." not in file.parts:
                modules.setdefault(file.parts[0], []).append(Path(str(distribution.locate_file(file))))
        for name, files in modules.items():
            size = sum(file.stat().st_size for file in files if file.is_file())
            if len(files) in MODULES and size in BYTES:
                yield name, Path(str(distribution.locate_file(name)))
