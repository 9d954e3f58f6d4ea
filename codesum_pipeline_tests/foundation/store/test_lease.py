import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import BrokenStore, LeaseHeld
from codesum_pipeline.foundation.store.lease import current_holder, hold_lease, release_lease, this_process

HOLD = """
import sys, time
from pathlib import Path
from codesum_pipeline.foundation.store.lease import hold_lease
with hold_lease(Path(sys.argv[1]), key="shop", run_id="other-run"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "shop.sqlite")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_a_second_build_is_told_who_has_the_lease(tmp_path: Path, holder: subprocess.Popen) -> None:
    refusal = pytest.raises(LeaseHeld, match=rf"'shop' is being built by process {holder.pid} .*other-run")
    with refusal, hold_lease(tmp_path / "shop.sqlite", key="shop", run_id="mine"):
        raise AssertionError("never reached")


def test_the_lease_of_a_killed_process_is_taken_over_at_once(tmp_path: Path, holder: subprocess.Popen) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()

    with hold_lease(tmp_path / "shop.sqlite", key="shop", run_id="mine") as mine:
        assert mine.pid == os.getpid()
        assert current_holder(tmp_path / "shop.sqlite") == mine
    assert current_holder(tmp_path / "shop.sqlite") is None


def test_a_build_that_waits_gets_the_lease_when_it_is_given_back(tmp_path: Path) -> None:
    state = tmp_path / "shop.sqlite"
    code = HOLD.replace("time.sleep(60)", "time.sleep(1)")
    process = subprocess.Popen([sys.executable, "-c", code, str(state)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "held\n"

    with hold_lease(state, key="shop", run_id="mine", wait_s=30) as mine:
        assert mine.run_id == "mine"
    process.wait()


def test_two_runs_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    state = tmp_path / "shop.sqlite"
    refusal = pytest.raises(LeaseHeld, match="run one")
    with hold_lease(state, key="shop", run_id="one"), refusal, hold_lease(state, key="shop", run_id="two"):
        raise AssertionError("never reached")


def test_two_repositories_are_built_at_once(tmp_path: Path) -> None:
    first, second = tmp_path / "a.sqlite", tmp_path / "b.sqlite"
    with hold_lease(first, key="a", run_id="one"), hold_lease(second, key="b", run_id="two"):
        assert current_holder(first) != current_holder(second)


def test_a_lease_released_by_hand_says_whose_it_was(tmp_path: Path, holder: subprocess.Popen) -> None:
    released = release_lease(tmp_path / "shop.sqlite")

    assert released is not None and released.pid == holder.pid
    with hold_lease(tmp_path / "shop.sqlite", key="shop", run_id="mine"):
        time.sleep(0)


def test_a_block_that_raises_gives_its_lease_back(tmp_path: Path) -> None:
    with pytest.raises(KeyError), hold_lease(tmp_path / "a.sqlite", key="a", run_id="one"):
        raise KeyError("broken")
    assert current_holder(tmp_path / "a.sqlite") is None


def test_setting_the_clock_takes_no_lease_from_a_living_build(
    tmp_path: Path, holder: subprocess.Popen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psutil.boot_time", lambda: 0.0)
    monkeypatch.setattr("time.time", lambda: 0.0)

    refusal = pytest.raises(LeaseHeld, match=f"process {holder.pid}")
    with refusal, hold_lease(tmp_path / "shop.sqlite", key="shop", run_id="mine"):
        raise AssertionError("never reached")


AS_IN_A_CONTAINER = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
IS_GONE = """
import sys
from pathlib import Path
from codesum_pipeline.foundation.store.lease import current_holder
print(current_holder(Path(sys.argv[1])).is_gone())
"""


def in_a_container(code: str, *arguments: object) -> list[str]:
    """A command in a PID namespace of its own, on this host: root may, others where the system lets them."""
    as_root = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return [*AS_IN_A_CONTAINER, *as_root, sys.executable, "-c", code, *map(str, arguments)]


def containers_can_be_made() -> bool:
    return subprocess.run(in_a_container("0"), check=False, capture_output=True).returncode == 0


@pytest.mark.skipif(not containers_can_be_made(), reason="needs a user who may make a PID namespace")
def test_a_holder_in_another_container_of_this_machine_is_alive_until_it_is_killed(tmp_path: Path) -> None:
    state = tmp_path / "shop.sqlite"
    other = subprocess.Popen(in_a_container(HOLD, state), stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None and other.stdout.readline() == "held\n"
    refusal = pytest.raises(LeaseHeld, match="other-run")
    with refusal, hold_lease(state, key="shop", run_id="mine"):
        raise AssertionError("never reached")

    other.kill()
    other.wait()

    with hold_lease(state, key="shop", run_id="mine", wait_s=30) as mine:
        seen_from_there = subprocess.run(in_a_container(IS_GONE, state), check=True, capture_output=True, text=True)
        assert current_holder(state) == mine
    assert seen_from_there.stdout == "False\n"
    assert list(tmp_path.glob(".*.lock")) == []


def test_a_holder_in_another_pid_namespace_is_gone_only_when_its_lock_is_free(tmp_path: Path) -> None:
    here = this_process("run", lock="")
    elsewhere = replace(here, pid=2**22 + 1, pid_namespace="1", process_started=1.0)

    assert replace(elsewhere, pid_namespace=here.pid_namespace).is_gone()
    assert not elsewhere.is_gone()
    lock = tmp_path / "free.lock"
    lock.touch()
    assert replace(elsewhere, lock=str(lock)).is_gone()
    assert replace(elsewhere, boot_id="another").is_gone()
    assert not replace(elsewhere, host="elsewhere", lock=str(lock)).is_gone()


def test_the_lock_of_a_process_that_was_killed_while_it_waited_goes(tmp_path: Path) -> None:
    state = tmp_path / "shop.sqlite"
    left, fresh = tmp_path / ".shop.one.lock", tmp_path / ".shop.two.lock"
    for path in (left, fresh):
        path.touch()
    os.utime(left, (0, 0))

    with hold_lease(state, key="shop", run_id="mine"):
        assert not left.exists()
        assert fresh.exists()


def test_the_lease_of_an_earlier_version_is_read_and_taken_over(tmp_path: Path) -> None:
    state = tmp_path / "shop.sqlite"
    with closing(sqlite3.connect(state)) as connection:
        connection.execute(
            "CREATE TABLE lease (only_one INTEGER PRIMARY KEY CHECK (only_one = 1), pid INTEGER NOT NULL, "
            "process_started REAL NOT NULL, boot_id TEXT NOT NULL, host TEXT NOT NULL, run_id TEXT NOT NULL, "
            "acquired_at REAL NOT NULL)"
        )
        here = this_process("old")
        values = (2**22 + 1, 1.0, here.boot_id, here.host, "old", 1.0)
        connection.execute("INSERT INTO lease VALUES (1, ?, ?, ?, ?, ?, ?)", values)
        connection.commit()

    holder = current_holder(state)
    assert holder is not None and holder.is_gone()
    with hold_lease(state, key="shop", run_id="mine") as mine:
        assert current_holder(state) == mine


LOOK = """
import sys
from pathlib import Path
from codesum_pipeline.foundation.store.lease import current_holder
holder = current_holder(Path(sys.argv[1]))
print(holder and holder.run_id)
"""


def test_who_holds_a_lease_is_read_where_nothing_can_be_written(tmp_path: Path) -> None:
    state = tmp_path / "shop.sqlite"
    # What a command is started with: root gives up the right to write everywhere, others do not have it.
    less = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"] if os.geteuid() == 0 else []
    with hold_lease(state, key="shop", run_id="mine"):
        state.chmod(0o444)
        tmp_path.chmod(0o555)
        done = subprocess.run([*less, sys.executable, "-c", LOOK, str(state)], capture_output=True, text=True)
        tmp_path.chmod(0o755)
        state.chmod(0o644)

    assert (done.stdout, done.stderr) == ("mine\n", "")


def test_a_file_that_holds_no_lease_is_named_with_the_way_out(tmp_path: Path) -> None:
    state = tmp_path / "shop.sqlite"
    state.write_bytes(b"half a copy" * 1000)

    with pytest.raises(BrokenStore, match=r"shop\.sqlite cannot be read \(file is not a database\): move it away"):
        current_holder(state)
