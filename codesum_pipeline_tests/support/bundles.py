"""Bundles of a shop, and what somebody may make of them."""

import hashlib
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from codesum_pipeline.builds.bundles.bundle_file import HEADER, SIGNATURE, opened_bundle
from codesum_pipeline.builds.bundles.bundle_import import ImportReport, import_bundle
from codesum_pipeline.builds.bundles.exporting import ExportReport, export_bundle
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.foundation.data_model.hashing import canonical_json
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline_tests.support.homes import empty_serving_file

Members = dict[str, bytes]


def export_of(home: Home, path: Path, *, key: str = "shop", **options: Any) -> ExportReport:
    """Write the bundle of a repository."""
    return export_bundle(home.workspace(key, run_id="export"), path, **options)


def import_into(home: Home, path: Path, location: Path, *, key: str = "shop", **options: Any) -> ImportReport:
    """Import a bundle that nobody asks the origin of."""
    entry = RepositoryEntry(key, str(location), **options.pop("entry", {}))
    with opened_bundle(path, called=path.name, max_mb=home.settings.bundles.max_mb) as bundle, empty_serving_file():
        return import_bundle(home, bundle, entry, **options)


def members_of(path: Path) -> Members:
    """The content of each member by name."""
    with zipfile.ZipFile(path) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def write_members(path: Path, members: Mapping[str, bytes], *, compression: int = zipfile.ZIP_STORED) -> None:
    """A zip of these members, as any tool makes one."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def change_header(members: Members, change: Callable[[dict[str, Any]], None]) -> None:
    """Change what the header says."""
    header = json.loads(members[HEADER])
    change(header)
    members[HEADER] = f"{canonical_json(header)}\n".encode()
    members.pop(SIGNATURE, None)


def describe_anew(members: Members) -> None:
    """Have the header list the parts that there are."""

    def describe(header: dict[str, Any]) -> None:
        header["parts"] = {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in members.items()
            if name not in (HEADER, SIGNATURE)
        }

    change_header(members, describe)


def change_table(members: Members, table: str, change: Callable[[pa.Table], pa.Table], *, is_told: bool = True) -> None:
    """Change the rows of a table; the header lists the part as it is, and where `is_told` the rows as they are."""
    name = f"tables/{table}.parquet"
    rows = change(pq.read_table(io.BytesIO(members[name])))
    written = io.BytesIO()
    pq.write_table(rows, written)
    members[name] = written.getvalue()
    describe_anew(members)
    if is_told:
        with tempfile.TemporaryDirectory() as folder:
            found = TableStore(Path(folder)).write(table, "shop", rows)
        said = {"rows": found.rows, "content": found.table_hash}
        change_header(members, lambda header: header["tables"][table].update(said))


def with_column(rows: pa.Table, name: str, values: Sequence[Any]) -> pa.Table:
    """The rows with other values in a column."""
    place = rows.column_names.index(name)
    return rows.set_column(place, rows.schema.field(place), pa.array(values, rows.schema.types[place]))
