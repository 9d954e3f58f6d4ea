"""How large an installation is, and which packages take the room.

    python -m benchmarks.install_size uv [ARGUMENT ...]       # uv tool install -c constraints.txt ARGUMENT ... .
    python -m benchmarks.install_size pip [ARGUMENT ...]      # pip install -c constraints.txt ARGUMENT ... .

Installs this checkout into an empty environment, which is removed afterwards. Prints what each package has in
`site-packages`, in millions of bytes, largest first, and the sum. pip compiles all modules, and the compiled ones are
counted; uv leaves that to their first use. The first way in of the README is

    python -m benchmarks.install_size uv --excludes without-torch.txt
"""

import argparse
import os
import subprocess
import sys
import tempfile
from importlib.metadata import Distribution, distributions
from pathlib import Path

from benchmarks.revisions import PROJECT

_MB = 1_000_000
_LEAST_SHOWN_MB = 5.0


def install_by_uv(folder: Path, arguments: list[str]) -> Path:
    """The environment that `uv tool install` makes."""
    places = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    command = ["uv", "tool", "install", "--quiet", "-c", "constraints.txt", *arguments, "."]
    subprocess.run(command, cwd=PROJECT, env={**os.environ, **places}, check=True)
    return folder / "tools" / "codesum-pipeline"


def install_by_pip(folder: Path, arguments: list[str]) -> Path:
    """An environment of its own, without pip in it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "env"), "install", "--quiet"]
    subprocess.run([*pip, "-c", "constraints.txt", *arguments, "."], cwd=PROJECT, check=True)
    return folder / "env"


def size_of(package: Distribution) -> int:
    """The bytes of a package's files, compiled modules included where they are there."""
    places = {Path(str(package.locate_file(file))) for file in package.files or ()}
    return sum(place.stat().st_size for place in places if place.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("installer", choices=("uv", "pip"))
    installer, arguments = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        install = install_by_uv if installer.installer == "uv" else install_by_pip
        (site,) = install(Path(folder), arguments).glob("lib/python3*/site-packages")
        sizes = sorted(((size_of(each) / _MB, each.name) for each in distributions(path=[str(site)])), reverse=True)
        whole = sum(file.stat().st_size for file in site.rglob("*") if file.is_file() and not file.is_symlink()) / _MB
    shown = [(size, name) for size, name in sizes if size >= _LEAST_SHOWN_MB]
    for size, name in shown:
        print(f"{size:8.1f}  {name}")
    print(f"{sum(size for size, _ in sizes[len(shown) :]):8.1f}  {len(sizes) - len(shown)} others")
    print(f"{whole:8.1f}  MB in all, {len(sizes)} packages")


if __name__ == "__main__":
    main()
