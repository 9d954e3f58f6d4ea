"""Both sides of the sizes that a part of a bundle may have."""

import zipfile
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from codesum_pipeline.builds.bundles.bundle_file import HEADER, SIGNATURE, BundleHeader, opened_bundle
from codesum_pipeline.foundation.data_model.errors import BundleRefused
from codesum_pipeline_tests.support.bundles import write_members

MOST_HEADER, MOST_SIGNATURE, MOST_DIRECTORY = 1 << 20, 64 << 10, 64 << 10
# A record of the directory, without the name and comment.
CENTRAL_RECORD = 46


def header(*, made_by: str = "1.0") -> bytes:
    """The header of a bundle without tables."""
    return BundleHeader(
        made_by=made_by, key="shop", commit="0" * 40, shaping="", documents=0, tables={}, parts={}
    ).to_bytes()


def header_of(size: int) -> bytes:
    return header(made_by="x" * (size - len(header(made_by=""))))


def opened(folder: Path, members: Mapping[str, bytes]) -> tuple[str | None, int]:
    """The signature and the size of the header of a bundle of these members."""
    write_members(folder / "shop.codesum", members)
    with opened_bundle(folder / "shop.codesum", called="shop.codesum", max_mb=100) as bundle:
        return bundle.signature, len(bundle.header_bytes)


def refused(what: str | None) -> AbstractContextManager[object]:
    """What is refused says why, what is not raises nothing."""
    return pytest.raises(BundleRefused, match=f"^shop.codesum: {what}") if what else nullcontext()


@pytest.mark.parametrize(
    ("size", "told"),
    [(MOST_HEADER, None), (MOST_HEADER + 1, "its part bundle.json has 1,048,577 bytes, at most 1,048,576 may be")],
)
def test_a_header_has_so_many_bytes_at_most(tmp_path: Path, size: int, told: str | None) -> None:
    with refused(told):
        assert opened(tmp_path, {HEADER: header_of(size)}) == (None, size)


@pytest.mark.parametrize(
    ("size", "told"),
    [(MOST_SIGNATURE, None), (MOST_SIGNATURE + 1, "its part bundle.json.sig has 65,537 bytes, at most 65,536 may be")],
)
def test_a_signature_has_so_many_bytes_at_most(tmp_path: Path, size: int, told: str | None) -> None:
    with refused(told):
        assert opened(tmp_path, {HEADER: header(), SIGNATURE: b"x" * size}) == ("x" * size, len(header()))


@pytest.mark.parametrize(
    ("size", "told"), [(MOST_DIRECTORY, None), (MOST_DIRECTORY + 1, "it is no bundle: it lists 1 members in 65,537")]
)
def test_a_directory_has_so_many_bytes_at_most(tmp_path: Path, size: int, told: str | None) -> None:
    file = tmp_path / "shop.codesum"
    with zipfile.ZipFile(file, "w") as archive:
        info = zipfile.ZipInfo(HEADER)
        info.comment = b"x" * (size - CENTRAL_RECORD - len(HEADER))
        archive.writestr(info, header())

    with refused(told), opened_bundle(file, called="shop.codesum", max_mb=100) as bundle:
        assert bundle.header_bytes == header()
