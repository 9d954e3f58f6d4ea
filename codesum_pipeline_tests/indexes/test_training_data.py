"""What the shipped embedding model may be trained on."""

import io
import tarfile
from pathlib import Path

import pytest

from benchmarks.static_embedder.archives import is_allowed
from benchmarks.static_embedder.licences import is_permissive, licences_of, parse_copyright
from benchmarks.static_embedder.packages import Package, read_packages

COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2020 Somebody
License: Expat

Files: contrib/*.c
 install-sh
Copyright: 1999 The FSF
License: GPL-2+ with Autoconf exception

Files: debian/*
Copyright: 2021 A packager
License: GPL-3

License: Expat
 Permission is hereby granted.
"""


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        pytest.param("regex-1.7.1/src/exec.rs", True, id="a package's own code"),
        pytest.param("serde-1.0.152/src/lib.rs", False, id="a benchmark's with its version"),
        pytest.param("server/_requests/models.py", False, id="a benchmark's behind an underscore"),
        pytest.param("vendor/other/thing.go", False, id="vendored"),
        pytest.param("src/parser_test.go", False, id="a test"),
        pytest.param("dist/index.js", False, id="built"),
    ],
)
def test_only_a_packages_own_code_is_read(path: str, allowed: bool) -> None:
    assert is_allowed(path) is allowed


@pytest.mark.parametrize(
    ("licence", "permissive"),
    [
        ("MIT", True),
        ("MPL-2.0", True),
        ("GPL-2 or Apache-2.0", True),
        ("LGPL-2.1+", False),
        ("MIT and GPL-2", False),
        ("GPL-2+ with Autoconf exception", False),
        ("CC-BY-SA-3.0", False),
    ],
)
def test_a_strongly_copyleft_licence_is_taken_only_where_another_may_be(licence: str, permissive: bool) -> None:
    assert is_permissive(licence) is permissive


def test_the_last_pattern_that_fits_says_a_files_licence() -> None:
    licences = parse_copyright(COPYRIGHT)

    assert licences is not None
    assert [licences.of_file(path) for path in ("src/main.c", "contrib/getopt.c", "usr/share/x/contrib/a.c")] == [
        "MIT",
        "GPL-2+ with Autoconf exception",
        "GPL-2+ with Autoconf exception",
    ]
    assert (licences.main, licences.others) == ("MIT", ["GPL-2+ with Autoconf exception"])


def test_licences_in_prose_are_not_guessed() -> None:
    assert (
        parse_copyright("This package was made by somebody. You may copy it under the terms of the MIT licence.")
        is None
    )


def test_a_source_packages_licences_are_those_of_its_debian_folder(tmp_path: Path) -> None:
    package = Package("debian", "thing", "1.0-1", "MIT")
    folder = tmp_path / package.key
    folder.mkdir()
    with tarfile.open(folder / "thing_1.0-1.debian.tar.gz", "w:gz") as archive:
        entry = tarfile.TarInfo("debian/copyright")
        entry.size = len(COPYRIGHT)
        archive.addfile(entry, io.BytesIO(COPYRIGHT.encode()))

    assert licences_of(package, tmp_path) == parse_copyright(COPYRIGHT)


def test_no_listed_package_is_a_benchmarks_own() -> None:
    packages = read_packages()
    crates = [package.name.removeprefix("librust-").removesuffix("-dev") for package in packages]

    assert [name for name in crates if not is_allowed(f"{name.replace('/', '-').replace('@', '')}/main.py")] == []
    assert [name for name in crates if not is_allowed(f"{name.replace('-', '_')}/main.py")] == []
