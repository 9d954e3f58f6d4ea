"""What Debian says of the licence of each file, in the machine-readable form of its copyright files (DEP 5).

https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Files under a strongly copyleft licence are not read.

    python -m benchmarks.static_embedder.licences work/downloads

prints each Debian package with the licence of its `Files: *`, which is the one in `packages.tsv`, and the others in it.
"""

import io
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from typing import IO

from benchmarks.static_embedder.packages import Package, fetch_archives, read_packages

# `GPL` is in the names of all of GNU's; the others ask for the same of what is made from a file, or forbid a use.
_STRICT = re.compile(
    r"GPL|GNU|GFDL|CDDL|CC-BY-(NC|SA|ND)|CC-SA|OSL|EUPL|SSPL|BUSL|LPPL|CECILL|non-?free", re.IGNORECASE
)
# The same licence under Debian's name and SPDX's.
_SPDX = {"expat": "MIT", "bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause", "zlib": "Zlib"}


@dataclass(frozen=True, slots=True)
class Licences:
    """Patterns of paths with a licence each; the last that fits a path counts."""

    parts: tuple[tuple[re.Pattern[str], str], ...]

    def of_file(self, path: str) -> str:
        """The licence of a file, "" where nothing is said of it."""
        return next((licence for pattern, licence in reversed(self.parts) if pattern.match(path)), "")

    @property
    def main(self) -> str:
        """The licence of what has no other."""
        return self.of_file("\0")

    @property
    def others(self) -> list[str]:
        """The other licences, by name."""
        return sorted({licence for _, licence in self.parts} - {self.main})


def is_permissive(licence: str) -> bool:
    """True where no strongly copyleft licence must be taken: of "A or B and C" that is A, or both B and C."""
    return any(not _STRICT.search(choice) for choice in re.split(r"\s+or\s+|\s*\|\s*", licence, flags=re.IGNORECASE))


def licences_of(package: Package, folder: Path) -> Licences | None:
    """What a Debian package says of its files; none where it says so in prose alone, or comes from elsewhere."""
    if package.registry not in {"debian", "deb"}:
        return None
    return parse_copyright("".join(_copyright_files(package, folder)))


def parse_copyright(text: str) -> Licences | None:
    """The patterns and licences of a copyright file in the machine-readable form."""
    if not re.match(r"\s*Format(-Specification)?:", text):
        return None
    parts = []
    for paragraph in re.split(r"\n[ \t]*\n", text):
        fields = dict(re.findall(r"^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)", paragraph, re.MULTILINE))
        patterns, licence = fields.get("Files", "").split(), fields.get("License", "").strip().partition("\n")[0]
        if patterns and licence and not all(pattern.startswith("debian/") for pattern in patterns):
            # What is installed lies deeper than in the source.
            either = "|".join(translate(found) for pattern in patterns for found in (pattern, f"*/{pattern}"))
            parts.append((re.compile(either), _SPDX.get(licence.lower(), licence)))
    return Licences(tuple(parts)) if parts else None


def _copyright_files(package: Package, folder: Path) -> Iterator[str]:
    fetch_archives(package, folder)
    for archive in sorted((folder / package.key).iterdir()):
        if archive.suffix == ".deb":
            unpacked = subprocess.run(["dpkg-deb", "--fsys-tarfile", archive], capture_output=True, check=True).stdout
            yield from _texts_in(io.BytesIO(unpacked), f"./usr/share/doc/{package.name}/copyright")
        elif ".debian.tar" in archive.name or (".orig" not in archive.name and ".tar." in archive.name):
            with archive.open("rb") as packed:
                yield from _texts_in(packed, "debian/copyright")


def _texts_in(stream: IO[bytes], path: str) -> Iterator[str]:
    with tarfile.open(fileobj=stream, mode="r|*") as opened:
        for entry in opened:
            is_native = entry.name.partition("/")[2] == path
            if (entry.name == path or is_native) and entry.isfile() and (found := opened.extractfile(entry)):
                yield found.read().decode(errors="replace")


def main() -> None:
    """Print what each Debian package says."""
    for package in read_packages():
        if package.registry in {"debian", "deb"}:
            found = licences_of(package, Path(sys.argv[1]))
            says = [found.main, ", ".join(found.others)] if found else ["in prose", ""]
            print("\t".join([package.key, package.licence, *says]), flush=True)


if __name__ == "__main__":
    main()
