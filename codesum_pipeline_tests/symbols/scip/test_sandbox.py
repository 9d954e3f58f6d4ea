"""What a hostile command can reach, use up and leave behind."""

import os
import shutil
import socket
import time
from pathlib import Path

import pytest

from codesum_pipeline.foundation.settings.stage_settings import ScipSettings
from codesum_pipeline.symbols.scip import sandbox
from codesum_pipeline.symbols.scip.sandbox import IndexerCommand, run_bounded
from codesum_pipeline_tests.symbols.scip.making import SANDBOXES, Shop, in_bubblewrap
from codesum_pipeline_tests.symbols.scip.test_making import FILES, _running, wait_until_gone

# The same, for the system's Python: in bubblewrap there is no other.
PYTHON = "/usr/bin/python3"
needs_python = pytest.mark.skipif(not Path(PYTHON).exists(), reason="needs a Python of the system")


def seen(shop: Shop, script: str) -> str:
    """What a shell script prints, run as a command."""
    shop.repo.commit({"seen.sh": script})
    made = shop.make("sh -c 'sh seen.sh >index.scip 2>&1; echo . >>index.scip'")
    assert made.problem == "" and made.path is not None
    return made.path.read_text().removesuffix(".\n")


@pytest.fixture
def confined(tmp_path: Path) -> Shop:
    return Shop.create(tmp_path, FILES)


@in_bubblewrap
def test_neither_homes_nor_secrets_of_the_machine_are_seen(
    confined: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    (tmp_path / "me").mkdir()
    (tmp_path / "me/secret").write_text("hunter2")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")

    script = (
        f"cat {tmp_path}/me/secret {confined.home}/repos.yaml /etc/shadow /root/.ssh/id_rsa ~/secret; "
        f"ls {tmp_path}/repository /home /root /run /var /proc/*/environ; env; cat /proc/*/environ"
    )
    printed = seen(confined, script)

    assert "hunter2" not in printed and "AWS" not in printed and "scip_command" not in printed
    assert printed.count("No such file or directory") >= 8
    assert "/proc/1/environ" in printed and f"/proc/{os.getpid()}/environ" not in printed


@in_bubblewrap
def test_the_whole_environment_is_this(confined: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/usr/lib/jvm")
    shop = Shop(confined.repo, confined.home, {"environment": ("JAVA_HOME", "NOT_SET")})

    variables = dict(line.split("=", 1) for line in seen(shop, "env").splitlines())

    assert variables.pop("PATH").endswith("/usr/bin:/sbin:/bin")
    assert {name: value for name, value in variables.items() if name not in ("_", "OLDPWD", "SHLVL")} == {
        "HOME": "/home/indexer", "JAVA_HOME": "/usr/lib/jvm", "LANG": "C.UTF-8", "PWD": "/repository", "TMPDIR": "/tmp",
    }  # fmt: skip


def test_without_a_sandbox_the_environment_is_as_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")

    variables = dict(
        line.split("=", 1) for line in seen(Shop.create(tmp_path, FILES, sandbox="none"), "env").splitlines()
    )

    assert {*variables} - {"_", "OLDPWD", "SHLVL", "PWD"} == {"HOME", "LANG", "PATH", "TMPDIR"}
    assert variables["HOME"] != os.environ["HOME"]


@in_bubblewrap
@needs_python
@pytest.mark.parametrize(("network", "answer"), [(False, "refused"), (True, "reached")], ids=["as usual", "allowed"])
def test_the_network_is_there_where_it_is_allowed(tmp_path: Path, network: bool, answer: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        shop = Shop.create(tmp_path, FILES, network=network)
        shop.repo.commit(
            {
                "reach.py": f"import socket\ntry:\n    socket.create_connection(('127.0.0.1', {port}), 3)\n"
                "    print('reached')\nexcept OSError:\n    print('refused')\n"
            }
        )

        assert seen(shop, f"{PYTHON} reach.py") == f"{answer}\n"


@in_bubblewrap
def test_only_the_room_can_be_written(confined: Shop) -> None:
    places = "/ /usr /bin /etc /dev /proc /home /repository /output /tmp /home/indexer /dev/shm"

    printed = seen(confined, f"for f in {places}; do (echo x >$f/x) 2>/dev/null && echo $f; done; true")

    assert printed.split() == ["/repository", "/output", "/tmp", "/home/indexer", "/dev/shm"]


@in_bubblewrap
def test_no_terminal_no_privilege_and_no_other_process_is_there(confined: Shop) -> None:
    printed = seen(
        confined, "grep CapEff /proc/self/status; ls -d /proc/[0-9]* | wc -l; (echo x >/dev/tty) 2>&1; hostname"
    )

    assert "CapEff:\t0000000000000000" in printed
    assert int(printed.splitlines()[1]) < 10
    assert "/dev/tty" in printed


@in_bubblewrap
def test_a_folder_of_the_settings_is_seen_and_its_programs_are_found(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    for name in ("bin/mine", "node_modules/.bin/yours", "ours"):
        (tools / name).parent.mkdir(parents=True, exist_ok=True)
        (tools / name).write_text(f"#!/bin/sh\necho {name} >>index.scip\n")
        (tools / name).chmod(0o755)
    shop = Shop.create(tmp_path, FILES, read_only=(str(tools),))

    made = shop.make(f"sh -c 'mine; yours; ours; (echo x >{tools}/x) 2>/dev/null || echo safe >>index.scip'")

    assert made.path is not None and made.path.read_text().split() == [
        "bin/mine", "node_modules/.bin/yours", "ours", "safe"
    ]  # fmt: skip


@in_bubblewrap
def test_a_home_of_codesum_in_such_a_folder_is_covered(tmp_path: Path) -> None:
    shop = Shop.create(tmp_path, FILES, read_only=(str(tmp_path),))

    printed = seen(shop, f"ls {tmp_path}; ls -A {shop.home}; (echo x >{shop.home}/x) || true")

    assert printed.split()[:2] == ["home", "repository"]
    assert "repos.yaml" not in printed and "Read-only" in printed


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    made = Shop.create(tmp_path, FILES, sandbox="none", read_only=("/no/such",)).make("true")

    assert "scip.read_only: /no/such is not a folder: correct it, or take it out" in made.problem


def test_without_bubblewrap_nothing_is_run_and_both_ways_out_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "git").symlink_to(str(shutil.which("git")))
    shop = Shop.create(tmp_path, FILES)
    monkeypatch.setenv("PATH", str(bin_folder))

    made = shop.make("cp a.py index.scip")

    assert made.path is None
    assert "`bwrap` is not on the PATH: install bubblewrap" in made.problem
    assert 'or set scip.sandbox = "none", which lets the command do whatever you may do' in made.problem


def test_a_bubblewrap_that_may_not_make_namespaces_is_quoted_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    broken = bin_folder / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_folder}:{os.environ['PATH']}")
    shop = Shop.create(tmp_path, FILES)

    made = shop.make("cp a.py index.scip")

    assert "bubblewrap does not work here: bwrap: No permissions to create new namespace: install" in made.problem
    monkeypatch.undo()
    made = Shop(shop.repo, shop.home, {"sandbox": "none"}).make("cp a.py index.scip")
    assert made.problem == ""


@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_whatever_forks_and_sleeps_for_ever_is_ended(tmp_path: Path, sandbox: str) -> None:
    shop = Shop.create(tmp_path, FILES, sandbox=sandbox, timeout_s=1)
    seconds = f"87{len(sandbox):02d}"

    made = shop.make(f"sh -c 'for i in 1 2 3 4 5; do setsid sleep {seconds} & done; (setsid sleep {seconds} &) & wait'")

    assert "it was ended: it took longer than 1 s: raise scip.timeout_s" in made.problem
    assert _running(f"sleep {seconds}") == []


@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_what_a_command_leaves_running_ends_with_it(tmp_path: Path, sandbox: str) -> None:
    seconds = f"86{len(sandbox):02d}"

    made = Shop.create(tmp_path, FILES, sandbox=sandbox).make(
        f"sh -c 'setsid sleep {seconds} & (setsid sleep {seconds} >/dev/null 2>&1 &); cp a.py index.scip'"
    )

    assert made.problem == ""
    wait_until_gone(f"sleep {seconds}")


@pytest.mark.parametrize("size", [50_000_000, pytest.param(1_000_000_000, marks=pytest.mark.slow)])
def test_a_gigabyte_of_output_blocks_and_fills_nothing(tmp_path: Path, size: int) -> None:
    shop = Shop.create(tmp_path, FILES, sandbox="none")

    made = shop.make(f"sh -c 'head -c {size} /dev/zero | tr \"\\0\" x; echo; echo done; exit 3'")

    assert "it ended with status 3; it said: …xxx" in made.problem and "/ done; `codesum" in made.problem
    assert len(made.problem) < 800


@needs_python
@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_a_command_that_eats_memory_is_ended(tmp_path: Path, sandbox: str) -> None:
    shop = Shop.create(
        tmp_path,
        {
            **FILES,
            "eat.py": "import time\nkept = []\nwhile True:\n    kept.append(bytearray(4 << 20)); time.sleep(0.02)\n",
        },
        sandbox=sandbox,
        max_memory_mb=100,
    )

    made = shop.make(f"sh -c '{PYTHON} eat.py & {PYTHON} eat.py & wait'")

    assert "it was ended: it took more than 100 MB of memory: raise scip.max_memory_mb" in made.problem


@needs_python
def test_one_allocation_far_over_the_bound_is_refused_at_once(tmp_path: Path) -> None:
    made = Shop.create(tmp_path, FILES, sandbox="none", max_memory_mb=100).make(f"{PYTHON} -c 'bytearray(1 << 30)'")

    assert "with status 1" in made.problem and "MemoryError" in made.problem


@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_a_file_of_more_than_the_bound_is_not_written(tmp_path: Path, sandbox: str) -> None:
    made = Shop.create(tmp_path, FILES, sandbox=sandbox, max_index_mb=2).make("cp /dev/zero index.scip")

    assert made.path is None
    assert "it wrote a file of more than 2 MB: raise scip.max_index_mb" in made.problem


def test_too_many_processes_are_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_MOST_PROCESSES", 20)
    shop = Shop.create(tmp_path, FILES, sandbox="none")

    made = shop.make("sh -c 'for i in $(seq 40); do sleep 8512 & done; wait'")

    # As root there is no limit of the system, and a look finds them.
    assert "it started more than 20 processes" in made.problem or "fork" in made.problem
    assert _running("sleep 8512") == []


def test_a_full_disk_ends_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = [type("Usage", (), {"free": free}) for free in (1 << 30, 1 << 20)]
    monkeypatch.setattr(sandbox.shutil, "disk_usage", lambda _folder: usage.pop(0) if len(usage) > 1 else usage[0])

    ran = run_bounded(IndexerCommand(["sleep", "8412"], tmp_path, {"PATH": os.environ["PATH"]}), ScipSettings())

    assert ran.over.startswith("it filled the disk of ")
    assert _running("sleep 8412") == []


def test_a_command_is_ended_soon(tmp_path: Path) -> None:
    started = time.monotonic()

    ran = run_bounded(
        IndexerCommand(["sh", "-c", "trap '' TERM INT HUP; sleep 8312"], tmp_path, {"PATH": os.environ["PATH"]}),
        ScipSettings(timeout_s=0.2),
    )

    assert ran.over and time.monotonic() - started < sandbox._LONGEST_END_S
