"""The packages that the model is trained on, by name and version, and how they are fetched."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).with_name("packages.tsv")
_SIGNATURES = (".asc", ".dsc", ".diff.gz")


@dataclass(frozen=True, slots=True)
class Package:
    """One package of one registry: `npm`, `pypi`, `debian` (its source) or `deb` (what is installed)."""

    registry: str
    name: str
    version: str
    licence: str

    @property
    def key(self) -> str:
        return f"{self.registry}-{self.name}".replace("/", "-").replace("@", "")


def read_packages(path: Path = LIST) -> list[Package]:
    """The packages of a list, in its order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Package(*line.split("\t")) for line in lines if line and not line.startswith("#")]


def fetch_archives(package: Package, folder: Path) -> list[Path]:
    """The archives of a package, fetched by its registry's own client unless they are in `folder` already.

    Debian's need a Debian 12 with `deb-src` among its sources.
    """
    own = folder / package.key
    if not own.is_dir():
        partial = folder / f"{package.key}.partial"
        partial.mkdir(parents=True, exist_ok=True)
        subprocess.run(_command(package), cwd=partial, check=True, stdout=subprocess.DEVNULL)
        partial.rename(own)
    archives = sorted(path for path in own.iterdir() if not path.name.endswith(_SIGNATURES))
    return [path for path in archives if ".debian.tar" not in path.name]


def _command(package: Package) -> list[str]:
    match package.registry:
        case "npm":
            return ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
        case "pypi":
            pinned = f"{package.name}=={package.version}"
            return [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", pinned]
        case "debian":
            pinned = f"{package.name}={package.version}"
            return ["apt-get", "-q", "source", "--download-only", "--only-source", pinned]
        case "deb":
            return ["apt-get", "-q", "download", f"{package.name}={package.version}"]
    raise SystemExit(f"{LIST}: {package.name}: no registry is called {package.registry!r}")
