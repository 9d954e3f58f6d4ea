"""A table read part by part: what each part says is known by a hash, and only the parts that are wanted are read."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

from codesum_pipeline.foundation.data_model.bounded_batches import bounded_batches
from codesum_pipeline.foundation.data_model.errors import DamagedTable
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.store.rows import with_newer_columns
from codesum_pipeline.foundation.store.schemas import TableSpec
from codesum_pipeline.foundation.store.table_files import content_hash_of, group_rows, parts_in
from codesum_pipeline.foundation.store.table_parts import PartList


class TableByParts(Struct, frozen=True):
    """Some columns of a table of a repository, of an open file or in memory; `content_hash` is theirs, None where it is
    not known. A table that is not cut is one part, one that was never written has none."""

    spec: TableSpec
    repo: str
    source: pq.ParquetFile | pa.Table | None
    columns: list[str]
    content_hash: str | None

    def _parts(self) -> PartList:
        """No parts where the table is one, or is of a version without one of the columns."""
        parts = parts_in(self.source.metadata.metadata or {}) if isinstance(self.source, pq.ParquetFile) else None
        return parts if parts and parts.modulus and self.content_hash else PartList.cut_now()

    def hashes(self) -> list[str | None]:
        """The hash of the columns in each part, in order."""
        if self.source is None:
            return []
        return [content_hash_of(part.hashes, self.columns) for part in self._parts().parts] or [self.content_hash]

    def sizes(self) -> list[int]:
        """How many rows each part has."""
        if self.source is None:
            return []
        is_file = isinstance(self.source, pq.ParquetFile)
        return [part.rows for part in self._parts().parts] or [
            self.source.metadata.num_rows if is_file else self.source.num_rows
        ]

    def hashes_around(self, paths: Collection[str]) -> Mapping[str, str | None]:
        """For each path of a file, the hash of the parts that have its rows, or would have them."""
        parts, hashes = self._parts(), self.hashes()
        if not parts.parts:
            return dict.fromkeys(paths, self.content_hash)
        around = parts.around(paths)
        return {path: hash_of([hashes[number] for number in sorted(numbers)]) for path, numbers in around.items()}

    def read(self, number: int) -> pa.Table:
        """The rows of a part."""
        return self._read([number])

    def _read(self, numbers: Sequence[int]) -> pa.Table:
        if isinstance(self.source, pa.Table):
            return self.source.select(self.columns)
        parts = self._parts()
        groups = parts.row_groups_of(numbers) if parts.parts else None
        return read_groups(self.spec, self.repo, self.source, groups, self.columns)

    def read_others(self, known: Collection[str]) -> Iterator[pa.Table]:
        """The rows of the parts whose hashes are not `known`, some parts at a time, with the hash as column `part`."""
        hashes, sizes = self.hashes(), self.sizes()
        wanted = [number for number, found in enumerate(hashes) if found is None or found not in known]
        for some in bounded_batches(wanted, sizes.__getitem__, most=group_rows(self.spec)):
            of_rows = [pa.repeat(pa.scalar(hashes[number], pa.string()), sizes[number]) for number in some]
            yield self._read(some).append_column("part", pa.chunked_array(of_rows, pa.string()))


def read_groups(
    spec: TableSpec, repo: str, file: pq.ParquetFile | None, groups: Sequence[int] | None, columns: list[str]
) -> pa.Table:
    """The rows of some row groups of a file, or of all; none where there is no file."""
    if file is None:
        return spec.schema.empty_table().select(columns)
    with undamaged(spec.name, repo):
        numbers = range(file.num_row_groups) if groups is None else groups
        found = file.read_row_groups([*numbers], columns=columns, use_threads=False).replace_schema_metadata(None)
    return with_newer_columns(found, spec.schema, columns)


@contextmanager
def undamaged(table: str, repo: str) -> Iterator[None]:
    """Arrow says of a file that was cut off or overwritten only what it met there."""
    try:
        yield
    except (ValueError, OSError, LookupError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DamagedTable(
            f"table {table!r} of repository {repo!r} is damaged ({one_line(str(error))}): rebuild it with "
            f"`codesum index {repo} --rebuild`",
            table=table,
        ) from error
