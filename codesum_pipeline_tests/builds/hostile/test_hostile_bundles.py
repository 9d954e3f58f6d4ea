"""Bundles that no `codesum export` wrote: each is refused by its name, and the home is as it was."""

import io
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from codesum_pipeline.builds.bundles.bundle_file import HEADER, RESOLUTION
from codesum_pipeline.foundation.data_model.errors import BundleRefused, ConfigurationError
from codesum_pipeline.foundation.settings.operation_settings import BundleSettings
from codesum_pipeline.indexes.publishing.verify import verify_index
from codesum_pipeline_tests.support.bundles import (
    Members,
    change_header,
    change_table,
    describe_anew,
    export_of,
    import_into,
    members_of,
    with_column,
    write_members,
)
from codesum_pipeline_tests.support.homes import built_once, open_home
from codesum_pipeline_tests.support.repositories import GitRepo

TOTAL = '''def order_total(items):
    """Return the sum of all prices."""
    return sum(i.price for i in items)
'''
BILL = '''from a import order_total


def bill(cart):
    """Write the bill of a cart."""
    return order_total(cart)
'''
FILES = {"a.py": TOTAL, "b.py": BILL}
TABLE = "tables/documents.parquet"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = built_once(tmp_path_factory.mktemp("exported"), FILES)
    export_of(open_home(folder / "home"), folder / "shop.codesum")
    return folder


def must_refuse(exported: Path, file: Path, message: str) -> None:
    """Import into a new home, of which only the lease's file and a mirror are left."""
    home = open_home(file.parent / "home")

    with pytest.raises(BundleRefused, match=message):
        import_into(home, file, exported / "repository")

    left = {path.relative_to(home.layout.home).parts[:2] for path in home.layout.home.rglob("*") if path.is_file()}
    assert left <= {("mirrors", "shop.git"), ("state", "shop.sqlite"), ("state", "shop.sqlite.lock")}


def renamed(name: str) -> Callable[[Members], None]:
    def change(members: Members) -> None:
        members[name] = members.pop(TABLE)

    return change


def header(**values: Any) -> Callable[[Members], None]:
    return lambda members: change_header(members, lambda found: found.update(values))


def cut_parquet(members: Members) -> None:
    members[TABLE] = members[TABLE][:-20]
    describe_anew(members)


def spoil_parquet(members: Members) -> None:
    data = bytearray(members[TABLE])
    data[200:600] = b"\xff" * 400
    members[TABLE] = bytes(data)
    describe_anew(members)


def with_resolution(data: bytes) -> Callable[[Members], None]:
    def change(members: Members) -> None:
        members[RESOLUTION] = data
        describe_anew(members)

    return change


def of_table(table: str, change: Callable[[pa.Table], pa.Table], **options: bool) -> Callable[[Members], None]:
    return lambda members: change_table(members, table, change, **options)


def without_table(members: Members) -> None:
    del members[TABLE]
    describe_anew(members)
    change_header(members, lambda found: found["tables"].pop("documents"))


def first_again(rows: pa.Table) -> pa.Table:
    return pa.concat_tables([rows, rows.slice(0, 1)])


def with_a_null(rows: pa.Table) -> pa.Table:
    values = [None, *rows["summary"].to_pylist()[1:]]
    place = rows.column_names.index("summary")
    return rows.set_column(place, pa.field("summary", pa.string()), pa.array(values))


def with_bad_utf8(rows: pa.Table) -> pa.Table:
    values = pa.array([b"\xff\xfe", *(b"x" for _ in range(len(rows) - 1))], pa.binary()).view(pa.string())
    return rows.set_column(rows.column_names.index("summary"), rows.schema.field("summary"), values)


SPOILT = {
    "a name that leads up": (renamed("../../etc/cron.d/x"), "it holds '../../etc/cron.d/x', which is no part"),
    "an absolute name": (renamed("/etc/passwd"), "it holds '/etc/passwd', which is no part"),
    "a name in capitals": (renamed("tables/Documents.parquet"), "which is no part of a bundle"),
    "a very long name": (renamed("x" * 60_000), "it holds 'x{50,}.*which is no part of a bundle"),
    "a table of what was paid": (renamed("tables/ledger.parquet"), "which is no part of a bundle"),
    "a part that was changed": (
        lambda members: members.update({TABLE: members[TABLE][:-1] + b"?"}), "its part .* is not the one of its header"
    ),
    "a part of another size": (
        lambda members: members.update({TABLE: members[TABLE] + b"?"}), "has another size than its bundle.json says"
    ),
    "no header": (lambda members: members.pop(HEADER), "it is no bundle: it holds no bundle.json"),
    "a header that is no JSON": (lambda members: members.update({HEADER: b"{"}), "bundle.json cannot be read"),
    "a header of nested lists": (
        lambda members: members.update({HEADER: b"[" * 500_000}), "bundle.json cannot be read"
    ),
    "a header of two megabytes": (
        lambda members: members.update({HEADER: b" " * (2 << 20)}), "bundle.json has 2,097,152 bytes, at most 1,048,576"
    ),
    "a header with more fields": (header(extra=1), "not in canonical form, or has unknown fields"),
    "a newer form": (header(format="codesum.bundle.v3", made_by="9.9"), "made by codesum 9.9, .*pipx upgrade"),
    "an older form": (header(format="codesum.bundle.v1", made_by="0.1"), "made by codesum 0.1, .*bundle.v1"),
    "newer tables": (header(schema_version=99), "tables of version 99\\) this one does not know: install"),
    "older tables": (header(schema_version=1), "with tables of version 1; this one reads .*: export it again"),
    "a commit that is an option": (header(commit="--upload-pack=x"), "commit '--upload-pack=x' is no full commit id"),
    "a commit that the repository does not have": (
        header(commit="0" * 40), "of commit 000000000000, which cannot be had from .*git -C .* fetch origin 0{40}`"
    ),
    "a key that is a path": (header(key="../up"), "its key '../up' can be no repository's"),
    "a table that is not there": (without_table, "it lacks the table documents"),
    "a table that the header does not list": (
        lambda members: change_header(members, lambda found: found["tables"].pop("terms")),
        "lists other tables than parts",
    ),
    "a table that was cut off": (cut_parquet, "its table documents is damaged"),
    "a table that is overwritten": (spoil_parquet, "its table documents is damaged"),
    "other rows than the header says": (
        of_table("documents", lambda rows: rows.slice(1), is_told=False), "has .* rows, other than its header says"
    ),
    "other values than the header says": (
        of_table("documents", lambda rows: with_column(rows, "summary", ["x"] * len(rows)), is_told=False),
        "holds other rows than its header says",
    ),
    "a column of a newer version": (
        of_table("documents", lambda rows: rows.append_column("newer", pa.array(["x"] * len(rows))), is_told=False),
        "has a column 'newer', which this version does not know",
    ),
    "a column of another type": (
        of_table("documents", lambda rows: rows.set_column(0, "id", pa.array([[1]] * len(rows))), is_told=False),
        "its table documents is damaged",
    ),
    "an empty value": (of_table("documents", with_a_null, is_told=False), "its table documents is damaged .*null"),
    "text that is no UTF-8": (of_table("documents", with_bad_utf8, is_told=False), "its table documents is damaged"),
    "a level that there is not": (
        of_table("texts_function", lambda rows: with_column(rows, "level", ["galaxy"] * len(rows))),
        "the index that it gives is not whole: every_source_has_its_document",
    ),
    "vectors of another length": (
        of_table("vectors", lambda rows: with_column(rows, "vector", [[0.5] * 3] * len(rows))),
        "no build can go on from its rows|the index that it gives is not whole",
    ),
    "vectors that are no numbers": (
        of_table("vectors", lambda rows: with_column(rows, "vector", [[float("nan")] * 256] * len(rows))),
        "no build can go on from its rows|the index that it gives is not whole",
    ),
    "edges that are no JSON": (with_resolution(b"\x00"), "its part resolution.json cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "message"), SPOILT.values(), ids=SPOILT)
def test_a_spoilt_bundle_is_refused(
    exported: Path, tmp_path: Path, change: Callable[[Members], None], message: str
) -> None:
    members = members_of(exported / "shop.codesum")
    change(members)
    write_members(tmp_path / "shop.codesum", members)

    must_refuse(exported, tmp_path / "shop.codesum", f"^shop.codesum: .*{message}")


def test_a_name_with_nul_is_no_known_name(exported: Path, tmp_path: Path) -> None:
    members = members_of(exported / "shop.codesum")
    members[f"{TABLE}?.py"] = members.pop(TABLE)
    file = tmp_path / "shop.codesum"
    write_members(file, members)
    # A writer would cut the name at the NUL.
    file.write_bytes(file.read_bytes().replace(f"{TABLE}?.py".encode(), f"{TABLE}\0.py".encode()))

    must_refuse(exported, file, "it holds .*which is no part of a bundle")


def test_compressed_members_are_refused_before_they_grow(exported: Path, tmp_path: Path) -> None:
    members = members_of(exported / "shop.codesum")
    members[TABLE] = bytes(64 << 20)
    write_members(tmp_path / "shop.codesum", members, compression=zipfile.ZIP_DEFLATED)

    must_refuse(exported, tmp_path / "shop.codesum", "is compressed, as no part of a bundle is")


def test_a_table_of_a_few_kilobytes_that_fills_the_memory_is_refused(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BundleSettings, "max_memory_mb", 100)
    members = members_of(exported / "shop.codesum")

    def blown(rows: pa.Table) -> pa.Table:
        many = pa.concat_tables([rows.slice(0, 1)] * 300)
        return with_column(many, "summary", ["x" * 1_000_000] * len(many))

    change_table(members, "documents", blown, is_told=False)
    change_header(members, lambda found: found["tables"]["documents"].update(rows=300))
    write_members(tmp_path / "shop.codesum", members)
    assert len(members[TABLE]) < 1_000_000

    must_refuse(exported, tmp_path / "shop.codesum", "needs more memory than may be used for it")


def test_a_million_members_are_not_listed(exported: Path, tmp_path: Path) -> None:
    file = tmp_path / "shop.codesum"
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(2_000):
            archive.writestr(f"tables/{number}.parquet", b"")

    must_refuse(exported, file, "it is no bundle: it lists 2,000 members")


def test_a_member_that_is_there_twice_is_refused(exported: Path, tmp_path: Path) -> None:
    file = tmp_path / "shop.codesum"
    write_members(file, members_of(exported / "shop.codesum"))
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr(TABLE, b"other")

    must_refuse(exported, file, f"it holds {TABLE} twice")


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def behind_a_comment(file: Path) -> None:
    with zipfile.ZipFile(file, "a") as archive:
        archive.comment = b"x" * 1000


def with_a_directory_of_another_place(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[:-6] + struct.pack("<L", 0x7FFFFFF0) + data[-2:])


def as_a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def as_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


NO_ZIP = {
    "empty": (lambda file: file.write_bytes(b""), "it is no bundle, or cut off"),
    "text": (lambda file: file.write_bytes(b"hello" * 100), "it is no bundle, or cut off"),
    "cut off": (cut_off, "it is no bundle, or cut off"),
    "with a comment": (behind_a_comment, "it is no bundle, or cut off"),
    "a directory of another place": (with_a_directory_of_another_place, "(it is no bundle, or|its part .* is) damaged"),
    "a pipe": (as_a_pipe, "it is no file: name one that `codesum export` wrote"),
    "a folder": (as_a_folder, "it is no file|it cannot be read"),
    "gone": (lambda file: file.unlink(), "it cannot be read: No such file or directory"),
}


@pytest.mark.parametrize(("spoil", "message"), NO_ZIP.values(), ids=NO_ZIP)
def test_what_is_no_bundle_is_refused(
    exported: Path, tmp_path: Path, spoil: Callable[[Path], Any], message: str
) -> None:
    file = tmp_path / "shop.codesum"
    file.write_bytes((exported / "shop.codesum").read_bytes())
    spoil(file)

    must_refuse(exported, file, f"^shop.codesum: {message}")


def test_a_bundle_of_another_repository_is_refused_by_its_commit(exported: Path, tmp_path: Path) -> None:
    other = GitRepo.create(tmp_path / "other", {"c.py": "def c():\n    return 1\n"})
    (tmp_path / "shop.codesum").write_bytes((exported / "shop.codesum").read_bytes())
    home = open_home(tmp_path / "home")

    with pytest.raises(BundleRefused, match=f"cannot be had from {other.path}: .*name the repository that it is of"):
        import_into(home, tmp_path / "shop.codesum", other.path)


def test_a_folder_without_git_has_no_commit(exported: Path, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()

    with pytest.raises(ConfigurationError, match="is no git repository, and a bundle is of a commit"):
        import_into(open_home(tmp_path / "home"), exported / "shop.codesum", tmp_path / "plain")


def test_a_bundle_that_lies_about_its_files_gives_the_index_of_the_commit(exported: Path, tmp_path: Path) -> None:
    members = members_of(exported / "shop.codesum")
    change_table(
        members, "files", lambda rows: with_column(rows, "path", [f"x{path}" for path in rows["path"].to_pylist()])
    )
    change_table(members, "file_facts", lambda rows: with_column(rows, "blob", ["0" * 40] * len(rows)))
    write_members(tmp_path / "shop.codesum", members)
    home = open_home(tmp_path / "home")

    report = import_into(home, tmp_path / "shop.codesum", exported / "repository")

    assert report.parsed == len(FILES)
    assert verify_index(home.layout, "shop", tables=home.tables) == []
    assert sorted(home.tables.read("files", "shop", columns=["path"])["path"].to_pylist()) == sorted(FILES)


def test_parquet_with_metadata_of_its_own_is_read_for_its_values(exported: Path, tmp_path: Path) -> None:
    members = members_of(exported / "shop.codesum")
    rows = pq.read_table(io.BytesIO(members[TABLE]))
    written = io.BytesIO()
    pq.write_table(rows.replace_schema_metadata({"codesum.columns": "{}", "codesum.note": "x"}), written)
    members[TABLE] = written.getvalue()
    describe_anew(members)
    write_members(tmp_path / "shop.codesum", members)
    home = open_home(tmp_path / "home")

    import_into(home, tmp_path / "shop.codesum", exported / "repository")

    assert home.tables.note("documents", "shop") == ""
    assert verify_index(home.layout, "shop", tables=home.tables) == []
