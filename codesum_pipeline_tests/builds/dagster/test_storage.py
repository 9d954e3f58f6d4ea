"""Dagster's records are made once, whoever comes first, and mended where they are broken."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.companion import index_repositories
from codesum_pipeline.builds.dagster.control import mend_records, run_history
from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline.builds.dagster.instance_file import LOCK, ensure_dagster_home
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.store.locks import lock_exclusively
from codesum_pipeline.ways_in.dagster_ui.starting import start_ui

FILES = {
    "run": ("history/runs.db", "run_tags", "the list of past runs is lost"),
    "event": ("history/runs/index.db", "dynamic_partitions", "the history of materialisations and checks is lost"),
    "schedule": ("schedules/schedules.db", "instigators", "the ticks of schedules and sensors"),
}

IMPORTED = """
import os, sys
from pathlib import Path
from codesum_pipeline.builds.dagster import dagster_records as storage
from codesum_pipeline.builds.dagster.resource import add_partitions
from codesum_pipeline.foundation.store.layout import HomeLayout
import dagster._core.storage.sqlite_storage
def register(key):
    with storage.open_instance(HomeLayout(Path(sys.argv[1]))) as instance:
        add_partitions(instance, [key])
"""
# A process for each key, all let go by the end of one pipe.
AT_ONCE = f"""{IMPORTED}
wait, go = os.pipe()
for key in sys.argv[2:]:
    if not os.fork():
        os.close(go)
        os.read(wait, 1)
        register(key)
        sys.exit()
os.close(go)
sys.exit(any(os.waitstatus_to_exitcode(os.wait()[1]) for _ in sys.argv[2:]))
"""
# Many processes that register the same keys one after the other, each again and again at the same moment as another.
SAME_AT_ONCE = f"""{IMPORTED}
home, processes, keys = HomeLayout(Path(sys.argv[1])), int(sys.argv[2]), sys.argv[3:]
with storage.open_instance(home):
    pass
wait, go = os.pipe()
for _ in range(processes):
    if not os.fork():
        os.close(go)
        with storage.open_instance(home) as instance:
            os.read(wait, 1)
            for key in keys:
                add_partitions(instance, [key])
        os._exit(0)
os.close(go)
sys.exit(any([os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(processes)]))
"""
KILLED = f"""{IMPORTED}
os.replace = lambda *_: os.kill(os.getpid(), 9)
register("a")
"""


def look(file: Path, statement: str) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return [row[0] for row in connection.execute(statement)]


def change(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def partitions(home: Home) -> list[str]:
    with open_instance(home.layout) as instance:
        return sorted(instance.get_dynamic_partitions("codesum_repos"))


@pytest.mark.parametrize(
    "keys",
    [pytest.param(["one", "two"], id="two"), pytest.param(["1", "2", "3", "4"], id="four", marks=pytest.mark.slow)],
)
def test_processes_that_begin_at_one_moment_in_a_fresh_home_all_find_its_records_whole(
    home: Home, keys: list[str]
) -> None:

    done = subprocess.run([sys.executable, "-c", AT_ONCE, home.layout.home, *keys], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert partitions(home) == sorted(keys)
    for name, table, _ in FILES.values():
        file = home.layout.dagster_home / name
        assert len(look(file, "SELECT version_num FROM alembic_version")) == 1
        assert table in look(file, "SELECT name FROM sqlite_master")
        assert look(file, "SELECT count(*) FROM secondary_indexes WHERE migration_completed IS NULL") == [0]


@pytest.mark.slow
def test_processes_that_register_the_same_repository_at_one_moment_all_go_on(home: Home) -> None:
    keys = [f"repository-{number}" for number in range(30)]

    done = subprocess.run(
        [sys.executable, "-c", SAME_AT_ONCE, home.layout.home, "4", *keys], capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr
    assert partitions(home) == sorted(keys)


def test_a_ready_home_waits_for_nobody(home: Home) -> None:
    with open_instance(home.layout):
        pass

    with lock_exclusively(home.layout.dagster_home / LOCK), open_instance(home.layout) as instance:
        assert instance.get_runs() == []


def test_the_ui_starts_on_records_that_are_there(home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    seen: dict[str, list[str]] = {}

    def become(_program: str, _command: list[str], _environment: dict[str, str]) -> None:
        for kind, (name, _, _) in FILES.items():
            seen[kind] = look(home.layout.dagster_home / name, "SELECT count(*) FROM alembic_version")

    monkeypatch.setattr(os, "execve", become)
    start_ui(home)

    assert seen == {kind: [1] for kind in FILES}


def test_a_process_killed_while_it_makes_the_records_leaves_none_that_are_half_made(home: Home) -> None:
    ensure_dagster_home(home.layout)
    done = subprocess.run([sys.executable, "-c", KILLED, str(home.layout.home)], check=False, capture_output=True)

    assert done.returncode == -9, done.stderr
    assert not (home.layout.dagster_home / FILES["run"][0]).exists()
    assert partitions(home) == []
    assert list(home.layout.dagster_home.rglob(".new-*")) == []


def test_records_of_an_earlier_dagster_are_migrated_once_by_who_comes_first(copied_home: Home) -> None:
    folder = copied_home.layout.dagster_home
    newest = look(folder / FILES["run"][0], "SELECT version_num FROM alembic_version")
    change(folder / FILES["run"][0], "UPDATE alembic_version SET version_num = '5771160a95ad'")
    (folder / ".storage-version").write_text("1.5.0")

    assert partitions(copied_home) == ["shop"]

    assert look(folder / FILES["run"][0], "SELECT version_num FROM alembic_version") == newest


def drop_table(file: Path, table: str) -> None:
    change(file, f"DROP TABLE {table}")


def drop_stamp(file: Path, _table: str) -> None:
    change(file, "DELETE FROM alembic_version")


def drop_stamp_table(file: Path, _table: str) -> None:
    change(file, "DROP TABLE alembic_version")


def stamp_twice(file: Path, _table: str) -> None:
    change(file, "INSERT INTO alembic_version VALUES ('5771160a95ad')")


def cut(file: Path, _table: str) -> None:
    with file.open("r+b") as handle:
        handle.truncate(file.stat().st_size // 2)


def overwrite(file: Path, _table: str) -> None:
    file.write_bytes(b"half a copy" * 1000)


def drop_column(file: Path, table: str) -> None:
    columns = look(file, f"SELECT name FROM pragma_table_info('{table}')")
    indexes = look(file, f"SELECT name FROM sqlite_master WHERE type = 'index' AND sql <> '' AND tbl_name = '{table}'")
    kept = ", ".join(columns[:2])
    change(
        file,
        *(f"DROP INDEX {index}" for index in indexes),
        f"CREATE TABLE less AS SELECT {kept} FROM {table}",
        f"DROP TABLE {table}",
        f"ALTER TABLE less RENAME TO {table}",
    )


DAMAGES = [drop_table, drop_stamp, drop_stamp_table, stamp_twice, cut, overwrite, drop_column]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_records_that_are_broken_are_kept_aside_and_begun_anew(
    copied_home: Home, damage: Callable[[Path, str], None]
) -> None:
    broken = {}
    for name, table, _ in FILES.values():
        file = copied_home.layout.dagster_home / name
        damage(file, table)
        broken[file] = file.read_bytes()

    mended = mend_records(copied_home)

    for line, (file, content), (kind, (_, _, lost)) in zip(mended, broken.items(), FILES.items(), strict=True):
        assert line.startswith(f"Dagster's {kind} storage {file} was broken (")
        assert lost in line
        (kept,) = (path for path in file.parent.glob(f"{file.name}.broken-*") if not path.name.endswith(("wal", "shm")))
        assert kept.name in line
        assert kept.read_bytes() == content
    assert partitions(copied_home) == ["shop"]


def test_records_that_break_in_a_page_are_named_with_the_way_out_when_they_are_read(copied_home: Home) -> None:
    file = copied_home.layout.dagster_home / FILES["run"][0]
    with file.open("r+b") as handle:
        handle.seek(8192)
        handle.write(b"\xff" * (file.stat().st_size - 8192))

    with pytest.raises(BrokenStore, match="run `codesum doctor`"):
        run_history(copied_home, "shop")

    assert "the list of past runs is lost" in mend_records(copied_home)[0]


def test_the_broken_log_of_one_run_is_kept_aside_alone(copied_home: Home) -> None:
    runs = copied_home.layout.dagster_home / "history" / "runs"
    (log,) = [path for path in runs.glob("*.db") if path.name != "index.db"]
    overwrite(log, "")

    (line,) = mend_records(copied_home)

    assert line.startswith(f"the log of run {log.stem} was broken (file is not a database): it is kept as ")
    assert [run.status for run in run_history(copied_home, "shop")] == ["SUCCESS"]


def test_a_repository_is_built_and_recorded_after_all_its_records_were_lost(copied_home: Home) -> None:
    published = copied_home.layout.published("shop").readlink()
    for name, _, _ in FILES.values():
        overwrite(copied_home.layout.dagster_home / name, "")
    with pytest.raises(BrokenStore):
        index_repositories(copied_home, ["shop"])

    assert len(mend_records(copied_home)) == 3
    assert copied_home.layout.published("shop").readlink() == published
    (outcome,) = index_repositories(copied_home, ["shop"])

    assert outcome.succeeded, outcome.message
    assert [run.status for run in run_history(copied_home, "shop")] == ["SUCCESS"]


READ = """
import sys
from pathlib import Path
from codesum_pipeline.builds.dagster import dagster_records as storage
from codesum_pipeline.foundation.store.layout import HomeLayout
layout = HomeLayout(Path(sys.argv[1]))
storage.make_ready(storage.reference_of(layout), layout.dagster_home)
(layout.dagster_home / ".storage-version").write_text("1.5.0")
storage.make_ready(storage.reference_of(layout), layout.dagster_home)
print("whole")
"""


def test_whole_records_are_found_whole_where_nothing_can_be_written(copied_home: Home) -> None:
    with open_instance(copied_home.layout):
        pass
    # What a command is started with: root gives up the right to write everywhere, others do not have it.
    less = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"] if os.geteuid() == 0 else []
    folders = [path for path in (copied_home.layout.home, *copied_home.layout.home.rglob("*")) if path.is_dir()]
    modes = [folder.stat().st_mode for folder in folders]
    for folder in folders:
        folder.chmod(0o555)
    done = subprocess.run(
        [*less, sys.executable, "-c", READ, str(copied_home.layout.home)], capture_output=True, text=True
    )
    assert (done.stdout, done.returncode) == ("whole\n", 0), done.stderr
    for folder, mode in zip(folders, modes, strict=True):
        folder.chmod(mode)
